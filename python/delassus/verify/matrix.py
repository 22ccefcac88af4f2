"""Matrices of enclosures: linear systems, signs of determinants, positive definite and P-matrices."""

from __future__ import annotations

import math
from fractions import Fraction

from .enclosure import ONE, UNIT, ZERO, Enclosure, dot, minus, of, over, plus, times

MOST_MINORS = 10


def product(a, b):
    columns = list(zip(*b))
    return [[dot(row, column) for column in columns] for row in a]


def is_defined(a):
    return all(x is not None for row in a for x in row)


def about_inverse(a):
    """About the inverse of the middle; any numbers will do."""
    if not is_defined(a):
        return None
    n = len(a)
    unit = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    x = [[Fraction(e.middle().lo, 1 << UNIT) for e in row] + own for row, own in zip(a, unit)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(x[i][k]))
        x[k], x[pivot] = x[pivot], x[k]
        if x[k][k] == 0:
            return None
        x[k] = [few(e / x[k][k]) for e in x[k]]
        for i in range(n):
            if i != k and x[i][k] != 0:
                x[i] = [few(e - x[i][k] * p) for e, p in zip(x[i], x[k])]
    return [[of(e) for e in row[n:]] for row in x]


def few(x):
    """About a number, with few digits."""
    return Fraction(round(x * (1 << 120)), 1 << 120)


def solve(a, b):
    """Enclosures of the solutions of A X = B; `None` where some A may be singular."""
    n = len(a)
    if n == 0:
        return []
    inverse = about_inverse(a)
    if inverse is None or not is_defined(b):
        return None
    a, x = product(inverse, a), product(inverse, b)
    for k in range(n):
        if a[k][k] is None or a[k][k].holds_zero():
            return None
        for i in range(k + 1, n):
            factor = over(a[i][k], a[k][k])
            a[i] = [minus(e, times(factor, p)) if j > k else e for j, (e, p) in enumerate(zip(a[i], a[k]))]
            x[i] = [minus(e, times(factor, p)) for e, p in zip(x[i], x[k])]
    for k in reversed(range(n)):
        for i in range(k + 1, n):
            x[k] = [minus(e, times(a[k][i], later)) for e, later in zip(x[k], x[i])]
        x[k] = [over(e, a[k][k]) for e in x[k]]
    return x if is_defined(x) else None


def determinant_sign(a):
    a, n, sign = [list(row) for row in a], len(a), 1

    def away(x):
        return 0 if x is None or x.holds_zero() else min(abs(x.lo), abs(x.hi))

    for k in range(n):
        pivot = max(range(k, n), key=lambda i: away(a[i][k]))
        if not is_defined(a) or away(a[pivot][k]) == 0:
            return None
        if pivot != k:
            a[k], a[pivot], sign = a[pivot], a[k], -sign
        if a[k][k].hi < 0:
            sign = -sign
        for i in range(k + 1, n):
            factor = over(a[i][k], a[k][k])
            a[i] = [minus(e, times(factor, p)) for e, p in zip(a[i], a[k])]
    return sign


def is_positive_definite(a):
    """C S C', with any C, has a diagonal that dominates."""
    n = len(a)
    if not is_defined(a):
        return False
    half = of(Fraction(1, 2))
    symmetric = [[times(plus(a[i][j], a[j][i]), half) for j in range(n)] for i in range(n)]
    lower = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            rest = symmetric[i][j].middle().lo - sum(lower[i][k] * lower[j][k] >> UNIT for k in range(j))
            if i == j and rest <= 0:
                return False
            lower[i][j] = math.isqrt(rest << UNIT) if i == j else (rest << UNIT) // lower[j][j]
        if lower[i][i] == 0:
            return False
    c = about_inverse([[Enclosure(x, x) for x in row] for row in lower])
    if c is None:
        return False
    scaled = product(product(c, symmetric), [list(column) for column in zip(*c)])
    return all(scaled[i][i].lo > sum(scaled[i][j].magnitude() for j in range(n) if j != i) for i in range(n))


def is_p(a):
    return is_defined(a) and ((len(a) > 1 and is_positive_definite(a)) or (len(a) <= MOST_MINORS and minors(a)))


def minors(a):
    """A is P if and only if its first entry is positive, and its rest and its Schur complement are P."""
    if not a:
        return True
    pivot = a[0][0]
    if pivot is None or pivot.lo <= 0:
        return False
    rest = [row[1:] for row in a[1:]]
    taken = [[minus(e, over(times(row[0], p), pivot)) for e, p in zip(row[1:], a[0][1:])] for row in a[1:]]
    return minors(rest) and minors(taken)


def identity_less(a):
    return [[minus(ONE if i == j else ZERO, x) for j, x in enumerate(row)] for i, row in enumerate(a)]
