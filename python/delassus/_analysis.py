"""Answers to: do forces exist, are they the only ones?"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _delassus
from ._keywords import suggests
from ._page import PageView
from ._problem import Law, Matrix, dense, laws_of, vector
from ._result import Record, Shown


@dataclass(frozen=True)
class Certificate(Record):
    """A proposition of the papers and what it concludes for the problem."""

    id: str
    outcome: str
    """`holds`, `fails`, `not-applicable` or `undecided`."""
    verified: bool
    """Whether exact arithmetic confirmed it."""
    meaning: str
    value: float | None
    bound: float | None

    @classmethod
    def _of(cls, entry: dict[str, Any]) -> Certificate:
        names = ("id", "outcome", "verified", "meaning", "value", "bound")
        return cls(**{name: entry[name] for name in names})


class _Answer:
    """Verdicts with the document that they stand in."""

    __slots__ = ("_document",)
    _document: dict[str, Any]

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    @property
    def existence(self) -> str:
        """Is there a solution? `proved`, `refuted` or `unknown`."""
        return str(self._document["existence"])

    @property
    def acceleration_unique(self) -> str:
        """Is there exactly one acceleration?"""
        return str(self._document["acceleration_unique"])

    @property
    def forces_unique(self) -> str:
        """Is there exactly one set of forces?"""
        return str(self._document["forces_unique"])

    @property
    def kind(self) -> str:
        """How many solutions: `none`, `finite`, `infinite` or `unknown`."""
        return str(self._document["solutions"]["kind"])

    @property
    def solutions(self) -> list[dict[str, Any]]:
        """The solutions that were found; all of them unless `partial`."""
        return list(self._document["solutions"]["list"])

    @property
    def partial(self) -> bool:
        """Whether lists, norms and intervals are those of the solutions found, not of all."""
        return bool(self._document["solutions"].get("partial", False))

    @property
    def certificates(self) -> list[Certificate]:
        return [Certificate._of(entry) for entry in self._document["certificates"]]

    def to_dict(self) -> dict[str, Any]:
        """The document of `delassus analyze --json`."""
        import copy

        return copy.deepcopy(self._document)

    def _verdicts(self) -> str:
        return (
            f"existence {self.existence}, acceleration unique {self.acceleration_unique}, "
            f"forces unique {self.forces_unique}"
        )


class Analysis(_Answer):
    """The contact problem of a system or a world at a state, analyzed."""

    __slots__ = ("_certificate", "_text")
    _text: str

    def __init__(self, document: dict[str, Any], text: str, certificate: dict[str, Any] | None = None) -> None:
        super().__init__(document)
        self._text, self._certificate = text, certificate

    @property
    def certificate(self) -> dict[str, Any] | None:
        """What proves the verdicts, for `delassus verify` and `delassus.verify`: with `certificate=True`."""
        return self._certificate

    @property
    def contacts(self) -> list[dict[str, Any]]:
        """Per contact: friction, jamming friction, cone, whether it jams."""
        return list(self._document["contacts"])

    @property
    def intervals(self) -> dict[str, Any] | None:
        """[least, largest] of every force, by name."""
        found: dict[str, Any] | None = self._document["solutions"].get("intervals")
        return found

    @property
    def minimum_norm(self) -> dict[str, Any] | None:
        """The forces of least norm, by name."""
        found: dict[str, Any] | None = self._document["solutions"].get("minimum_norm")
        return found

    @property
    def matrices(self) -> dict[str, Any]:
        """Mass, Delassus and LCP matrices as arrays."""
        found = {}
        for name, rows in self._document["matrices"].items():
            found[name] = rows if name == "rows" or rows is None else np.array(rows)
        return found

    @property
    def reasons(self) -> list[str]:
        """What was found and why, one sentence each."""
        return list(self._document["reasons"])

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<delassus.Analysis: {self._verdicts()}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>"

    def show(self, *, height: int = 720) -> PageView:
        """Verdicts, cones, solutions and certificates as a page, which notebooks show."""
        return PageView(_delassus.analysis_page(json.dumps(self._document)), height)

    def __reduce__(self) -> tuple[type[Analysis], tuple[Any, ...]]:
        return Analysis, (self._document, self._text, self._certificate)


class ProblemAnalysis(_Answer, Shown):
    """A contact problem given by its matrices, analyzed."""

    __slots__ = ()

    @property
    def velocity_unique(self) -> str:
        """Is there exactly one velocity u? As `acceleration_unique` where M is definite."""
        return self.acceleration_unique

    @property
    def forces(self) -> npt.NDArray[np.float64]:
        """Forces of the solutions that were found, one row each."""
        return np.array([entry["force"] for entry in self.solutions])

    @property
    def intervals(self) -> npt.NDArray[np.float64]:
        """[least, largest] of every component of the forces; ±∞ where nothing bounds it."""
        rows = self._document["solutions"]["intervals"]
        low = [-np.inf if row[0] is None else row[0] for row in rows]
        high = [np.inf if row[1] is None else row[1] for row in rows]
        return np.array([low, high], dtype=float).T.reshape(-1, 2)

    @property
    def minimum_norm(self) -> npt.NDArray[np.float64] | None:
        """The forces of least norm among the solutions found."""
        found = self._document["solutions"]["minimum_norm"]
        return None if found is None else np.array(found)

    def __repr__(self) -> str:
        count = len(self.solutions)
        return f"<delassus.ProblemAnalysis: {self._verdicts()}; {count} solutions listed>"

    def __reduce__(self) -> tuple[type[ProblemAnalysis], tuple[dict[str, Any]]]:
        return ProblemAnalysis, (self._document,)


@suggests
def analyze(
    W: Matrix = None,
    q: npt.ArrayLike | None = None,
    mu: npt.ArrayLike | None = None,
    *,
    laws: Sequence[Law] | None = None,
    dim: int | None = None,
    M: Matrix = None,
    J: Matrix = None,
    force: npt.ArrayLike | None = None,
    bias: npt.ArrayLike | None = None,
    max_modes: int | None = None,
) -> ProblemAnalysis:
    """Do accelerations and forces exist, and are they the only ones?

    Local form: u = W f + q, W symmetric and positive semidefinite. Global form: M a = force + Jᵀ f, u = J a + bias.
    Arguments are those of `solve`. Where W was computed in floating point from a mechanism with redundant
    constraints, give M and J: rounding hides the redundancy in W.
    """
    if W is not None:
        if M is not None or J is not None or force is not None or bias is not None:
            raise TypeError("expected either W and q, or M, J, force and bias, found both")
        if q is None:
            raise TypeError("q: expected the velocity without forces beside W")
        velocity = vector("q", q)
        law = laws_of(velocity.size, mu, laws, dim)
        return ProblemAnalysis(_delassus.analyze_local(dense("W", W), velocity, law, max_modes))
    if M is None or J is None or q is not None:
        raise TypeError("expected W and q, or M and J with force and bias")
    mass, jacobian = dense("M", M), dense("J", J)
    m, n = jacobian.shape
    f = np.zeros(n) if force is None else vector("force", force)
    b = np.zeros(m) if bias is None else vector("bias", bias)
    law = laws_of(m, mu, laws, dim)
    # The library has forces on the left.
    return ProblemAnalysis(_delassus.analyze_dynamics(mass, jacobian, -f, b, law, max_modes))
