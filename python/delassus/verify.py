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


# Contact problems

QUESTIONS = ("existence", "acceleration_unique", "forces_unique")


class Problem:
    """M a + F = J' f, u = J a + bias, with laws."""

    def __init__(self, value):
        n = index(get(value, "coordinates"), 2**20)
        self.mass = [sparse_row(row, n) for row in items(get(value, "mass"), n)]
        self.force = intervals(get(value, "force"), n)
        self.constraints = constraints(value, n)

    def is_pad(self, contact):
        """Whether the normal moves one coordinate, which nothing else moves and no mass couples."""

        def moves(row, j):
            return j in row and not row[j].is_zero()

        own = [j for j, x in contact.rows[0].items() if not x.is_zero()]
        if contact.law != "coulomb-plane" or len(own) != 1:
            return False
        rows = sum(moves(row, own[0]) for c in self.constraints for row in c.rows)
        masses = sum(moves(row, own[0]) for row in self.mass)
        return rows == 1 and masses == 1 and moves(self.mass[own[0]], own[0])


def check_contact(document):
    problem, claim, facts = Problem(get(document, "problem")), get(document, "claim"), get(document, "facts")
    claims = {q: items_of(claim)[q] for q in QUESTIONS if q in claim}
    if not claims or not all(isinstance(c, bool) for c in claims.values()):
        raise NotACertificate(f"expected true or false for one of {', '.join(QUESTIONS)}")
    method = get(facts, "method")
    if not isinstance(method, str) or method not in METHODS:
        raise NotACertificate(f"expected one of the methods {', '.join(METHODS)}, found {method!r:.60}")
    proved = dict(zip(QUESTIONS, METHODS[method](problem, facts)))
    for question, answer in claims.items():
        if proved[question] is not answer:
            raise Unproved(f"the facts do not prove what is claimed of {question}")
    return ", ".join(f"{q}: {'yes' if a else 'no'}" for q, a in claims.items())


def by_rest(problem, facts):
    """Forces without friction balance F, and M is positive definite: a = 0 is the only acceleration."""
    mass = {}
    for i, row in enumerate(problem.mass):
        for j, x in row.items():
            y = problem.mass[j].get(i)
            if y is None or (x.lo, x.hi) != (y.lo, y.hi):
                raise Unproved("the mass is not symmetric")
            if j <= i:
                add(mass, i, j, x)
    least_eigenvalue(len(problem.mass), mass, get(facts, "mass"))
    balance = Balance(problem.constraints, problem.force)
    without_friction(balance, rest(balance, balance.load, facts), problem.is_pad)
    return True, True, None


class Contact:
    """A contact, with the places of its rows among those of all contacts."""

    def __init__(self, constraint, place, start):
        self.law, self.place = constraint.law, place
        self.rows = range(start, start + len(constraint.rows))
        self.mu = constraint.coefficients[0] if constraint.coefficients else ZERO
        # Friction is -mu f_n times this; None where its direction is not known.
        self.slip = None
        if self.law == "sliding":
            self.slip = constraint.slip
        elif self.mu.is_zero():
            self.slip = [ZERO] * (len(self.rows) - 1)


class Reduced:
    """u = W f + q on the rows of contacts, joints held, by about the inverse of K = [M -G'; G 0]."""

    def __init__(self, problem, facts):
        n = len(problem.force)
        self.contacts, joints, rows = [], [], []
        for place, c in enumerate(problem.constraints):
            if c.law == "bilateral":
                joints.append(c)
            elif c.law in ("unilateral", "coulomb-plane", "coulomb", "sliding"):
                self.contacts.append(Contact(c, place, len(rows)))
                rows += zip(c.rows, c.bias)
            else:
                raise NotACertificate("expected laws that have pieces")
        size = n + len(joints)
        inverse = [numbers(row, size) for row in items(get(facts, "inverse"), size)]
        k = [dict(row) for row in problem.mass]
        for place, c in enumerate(joints):
            for j, x in c.rows[0].items():
                k[j][n + place] = -x
        k += [dict(c.rows[0]) for c in joints]
        load = [-f for f in problem.force] + [-c.bias[0] for c in joints]
        right = [row for row, _ in rows] + [dict(enumerate(load))]
        answers = solve(k, inverse, right)
        self.w = [[product(row, x).trimmed() for x in answers[:-1]] for row, _ in rows]
        self.q = [(product(row, answers[-1]) + bias).trimmed() for row, bias in rows]

    def velocity(self, f):
        u = list(self.q)
        for j, x in enumerate(f):
            if not x.is_zero():
                u = [a + row[j] * x for a, row in zip(u, self.w)]
        return u


