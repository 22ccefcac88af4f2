"""Whether a contact problem has a solution, one acceleration, one set of forces."""

from __future__ import annotations

from .balance import Balance, rest, without_friction
from .constraints import add, constraints, least_eigenvalue
from .exact import NotACertificate, Unproved, get, index, intervals, items, items_of, sparse_row
from .pieces import by_pieces

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
    problem, facts = Problem(get(document, "problem")), get(document, "facts")
    claim = items_of(get(document, "claim"))
    claims = {q: claim[q] for q in QUESTIONS if q in claim}
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


METHODS = {"rest": by_rest, "pieces": by_pieces}
