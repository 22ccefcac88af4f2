"""With which friction, or with how much of a load, a world at rest stands or falls."""

from __future__ import annotations

from .balance import Balance, collapse, rest
from .exact import NotACertificate, get, index, items_of, number, sparse_row


def check_margin(document):
    problem, claim, facts = (get(document, key) for key in ("problem", "claim", "facts"))
    of, along = get(claim, "of"), {}
    if of in ("load", "tilt"):
        along = sparse_row(get(problem, "along"), index(get(problem, "coordinates"), 2**20))
    elif of != "friction":
        raise NotACertificate(f"expected friction, load or tilt, found {of!r:.60}")
    said = []
    for key, check in (("stands", rest), ("falls", collapse)):
        if key not in items_of(claim):
            continue
        x = number(claim[key])
        if x < 0:
            raise NotACertificate("expected a number that is not negative")
        balance = Balance.read(problem)
        for j, f in along.items():
            balance.load[j] = balance.load[j] + f * x
        if of == "friction":
            for c in balance.constraints:
                if c.law != "bounded":
                    c.coefficients = [mu * x for mu in c.coefficients]
        check(balance, balance.load, get(facts, key))
        said.append(f"{key} with {float(x):.9g}")
    if not said:
        raise NotACertificate("expected a claim with the key `stands` or `falls`")
    return f"{of}: {', '.join(said)}"