def product(row, x):
    total = ZERO
    for j, entry in row.items():
        total = total + entry * x[j]
    return total


def solve(k, inverse, right):
    """Bounds of K^-1 b for some b: |K^-1 b - R b| <= e/(1 - e) |R b| where |I - R K| <= e < 1."""
    near = []
    for b in right:
        near.append([sum((x * r[j] for j, x in b.items()), ZERO).trimmed() for r in inverse])
    size, weights = range(len(k)), [Fraction(1)] * len(k)
    for _ in range(3):  # Towards the largest eigenvector of |R||K|, so that units play no part.
        sizes = [sum(x.magnitude() * weights[j] for j, x in row.items()) for row in k]
        following = [_floor(sum((abs(x) * y for x, y in zip(r, sizes)), Fraction(0))) for r in inverse]
        top = max(following, default=1)
        weights = [_floor(w / top) if w > 0 else Fraction(1) for w in following]
    defect = Fraction(0)
    for i, r in enumerate(inverse):
        row = [ONE if i == j else ZERO for j in size]
        for x, entries in zip(r, k):
            if x:
                for j, y in entries.items():
                    row[j] = row[j] - y * x
        defect = max(defect, sum(x.magnitude() * w for x, w in zip(row, weights)) / weights[i])
    if defect >= 1:
        raise Unproved("the inverse does not show that forces determine accelerations")
    answers = []
    for x in near:
        share = defect / (1 - defect) * max((a.magnitude() / w for a, w in zip(x, weights)), default=0)
        answers.append([(a + Interval(-share * w, share * w)).trimmed() for a, w in zip(x, weights)])
    return answers


SIGN = {"plus": 1, "minus": -1}


class Solution:
    """A solution in one choice of modes, proved by Krawczyk's test."""

    def __init__(self, reduced, value):
        self.modes = items(get(value, "modes"), len(reduced.contacts))
        for contact, mode in zip(reduced.contacts, self.modes):
            if contact.slip is not None:
                allowed = ("open", "closed")
            elif contact.law == "coulomb-plane":
                allowed = ("open", "stick", "plus", "minus")
            else:
                allowed = ("open", "stick", "slide")
            if mode not in allowed:
                raise NotACertificate(f"expected a mode of the law {contact.law}, found {mode!r:.60}")
        self.rows = [i for c, mode in zip(reduced.contacts, self.modes) if mode != "open" for i in c.rows]
        count = len(self.rows)
        centre, radius, alone = (numbers(get(value, key), count) for key in ("centre", "radius", "alone"))
        inverse = [numbers(row, count) for row in items(get(value, "inverse"), count)]
        if any(r <= 0 or r > a for r, a in zip(radius, alone)):
            raise Unproved("a solution has a box that is empty, or not within the one without another")

        def boxed(radii):
            x = [ZERO] * len(reduced.q)
            for i, c, r in zip(self.rows, centre, radii):
                x[i] = Interval(c - r, c + r)
            return x

        self.force, self.alone = boxed(radius), boxed(alone)
        self.velocity = reduced.velocity(self.force)
        values = self.equations(reduced, boxed([Fraction(0)] * count))
        moved = self.moved(reduced, inverse, self.force, radius)
        for i, row in enumerate(inverse):
            step = sum((g * c for c, g in zip(row, values)), ZERO).magnitude()
            if step + moved[i] >= radius[i]:
                raise Unproved("the box of a solution is not proved to hold one")
        if any(m >= r for m, r in zip(self.moved(reduced, inverse, self.alone, alone), alone)):
            raise Unproved("the box around a solution may hold another")
        if not all(self.obeys(c, mode) for c, mode in zip(reduced.contacts, self.modes)):
            raise Unproved("a solution does not obey the inequalities of its modes")

    def obeys(self, contact, mode):
        f, u = ([x[i] for i in contact.rows] for x in (self.force, self.velocity))
        if mode == "open":
            return u[0].lo >= 0
        if f[0].lo < 0:
            return False
        if mode == "stick":
            friction = sum(x.square().hi for x in f[1:])
            return contact.mu.square().lo * f[0].square().lo >= friction
        if mode == "slide":
            return (f[1] * u[1] + f[2] * u[2]).hi <= 0
        return mode == "closed" or (u[1] * SIGN[mode]).lo >= 0

    def equations(self, reduced, f):
        u, values = reduced.velocity(f), []
        for contact, mode in zip(reduced.contacts, self.modes):
            n, mu = contact.rows.start, contact.mu
            if mode == "stick":
                values += [u[i] for i in contact.rows]
            elif mode == "slide":
                cone = f[n + 1].square() + f[n + 2].square() - mu.square() * f[n].square()
                values += [u[n], cone, f[n + 1] * u[n + 2] - f[n + 2] * u[n + 1]]
            elif mode != "open":
                values.append(u[n])
                values += [f[n + 1 + i] + mu * e * f[n] for i, e in enumerate(direction(contact, mode))]
        return values

    def slope(self, reduced, x):
        u, rows = reduced.velocity(x), []

        def w(i):
            return {j: reduced.w[i][j] for j in self.rows}

        for contact, mode in zip(reduced.contacts, self.modes):
            n, mu = contact.rows.start, contact.mu
            if mode == "stick":
                rows += [w(i) for i in contact.rows]
            elif mode == "slide":
                f1, f2 = x[n + 1], x[n + 2]
                cross = {j: f1 * reduced.w[n + 2][j] - f2 * reduced.w[n + 1][j] for j in self.rows}
                cross[n + 1] = cross[n + 1] + u[n + 2]
                cross[n + 2] = cross[n + 2] - u[n + 1]
                rows += [w(n), {n: mu.square() * x[n] * Fraction(-2), n + 1: f1 * 2, n + 2: f2 * 2}, cross]
            elif mode != "open":
                rows.append(w(n))
                rows += [{n: mu * e, n + 1 + i: ONE} for i, e in enumerate(direction(contact, mode))]
        return [[row.get(j, ZERO) for j in self.rows] for row in rows]

    def moved(self, reduced, inverse, x, radius):
        """|I - C G'(X)| r."""
        slope, moved = self.slope(reduced, x), []
        for i, c in enumerate(inverse):
            total = Fraction(0)
            for j, r in enumerate(radius):
                entry = sum((row[j] * y for y, row in zip(c, slope)), ZERO)
                total += ((ONE if i == j else ZERO) - entry).magnitude() * r
            moved.append(total)
        return moved


