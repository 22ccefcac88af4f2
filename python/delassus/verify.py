"""A checker of certificates that needs nothing but Python's standard library.

    python verify.py CERTIFICATE.json

Exit code 0: the facts prove the claim. 1: they do not. 2: the file is no certificate. The chapter on
certificates of the book has the format, the claims and their proofs; all arithmetic here is that of
fractions, and nothing that a certificate says is believed: what a claim needs is computed from the problem
in the file.
"""

from __future__ import annotations

import json
import math
import re
import sys
from fractions import Fraction

__all__ = ["NotACertificate", "Unproved", "main", "verify"]


class NotACertificate(Exception):
    """The document is no certificate: what was expected."""


class Unproved(Exception):
    """The facts do not prove the claim: why not."""


# Numbers and intervals


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
        return Interval(_floor(self.lo), -_floor(-self.hi))


ZERO = Interval(Fraction(0))
ONE = Interval(Fraction(1))


def _floor(x, bits=192):
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


# Constraints

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
}


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
        self.slip = intervals(get(value, "slip"), count - 1) if self.law == "sliding" else []
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


# Least eigenvalues


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


# Balance


class Balance:
    """Constraints at rest, and the load that they have to balance."""

    def __init__(self, all_of, load):
        self.constraints, self.load = all_of, load
        if any(c.law == "sliding" or not all(b.is_zero() for b in c.bias) for c in all_of):
            raise NotACertificate("expected constraints at rest, without slip and bias")

    @staticmethod
    def read(problem):
        n = index(get(problem, "coordinates"), 2**20)
        return Balance(constraints(problem, n), intervals(get(problem, "load"), n))

    def rows(self):
        return [row for c in self.constraints for row in c.rows]

    def parts(self, all_of):
        """Each constraint with its part of a list that has one entry per row."""
        at = 0
        for c in self.constraints:
            yield c, all_of[at : at + len(c.rows)]
            at += len(c.rows)


def rest(balance, load, facts):
    """Forces near the facts balance a load, for all data; gives those."""
    rows = balance.rows()
    forces = numbers(get(facts, "forces"), len(rows))
    residual, place, gram = list(load), {}, {}
    for row, force in zip(rows, forces):
        if force == 0:
            continue
        for j, x in row.items():
            residual[j] = residual[j] - x * force
            place.setdefault(j, len(place))
        for j, x in row.items():
            for k, y in row.items():
                if k < j:
                    add(gram, place[j], place[k], x * y)
            add(gram, place[j], place[j], x.square())
    if any(j not in place and not r.is_zero() for j, r in enumerate(residual)):
        raise Unproved("a load acts where no force does")
    d = distance(len(place), gram, [residual[j] for j in place], facts)
    if not all(has_room(c, own, d) for c, own in balance.parts(forces)):
        raise Unproved("a force is not within its bounds")
    return forces


def has_room(c, own, d):
    """Whether forces stay in their cone wherever they move by a distance."""
    if c.law == "bilateral" or not any(own):
        return True
    if c.law == "bounded":
        return abs(own[0]) + d <= c.coefficients[0].lo
    if own[0] <= d:
        return False
    for mu, a, b in c.groups():
        friction = own[a:b]
        if any(friction):
            size = root_above(sum(f * f for f in friction))
            if size + root_above(1 + mu.lo * mu.lo) * d > mu.lo * own[0]:
                return False
    return True


def without_friction(balance, forces, may=lambda c: False):
    """Refuses friction at contacts, but for those that may."""
    for c, own in balance.parts(forces):
        if c.is_contact() and any(own[1:]) and not may(c):
            raise Unproved("a contact has friction, where the claim needs forces without")


def collapse(balance, load, facts):
    """The velocities of the facts show that no forces balance a load."""
    velocity = numbers(get(facts, "velocity"), len(load))
    joints = [row for c in balance.constraints if c.law == "bilateral" for row in c.rows]
    joined = {}
    for i, row in enumerate(joints):
        for j, x in row.items():
            joined.setdefault(j, []).append((i, x))
    gram = {}
    for column in joined.values():
        for k, (i, x) in enumerate(column):
            add(gram, i, i, x.square())
            for j, y in column[:k]:
                add(gram, i, j, x * y)
    d = distance(len(joints), gram, [along(row, velocity) for row in joints], facts)

    def change(rows):
        return d * length(x for row in rows for j, x in row.items() if j in joined)

    def slip(rows):
        return length(along(row, velocity) for row in rows) + change(rows)

    power = -sum((f * v for f, v in zip(load, velocity)), ZERO).hi
    power -= d * length(f for j, f in enumerate(load) if j in joined)
    for c in balance.constraints:
        if c.law == "bounded":
            power -= c.coefficients[0].hi * slip(c.rows)
        elif c.law != "bilateral":
            opening = along(c.rows[0], velocity).lo - change(c.rows[:1])
            if opening < sum(mu.hi * slip(c.rows[a:b]) for mu, a, b in c.groups()):
                raise Unproved("a contact closes, or slides without opening enough")
    if power <= 0:
        raise Unproved("the load has no power")


