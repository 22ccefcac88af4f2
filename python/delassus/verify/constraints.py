"""Laws and their rows, and least eigenvalues of matrices made of them."""

from __future__ import annotations

from fractions import Fraction

from .exact import (
    ZERO,
    Interval,
    NotACertificate,
    Unproved,
    get,
    index,
    interval,
    intervals,
    items,
    number,
    root_above,
    sparse_row,
)

# Rows, and keys of coefficients.
LAWS = {
    "bilateral": ((1,), ()),
    "bounded": ((1,), ("most",)),
    "unilateral": ((1,), ()),
    "coulomb-plane": ((2,), ("mu",)),
    "coulomb": ((3,), ("mu",)),
    "rolling": ((5,), ("mu", "rolling")),
    "spinning": ((6,), ("mu", "rolling", "spinning")),
    "sliding": ((2, 3), ("mu",)),
    "bilateral-sliding": ((2, 3), ("mu",)),
    "bilateral-coulomb-plane": ((2,), ("mu",)),
    "bilateral-coulomb": ((3,), ("mu",)),
}
GUIDES = ("bilateral-sliding", "bilateral-coulomb-plane", "bilateral-coulomb")


class Constraint:
    """A law with its rows of J, the normal first."""

    def __init__(self, value, n):
        self.law = get(value, "law")
        if not isinstance(self.law, str) or self.law not in LAWS:
            raise NotACertificate(f"expected the name of a law, found {self.law!r:.60}")
        counts, keys = LAWS[self.law]
        self.rows = [sparse_row(row, n) for row in items(get(value, "rows"))]
        if len(self.rows) not in counts:
            raise NotACertificate(f"expected {counts} rows for {self.law}, found {len(self.rows)}")
        self.coefficients = [interval(get(value, key)) for key in keys]
        if any(c.lo < 0 for c in self.coefficients):
            raise NotACertificate("expected coefficients that are at least 0")
        count = len(self.rows)
        slides = self.law in ("sliding", "bilateral-sliding")
        self.slip = intervals(get(value, "slip"), count - 1) if slides else []
        self.bias = intervals(value["bias"], count) if "bias" in value else [ZERO] * count

    def is_contact(self):
        return self.law not in ("bilateral", "bounded")

    def groups(self):
        """Coefficient, first and last row of each group of frictional rows."""
        count = len(self.rows)
        ends = [(1, min(count, 3)), (3, min(count, 5)), (5, min(count, 6))]
        return [(c, a, b) for c, (a, b) in zip(self.coefficients, ends) if a < b]


def constraints(problem, n):
    return [Constraint(value, n) for value in items(get(problem, "constraints"))]

def add(matrix, i, j, x):
    """Adds to the entries (i, j) and (j, i) of a symmetric matrix."""
    key = (max(i, j), min(i, j))
    matrix[key] = matrix.get(key, ZERO) + x


def least_eigenvalue(n, matrix, fact):
    """A number below the least eigenvalue: A - s I = L L' + D, and L L' is positive semidefinite."""
    shift, unit = number(get(fact, "shift")), number(get(fact, "unit"))
    columns = {}
    for i, row in enumerate(items(get(fact, "factor"), n)):
        first, entries = items(row, 2)
        for k, x in enumerate(items(entries)):
            if not isinstance(x, int) or isinstance(x, bool) or abs(x) >= 2**53:
                raise NotACertificate("expected [first column, [integers below 2^53]]")
            if x:
                columns.setdefault(index(first, 2**32) + k, []).append((i, x))
    products = {}
    for column in columns.values():
        for k, (i, x) in enumerate(column):
            for j, y in column[: k + 1]:
                products[i, j] = products.get((i, j), 0) + x * y
    rest = dict(matrix)
    for (i, j), x in products.items():
        add(rest, i, j, Interval(-x * unit * unit))
    for i in range(n):
        add(rest, i, i, Interval(-shift))
    sums = [Fraction(0)] * n
    for (i, j), x in rest.items():
        size = x.magnitude()
        sums[i] += size
        if i != j:
            sums[j] += size
    least = shift - max(sums, default=Fraction(0))
    if least <= 0:
        raise Unproved("a factor does not show that a matrix is positive definite")
    return least


def distance(n, gram, residual, facts):
    """A number not below the length of the residual over the least singular value."""
    if n == 0:
        return Fraction(0)
    least = least_eigenvalue(n, gram, get(facts, "bound"))
    return root_above(sum((r.square().hi for r in residual), Fraction(0)) / least)


def length(all_of):
    return root_above(sum((x.square().hi for x in all_of), Fraction(0)))
