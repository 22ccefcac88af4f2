"""Formulas in postfix order, with first and mixed second derivatives in two directions."""

from __future__ import annotations

import re
from fractions import Fraction

from . import enclosure as e
from .enclosure import ONE, ZERO, minus, negative, of, over, plus, square, times
from .exact import NotACertificate, interval, items

BINARY = ("+", "-", "*", "/", "^", "atan2", "min", "max")
UNARY = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "ln", "sqrt", "abs")
TWO = of(Fraction(2))
FOUR = of(Fraction(4))


class Dual:
    """A value, its derivatives in directions a and b, and the mixed one."""

    __slots__ = ("a", "ab", "b", "value")

    def __init__(self, value, a=ZERO, b=ZERO, ab=ZERO):
        self.value, self.a, self.b, self.ab = value, a, b, ab

    def is_constant(self):
        return all(x is not None and x.is_zero() for x in (self.a, self.b, self.ab))

    def but(self, **changed):
        return Dual(*(changed.get(key, getattr(self, key)) for key in ("value", "a", "b", "ab")))

    def negative(self):
        return Dual(negative(self.value), negative(self.a), negative(self.b), negative(self.ab))

    def plus(self, y):
        return Dual(plus(self.value, y.value), plus(self.a, y.a), plus(self.b, y.b), plus(self.ab, y.ab))

    def times(self, y):
        first, second = plus(times(self.a, y.b), times(self.b, y.a)), times(self.value, y.ab)
        return Dual(
            times(self.value, y.value),
            plus(times(self.a, y.value), times(self.value, y.a)),
            plus(times(self.b, y.value), times(self.value, y.b)),
            plus(plus(times(self.ab, y.value), first), second),
        )

    def chain(self, f, slopes):
        """f of it; `slopes` gives the first and the second derivative."""
        if self.is_constant():
            return Dual(f)
        first, second = slopes()
        bent = times(times(second, self.a), self.b)
        return Dual(f, times(first, self.a), times(first, self.b), plus(times(first, self.ab), bent))


def reciprocal(y):
    f = over(ONE, y.value)
    return y.chain(f, lambda: (negative(square(f)), times(TWO, e.power(f, 3))))


def raised(x, c):
    """x to a constant power."""
    if c.denominator == 1 and abs(c) <= 64:
        found = e.power(x, abs(int(c)))
        return over(ONE, found) if c < 0 else found
    if c == Fraction(1, 2):
        return e.sqrt(x)
    return e.exp(times(e.ln(x), of(c))) if x is not None and x.lo > 0 else None


def power(x, y):
    if not y.is_constant() or y.value is None or not y.value.is_point():
        return unary("exp", y.times(unary("ln", x)))
    c = Fraction(y.value.lo, e.WHOLE)

    def factor(k, c):
        return ZERO if k == 0 else times(of(k), raised(x.value, c))

    return x.chain(raised(x.value, c), lambda: (factor(c, c - 1), factor(c * (c - 1), c - 2)))


def unary(name, x):
    v = x.value
    if name == "sin":
        return x.chain(e.sin(v), lambda: (e.cos(v), negative(e.sin(v))))
    if name == "cos":
        return x.chain(e.cos(v), lambda: (negative(e.sin(v)), negative(e.cos(v))))
    if name == "tan":
        t = e.tan(v)
        slope = plus(ONE, square(t))
        return x.chain(t, lambda: (slope, times(TWO, times(t, slope))))
    if name in ("asin", "acos"):
        rest = minus(ONE, square(v))
        first, second = over(ONE, e.sqrt(rest)), over(v, times(rest, e.sqrt(rest)))
        if name == "asin":
            return x.chain(e.asin(v), lambda: (first, second))
        return x.chain(e.acos(v), lambda: (negative(first), negative(second)))
    if name == "atan":
        slope = over(ONE, plus(ONE, square(v)))
        return x.chain(e.atan(v), lambda: (slope, negative(times(TWO, times(v, square(slope))))))
    if name == "sinh":
        return x.chain(e.sinh(v), lambda: (e.cosh(v), e.sinh(v)))
    if name == "cosh":
        return x.chain(e.cosh(v), lambda: (e.sinh(v), e.cosh(v)))
    if name == "tanh":
        t = e.tanh(v)
        slope = minus(ONE, square(t))
        return x.chain(t, lambda: (slope, negative(times(TWO, times(t, slope)))))
    if name == "exp":
        return x.chain(e.exp(v), lambda: (e.exp(v), e.exp(v)))
    if name == "ln":
        return x.chain(e.ln(v), lambda: (over(ONE, v), negative(over(ONE, square(v)))))
    if name == "sqrt":
        root = e.sqrt(v)
        return x.chain(root, lambda: (over(ONE, times(TWO, root)), negative(over(ONE, times(FOUR, times(root, v))))))
    if v is not None and v.lo > 0:
        return x
    if v is not None and v.hi < 0:
        return x.negative()
    return x.chain(e.absolute(v), lambda: (None, None))


def lesser(x, y):
    if x.value is not None and y.value is not None:
        if x.value.hi < y.value.lo:
            return x
        if y.value.hi < x.value.lo:
            return y
    none = ZERO if x.is_constant() and y.is_constant() else None
    return Dual(e.least(x.value, y.value), none, none, none)


def angle(y, x):
    size = plus(square(x.value), square(y.value))

    def turn(dx, dy):
        return minus(times(x.value, dy), times(y.value, dx))

    away = times(TWO, plus(times(x.value, x.b), times(y.value, y.b)))
    mixed = plus(minus(times(x.b, y.a), times(y.b, x.a)), turn(x.ab, y.ab))
    bent = over(times(turn(x.a, y.a), away), square(size))
    return Dual(
        e.atan2(y.value, x.value),
        over(turn(x.a, y.a), size),
        over(turn(x.b, y.b), size),
        minus(over(mixed, size), bent),
    )


def binary(name, x, y):
    if name == "+":
        return x.plus(y)
    if name == "-":
        return x.plus(y.negative())
    if name == "*":
        return x.times(y)
    if name == "/":
        if y.is_constant():
            return Dual(*(over(part, y.value) for part in (x.value, x.a, x.b, x.ab)))
        return x.times(reciprocal(y)).but(value=over(x.value, y.value))
    if name == "^":
        return power(x, y)
    if name == "atan2":
        return angle(x, y)
    if name == "min":
        return lesser(x, y)
    return lesser(x.negative(), y.negative()).negative()


class Formula:
    """Steps in postfix order: numbers, places of names, operations."""

    def __init__(self, value, names):
        self.steps, height = [], 0
        for text in items(value):
            if isinstance(text, str) and text in BINARY + UNARY:
                height -= text in BINARY
                self.steps.append(text)
                if height < 1:
                    raise NotACertificate("expected a formula in postfix order")
                continue
            if isinstance(text, str) and not re.match(r"-?[0-9]", text):
                if text not in names:
                    raise NotACertificate(f"expected a number, a name or an operation, found {text!r:.60}")
                self.steps.append(names.index(text))
            else:
                x = interval(text)
                self.steps.append(Dual(of(x.lo, x.hi)))
            height += 1
        if height != 1:
            raise NotACertificate("expected a formula in postfix order that leaves one number")

    def at(self, values):
        stack = []
        for step in self.steps:
            if isinstance(step, Dual):
                stack.append(step)
            elif isinstance(step, int):
                stack.append(values[step])
            elif step in UNARY:
                stack.append(unary(step, stack.pop()))
            else:
                y, x = stack.pop(), stack.pop()
                stack.append(binary(step, x, y))
        return stack[0]
