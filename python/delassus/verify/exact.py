"""Fractions, intervals of them, and how they are read from a certificate."""

from __future__ import annotations

import math
import re
from fractions import Fraction


class NotACertificate(Exception):
    """The document is no certificate: what was expected."""


class Unproved(Exception):
    """The facts do not prove the claim: why not."""


class Interval:
    """All numbers from lo to hi."""

    __slots__ = ("hi", "lo")

    def __init__(self, lo, hi=None):
        self.lo = lo
        self.hi = lo if hi is None else hi

    def __add__(self, other):
        return Interval(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other):
        return Interval(self.lo - other.hi, self.hi - other.lo)

    def __neg__(self):
        return Interval(-self.hi, -self.lo)

    def __mul__(self, other):
        if not isinstance(other, Interval):
            a, b = self.lo * other, self.hi * other
            return Interval(a, b) if other >= 0 else Interval(b, a)
        if other.lo == other.hi:
            return self * other.lo
        if self.lo == self.hi:
            return other * self.lo
        all_of = [a * b for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Interval(min(all_of), max(all_of))

    def square(self):
        a, b = self.lo * self.lo, self.hi * self.hi
        return Interval(Fraction(0) if self.lo <= 0 <= self.hi else min(a, b), max(a, b))

    def is_zero(self):
        return self.lo == 0 == self.hi

    def magnitude(self):
        return max(abs(self.lo), abs(self.hi))

    def trimmed(self):
        """A little wider, with ends of fewer bits."""
        return Interval(floor(self.lo), -floor(-self.hi))


ZERO = Interval(Fraction(0))
ONE = Interval(Fraction(1))


def floor(x, bits=192):
    """A number not above x that needs few bits."""
    above, below = abs(x.numerator).bit_length(), x.denominator.bit_length()
    shift = bits + below - above
    if above + below < 2 * bits or shift <= 0:
        return x
    return Fraction((x.numerator << shift) // x.denominator, 1 << shift)


def root_above(x):
    """A number not below the root of x."""
    if x <= 0:
        return Fraction(0)
    product = x.numerator * x.denominator
    k = (max(130 - product.bit_length(), 0) + 3) // 2
    return Fraction(math.isqrt(product << (2 * k)) + 1, x.denominator << k)


def number(value):
    """The fraction in a string: an integer, or two with a slash between."""
    if not isinstance(value, str) or not re.fullmatch(r"-?[0-9]+(/[0-9]+)?", value) or len(value) > 4000:
        raise NotACertificate(f'expected a fraction such as "-3/4", found {value!r:.60}')
    above, _, below = value.partition("/")
    if below and int(below) == 0:
        raise NotACertificate(f"expected a fraction, found {value!r:.60}")
    return Fraction(int(above), int(below or "1"))


def interval(value):
    """A fraction, or a list of two in order."""
    if not isinstance(value, list):
        return Interval(number(value))
    lo, hi = numbers(value, 2)
    if lo > hi:
        raise NotACertificate(f"expected two fractions in order, found {value!r:.60}")
    return Interval(lo, hi)


def get(value, key):
    """The entry of an object."""
    if not isinstance(value, dict) or key not in value:
        raise NotACertificate(f"expected an object with the key `{key}`")
    return value[key]


def items_of(value):
    """An object."""
    if not isinstance(value, dict):
        raise NotACertificate(f"expected an object, found {value!r:.60}")
    return value


def items(value, count=None):
    """The elements of a list."""
    if not isinstance(value, list) or (count is not None and len(value) != count):
        raise NotACertificate(f"expected a list{'' if count is None else f' of {count}'}, found {value!r:.60}")
    return value


def numbers(value, count=None):
    return [number(x) for x in items(value, count)]


def intervals(value, count=None):
    return [interval(x) for x in items(value, count)]


def index(value, limit):
    """An integer from 0 to below a limit."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < limit:
        raise NotACertificate(f"expected an integer from 0 to {limit - 1}, found {value!r:.60}")
    return value


def sparse_row(value, n):
    """Columns and entries."""
    row = {}
    for entry in items(value):
        column, x = items(entry, 2)
        if index(column, n) in row:
            raise NotACertificate("expected each column once")
        row[column] = interval(x)
    return dict(sorted(row.items()))


def along(row, x):
    """The product of a row with numbers."""
    total = ZERO
    for j, entry in row.items():
        total = total + entry * x[j]
    return total


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))
