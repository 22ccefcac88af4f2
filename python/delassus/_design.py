"""Answers over parameters: maps, safe intervals, all motions."""

from __future__ import annotations

import copy
import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _delassus
from ._arrays import real
from ._result import Record, Shown

Array = npt.NDArray[np.float64]
Axes = Mapping[str, Union[str, npt.ArrayLike]]
"""Values of parameters by name: arrays, or "lo:hi:n" as on the command line, such as "5deg:85deg:200"."""


@dataclass(frozen=True)
class Axis(Record):
    """Values of one parameter."""

    name: str
    values: Array
    unit: str | None = None
    """`deg` or `rpm` where the values were given so."""
    factor: float = 1.0
    """Of the unit: values are shown divided by it."""

    @property
    def shown(self) -> Array:
        """The values in the unit in which they were given."""
        found: Array = self.values / self.factor
        return found

    @property
    def label(self) -> str:
        return self.name if self.unit is None else f"{self.name}, {self.unit}"


def axes_of(axes: Axes) -> list[Axis]:
    """The axes as values."""
    if not isinstance(axes, Mapping):
        raise TypeError(f"axes: expected values by name, found {type(axes).__name__}")
    found = []
    for name, given in axes.items():
        if not isinstance(name, str):
            raise TypeError(f"axes: expected names of parameters, found {name!r}")
        if isinstance(given, str):
            values, unit = _delassus.axis(name, given)
            found.append(Axis(name, values) if unit is None else Axis(name, values, *unit))
            continue
        array = np.atleast_1d(real(name, given)).copy()
        if array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)):
            raise ValueError(f"{name}: expected finite numbers in a vector, found shape {array.shape}")
        found.append(Axis(name, array))
    return found


Column = tuple[Union[Array, None], Union[npt.NDArray[np.int32], None], list[str], int]


def columns_of(columns: list[Column]) -> list[npt.NDArray[Any]]:
    """Numbers as they are, words as objects."""
    found: list[npt.NDArray[Any]] = []
    for numbers, codes, words, _ in columns:
        found.append(numbers if numbers is not None else np.array([*words, ""], dtype=object)[codes])
    return found


@dataclass(frozen=True, repr=False)
class Map(Shown):
    """A quantity over one or two parameters."""

    name: str
    show: str
    axes: list[Axis]
    """The axis to the right, and the one upward where there is one."""
    values: npt.NDArray[Any]
    """Numbers (NaN where there is none) or words ("no state" where the file poses none); rows along the second axis."""
    no_state: int = 0
    """How many points pose no state."""

    @property
    def words(self) -> dict[str, int]:
        """How often each word stands in the map."""
        if self.values.dtype != object:
            return {}
        words, counts = np.unique(self.values.astype(str), return_counts=True)
        return {str(word): int(count) for word, count in zip(words, counts, strict=True)}

    def to_dict(self) -> dict[str, Any]:
        """The document of `delassus map --json`."""
        rows = self.values if self.values.ndim == 2 else self.values[None, :]
        none = rows == "no state" if rows.dtype == object else np.isnan(rows.astype(float))
        shown = rows.astype(object)
        shown[none | (rows == "")] = None
        entries = [{"name": axis.name, "values": axis.values.tolist()} for axis in self.axes]
        return {
            "x": entries[0],
            "y": entries[1] if len(entries) > 1 else None,
            "show": self.show,
            "values": shown.tolist(),
            "no_state": self.no_state,
        }

    def plot(self, ax: Any = None) -> Any:
        """Draws the map into `ax` and returns it."""
        from .plot import verdict_map

        return verdict_map(self, ax)

    def __repr__(self) -> str:
        over = " and ".join(f"{axis.name} ({axis.values.size})" for axis in self.axes)
        if self.values.dtype == object:
            found = ", ".join(f"{word} {count}" for word, count in self.words.items())
        elif np.all(np.isnan(self.values)):
            found = "no value"
        else:
            found = f"{np.nanmin(self.values):.6g} to {np.nanmax(self.values):.6g}"
        return f"<delassus.Map: {self.show} over {over}: {found}>"


class _Reported:
    """A document with its report in words."""

    __slots__ = ("_document", "_text")

    def __init__(self, document: dict[str, Any], text: str) -> None:
        self._document, self._text = document, text

    def to_dict(self) -> dict[str, Any]:
        """The document that the program prints with `--json`."""
        return copy.deepcopy(self._document)

    def __str__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._document, self._text)


class Safe(_Reported):
    """The largest interval of a parameter on which the answer exists and is unique."""

    __slots__ = ()

    @property
    def parameter(self) -> str:
        return str(self._document["parameter"])

    @property
    def interval(self) -> tuple[float, float] | None:
        """`None` where no value is known to be safe."""
        found = self._document["interval"]
        return None if found is None else (float(found[0]), float(found[1]))

    @property
    def certified(self) -> bool:
        """Whether interval arithmetic proved it; else it was sampled, or there is none."""
        return bool(self._document["certified"])

    @property
    def present(self) -> float:
        """The value of the file."""
        return float(self._document["present"])

    @property
    def within(self) -> tuple[float, float]:
        """Where it was looked for."""
        low, high = self._document["within"]
        return float(low), float(high)

    def __contains__(self, value: float) -> bool:
        return self.interval is not None and self.interval[0] <= value <= self.interval[1]

    def __repr__(self) -> str:
        if self.interval is None:
            return f"<delassus.Safe: no value of {self.parameter} is known to be safe>"
        word = "certified" if self.certified else "sampled"
        return f"<delassus.Safe: {self.interval[0]:.9g} <= {self.parameter} <= {self.interval[1]:.9g}, {word}>"