def direction(contact, mode):
    """e in f_t = -mu f_n e."""
    return [Interval(Fraction(SIGN[mode]))] if mode in SIGN else contact.slip


class Tree:
    """Pieces of the laws, each of which holds no solution, or one that is known."""

    def __init__(self, reduced, solutions):
        self.reduced, self.solutions = reduced, solutions

    def check(self, pieces, node, depth=0):
        """A piece is None (the whole law), a mode, or two directions between which it slides."""
        if depth > 400:
            raise NotACertificate("expected a tree that is less deep")
        items_of(node)
        if "empty" in node:
            self.excluded(pieces, numbers(node["empty"], len(self.reduced.q)))
        elif "solution" in node:
            self.within(pieces, node)
        else:
            place = get(node, "contact")
            at = [k for k, c in enumerate(self.reduced.contacts) if c.place == place]
            if not at:
                raise NotACertificate(f"{place!r:.60} is not a contact")
            for piece, child in self.cut(self.reduced.contacts[at[0]], pieces[at[0]], node):
                self.check([*pieces[: at[0]], piece, *pieces[at[0] + 1 :]], child, depth + 1)

    def cut(self, contact, piece, node):
        """The parts of a piece: all of it."""
        if piece is None and contact.slip is not None:
            return [(key, get(node, key)) for key in ("open", "closed")]
        if piece is None and contact.law == "coulomb-plane":
            return [(key, get(node, key)) for key in ("open", "stick", "plus", "minus")]
        if piece is not None and not isinstance(piece, tuple):
            raise Unproved("a piece is cut that has no parts")
        directions = [tuple(numbers(e, 2)) for e in items(get(node, "directions"))]
        if any(x * x + y * y != 1 for x, y in directions):
            raise Unproved("a direction does not have length 1")
        parts = []
        if piece is None:
            parts = [(key, get(node, key)) for key in ("open", "stick")]
            directions += directions[:1]
        elif not directions or (directions[0], directions[-1]) != piece:
            raise Unproved("sectors do not cover the one that is cut")
        sectors = list(zip(directions, directions[1:]))
        for a, b in sectors:
            if a[0] * b[1] - a[1] * b[0] <= 0 or dot(a, b) < 0:
                raise Unproved("a sector is not between a straight line and a right angle")
        if not sectors:
            raise NotACertificate("expected directions")
        return parts + list(zip(sectors, items(get(node, "slide"), len(sectors))))

    def excluded(self, pieces, y, beyond=None):
        """Multipliers exclude pieces, or of them forces beyond a bound: row, sign, bound and z."""
        reduced = self.reduced
        used = [i for i, x in enumerate(y) if x]
        gain = sum((reduced.q[i] * y[i] for i in used), ZERO).lo
        if beyond:
            gain += beyond[2] * beyond[3]
        if gain <= 0 or (beyond and beyond[3] < 0):
            raise Unproved("multipliers do not exclude a piece: the load has no gain")
        for contact, piece in zip(reduced.contacts, pieces):
            pressed = [sum((reduced.w[i][j] * y[i] for i in used), ZERO) for j in contact.rows]
            if beyond and beyond[0] in contact.rows:
                at = beyond[0] - contact.rows.start
                pressed[at] = pressed[at] - Interval(beyond[1] * beyond[3])
            own = [y[i] for i in contact.rows]
            if not (moves_against(piece, own) and presses(contact, piece, pressed)):
                raise Unproved("multipliers do not exclude a piece")

    def within(self, pieces, node):
        """All solutions of some pieces are a known one."""
        solution = self.solutions[index(node["solution"], len(self.solutions))]
        if [("slide" if isinstance(p, tuple) else p) for p in pieces] != solution.modes:
            raise Unproved("a solution is not of the modes of its piece")
        if "slide" not in solution.modes:
            # The equations are linear, and have no other solution anywhere.
            return
        sides = {(get(s, "row"), get(s, "sign")): s for s in items(get(node, "sides"))}
        normals = {c.rows.start for c in self.reduced.contacts}
        for row in solution.rows:
            for sign, edge in ((1, solution.alone[row].hi), (-1, -solution.alone[row].lo)):
                if sign < 0 and row in normals and edge > 0:
                    continue  # Contacts do not pull.
                if (row, sign) not in sides:
                    raise Unproved("a side of the box of a solution is missing")
                side = sides[row, sign]
                y = numbers(get(side, "multipliers"), len(self.reduced.q))
                self.excluded(pieces, y, (row, sign, edge, number(get(side, "weight"))))


