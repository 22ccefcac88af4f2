"""Whether a world stands, and which forces it resists: documents with properties."""

from __future__ import annotations

import copy
from typing import Any

from ._design import _Reported


class _Proved(_Reported):
    """A document with its report and, where there is one, the certificate that proves it."""

    __slots__ = ("_certificate",)

    def __init__(self, document: dict[str, Any], text: str, certificate: dict[str, Any] | None) -> None:
        super().__init__(document, text)
        self._certificate = certificate

    @property
    def certificate(self) -> dict[str, Any] | None:
        """What proves it, as `--certificate` of the program writes it and `delassus.verify` checks it."""
        return copy.deepcopy(self._certificate)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._document, self._text, self._certificate)


class Standing(_Proved):
    """Whether a world at rest stands."""

    __slots__ = ()

    @property
    def stands(self) -> str:
        """`surely`, `possibly`, `no` or `undecided`."""
        word: str = self._document["stands"]
        return word

    @property
    def reason(self) -> str | None:
        """Why surely: `frictionless`, `plane-faces` or `unique-acceleration`."""
        word: str | None = self._document["reason"]
        return word

    @property
    def margins(self) -> list[tuple[float | None, float | None]]:
        """For each margin that was asked for, with what it stands and with what it falls."""
        return [(margin["stands"], margin["falls"]) for margin in self._document["margins"]]

    def __repr__(self) -> str:
        return f'<delassus.Standing "{self._document["name"]}": {self.stands}>'


class Resistance(_Proved):
    """Which forces on a body a world resists in every direction."""

    __slots__ = ()

    @property
    def resists(self) -> float:
        """Every force up to this is resisted, N: proved."""
        return float(self._document["resists"])

    @property
    def fails(self) -> float | None:
        """Some force of this size is not, N: proved; `None` where none was found."""
        found: float | None = self._document["fails"]
        return found

    @property
    def holds(self) -> str | None:
        """Of the force that was asked for: `yes`, `no` or `undecided`."""
        word: str | None = self._document["holds"]
        return word

    def __repr__(self) -> str:
        fails = "" if self.fails is None else f", not {self.fails:.6g} N"
        return f'<delassus.Resistance of "{self._document["body"]}": {self.resists:.6g} N{fails}>'
