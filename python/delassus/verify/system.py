"""The system of a paving, as formulas, and its terms on a box of parameters."""

from __future__ import annotations

from fractions import Fraction

from .enclosure import ONE, ZERO, Enclosure, both, minus, of, plus, times
from .exact import NotACertificate, get, index, interval, items, number
from .formula import Dual, Formula


class Constraint:
    """A joint or a contact: what is held or kept from closing, slips, friction."""

    def __init__(self, value, names, is_contact):
        self.is_contact = is_contact
        self.row = measure(get(value, "row"), names)
        self.slip = [measure(m, names) for m in items(get(value, "slip"))]
        if len(self.slip) > 2:
            raise NotACertificate("expected two slips at most")
        keys = ("mu_static", "mu_kinetic") if is_contact else ("mu", "mu")
        self.mu_static, self.mu_kinetic = (Formula(get(value, key), names) for key in keys)

    def has_rows(self):
        return self.is_contact or bool(self.slip)


def measure(value, names):
    """Whether it is a velocity, and its formula."""
    if isinstance(value, dict) and "velocity" in value:
        return True, Formula(value["velocity"], names)
    formula = Formula(get(value, "displacement"), names)
    if any(isinstance(step, int) and names[step].endswith("'") for step in formula.steps):
        raise NotACertificate("expected a displacement without velocities")
    return False, formula