class Paving(_Reported):
    """A box of parameters in cells on which the answer is proved to be unique, proved not to be, or undecided."""

    __slots__ = ("_certificate",)

    def __init__(self, document: dict[str, Any], text: str, certificate: dict[str, Any] | None = None) -> None:
        super().__init__(document, text)
        self._certificate = certificate

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._document, self._text, self._certificate)

    @property
    def certificate(self) -> dict[str, Any] | None:
        """What proves the cells, for `delassus verify` and `delassus.verify`: with `certificate=True`."""
        return self._certificate

    @property
    def parameters(self) -> list[str]:
        return list(self._document["parameters"])

    @property
    def over(self) -> dict[str, tuple[float, float]]:
        """The box that was asked for."""
        return {name: (float(lo), float(hi)) for name, (lo, hi) in self._document["over"].items()}

    @property
    def design(self) -> dict[str, float]:
        """The values of the file."""
        return dict(self._document["design"])

    @property
    def lo(self) -> Array:
        """The least values of each cell: cells by parameters."""
        return self._bounds("lo")

    @property
    def hi(self) -> Array:
        """The greatest values of each cell."""
        return self._bounds("hi")

    def _bounds(self, end: str) -> Array:
        values = [cell[end] for cell in self._document["cells"]]
        return np.array(values, dtype=float).reshape(len(values), len(self.parameters))

    @property
    def verdicts(self) -> list[str]:
        """`proved`, `refuted` or `undecided`, for each cell."""
        return [cell["verdict"] for cell in self._document["cells"]]

    @property
    def reasons(self) -> list[str]:
        """What is known of each cell: `every-load`, `this-load`, `no-solution`, `several-solutions`, …"""
        return [cell["reason"] for cell in self._document["cells"]]

    @property
    def shares(self) -> dict[str, float]:
        """The parts of the box that are `proved`, `refuted`, without a state (`no_state`) and `undecided`."""
        return dict(self._document["shares"])

    @property
    def certified_box(self) -> dict[str, tuple[float, float]] | None:
        """The largest box around the design with proved cells only; `None` where the design is not proved."""
        found = self._document["certified_box"]
        return None if found is None else {name: (float(lo), float(hi)) for name, (lo, hi) in found.items()}

    @property
    def counterexample(self) -> dict[str, float] | None:
        """The refuted point that is nearest to the design."""
        found = self._document["counterexample"]
        return None if found is None else dict(found["point"])

    def plot(self, x: str | None = None, y: str | None = None, ax: Any = None, **at: float) -> Any:
        """Draws the cells over one or two parameters into `ax` and returns it; `at` gives the others."""
        from .plot import paving

        return paving(self, x, y, ax, **at)

    def __repr__(self) -> str:
        share = ", ".join(f"{100 * self.shares[word]:.1f} % {word}" for word in ("proved", "refuted", "undecided"))
        return f"<delassus.Paving over {', '.join(self.parameters)}: {share}>"


@dataclass(frozen=True)
class Branch(Record):
    """A motion, and those that branch off where it stops."""

    answer: str | None
    """The last choice that leads here."""
    t_end: float
    ending: str
    position: dict[str, float]
    """At the end."""
    velocity: dict[str, float]
    events: list[dict[str, Any]]
    branches: list[Branch]

    @classmethod
    def _of(cls, node: dict[str, Any]) -> Branch:
        return cls(
            answer=node["answer"],
            t_end=node["t_end"],
            ending=node["ending"],
            position=node["final"]["position"],
            velocity=node["final"]["velocity"],
            events=node["events"],
            branches=[Branch._of(child) for child in node["branches"]],
        )

    def leaves(self) -> Iterator[Branch]:
        """The motions that do not branch further."""
        if not self.branches:
            yield self
        for branch in self.branches:
            yield from branch.leaves()


class Exploration(_Reported):
    """All motions from a state."""

    __slots__ = ()

    @property
    def tree(self) -> Branch:
        return Branch._of(self._document["tree"])

    @property
    def motions(self) -> list[Branch]:
        """Every motion, by its end."""
        return list(self.tree.leaves())

    @property
    def complete(self) -> bool:
        """Whether all were followed to their end."""
        return bool(self._document["complete"])

    @property
    def time_stepping(self) -> dict[str, Any] | None:
        """Of a world: the branch to which time stepping converges, and how near each step length comes."""
        found: dict[str, Any] | None = self._document.get("time_stepping")
        return found

    def __len__(self) -> int:
        return int(self._document["branches"])

    def __repr__(self) -> str:
        more = "" if self.complete else " and more"
        return f"<delassus.Exploration: {len(self)}{more} motion{'' if len(self) == 1 else 's'}>"
