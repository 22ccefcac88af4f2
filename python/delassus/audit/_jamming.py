"""How far contacts are from jamming.

    K = W_kk − W_kh W_hh⁺ W_hk ,   K = ⎡a hᵀ⎤ ,   μ_jam = a/‖h‖        (003 §4, eq. 36)
                                       ⎣h H ⎦

k are the rows of a contact, h what is held: joints, and the normals of the other contacts that carry a force.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

HELD = 1e-9
"""Parts of its rows' own response below which rounding may have left a normal, or a coupling, that is none."""


def friction_of(law: Any) -> float | None:
    """The coefficient of a contact with sliding friction that can open; `None` elsewhere."""
    if isinstance(law, str) or "mu" not in law or str(law["law"]).startswith("bilateral"):
        return None
    mu = law["mu"]
    return float(mu) if isinstance(mu, (int, float)) else None


def jamming(W: Array, places: Sequence[slice], laws: Sequence[Any], impulse: Array) -> list[float | None]:
    """μ_jam of each contact; `None` where no friction makes it jam, or where it has none."""
    held: list[list[int]] = []
    for place, law in zip(places, laws, strict=True):
        rows = list(range(place.start, place.stop))
        word = str(law if isinstance(law, str) else law["law"])
        if word.startswith("bilateral"):
            held.append(rows if word == "bilateral" else rows[:1])
        else:
            held.append(rows[:1] if impulse[place.start] > 0.0 else [])
    found: list[float | None] = []
    for k, (place, law) in enumerate(zip(places, laws, strict=True)):
        if friction_of(law) is None or place.stop - place.start < 2:
            found.append(None)
            continue
        own = np.arange(place.start, min(place.start + 3, place.stop))
        others = np.array([row for i, rows in enumerate(held) if i != k for row in rows], dtype=int)
        block = W[np.ix_(own, own)]
        scale = float(np.trace(block))
        if others.size:
            across = W[np.ix_(others, own)]
            block = block - across.T @ np.linalg.pinv(W[np.ix_(others, others)], rcond=1e-12, hermitian=True) @ across
        normal, coupling = float(block[0, 0]), float(np.linalg.norm(block[1:, 0]))
        found.append(normal / coupling if normal > HELD * scale and coupling > HELD * scale else None)
    return found
