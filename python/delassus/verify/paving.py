"""Boxes of parameters of a system, cut into cells on which the answer is unique, or is not."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from .closure import Closure
from .enclosure import ONE, ZERO, both, dot, hull, minus, negative, of, over, plus, sqrt, square, times
from .enclosure import cos, sin
from .exact import NotACertificate, Unproved, get, index, items, items_of, number, numbers
from .matrix import MOST_MINORS, determinant_sign, is_p, is_positive_definite, solve
from .system import System

PROVED = ("every-load", "this-load")
REFUTED = ("no-solution", "several-solutions", "some-load")
OPEN, CLOSED, UNCLEAR = range(3)
# The direction of what rests with two tangents, and sectors of the circle: 710/113 is more than all of it.
TWO = "two"
SECTORS = 48
SECTOR = Fraction(710, 113) / SECTORS
TWICE = of(Fraction(2))


def boxes(whole, steps, dimensions):
    """The boxes between cuts in preorder, with what holds on each."""
    waiting, found = [whole], []
    for value in items(steps):
        if not waiting:
            raise NotACertificate("expected no more: the box is covered")
        sides = waiting.pop()
        if isinstance(value, dict):
            found.append((sides, value))
            continue
        k, at = items(value, 2)
        k, at = index(k, len(sides)), number(at)
        if k not in dimensions or not sides[k][0] < at < sides[k][1]:
            raise NotACertificate("expected a cut inside of the box")
        low, high = list(sides), list(sides)
        low[k], high[k] = (sides[k][0], at), (at, sides[k][1])
        waiting += [high, low]
    if waiting:
        raise NotACertificate("expected more: the box is not covered")
    return found


def check_paving(document):
    problem, claim, facts = (get(document, key) for key in ("problem", "claim", "facts"))
    system = System(problem)
    closure = Closure(system, facts) if system.follows else None
    cells = []
    for sides, own in boxes(list(system.ranges), get(facts, "cells"), range(system.over)):
        cells.append((sides[: system.over], check_cell(system, closure, sides, own)))
    return check_claim(system.ranges[: system.over], cells, claim)


def check_cell(system, closure, sides, own):
    reason, sides = get(own, "is"), list(sides)
    if reason not in (*PROVED, *REFUTED, "no-state", "undecided"):
        raise NotACertificate(f"expected a verdict, found {reason!r:.60}")
    if reason == "undecided":
        return reason
    dimensions = range(len(sides))
    if reason in REFUTED:
        # One value of the others refutes.
        others = len(sides) - system.over
        for k, x in enumerate(numbers(get(own, "at"), others) if others else [], system.over):
            if not sides[k][0] <= x <= sides[k][1]:
                raise NotACertificate("expected values in their ranges")
            sides[k] = (x, x)
        dimensions = range(system.over)
    for sides, facts in boxes(sides, own.get("parts", [{}]), dimensions):
        at = [of(lo, hi) for lo, hi in sides]
        closed = None if closure is None else closure.on(at, sides, facts)
        if not Part(system, at, closed).proves(reason):
            raise Unproved(f"{reason} is not proved on a part")
    return reason


def check_claim(ranges, cells, claim):
    def share(sides):
        product = 1
        for (a, b), (lo, hi) in zip(sides, ranges):
            product *= (b - a) / (hi - lo)
        return product

    said = []
    for key, words in (("proved", PROVED), ("refuted", REFUTED), ("no_state", ("no-state",))):
        claimed = number(get(claim, key))
        if claimed != sum(share(sides) for sides, reason in cells if reason in words):
            raise Unproved(f"another part of the box is {key}")
        said.append(f"{100 * float(claimed):.6f} % {key.replace('_', ' ')}")
    if "box" in items_of(claim):
        box = [numbers(pair, 2) for pair in items(claim["box"], len(ranges))]
        if any(lo >= hi for lo, hi in box):
            raise NotACertificate("expected two fractions in order")
        if any(a < lo or b > hi for (a, b), (lo, hi) in zip(box, ranges)):
            raise Unproved("the certified box reaches out of the ranges")
        for sides, reason in cells:
            reaches = all(a < hi and b > lo for (a, b), (lo, hi) in zip(sides, box))
            if reaches and reason not in PROVED:
                raise Unproved("a cell in the certified box is not proved")
        said.append("a box in which every point is proved")
    if "counterexample" in claim:
        point = numbers(claim["counterexample"], len(ranges))
        refuted = [sides for sides, reason in cells if reason in REFUTED]
        if not any(all(a <= x <= b for (a, b), x in zip(sides, point)) for sides in refuted):
            raise Unproved("the counterexample is in no refuted cell")
        said.append("a counterexample")
    return ", ".join(said)


class Part:
    """A box of parameters, then angles of sliding, on which something is claimed."""

    def __init__(self, system, at, closed):
        self.system, self.closed = system, closed
        self.at, self.all = at[: system.parameters], at

    def remembered(self, what):
        """A result that depends on some parameters only: on those without which it is undefined."""
        if self.closed is not None:
            return what(self)
        system = self.system
        if what not in system.memory:
            without = [[None if j == k else x for j, x in enumerate(self.at)] for k in range(len(self.at))]
            depends = [k for k, at in enumerate(without) if what(Part(system, at, None)) is None]
            system.memory[what] = depends, {}
        depends, known = system.memory[what]
        key = tuple((self.at[k].lo, self.at[k].hi) for k in depends)
        if key not in known:
            known[key] = what(self)
        return known[key]

    def proves(self, reason):
        touch = self.remembered(Part.state)
        if reason == "no-state" or touch in (None, "broken"):
            return reason == "no-state" and touch == "broken"
        return self.answers(touch, reason)

    def state(self):
        """Which constraints are closed; "broken" where no point has a possible state, `None` where unseen."""
        system, touch = self.system, []
        gaps, speeds = system.gap_tolerance.lo, system.speed_tolerance.lo
        for k, c in enumerate(system.constraints):
            if k in system.closing and not c.is_contact:
                touch.append(CLOSED)
                continue
            gap, speed = system.motion(c.row, self.at, self.closed)
            if gap is None or speed is None:
                return None
            if not c.is_contact:
                if gap.lo > gaps or gap.hi < -gaps or speed.lo > speeds or speed.hi < -speeds:
                    return "broken"
                if gap.magnitude() > gaps or speed.magnitude() > speeds:
                    return None
                touch.append(CLOSED)
                continue
            touches = gap.magnitude() <= gaps
            if gap.hi < -gaps or (touches and speed.hi < -speeds):
                return "broken"
            is_open = gap.lo > gaps or (gap.lo >= -gaps and speed.lo > speeds)
            if not is_open and (gap.lo < -gaps or speed.lo < -speeds):
                return None
            touch.append(OPEN if is_open else CLOSED if touches and speed.hi <= speeds else UNCLEAR)
        return touch

    def answers(self, touch, reason):
        system = self.system
        found = self.remembered(Part.numbers)
        values = system.values(self.at, None, self.closed)
        choices = None if found is None else self.frictions(touch, values, found[2])
        if choices is None:
            return False
        asked = [Answers(found[0], found[1], choice) for choice in choices]
        every = all(own.one_for_every_load() for own in asked)
        if every or reason == "every-load":
            return every and reason in PROVED
        if UNCLEAR in touch:
            return False
        # Directions of sliding that are not those of the state change the load too: then every load is meant.
        if system.any_load or system.any_slip:
            bad = (any if system.any_slip else all)(own.not_one_for_some_load() for own in asked)
            return bad and reason == "some-load"
        counts = {"this-load": 1, "no-solution": 0, "several-solutions": 2}
        return reason in counts and all(own.count() == counts[reason] for own in asked)

    def numbers(self):
        """W and q on the rows of contacts and joints with friction, and accelerations that joints determine."""
        system = self.system
        values = system.values(self.at, None, self.closed)
        mass = system.mass(values)
        if not is_positive_definite(mass):
            return None
        held = [system.row(c.row, values) for c in system.constraints if not c.has_rows()]
        rows, guides = [], []
        for c in system.constraints:
            if c.has_rows():
                guides += [] if c.is_contact else [len(rows)]
                rows += [system.row(m, values) for m in (c.row, *c.slip)]
        n, b = len(mass), len(held)
        saddle = [mass[i] + [negative(g[i]) for g, _ in held] for i in range(n)]
        saddle += [g + [ZERO] * b for g, _ in held]
        force = system.force(values)
        right = [[g[i] for g, _ in rows] + [negative(force[i])] for i in range(n)]
        right += [[ZERO] * len(rows) + [negative(bias)] for _, bias in held]
        x = solve(saddle, right)
        if x is None:
            return None
        columns = list(zip(*x[:n]))
        full = [[dot(g, column) for column in columns] for g, _ in rows]
        m = len(rows)
        w = [[both(full[i][j], full[j][i]) for j in range(m)] for i in range(m)]
        q = [plus(bias, full[i][m]) for i, (_, bias) in enumerate(rows)]
        if any(entry is None for row in [*w, q] for entry in row):
            return None
        determined = None
        if b + len(guides) == n:
            all_of = held + [rows[k] for k in guides]
            a = solve([g for g, _ in all_of], [[negative(bias)] for _, bias in all_of])
            if a is None:
                return None
            determined = [plus(bias, dot(g, [own[0] for own in a])) for g, bias in rows]
        return w, q, determined

    def frictions(self, touch, values, determined):
        """The constraints that may be closed, for each choice of directions of sliding."""
        system, choices = self.system, [[]]
        row, angle = 0, system.parameters
        for c, own_touch, has_angle in zip(system.constraints, touch, system.angles):
            if not c.has_rows():
                continue
            here, row = row, row + 1 + len(c.slip)
            own_angle, angle = angle, angle + has_angle
            kinetic, at_rest = c.mu_kinetic.at(values).value, c.mu_static.at(values).value
            if kinetic is None or at_rest is None or kinetic.lo < 0 or at_rest.lo < 0:
                return None
            if own_touch == OPEN:
                continue
            if not c.slip:
                possible = [(kinetic, [])]
            elif system.any_slip and has_angle:
                possible = [(kinetic, [cos(self.all[own_angle]), sin(self.all[own_angle])])]
            elif system.any_slip:
                possible = [(kinetic, [ONE]), (kinetic, [-ONE])]
            else:
                turn = None if determined is None or c.is_contact else determined[here + 1]
                possible = self.directions(c, at_rest, kinetic, turn)
            if possible is None:
                return None
            choices = [[*chosen, (here, c.is_contact, own)] for chosen in choices for own in possible]
        return choices

    def directions(self, c, at_rest, kinetic, turn):
        """Friction with its direction, or at rest with `None`, or `TWO` of two tangents."""
        rest = self.system.speed_tolerance
        speeds = [self.system.motion(s, self.at, self.closed)[1] for s in c.slip]
        if None in speeds:
            return None
        if len(speeds) == 1:
            if speeds[0].lo > rest.hi:
                return [(kinetic, [ONE])]
            if speeds[0].hi < -rest.hi:
                return [(kinetic, [-ONE])]
            # Where it rests for a moment and is determined to turn, friction opposes its acceleration.
            if turn is not None and (turn.lo > 0 or turn.hi < 0):
                return [(kinetic, [ONE]), (kinetic, [-ONE])]
        else:
            speed = sqrt(plus(square(speeds[0]), square(speeds[1])))
            if speed.lo > rest.hi:
                unit = hull(-ONE, ONE)
                return [(kinetic, [both(over(v, speed), unit) for v in speeds])]
        if at_rest.is_zero() and kinetic.is_zero():
            return [(kinetic, [ZERO] * len(speeds))]
        if len(speeds) == 1 and speeds[0].magnitude() <= rest.lo:
            return [(at_rest, None)]
        if len(speeds) == 2 and speed.hi <= rest.lo:
            return [(at_rest, TWO)]
        return None


class Answers:
    """Constraints (row, is_contact, (friction, direction)) that slide or rest."""

    def __init__(self, w, q, all_of):
        self.w, self.q, self.all = w, q, all_of

    def pressed(self, row, friction, direction, sign):
        """Rows and entries of a force along the normal with its friction."""
        sign = ONE if sign > 0 else -ONE
        tangents = [(row + 1 + i, negative(times(times(friction, e), sign))) for i, e in enumerate(direction)]
        return [(row, ONE), *tangents]

    def response(self, row, along):
        return dot([self.w[row][k] for k, _ in along], [x for _, x in along])

    def matrix_of(self, chosen):
        """The matrix of joints by their sign and of contacts that are closed; `None` where one rests."""
        columns = []
        for (row, is_contact, (friction, direction)), is_chosen in zip(self.all, chosen):
            if direction in (None, TWO):
                return None
            if is_chosen or not is_contact:
                columns.append((row, self.pressed(row, friction, direction, -1 if is_chosen and not is_contact else 1)))
        return [[self.response(row, along) for _, along in columns] for row, _ in columns]

    def subsets(self):
        n = len(self.all)
        return [[chosen >> k & 1 for k in range(n)] for chosen in range(1 << n)]

    def one_for_every_load(self):
        if all(is_contact for _, is_contact, _ in self.all):
            a = self.matrix_of([1] * len(self.all))
            return a is not None and is_p(a)
        if len(self.all) > MOST_MINORS:
            return False
        all_of = [self.matrix_of(chosen) for chosen in self.subsets()]
        signs = {None if a is None else determinant_sign(a) for a in all_of}
        return len(signs) == 1 and None not in signs

    def not_one_for_some_load(self):
        rows = [row for row, _, _ in self.all]
        if len(rows) > MOST_MINORS or not is_positive_definite([[self.w[i][j] for j in rows] for i in rows]):
            return False
        all_of = [self.matrix_of(chosen) for chosen in self.subsets()]
        signs = {1 if a == [] else determinant_sign(a) for a in all_of if a is not None}
        return len(signs - {None}) == 2

    def modes(self, row, is_contact, own):
        """Each with unknown forces and their rows, combinations that are not negative, a cone, signs of rows."""
        friction, direction = own
        found = [([], [], None, [(row, 1)])] if is_contact else []
        for sign in (1,) if is_contact else (1, -1):
            if direction is TWO:
                found.append(([], [sign], (friction, sign, row), []))
                free = [([(k, ONE)], k) for k in range(row, row + 3)]
                found.append((free, [sign], (friction, sign), []))
                continue
            if direction is not None:
                found.append(([(self.pressed(row, friction, direction, sign), row)], [sign], None, []))
                continue
            for way in (1, -1):
                e = [ONE if way > 0 else -ONE]
                found.append(([(self.pressed(row, friction, e, sign), row)], [sign], None, [(row + 1, way)]))
            free = [([(row, ONE)], row), ([(row + 1, ONE)], row + 1)]
            found.append((free, [sign, 0], (friction, sign), []))
        return found

    def count(self):
        """0, 1 or 2 for more, where it is so everywhere; `None` where that is not seen."""
        modes = [self.modes(*own) for own in self.all]
        combinations, found, unclear = 1, 0, False
        for own in modes:
            combinations *= len(own)
        if combinations > 1 << 2 * MOST_MINORS:
            return None
        for choice in range(combinations):
            chosen = []
            for own in modes:
                choice, k = divmod(choice, len(own))
                chosen.append(own[k])
            holds = self.holds(chosen)
            found, unclear = found + (holds is True), unclear or holds is None
            if found == 2:
                return 2
        return None if unclear else found

    def holds(self, chosen):
        """Whether a mode holds: everywhere, nowhere, or `None`."""
        turning = sum(is_turning(mode) for mode in chosen)
        if turning == 0:
            found = self.signs(chosen, [])
            if found is None or is_broken(found):
                return None if found is None else False
            return True if all(x.lo > 0 for x in found[0]) else None
        if turning > 2:
            return None
        left = []
        for sectors in product(range(SECTORS), repeat=turning):
            found = self.signs(chosen, [turned(k * SECTOR, (k + 1) * SECTOR) for k in sectors])
            if found is None:
                return None
            if not is_broken(found):
                left.append(sectors[0])
        if not left:
            return False
        # All that is left must be one arc, which begins behind the only gap.
        count = len(left)
        start = next((k for k in left if (k - 1) % SECTORS not in left), None)
        if turning > 1 or start is None or 4 * count > SECTORS:
            return None
        if any((start + k) % SECTORS not in left for k in range(count)):
            return None
        return self.once_on(chosen, start * SECTOR, (start + count) * SECTOR)

    def once_on(self, chosen, low, high):
        """Whether a mode holds at exactly one angle of an arc: parts at its ends that are excluded are cut off."""
        for _ in range(8):
            cuts = [low + (high - low) * k / 8 for k in range(9)]
            parts = [(low, high), (low, low), (high, high), *zip(cuts, cuts[1:])]
            whole, a, b, *parts = [self.signs(chosen, [turned(*part)]) for part in parts]
            if None in (whole, a, b) or None in parts:
                return None
            a, b = a[1][0], b[1][0]
            crosses = (a.lo > 0 > b.hi) or (b.lo > 0 > a.hi)
            if crosses and not whole[2].holds_zero() and all(x.lo > 0 for x in whole[0]):
                return True
            left = [k for k, part in enumerate(parts) if not is_broken(part)]
            if not left:
                return False
            if left[-1] + 1 - left[0] != len(left) or len(left) == 8:
                return None
            low, high = cuts[left[0]], cuts[left[-1] + 1]
        return None

    def signs(self, chosen, angles):
        """What a mode needs to be positive; of what turns u1 sin - u2 cos, and the slope of that."""
        unknowns, angles, found, places = [], list(angles), [], []
        for own, _, cone, _ in chosen:
            places.append(len(unknowns))
            if is_turning((own, None, cone, None)):
                (mu, sign, row), (c, s) = cone, angles.pop(0)
                sign = ONE if sign > 0 else -ONE
                own = [(self.pressed(row, mu, [c, s], cone[1]), row)]
                by_angle = [(row + 1, times(times(mu, s), sign)), (row + 2, negative(times(times(mu, c), sign)))]
                found.append((len(unknowns), row, c, s, times(mu, sign), by_angle))
            unknowns = unknowns + own
        places.append(len(unknowns))
        a = [[self.response(row, along) for along, _ in unknowns] for _, row in unknowns]
        f = solve(a, [[negative(self.q[row])] for _, row in unknowns])
        if f is None:
            return None
        f, all_of = [own[0] for own in f], []

        def moved(row, f):
            return dot([self.response(row, along) for along, _ in unknowns], f)

        for (own, factors, cone, rows), first, last in zip(chosen, places, places[1:]):
            mine = f[first:last]
            if mine:
                all_of.append(mine[0] if factors[0] > 0 else negative(mine[0]))
            if len(mine) > 1:
                most = times(cone[0], all_of[-1])
                if len(mine) == 2:
                    all_of += [plus(most, mine[1]), minus(most, mine[1])]
                else:
                    all_of.append(minus(most, sqrt(plus(square(mine[1]), square(mine[2])))))
            for row, sign in rows:
                total = plus(self.q[row], moved(row, f))
                all_of.append(total if sign > 0 else negative(total))
        across, slope = [], None
        for place, row, c, s, friction, by_angle in found:
            # The own friction p acts on its own rows with -p W e: written out, less is lost.
            others = [*f[:place], ZERO, *f[place + 1 :]]
            u, v = (
                plus(plus(self.q[k], moved(k, others)), times(self.w[k][row], f[place])) for k in (row + 1, row + 2)
            )
            p, w12 = times(friction, f[place]), self.w[row + 1][row + 2]
            w11, w22 = self.w[row + 1][row + 1], self.w[row + 2][row + 2]
            cosine, sine = minus(square(c), square(s)), times(TWICE, times(c, s))
            taken = plus(plus(times(w11, square(c)), times(w12, sine)), times(w22, square(s)))
            along = plus(times(u, c), times(v, s))
            all_of.append(minus(along, times(p, taken)))
            half = times(minus(w22, w11), times(c, s))
            across.append(plus(minus(times(u, s), times(v, c)), times(p, plus(half, times(w12, cosine)))))
            if len(found) == 1:  # A f = -q by the angle: A f' = -A'f.

                def change(row):
                    return times(self.response(row, by_angle), f[place])

                rates = solve(a, [[negative(change(row))] for _, row in unknowns])
                if rates is None:
                    return None
                rates = [own[0] for own in rates]
                d, e = (moved(k, rates) for k in (row + 1, row + 2))
                own = minus(times(minus(w22, w11), cosine), times(times(TWICE, w12), sine))
                slope = plus(plus(minus(times(d, s), times(e, c)), along), times(p, own))
        if any(x is None for x in [*all_of, *across]) or (len(found) == 1 and slope is None):
            return None
        return all_of, across, slope


def is_turning(mode):
    """Whether a mode has something that begins to slide at an angle."""
    return mode[2] is not None and len(mode[2]) == 3


def is_broken(found):
    return any(x.hi < 0 for x in found[0]) or any(not x.holds_zero() for x in found[1])


TURNED = {}


def turned(low, high):
    """Cosine and sine of the angles between two, computed once."""
    if (low, high) not in TURNED:
        angles = of(low, high)
        TURNED[low, high] = cos(angles), sin(angles)
    return TURNED[low, high]
