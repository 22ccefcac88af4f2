"""Contact problems from arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _delassus
from ._arrays import real
from ._keywords import suggests
from ._result import Record

Array = npt.NDArray[np.float64]
Matrix = Any
"""A dense array or a sparse matrix of scipy."""
Law = Union[str, Mapping[str, Any]]
"""`{"law": "coulomb", "mu": 0.5}`, in the words of problem files, or a name alone: "bilateral"."""


def vector(name: str, value: Any) -> Array:
    """One-dimensional, of doubles, in one piece of memory."""
    array = real(name, value, "numbers in a vector")
    if array.ndim != 1:
        raise ValueError(f"{name}: expected a vector, found an array of shape {array.shape}")
    return array


def dense(name: str, value: Any) -> Array:
    """Two-dimensional, of doubles."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    array = real(name, value, "numbers in a matrix")
    if array.ndim != 2:
        raise ValueError(f"{name}: expected a matrix, found an array of shape {array.shape}")
    return array


class _Entries:
    """A sparse matrix by its entries."""

    __slots__ = ("rows", "cols", "values", "shape")

    def __init__(self, matrix: Any) -> None:
        coo = matrix.tocoo()
        self.rows = np.ascontiguousarray(coo.row, dtype=np.int64)
        self.cols = np.ascontiguousarray(coo.col, dtype=np.int64)
        self.values = real("a sparse matrix", coo.data)
        self.shape = (int(coo.shape[0]), int(coo.shape[1]))


def matrix(name: str, value: Any) -> Any:
    """A dense matrix, or the entries of a sparse one."""
    return _Entries(value) if hasattr(value, "tocoo") else dense(name, value)


def laws_of(rows: int, mu: Any, laws: Sequence[Law] | None, dim: int | None) -> Any:
    """The laws of as many rows: Coulomb's with one coefficient or one per contact, or a list of laws."""
    if laws is not None:
        if mu is not None or dim is not None:
            raise TypeError("laws: expected either laws or mu with dim, found both")
        written = [{"law": law} if isinstance(law, str) else dict(law) for law in laws]
        try:
            return json.dumps(written)
        except (TypeError, ValueError) as error:
            raise TypeError(f"laws: expected names and numbers: {error}") from None
    if mu is None:
        if dim not in (None, 1):
            raise TypeError("mu: expected a friction coefficient for contacts with tangents")
        return 1, np.zeros(rows)
    dim = 3 if dim is None else dim
    if dim not in (2, 3):
        raise ValueError(f"dim: expected 2 rows per contact in the plane or 3 in space, found {dim}")
    if rows % dim:
        raise ValueError(f"q: expected {dim} rows per contact, found {rows} rows in all")
    given = real("mu", mu, f"one number, or one for each of {rows // dim} contacts")
    try:
        coefficients = np.broadcast_to(given, (rows // dim,))
    except ValueError:
        raise ValueError(f"mu: expected one number, or one for each of {rows // dim} contacts") from None
    return dim, np.ascontiguousarray(coefficients)


@dataclass(frozen=True, repr=False)
class Solution(Record):
    """The solution of a contact problem, u = W r + q."""

    impulse: Array
    """r, in the order of the rows."""
    velocity: Array
    """u, the velocity that the impulses leave."""
    status: str
    """`solved`, `max-iterations`, `stalled`, `no-solution` (proved) or `interrupted`."""
    residual: float
    """Scale-free, computed by code that shares no line with a solver."""
    iterations: int
    islands: int

    @property
    def solved(self) -> bool:
        return self.status == "solved"

    def __repr__(self) -> str:
        return (
            f"Solution({self.status}, residual {self.residual:.2g}, {self.iterations} iterations, "
            f"impulse {np.array2string(self.impulse, precision=6, threshold=12)})"
        )


@suggests
def solve(
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
    start: npt.ArrayLike | None = None,
    **options: Any,
) -> Solution:
    """Solves a contact problem.

    Local form: u = W r + q with `W` and `q`. Global form: M v = f + Jᵀ r, u = J v + b with `M`, `J`, `force` f
    and `bias` b (both zero where not given). Rows are normal, tangent 1, tangent 2 per contact; `dim=2` has one
    tangent, and without `mu` contacts have a normal alone. `laws` names other laws.

    Options: tolerance (1e-8), solver ("auto"), max_iterations, max_work, time_limit (s), minimum_norm.
    """
    begin = None if start is None else vector("start", start)
    if W is not None:
        if M is not None or J is not None or force is not None or bias is not None:
            raise TypeError("expected either W and q, or M, J, force and bias, found both")
        if q is None:
            raise TypeError("q: expected the velocity without impulses beside W")
        velocity = vector("q", q)
        law = laws_of(velocity.size, mu, laws, dim)
        return Solution(*_delassus.solve_local(matrix("W", W), velocity, law, begin, **options))
    if M is None or J is None or q is not None:
        raise TypeError("expected W and q, or M and J with force and bias")
    mass, jacobian = matrix("M", M), matrix("J", J)
    m, n = jacobian.shape
    f = np.zeros(n) if force is None else vector("force", force)
    b = np.zeros(m) if bias is None else vector("bias", bias)
    law = laws_of(m, mu, laws, dim)
    return Solution(*_delassus.solve_global(mass, jacobian, f, b, law, begin, **options))


@dataclass(frozen=True)
class Residual(Record):
    """How far impulses are from solving a contact problem."""

    relative: float
    """Free of units: what `tolerance` bounds."""
    velocity: float
    """Largest violation of a condition on velocities, in the units of q."""
    force: float
    """Largest violation of a condition on impulses, in their units."""
    power: float
    """Largest violation of complementarity, in units of both."""


@suggests
def residual(
    W: Matrix,
    q: npt.ArrayLike,
    impulse: npt.ArrayLike,
    mu: npt.ArrayLike | None = None,
    *,
    laws: Sequence[Law] | None = None,
    dim: int | None = None,
) -> Residual:
    """How far `impulse` is from solving u = W r + q under the laws."""
    velocity = vector("q", q)
    law = laws_of(velocity.size, mu, laws, dim)
    return Residual(*_delassus.residual_local(dense("W", W), velocity, law, vector("impulse", impulse)))
