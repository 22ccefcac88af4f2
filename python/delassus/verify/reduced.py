"""The velocities of contacts by their forces, joints held: u = W f + q in intervals."""

from __future__ import annotations

from fractions import Fraction

from .constraints import GUIDES
from .exact import ONE, ZERO, Interval, NotACertificate, Unproved, along, floor, get, items, numbers


class Contact:
    """A contact, with the places of its rows among those of all contacts."""

    def __init__(self, constraint, place, start):
        self.law, self.place = constraint.law, place
        self.is_guide = constraint.law in GUIDES
        self.is_planar = constraint.law in ("coulomb-plane", "bilateral-coulomb-plane")
        self.rows = range(start, start + len(constraint.rows))
        self.mu = constraint.coefficients[0] if constraint.coefficients else ZERO
        # Friction is -mu |f_n| times this; None where its direction is not known.
        self.slip = None
        if self.law in ("sliding", "bilateral-sliding"):
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
            elif c.law in ("unilateral", "coulomb-plane", "coulomb", "sliding", *GUIDES):
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
        self.w = [[along(row, x).trimmed() for x in answers[:-1]] for row, _ in rows]
        self.q = [(along(row, answers[-1]) + bias).trimmed() for row, bias in rows]

    def velocity(self, f):
        u = list(self.q)
        for j, x in enumerate(f):
            if not x.is_zero():
                u = [a + row[j] * x for a, row in zip(u, self.w)]
        return u


def solve(k, inverse, right):
    """Bounds of K^-1 b for some b: |K^-1 b - R b| <= e/(1 - e) |R b| where |I - R K| <= e < 1."""
    near = []
    for b in right:
        near.append([sum((x * r[j] for j, x in b.items()), ZERO).trimmed() for r in inverse])
    size, weights = range(len(k)), [Fraction(1)] * len(k)
    for _ in range(3):  # Towards the largest eigenvector of |R||K|, so that units play no part.
        sizes = [sum(x.magnitude() * weights[j] for j, x in row.items()) for row in k]
        following = [floor(sum((abs(x) * y for x, y in zip(r, sizes)), Fraction(0))) for r in inverse]
        top = max(following, default=1)
        weights = [floor(w / top) if w > 0 else Fraction(1) for w in following]
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
