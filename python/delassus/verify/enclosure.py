"""Intervals between multiples of a tiny unit, and the functions that formulas know.

Every end is an integer times 2^-200: sums are exact, products and quotients are rounded outward. `None` in the
place of an interval: undefined.
"""

from __future__ import annotations

import math
from fractions import Fraction

UNIT = 200
WHOLE = 1 << UNIT


class Enclosure:
    """All numbers from lo to hi, both integers that count units."""

    __slots__ = ("hi", "lo")

    def __init__(self, lo, hi):
        self.lo = lo
        self.hi = hi

    def __add__(self, other):
        return Enclosure(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other):
        return Enclosure(self.lo - other.hi, self.hi - other.lo)

    def __neg__(self):
        return Enclosure(-self.hi, -self.lo)

    def __mul__(self, other):
        a, b, c, d = self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi
        return Enclosure(min(a, b, c, d) >> UNIT, -(-max(a, b, c, d) >> UNIT))

    def is_zero(self):
        return self.lo == 0 == self.hi

    def is_point(self):
        return self.lo == self.hi

    def holds_zero(self):
        return self.lo <= 0 <= self.hi

    def magnitude(self):
        return max(abs(self.lo), abs(self.hi))

    def middle(self):
        x = (self.lo + self.hi) // 2
        return Enclosure(x, x)

    def inside(self, other):
        return other.lo <= self.lo and self.hi <= other.hi

    def strictly_inside(self, other):
        return other.lo < self.lo and self.hi < other.hi


