"""Whether a load is balanced, possibly, surely or not at all; and how large a force on a body may be."""

from __future__ import annotations

from .constraints import GUIDES, add, constraints, distance, length
from .exact import (
    ZERO,
    NotACertificate,
    Unproved,
    along,
    dot,
    get,
    index,
    intervals,
    items,
    items_of,
    number,
    numbers,
    root_above,
    sparse_row,
)


class Balance:
    """Constraints at rest, and the load that they have to balance."""

    def __init__(self, all_of, load):
        self.constraints, self.load = all_of, load
        moves = ("sliding", *GUIDES)
        if any(c.law in moves or not all(b.is_zero() for b in c.bias) for c in all_of):
            raise NotACertificate("expected constraints at rest, without slip, guides and bias")

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
