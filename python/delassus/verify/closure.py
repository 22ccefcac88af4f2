"""Coordinates that follow from joints: Krawczyk's operator shows where they are the only ones."""

from __future__ import annotations

from .enclosure import both, hull, minus, of, plus
from .exact import NotACertificate, Unproved, get, index, interval, items, numbers
from .matrix import about_inverse, identity_less, product, solve
from .system import middles


class Closure:
    def __init__(self, system, facts):
        self.system = system
        if not system.unknowns or len(system.unknowns) != len(system.closing):
            raise NotACertificate("expected as many joints as coordinates that follow")
        self.moving = [index(k, system.parameters) for k in items(get(facts, "moving"))]
        self.configurations = []
        for value in items(get(facts, "configurations")):
            self.configurations.append(self.configuration(value))

    def boxes(self, value):
        found = [interval(x) for x in items(value, len(self.system.unknowns))]
        return [of(x.lo, x.hi) for x in found]

    def configuration(self, value):
        """A point and what encloses the coordinates there; it goes on from one before."""
        at, alone = numbers(get(value, "at"), len(self.moving)), self.boxes(get(value, "alone"))
        here = [of(x) for x in at]
        x = self.krawczyk(here, alone)
        if x is None:
            raise Unproved("a configuration is not shown to be the only one")
        if self.configurations:
            start_at, start = self.configurations[index(get(value, "from"), len(self.configurations))]
            region = self.boxes(get(value, "region"))
            span = [hull(of(a), b) for a, b in zip(start_at, here)]
            only = self.krawczyk(span, region) is not None
            if not (only and inside(x, region) and inside(start, region)):
                raise Unproved("a configuration is not shown to go on from the one before")
        return at, x

    def spread(self, here):
        """The box; other parameters are undefined, and so would be what depends on them."""
        at = [None] * self.system.parameters
        for k, x in zip(self.moving, here):
            at[k] = x
        return at

    def krawczyk(self, here, wide):
        image = self.operator(here, wide)
        within = image is not None and all(a.strictly_inside(b) for a, b in zip(image, wide))
        return image if within else None

    def operator(self, here, wide):
        at, x = self.spread(here), [own.middle() for own in wide]
        y = about_inverse(self.system.closing_slopes(middles(at), x)[0])
        if y is None:
            return None
        base = product(y, [[h] for h in self.system.closing_values(at, x)])
        rest = identity_less(product(y, self.system.closing_slopes(at, wide)[0]))
        moved = product(rest, [[minus(w, own)] for w, own in zip(wide, x)])
        image = [plus(minus(own, b[0]), m[0]) for own, b, m in zip(x, base, moved)]
        return None if any(own is None for own in image) else image

    def on(self, at, sides, facts):
        """Coordinates and velocities on a part."""
        alone = self.boxes(get(facts, "alone"))
        point, start = self.configurations[index(get(facts, "from"), len(self.configurations))]
        within = all(sides[k][0] <= x <= sides[k][1] for k, x in zip(self.moving, point))
        if not within or not inside(start, alone):
            raise Unproved("a part does not hold the configuration that it names")
        here = [at[k] for k in self.moving]
        x = self.krawczyk(here, alone)
        if x is None:
            raise Unproved("the coordinates of a part are not shown to be the only ones")
        again = self.operator(here, x)
        if again is not None:
            tight = [both(a, b) for a, b in zip(x, again)]
            x = x if any(own is None for own in tight) else tight
        velocities = solve(*self.system.closing_slopes(self.spread(here), x))
        if velocities is None:
            raise Unproved("the velocities of a part have no bounds")
        return x, [row[0] for row in velocities]


def inside(inner, outer):
    return all(a.inside(b) for a, b in zip(inner, outer))