class System:
    def __init__(self, problem):
        # Results by their names: the parameters on which they depend, and what was found.
        self.memory = {}
        over = [parameter(p) for p in items(get(problem, "over"))]
        if not over or any(lo >= hi for _, lo, hi in over):
            raise NotACertificate("expected ranges that are not empty")
        parameters = over + [parameter(p) for p in items(get(problem, "for_all"))]
        if any(lo > hi for _, lo, hi in parameters):
            raise NotACertificate("expected ranges in order")
        self.over, self.parameters = len(over), len(parameters)
        self.ranges = [(lo, hi) for _, lo, hi in parameters]
        names = [name for name, _, _ in parameters]
        self.definitions = []
        for value in items(get(problem, "definitions")):
            name, formula = items(value, 2)
            self.definitions.append(Formula(formula, names))
            names.append(word(name))
        coordinates = [word(name) for name in items(get(problem, "coordinates"))]
        self.n = n = len(coordinates)
        self.positions, self.velocities = (
            [Formula(f, names) for f in items(get(problem, key), n)] for key in ("positions", "velocities")
        )
        self.time = Formula(get(problem, "time"), names)
        self.q = len(names)
        names += [*coordinates, *(f"{name}'" for name in coordinates), "t"]
        if n == 0 or len(set(names)) != len(names):
            raise NotACertificate("expected coordinates, and every name once")
        self.any_slip, self.any_load = (flag(get(problem, key)) for key in ("any_slip", "any_load"))
        tolerances = [interval(get(get(problem, "tolerances"), key)) for key in ("position", "velocity")]
        self.gap_tolerance, self.speed_tolerance = (of(x.lo, x.hi) for x in tolerances)
        self.kinetic = Formula(get(problem, "kinetic"), names)
        self.potential = Formula(problem["potential"], names) if "potential" in problem else None
        self.forces = []
        for value in items(get(problem, "forces")):
            coordinate, formula = items(value, 2)
            self.forces.append((index(coordinate, n), Formula(formula, names)))
        self.constraints = [Constraint(v, names, False) for v in items(get(problem, "joints"))]
        joints = len(self.constraints)
        self.constraints += [Constraint(v, names, True) for v in items(get(problem, "contacts"))]
        self.unknowns, self.closing = [], []
        self.follows = "follows" in problem
        if self.follows:
            self.unknowns = [index(k, n) for k in items(get(problem["follows"], "coordinates"))]
            self.closing = [index(k, joints) for k in items(get(problem["follows"], "joints"))]
        # Angles of directions of sliding, from 0 to a little more than 2 pi.
        self.angles = [self.any_slip and len(c.slip) == 2 for c in self.constraints]
        self.ranges += [(Fraction(0), Fraction(710, 113)) for has in self.angles if has]

    def values(self, at, by=None, closed=None):
        """Values of all names on a box of parameters; with a parameter to differentiate by, in direction b."""
        values = [Dual(x, b=ONE if k == by else ZERO) for k, x in enumerate(at)]
        for formula in self.definitions:
            values.append(formula.at(values))
        q = [f.at(values) for f in self.positions]
        v = [f.at(values) for f in self.velocities]
        time = self.time.at(values)
        if closed is not None:
            # How they change with a parameter is not known.
            slope = ZERO if by is None else None
            for i, x, speed in zip(self.unknowns, *closed):
                q[i], v[i] = Dual(x, b=slope, ab=slope), Dual(speed, b=slope, ab=slope)
        return values + q + v + [time]

    def mass(self, values):
        n, v = self.n, self.q + self.n
        mass = [[ZERO] * n for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                moved = list(values)
                moved[v + i] = moved[v + i].but(a=ONE)
                moved[v + j] = moved[v + j].but(b=ONE)
                mass[i][j] = mass[j][i] = self.kinetic.at(moved).ab
        return mass

    def along_motion(self, values, a=True):
        """The values with direction b, and a, along the motion."""
        n, q = self.n, self.q
        moved = list(values)
        for i in range(n):
            speed = values[q + n + i].value
            moved[q + i] = values[q + i].but(a=speed if a else ZERO, b=speed)
        moved[q + 2 * n] = values[q + 2 * n].but(a=ONE if a else ZERO, b=ONE)
        return moved

    def force(self, values):
        n, q = self.n, self.q
        motion, forces = self.along_motion(values, a=False), []
        for i in range(n):
            moved = list(motion)
            moved[q + n + i] = moved[q + n + i].but(a=ONE)
            momentum = self.kinetic.at(moved).ab
            moved = list(motion)
            moved[q + i] = moved[q + i].but(a=ONE)
            force = minus(momentum, self.kinetic.at(moved).a)
            if self.potential is not None:
                force = plus(force, self.potential.at(moved).a)
            for k, given in self.forces:
                if k == i:
                    force = minus(force, given.at(values).value)
            forces.append(force)
        return forces

    def row(self, own, values):
        """Gradient and bias of a constraint."""
        is_velocity, formula = own
        first, gradient = self.q + (self.n if is_velocity else 0), []
        for i in range(self.n):
            moved = list(values)
            moved[first + i] = moved[first + i].but(a=ONE)
            gradient.append(formula.at(moved).a)
        motion = formula.at(self.along_motion(values))
        return gradient, motion.a if is_velocity else motion.ab

    def rates(self, own, at, by, closed):
        """Value and velocity of a constraint, or their derivatives by a parameter."""
        is_velocity, formula = own
        n, q, values = self.n, self.q, self.values(at, by, closed)
        if is_velocity:
            x = formula.at(values)
            return ZERO, x.value if by is None else x.b
        for i in range(n):
            speed = values[q + n + i]
            values[q + i] = values[q + i].but(a=speed.value, ab=speed.b)
        values[q + 2 * n] = values[q + 2 * n].but(a=ONE)
        x = formula.at(values)
        return (x.value, x.a) if by is None else (x.b, x.ab)

    def motion(self, own, at, closed):
        """Value and velocity of a constraint: as they come, and by the mean value."""
        naive, central = self.rates(own, at, None, closed), list(self.rates(own, middles(at), None, closed))
        for k in wide(at):
            for i, slope in enumerate(self.rates(own, at, k, closed)):
                central[i] = plus(central[i], times(slope, minus(at[k], at[k].middle())))
        return [a if b is None else both(a, b) for a, b in zip(naive, central)]

    def with_coordinates(self, at, by, x):
        values = self.values(at, by)
        for i, own in zip(self.unknowns, x):
            values[self.q + i] = Dual(own)
        return values

    def closing_formulas(self):
        return [self.constraints[k].row[1] for k in self.closing if not self.constraints[k].row[0]]

    def closing_values(self, at, x):
        """h of the joints that close: as they come, and by the mean value."""
        naive, central = self.with_coordinates(at, None, x), self.with_coordinates(middles(at), None, x)
        slopes, found = {k: self.with_coordinates(at, k, x) for k in wide(at)}, []
        for h in self.closing_formulas():
            a, b = h.at(naive).value, h.at(central).value
            for k, values in slopes.items():
                b = plus(b, times(h.at(values).b, minus(at[k], at[k].middle())))
            found.append(a if b is None else both(a, b))
        return found

    def closing_slopes(self, at, x):
        """Their gradients by the coordinates that follow, and minus their rates while these rest."""
        values, gradients, rates = self.with_coordinates(at, None, x), [], []
        moved = list(values)
        for i in range(self.n):
            if i not in self.unknowns:
                moved[self.q + i] = moved[self.q + i].but(a=values[self.q + self.n + i].value)
        moved[self.q + 2 * self.n] = moved[self.q + 2 * self.n].but(a=ONE)
        for h in self.closing_formulas():
            row = []
            for i in self.unknowns:
                turned = list(values)
                turned[self.q + i] = turned[self.q + i].but(a=ONE)
                row.append(h.at(turned).a)
            gradients.append(row)
            rates.append([minus(ZERO, h.at(moved).a)])
        return gradients, rates


def parameter(value):
    name, lo, hi = items(value, 3)
    return word(name), number(lo), number(hi)


def word(value):
    if not isinstance(value, str):
        raise NotACertificate(f"expected a word, found {value!r:.60}")
    return value


def flag(value):
    if not isinstance(value, bool):
        raise NotACertificate(f"expected true or false, found {value!r:.60}")
    return value


def middles(at):
    return [x if x is None else x.middle() for x in at]


def wide(at):
    return [k for k, x in enumerate(at) if isinstance(x, Enclosure) and not x.is_point()]