def of(x, y=None):
    """From a fraction to another."""
    y = x if y is None else y
    return Enclosure((x.numerator << UNIT) // x.denominator, -((-y.numerator << UNIT) // y.denominator))


ZERO = of(Fraction(0))
ONE = of(Fraction(1))


def times(x, y):
    """A product; exact zeros stay exact."""
    if x is None or y is None:
        return None
    if x.is_zero() or y.is_zero():
        return ZERO
    return x * y


def plus(x, y):
    return None if x is None or y is None else x + y


def minus(x, y):
    return None if x is None or y is None else x - y


def negative(x):
    return None if x is None else -x


def over(x, y):
    """A quotient."""
    if x is None or y is None or y.holds_zero():
        return None
    if x.is_zero():
        return ZERO
    pairs = [(a << UNIT, b) for a in (x.lo, x.hi) for b in (y.lo, y.hi)]
    return Enclosure(min(a // b for a, b in pairs), max(-(-a // b) for a, b in pairs))


def both(x, y):
    """What lies in both."""
    if x is None or y is None:
        return None
    lo, hi = max(x.lo, y.lo), min(x.hi, y.hi)
    return Enclosure(lo, hi) if lo <= hi else None


def hull(x, y):
    return None if x is None or y is None else Enclosure(min(x.lo, y.lo), max(x.hi, y.hi))


def dot(xs, ys):
    total = ZERO
    for x, y in zip(xs, ys):
        total = plus(total, times(x, y))
    return total


def power(x, n):
    """x^n, n at least 0."""
    if x is None:
        return None

    def end(a):
        result, base = ONE, Enclosure(a, a)
        for _ in range(n):
            result = result * base
        return result

    a, b = end(x.lo), end(x.hi)
    whole = hull(a, b)
    if n % 2 == 1 or n == 0:
        return whole
    return Enclosure(0 if x.holds_zero() else max(whole.lo, 0), whole.hi)


def square(x):
    return power(x, 2)


def sqrt(x):
    if x is None or x.lo < 0:
        return None
    return Enclosure(math.isqrt(x.lo << UNIT), math.isqrt(x.hi << UNIT) + 1)


def absolute(x):
    if x is None:
        return None
    if x.holds_zero():
        return Enclosure(0, x.magnitude())
    return x if x.lo > 0 else -x


def increasing(x, f):
    return None if x is None else hull(f(x.lo), f(x.hi))


def point(a):
    return Enclosure(a, a)


def _arctan_of_inverse(n):
    """arctan 1/n, n at least 2."""
    total, term, k = ZERO, over(ONE, of(Fraction(n))), 0
    while term.hi > 1 << 8:
        own = over(term, of(Fraction(2 * k + 1)))
        total = total + own if k % 2 == 0 else total - own
        term, k = over(term, of(Fraction(n * n))), k + 1
    return total + Enclosure(-term.hi, term.hi)


# Machin's formula.
PI = of(Fraction(16)) * _arctan_of_inverse(5) - of(Fraction(4)) * _arctan_of_inverse(239)
HALF_PI = over(PI, of(Fraction(2)))


def _series(x, first):
    """The sum of (-1)^k x^n/n! over n = first + 2k: the sine for first = 1, the cosine for 0; |x| below 1."""
    x2, tail = square(x), Enclosure(0, WHOLE)
    # The tail alternates and decreases: it is a part of its first term.
    for k in range(28, 0, -1):
        n = first + 2 * k
        tail = ONE - over(x2, of(Fraction(n * (n - 1)))) * tail
    return x * tail if first else tail


def _sine_at(a):
    turns = round(Fraction(a, HALF_PI.lo))
    rest = point(a) - HALF_PI * of(Fraction(turns))
    found = _series(rest, 1 - turns % 2)
    return -found if turns % 4 >= 2 else found


def _may_hold(x, a):
    """Whether a + 2 pi k may lie in x."""
    turns = over(x - a, PI + PI)
    return -(-turns.lo // WHOLE) <= turns.hi // WHOLE


def sin(x):
    if x is None:
        return None
    ends = hull(_sine_at(x.lo), _sine_at(x.hi))
    top = WHOLE if _may_hold(x, HALF_PI) else min(ends.hi, WHOLE)
    bottom = -WHOLE if _may_hold(x, -HALF_PI) else max(ends.lo, -WHOLE)
    return Enclosure(bottom, top)


def cos(x):
    return sin(plus(x, HALF_PI))


def tan(x):
    """It increases between two zeros of the cosine."""
    c = cos(x)
    if c is None or c.holds_zero():
        return None
    return increasing(x, lambda a: over(_sine_at(a), cos(point(a))))


def _exp_at(a):
    if abs(a) > 700 * WHOLE:
        return None if a > 0 else Enclosure(0, 1)
    # e^a = (e^(a/2^k))^(2^k), |a|/2^k at most 1.
    k = max(abs(a).bit_length() - UNIT, 0)
    x, tail = over(point(a), of(Fraction(1 << k))), Enclosure(-2 * WHOLE, 2 * WHOLE)
    for n in range(48, 0, -1):
        tail = ONE + over(x, of(Fraction(n))) * tail
    for _ in range(k):
        tail = square(tail)
    return tail


def exp(x):
    return increasing(x, _exp_at)


def _guess(f, a):
    """About f, however far."""
    try:
        return of(Fraction(f(a / WHOLE)))
    except (OverflowError, ValueError):
        return ZERO


def _ln_at(a):
    if a <= 0:
        return None
    guess = _guess(math.log, a)
    for _ in range(3):
        # 1 - 1/z <= ln z <= z - 1.
        e = _exp_at(-guess.lo)
        z = times(point(a), e)
        if z is None or z.lo <= 0:
            return None
        rest = hull(ONE - over(ONE, z), z - ONE)
        found = point(guess.lo) + rest
        guess = found.middle()
    return found


def ln(x):
    return increasing(x, _ln_at)


def _atan_at(a):
    if abs(a) > WHOLE:
        rest = increasing(over(ONE, point(a)), _atan_at)
        return (HALF_PI if a > 0 else -HALF_PI) - rest
    guess = _guess(math.atan, a)
    for _ in range(3):
        t = over(_sine_at(guess.lo), cos(point(guess.lo)))
        # arctan x - arctan t = arctan (x - t)/(1 + x t), nearer to zero than its argument and than a cubic more.
        rest = over(point(a) - t, ONE + point(a) * t)
        cubic = over(power(absolute(rest), 3), of(Fraction(3)))
        found = point(guess.lo) + rest + Enclosure(-cubic.hi, cubic.hi)
        guess = found.middle()
    return found


def atan(x):
    return increasing(x, _atan_at)


def _asin_at(a):
    if abs(a) > WHOLE:
        return None
    if abs(a) == WHOLE:
        return HALF_PI if a > 0 else -HALF_PI
    return increasing(over(point(a), sqrt(ONE - square(point(a)))), _atan_at)


def asin(x):
    return increasing(x, _asin_at)


def acos(x):
    return minus(HALF_PI, asin(x))


def sinh(x):
    half = of(Fraction(1, 2))
    return increasing(x, lambda a: times(minus(_exp_at(a), _exp_at(-a)), half))


def cosh(x):
    half = of(Fraction(1, 2))
    return increasing(absolute(x), lambda a: times(plus(_exp_at(a), _exp_at(-a)), half))


def tanh(x):
    two = of(Fraction(2))

    def at(a):
        a = max(min(a, 300 * WHOLE), -300 * WHOLE)
        own = ONE - over(two, plus(_exp_at(2 * a), ONE))
        return hull(own, point(WHOLE if a > 0 else -WHOLE)) if abs(a) == 300 * WHOLE else own

    return increasing(x, at)


def least(x, y):
    return None if x is None or y is None else Enclosure(min(x.lo, y.lo), min(x.hi, y.hi))


def atan2(y, x):
    """The angle of the point (x, y), where it does not jump."""
    if x is None or y is None:
        return None
    if x.lo > 0:
        return atan(over(y, x))
    if y.lo > 0:
        return minus(HALF_PI, atan(over(x, y)))
    if y.hi < 0:
        return minus(-HALF_PI, atan(over(x, y)))
    return None
