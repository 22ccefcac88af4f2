"""All solutions of a contact problem: each in a box of its own, and a tree that excludes all others."""

from __future__ import annotations

from fractions import Fraction

from .exact import ONE, ZERO, Interval, NotACertificate, Unproved, dot, get, index, items, items_of, number, numbers
from .reduced import Reduced

SIGN = {"plus": 1, "minus": -1}
SIDE = {"push": 1, "pull": -1}


class Solution:
    """A solution in one choice of modes, proved by Krawczyk's test."""

    def __init__(self, reduced, value):
        self.modes, self.sides = [], []
        for contact, word in zip(reduced.contacts, items(get(value, "modes"), len(reduced.contacts))):
            side, mode = 1, word
            if contact.is_guide and isinstance(word, str) and "-" in word:
                first, mode = word.split("-", 1)
                side = SIDE.get(first)
            if contact.slip is not None:
                allowed = ("closed",)
            elif contact.is_planar:
                allowed = ("stick", "plus", "minus")
            else:
                allowed = ("stick", "slide")
            if not contact.is_guide:
                allowed += ("open",)
            if mode not in allowed or side is None or contact.is_guide is (mode is word):
                raise NotACertificate(f"expected a mode of the law {contact.law}, found {word!r:.60}")
            self.modes.append(mode)
            self.sides.append(side)
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
        if not all(map(self.obeys, reduced.contacts, self.modes, self.sides)):
            raise Unproved("a solution does not obey the inequalities of its modes")

    def obeys(self, contact, mode, side):
        f, u = ([x[i] for i in contact.rows] for x in (self.force, self.velocity))
        if mode == "open":
            return u[0].lo >= 0
        if (f[0] * side).lo < 0:
            return False
        if mode == "stick":
            friction = sum(x.square().hi for x in f[1:])
            return contact.mu.square().lo * f[0].square().lo >= friction
        if mode == "slide":
            return (f[1] * u[1] + f[2] * u[2]).hi <= 0
        return mode == "closed" or (u[1] * SIGN[mode]).lo >= 0

    def equations(self, reduced, f):
        u, values = reduced.velocity(f), []
        for contact, mode, side in zip(reduced.contacts, self.modes, self.sides):
            n, mu = contact.rows.start, contact.mu * side
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

        for contact, mode, side in zip(reduced.contacts, self.modes, self.sides):
            n, mu = contact.rows.start, contact.mu * side
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
        """A piece is None (the whole law), a mode, or two directions between which it slides, with its side."""
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
            side, piece = pieces[at[0]]
            if side == 0:
                parts = [((SIDE[key], None), get(node, key)) for key in ("push", "pull")]
            else:
                cut = self.cut(self.reduced.contacts[at[0]], piece, node)
                parts = [((side, piece), child) for piece, child in cut]
            for part, child in parts:
                self.check([*pieces[: at[0]], part, *pieces[at[0] + 1 :]], child, depth + 1)

    def cut(self, contact, piece, node):
        """The parts of a piece: all of it."""
        opening = () if contact.is_guide else ("open",)
        if piece is None and contact.slip is not None:
            return [(key, get(node, key)) for key in (*opening, "closed")]
        if piece is None and contact.is_planar:
            return [(key, get(node, key)) for key in (*opening, "stick", "plus", "minus")]
        if piece is not None and not isinstance(piece, tuple):
            raise Unproved("a piece is cut that has no parts")
        directions = [tuple(numbers(e, 2)) for e in items(get(node, "directions"))]
        if any(x * x + y * y != 1 for x, y in directions):
            raise Unproved("a direction does not have length 1")
        parts = []
        if piece is None:
            parts = [(key, get(node, key)) for key in (*opening, "stick")]
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
        for contact, (side, piece) in zip(reduced.contacts, pieces):
            if side == 0:
                raise Unproved("a guide is not cut into its sides")
            pressed = [sum((reduced.w[i][j] * y[i] for i in used), ZERO) for j in contact.rows]
            if beyond and beyond[0] in contact.rows:
                at = beyond[0] - contact.rows.start
                pressed[at] = pressed[at] - Interval(beyond[1] * beyond[3])
            pressed[0] = pressed[0] * side
            own = [y[i] for i in contact.rows]
            if not (moves_against(contact, piece, own) and presses(contact, piece, pressed)):
                raise Unproved("multipliers do not exclude a piece")

    def within(self, pieces, node):
        """All solutions of some pieces are a known one."""
        solution = self.solutions[index(node["solution"], len(self.solutions))]
        modes = ["slide" if isinstance(p, tuple) else p for _, p in pieces]
        # A guide that slides in a known direction has one mode on each side.
        for k, contact in enumerate(self.reduced.contacts):
            if contact.is_guide and contact.slip is not None:
                modes[k] = "closed"
        if modes != solution.modes or [side for side, _ in pieces] != solution.sides:
            raise Unproved("a solution is not of the modes of its piece")
        if "slide" not in solution.modes:
            # The equations are linear, and have no other solution anywhere.
            return
        sides = {(get(s, "row"), get(s, "sign")): s for s in items(get(node, "sides"))}
        normals = {c.rows.start: side for c, side in zip(self.reduced.contacts, solution.sides)}
        for row in solution.rows:
            for sign, edge in ((1, solution.alone[row].hi), (-1, -solution.alone[row].lo)):
                if normals.get(row) == -sign and edge > 0:
                    continue  # Contacts do not pull, and guides do so on their side alone.
                if (row, sign) not in sides:
                    raise Unproved("a side of the box of a solution is missing")
                side = sides[row, sign]
                y = numbers(get(side, "multipliers"), len(self.reduced.q))
                self.excluded(pieces, y, (row, sign, edge, number(get(side, "weight"))))


def moves_against(contact, piece, y):
    """y.u <= 0 for all velocities of a piece."""
    if piece is None and contact.is_guide:
        return not any(y[1:])
    if piece is None or piece == "open":
        return y[0] <= 0 and not any(y[1:])
    if piece == "closed":
        return not any(y[1:])
    if isinstance(piece, tuple):
        return all(dot(y[1:], e) <= 0 for e in piece)
    return piece == "stick" or y[1] * SIGN[piece] <= 0


def presses(contact, piece, p):
    """p.f >= 0 for all forces of a piece, the normal ones as if they pushed."""

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
        start = [(0 if c.is_guide else 1, None) for c in reduced.contacts]
        Tree(reduced, solutions).check(start, facts["tree"])

    def apart(of):
        pairs = ((x, y) for k, x in enumerate(solutions) for y in solutions[:k])
        return any(a.hi < b.lo or b.hi < a.lo for x, y in pairs for a, b in zip(of(x), of(y)))

    if not solutions:
        return (False,) * 3 if complete else (None,) * 3
    if complete and len(solutions) == 1:
        return True, True, True
    moves = apart(lambda s: s.velocity)
    return True, False if moves else None, False if moves or apart(lambda s: s.force) else None
