"""Worlds at rest: whether they stand, and what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ._arrays import real
from ._design import _Reported
from ._result import Record

Direction = Union[str, Sequence[float]]
"""`x`, `-x`, `y`, `-y`, `z`, `-z`, or three numbers."""

AXES = {
    sign + name: [float(f"{sign}1") * (k == at) + 0.0 for k in range(3)]
    for at, name in enumerate("xyz")
    for sign in ("", "-")
}


def vector3(name: str, value: Any) -> list[float]:
    """Three numbers."""
    array = real(name, value, "three numbers")
    if array.shape != (3,):
        raise ValueError(f"{name}: expected three numbers, found an array of shape {array.shape}")
    found: list[float] = array.tolist()
    return found


def direction(value: Direction) -> list[float]:
    """A direction of tilt."""
    if isinstance(value, str):
        if value not in AXES:
            raise ValueError(f"tilt: unknown direction {value!r}, expected one of {', '.join(AXES)}, or three numbers")
        return AXES[value]
    return vector3("tilt", value)


def directions(value: Direction | Iterable[Direction]) -> list[list[float]]:
    """One direction or several."""
    if isinstance(value, str):
        return [direction(value)]
    given: list[Any] = list(value)
    if len(given) == 3 and not any(isinstance(x, str) or np.ndim(x) for x in given):
        return [direction(given)]
    return [direction(one) for one in given]


def names(what: str, value: str | Iterable[str]) -> list[str]:
    """One name or several."""
    found = [value] if isinstance(value, str) else list(value)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{what}: expected names of bodies, found {type(name).__name__}")
    return found


@dataclass(frozen=True)
class Margin(Record):
    """How far a world is from falling: a factor or an angle with which it stands and one with which it falls."""

    kind: str
    """`friction`, `load` or `tilt`."""
    of: str | list[float] | None
    """The body of a load, the direction of a tilt."""
    stands: float | None
    """Proved to stand with this: a factor on friction or load, an angle in rad; `None` where it is for no value."""
    falls: float | None
    """Proved to fall with this."""
    critical: list[str]
    """Contacts without slack where it falls."""

    @classmethod
    def _of(cls, entry: dict[str, Any]) -> Margin:
        return cls(**{name: entry[name] for name in ("kind", "of", "stands", "falls", "critical")})


class _AtRest(_Reported):
    """A document and its report, with what proves it where that was asked for."""

    __slots__ = ("_certificate",)

    def __init__(self, document: dict[str, Any], text: str, certificate: dict[str, Any] | None = None) -> None:
        super().__init__(document, text)
        self._certificate = certificate

    @property
    def certificate(self) -> dict[str, Any] | None:
        """What proves the answer, for `delassus verify` and `delassus.verify`: with `certificate=True`."""
        return self._certificate

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._document, self._text, self._certificate)


class Standing(_AtRest):
    """Whether a world at rest stands."""

    __slots__ = ()

    @property
    def stands(self) -> str:
        """`surely` (rest is the only motion), `possibly` (it is one), `no` or `undecided`."""
        return str(self._document["stands"])

    @property
    def slack(self) -> float | None:
        """With how much more than needed all contacts can press at once, N; negative: the glue that each needs."""
        found: float | None = self._document["slack"]
        return found

    @property
    def contacts(self) -> list[dict[str, Any]]:
        """One choice of forces: point, normal, force, friction, its use, and the interval of the normal force."""
        return list(self._document["contacts"])

    @property
    def collapse(self) -> list[dict[str, Any]] | None:
        """Velocities of bodies with which it falls, up to a factor."""
        found: list[dict[str, Any]] | None = self._document["collapse"]
        return found

    @property
    def margins(self) -> list[Margin]:
        """Those that were asked for: friction, loads, tilts."""
        return [Margin._of(entry) for entry in self._document["margins"]]

    def __repr__(self) -> str:
        return f"<delassus.Standing: {self.stands}, {len(self._document['contacts'])} contacts>"


class Holding(_AtRest):
    """Which forces at a point of a body a world at rest resists."""

    __slots__ = ()

    @property
    def resists(self) -> float:
        """Every force up to this is resisted, in any direction, N: proved."""
        return float(self._document["resists"])

    @property
    def fails(self) -> float | None:
        """A force of this size along `weakest` is not, N: proved."""
        found: float | None = self._document["fails"]
        return found

    @property
    def weakest(self) -> npt.NDArray[np.float64] | None:
        found = self._document["weakest"]
        return None if found is None else np.array(found)

    @property
    def holds(self) -> str | None:
        """Of the force that was asked for: `yes`, `no` or `undecided`."""
        found: str | None = self._document["holds"]
        return found

    def __repr__(self) -> str:
        more = "" if self.fails is None else f", gives way to {self.fails:.6g} N"
        return f"<delassus.Holding: {self._document['body']} resists {self.resists:.6g} N{more}>"
