"""Bodies that stand on plane faces, whose only motion is rest."""

from __future__ import annotations

from fractions import Fraction

from .constraints import add, least_eigenvalue
from .exact import (
    ONE,
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
    numbers,
)


def reciprocal(x):
    if x.lo <= 0 <= x.hi:
        raise Unproved("a number that is divided by may be zero")
    return Interval(1 / x.hi, 1 / x.lo)


def minus(a, b):
    return [x - y for x, y in zip(a, b)]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b)), ZERO)


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def skew(r):
    return [[ZERO, -r[2], r[1]], [r[2], ZERO, -r[0]], [-r[1], r[0], ZERO]]


def transposed(a):
    return [list(column) for column in zip(*a)]


def product(a, b):
    columns = transposed(b)
    return [[dot(row, column).trimmed() for column in columns] for row in a]


class Body:
    """A body that stands with one face."""

    def __init__(self, value, place):
        on = get(value, "on")
        self.on = None if on is None else index(on, place)
        self.mass = interval(get(value, "mass"))
        self.inertia = intervals(get(value, "inertia"), 6)
        self.centre, self.normal = (intervals(get(value, key), 3) for key in ("centre", "normal"))
        contacts = items(get(value, "contacts"))
        self.points = [intervals(get(c, "point"), 3) for c in contacts]
        self.friction = [interval(get(c, "mu")) for c in contacts]
        if not contacts or self.mass.lo <= 0 or any(mu.lo < 0 for mu in self.friction):
            raise NotACertificate("expected a mass, contacts, and friction that is not negative")


class Tree:
    """Bodies that stand on each other, the lower ones first."""

    def __init__(self, problem):
        self.gravity = intervals(get(problem, "gravity"), 3)
        self.bodies = [Body(own, place) for place, own in enumerate(items(get(problem, "bodies")))]

    def stands_on(self, q, p):
        while q is not None and q != p:
            q = self.bodies[q].on
        return q == p

    def above(self, p):
        return [b for q, b in enumerate(self.bodies) if self.stands_on(q, p)]

    def down(self, p):
        """1/(g·n)."""
        down = dot(self.gravity, self.bodies[p].normal)
        if down.hi >= 0:
            raise Unproved("a face does not look up")
        return reciprocal(down)

    def sticks(self, p):
        own = self.bodies[p]
        self.down(p)
        off = [dot(own.normal, minus(point, own.points[0])) for point in own.points]
        if any(x.lo > 0 or x.hi < 0 for x in off):
            raise Unproved("the contacts of a face do not lie in one plane")
        down = dot(self.gravity, own.normal).square().lo
        slope = (dot(self.gravity, self.gravity) * dot(own.normal, own.normal)).hi
        if any((1 + mu.lo * mu.lo) * down < slope for mu in own.friction):
            raise Unproved("a face is steeper than its friction")

    def is_inside(self, p, polygon):
        """The weight on a face acts to the left of each side of a polygon of contacts."""
        own = self.bodies[p]
        mass, moment = ZERO, [ZERO] * 3
        for b in self.above(p):
            mass = mass + b.mass
            moment = [x + b.mass * y for x, y in zip(moment, b.centre)]
        centre = [x * reciprocal(mass) for x in moment]
        along = dot(minus(centre, own.points[0]), own.normal) * self.down(p)
        weight = [x - along * g for x, g in zip(centre, self.gravity)]
        for k in range(len(polygon)):
            a, b = own.points[polygon[k]], own.points[polygon[(k + 1) % len(polygon)]]
            if dot(own.normal, cross(minus(b, a), minus(weight, a))).lo <= 0:
                raise Unproved("the weight on a face does not act inside of its contacts")
        if not polygon:
            raise Unproved("no contact is around a weight")

    def inertia(self, p):
        """The inertia of all that stands on a face, at its first contact."""
        out = [[ZERO] * 6 for _ in range(6)]
        for b in self.above(p):
            r = skew(minus(b.centre, self.bodies[p].points[0]))
            xx, xy, xz, yy, yz, zz = b.inertia
            own = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
            square = product(r, r)
            for i in range(3):
                out[i][i] = out[i][i] + b.mass
                for j in range(3):
                    out[i][3 + j] = out[i][3 + j] - b.mass * r[i][j]
                    out[3 + i][j] = out[3 + i][j] + b.mass * r[i][j]
                    out[3 + i][3 + j] = out[3 + i][3 + j] + own[i][j] - b.mass * square[i][j]
        return out

    def image(self, p, lift):
        """S at a face."""
        g, n = self.gravity, self.bodies[p].normal
        down, square = self.down(p), reciprocal(dot(n, n))
        out = [[ZERO] * 6 for _ in range(6)]
        for i in range(3):
            for j in range(3):
                one, along = (ONE if i == j else ZERO), n[i] * n[j] * square * lift
                out[i][j] = (one - n[i] * g[j] * down + along).trimmed()
                out[3 + i][3 + j] = (g[i] * n[j] * down + one * lift - along).trimmed()
        return out

    def form(self, lift, scales):
        """Half of SᵀM + MS, by the relative accelerations of all faces, rows and columns times the scales."""
        images = [self.image(p, lift) for p in range(len(self.bodies))]
        out = {}
        for q, body in enumerate(self.bodies):
            inertia = self.inertia(q)
            for p in (p for p in range(q + 1) if self.stands_on(q, p)):
                r = skew(minus(body.points[0], self.bodies[p].points[0]))
                moved = [[ONE if i == j else ZERO for j in range(6)] for i in range(6)]
                for i in range(3):
                    for j in range(3):
                        if p != q:
                            moved[i][3 + j] = -r[i][j]
                both = product(transposed(moved), inertia)
                first, second = product(transposed(images[p]), both), product(both, images[q])
                for i in range(6):
                    for j in range(6 if p != q else i + 1):
                        scale = scales[6 * p + i] * scales[6 * q + j] / 2
                        entry = (first[i][j] + second[i][j]) * scale
                        row, column = 6 * p + i, 6 * q + j
                        add(out, max(row, column), min(row, column), entry)
        return out


def check_faces(document):
    tree, facts = Tree(get(document, "problem")), get(document, "facts")
    if get(get(document, "claim"), "stands") != "surely":
        raise NotACertificate("expected the claim that it surely stands")
    count = len(tree.bodies)
    around = [
        [index(k, len(own.points)) for k in items(polygon)]
        for own, polygon in zip(tree.bodies, items(get(facts, "around"), count))
    ]
    lift, scales = number(get(facts, "lift")), numbers(get(facts, "scales"), 6 * count)
    if lift <= Fraction(0) or not all(scales):
        raise Unproved("the numbers of S or the scales are zero")
    for p, polygon in enumerate(around):
        tree.sticks(p)
        tree.is_inside(p, polygon)
    least_eigenvalue(6 * count, tree.form(lift, scales), get(facts, "bound"))
    return "every body stands on a plane face within its friction: stands: surely"