def check_balance(document):
    balance = Balance.read(get(document, "problem"))
    claim, facts = get(get(document, "claim"), "stands"), get(document, "facts")
    if claim == "possibly":
        rest(balance, balance.load, facts)
    elif claim == "surely":
        without_friction(balance, rest(balance, balance.load, facts))
    elif claim == "no":
        collapse(balance, balance.load, facts)
    else:
        raise NotACertificate(f"expected surely, possibly or no, found {claim!r:.60}")
    return f"stands: {claim}"


# Resistance


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def encloses(corners, faces, radius):
    """Refuses faces that do not close around a ball."""
    edges = set()
    for face in items(faces):
        a, b, c = (index(i, len(corners)) for i in items(face, 3))
        from_a = [[x - y for x, y in zip(corners[k], corners[a])] for k in (b, c)]
        normal = cross(*from_a)
        height = dot(normal, corners[a])
        if height <= 0 or any(dot(normal, v) > height for v in corners):
            raise Unproved("a face is not a face of the hull of the corners")
        if height * height < radius * radius * dot(normal, normal):
            raise Unproved("a face is nearer than the force that is claimed")
        for edge in ((a, b), (b, c), (c, a)):
            if edge in edges:
                raise Unproved("an edge belongs twice to faces in the same direction")
            edges.add(edge)
    if not edges or radius < 0 or any((b, a) not in edges for a, b in edges):
        raise Unproved("the faces do not close")


def check_resistance(document):
    problem, claim, facts = (get(document, key) for key in ("problem", "claim", "facts"))
    balance = Balance.read(problem)
    push = [sparse_row(row, len(balance.load)) for row in items(get(problem, "push"), 3)]

    def loaded(force):
        load = list(balance.load)
        for p, w in zip(push, force):
            for j, x in p.items():
                load[j] = load[j] + x * w
        return load

    said = []
    if "resists" in items_of(claim):
        radius = number(claim["resists"])
        corners = []
        for corner in items(get(facts, "corners")):
            force = numbers(get(corner, "force"), 3)
            rest(balance, loaded(force), corner)
            corners.append(force)
        encloses(corners, get(facts, "faces"), radius)
        said.append(f"every force up to {float(radius):.6g} is resisted")
    if "fails" in claim:
        size, weakest = number(claim["fails"]), get(facts, "weakest")
        force = numbers(get(weakest, "force"), 3)
        if size < 0 or dot(force, force) > size * size:
            raise Unproved("the force that is not resisted is larger than claimed")
        collapse(balance, loaded(force), weakest)
        said.append(f"a force of {float(size):.6g} is not")
    if not said:
        raise NotACertificate("expected a claim with the key `resists` or `fails`")
    return "; ".join(said)


def items_of(value):
    """An object."""
    if not isinstance(value, dict):
        raise NotACertificate(f"expected an object, found {value!r:.60}")
    return value


CHECKS = {"balance": check_balance, "resistance": check_resistance}


def verify(document):
    """What a certificate proves, in words; raises `Unproved` or `NotACertificate` elsewhere."""
    if not isinstance(document, dict) or document.get("format") != "delassus-certificate":
        raise NotACertificate('expected "format": "delassus-certificate"')
    if document.get("version") != 1:
        raise NotACertificate('expected "version": 1')
    kind = get(document, "kind")
    if not isinstance(kind, str) or kind not in CHECKS:
        raise NotACertificate(f"expected one of the kinds {', '.join(CHECKS)}, found {kind!r:.60}")
    return CHECKS[kind](document)


def main(arguments):
    """The program; gives its exit code."""
    if len(arguments) != 1:
        print("usage: verify.py CERTIFICATE.json", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            document = json.load(file)
        print(f"verified: {verify(document)}")
        return 0
    except Unproved as fault:
        print(f"not proved: {fault}")
        return 1
    except (NotACertificate, OSError, ValueError, RecursionError) as fault:
        print(f"error: {arguments[0]}: {fault}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