def moves_against(piece, y):
    """y.u <= 0 for all velocities of a piece."""
    if piece is None or piece == "open":
        return y[0] <= 0 and not any(y[1:])
    if piece == "closed":
        return not any(y[1:])
    if isinstance(piece, tuple):
        return all(dot(y[1:], e) <= 0 for e in piece)
    return piece == "stick" or y[1] * SIGN[piece] <= 0


def presses(contact, piece, p):
    """p.f >= 0 for all forces of a piece."""

    def ray(e):
        across = sum((x * y for x, y in zip(p[1:], e)), ZERO)
        return (p[0] - contact.mu * across).lo >= 0

    if piece == "open":
        return True
    if isinstance(piece, tuple):
        a, b = piece
        tip = [(x + y) / (1 + dot(a, b)) for x, y in zip(a, b)]
        return all(ray([Interval(x) for x in e]) for e in (a, b, tip))
    if isinstance(piece, str) and piece in SIGN:
        return ray([Interval(Fraction(SIGN[piece]))])
    if contact.slip is not None:
        return ray(contact.slip)
    across = sum(x.square().hi for x in p[1:])
    return p[0].lo >= 0 and p[0].lo ** 2 >= contact.mu.hi**2 * across


def by_pieces(problem, facts):
    """All solutions, by pieces of the laws."""
    reduced = Reduced(problem, facts)
    solutions = [Solution(reduced, value) for value in items(get(facts, "solutions"))]
    complete = "tree" in facts
    if complete:
        Tree(reduced, solutions).check([None] * len(reduced.contacts), facts["tree"])

    def apart(of):
        pairs = ((x, y) for k, x in enumerate(solutions) for y in solutions[:k])
        return any(a.hi < b.lo or b.hi < a.lo for x, y in pairs for a, b in zip(of(x), of(y)))

    if not solutions:
        return (False,) * 3 if complete else (None,) * 3
    if complete and len(solutions) == 1:
        return True, True, True
    moves = apart(lambda s: s.velocity)
    return True, False if moves else None, False if moves or apart(lambda s: s.force) else None


METHODS = {"rest": by_rest, "pieces": by_pieces}
CHECKS = {"balance": check_balance, "resistance": check_resistance, "contact-problem": check_contact}


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
