"""The judgement of a contact answer."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _delassus
from .._analysis import ProblemAnalysis, analyze
from .._problem import Law, Residual, Solution, dense, laws_of, residual, solve, vector
from .._result import Record, Shown
from ._jamming import friction_of, jamming

Array = npt.NDArray[np.float64]

EXACT = 1e-6
"""A relative residual up to this is called exact: what iterative engines reach at their tightest settings."""


@dataclass(frozen=True)
class AuditContact(Record):
    """A contact with the engine's force and ours."""

    name: str
    engine: Array
    """Force that the engine reports: normal, tangents, N."""
    exact: Array
    """A force that satisfies the laws, N."""
    interval: tuple[float, float] | None
    """Least and largest normal force that go with the exact motion, N; `None` where it is not known."""
    off_velocity: float
    """How far the engine's force is from the law of this contact, as a velocity, m/s."""
    off_force: float
    """The same as a force, N."""
    mu: float | None = None
    """Its coefficient of friction."""
    mu_jam: float | None = None
    """The friction from which on it can jam, while joints and the other contacts that carry hold; `None` where none does."""

    @property
    def unique(self) -> bool | None:
        """Whether the normal force is the only one."""
        if self.interval is None:
            return None
        low, high = self.interval
        if not np.isfinite(high - low):
            return False
        return high - low <= 1e-6 * max(abs(low), abs(high), 1e-12)


@dataclass(frozen=True)
class AuditReport(Shown):
    """What the contact answer of an engine is worth."""

    contacts: list[AuditContact]
    residual: Residual
    """Of the engine's forces under the exact law."""
    solution: Solution
    """Impulses that satisfy the law, N s."""
    analysis: ProblemAnalysis
    dt: float
    not_covered: list[str] = field(default_factory=list)
    """What acts in the engine and is not in the problem."""

    @property
    def exact(self) -> bool:
        """Whether the engine's forces satisfy the law."""
        return self.residual.relative <= EXACT

    @property
    def off_velocity(self) -> float:
        """The largest violation of the law of a contact, m/s."""
        return max((c.off_velocity for c in self.contacts), default=0.0)

    @property
    def off_force(self) -> float:
        """The largest violation of the law of a contact, N."""
        return max((c.off_force for c in self.contacts), default=0.0)

    @property
    def jamming(self) -> AuditContact | None:
        """The contact that is nearest to jamming, by friction over the friction from which on it can jam."""
        known = [c for c in self.contacts if c.mu is not None and c.mu_jam is not None]
        return max(known, key=lambda c: (c.mu or 0.0) / (c.mu_jam or 1.0), default=None)

    @property
    def existence(self) -> str:
        return self.analysis.existence

    @property
    def forces_unique(self) -> str:
        return self.analysis.forces_unique

    @property
    def motion_unique(self) -> str:
        return self.analysis.acceleration_unique

    def to_dict(self) -> dict[str, Any]:
        return {
            "residual": self.residual.to_dict(),
            "existence": self.existence,
            "motion_unique": self.motion_unique,
            "forces_unique": self.forces_unique,
            "contacts": [c.to_dict() for c in self.contacts],
            "not_covered": self.not_covered,
        }

    def __str__(self) -> str:
        word = "satisfy" if self.exact else "do NOT satisfy"
        out = [
            f"the engine's forces {word} the law: off by {self.off_velocity:.3g} m/s "
            f"or {self.off_force:.3g} N (relative {self.residual.relative:.2g})",
            f"forces exist {self.existence}, motion unique {self.motion_unique}, "
            f"forces unique {self.forces_unique}",
        ]
        if self.contacts:
            width = max(len(c.name) for c in self.contacts)
            out.append(f"  {'contact':<{width}} {'engine normal':>14} {'friction':>10} {'exact':>10} {'friction':>10}  interval")
        for c in self.contacts:
            friction, ours = np.linalg.norm(c.engine[1:3]), np.linalg.norm(c.exact[1:3])
            span = "unknown" if c.interval is None else f"[{c.interval[0]:.6g}, {c.interval[1]:.6g}]"
            span = "unique" if c.unique else span
            out.append(
                f"  {c.name:<{width}} {c.engine[0]:>14.6g} {friction:>10.4g} {c.exact[0]:>10.6g} {ours:>10.4g}  {span}"
            )
        if self.jamming is not None:
            near, mu, jam = self.jamming, self.jamming.mu or 0.0, self.jamming.mu_jam or 0.0
            word = "can jam" if mu > jam else "cannot jam"
            out.append(f"  nearest to jamming: {near.name}, friction {mu:.6g}, jams from {jam:.6g} on: it {word}")
        out += [f"  not covered: {what}" for what in self.not_covered]
        return "\n".join(out)

    def __repr__(self) -> str:
        return (
            f"<delassus.audit: relative residual {self.residual.relative:.2g}, existence {self.existence}, "
            f"forces unique {self.forces_unique}, {len(self.contacts)} contacts>"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


@dataclass(frozen=True)
class RunAudit(Record):
    """A judgement per step of a run."""

    time: Array
    relative: Array
    velocity: Array
    """Violation of the law in m/s."""
    force: Array
    """Violation of the law in N."""
    contacts: Array
    forces_unique: list[str]
    motion_unique: list[str]

    def table(self) -> str:
        """One line per step."""
        out = [f"{'time':>10} {'contacts':>8} {'relative':>10} {'m/s':>10} {'N':>10}  forces unique  motion unique"]
        rows = zip(
            self.time,
            self.contacts,
            self.relative,
            self.velocity,
            self.force,
            self.forces_unique,
            self.motion_unique,
            strict=True,
        )
        for t, n, relative, velocity, force, forces, motion in rows:
            out.append(
                f"{t:>10.4f} {int(n):>8} {relative:>10.3g} {velocity:>10.3g} {force:>10.3g}  {forces:<13}  {motion}"
            )
        return "\n".join(out)

    def __repr__(self) -> str:
        worst = float(np.max(self.relative)) if self.relative.size else 0.0
        return f"<delassus.audit.RunAudit: {self.time.size} steps, worst relative residual {worst:.2g}>"

    def plot(self, ax: Any = None) -> Any:
        """Violation of the law over time."""
        from ..plot import axes

        ax = axes(ax)
        ax.semilogy(self.time, np.maximum(self.velocity, 1e-16), label="velocity, m/s")
        ax.semilogy(self.time, np.maximum(self.force, 1e-16), label="force, N")
        ax.set_xlabel("time, s")
        ax.set_ylabel("violation of the law")
        ax.legend()
        return ax


def problem(
    M: npt.ArrayLike,
    J: npt.ArrayLike,
    momentum: npt.ArrayLike,
    mu: npt.ArrayLike | None = None,
    *,
    forces: npt.ArrayLike,
    dt: float,
    bias: npt.ArrayLike | None = None,
    laws: Sequence[Law] | None = None,
    names: Sequence[str] | None = None,
    max_modes: int | None = None,
    not_covered: Sequence[str] = (),
) -> AuditReport:
    """Checks `forces` (N, in the order of the rows of J) in M v⁺ = momentum + Jᵀ dt f, u = J v⁺ + bias."""
    mass, jacobian, start = dense("M", M), dense("J", J), vector("momentum", momentum)
    target = np.zeros(len(jacobian)) if bias is None else vector("bias", bias)
    found = vector("forces", forces)
    m, n = jacobian.shape
    if mass.shape != (n, n) or start.shape != (n,) or found.shape != (m,) or target.shape != (m,):
        shapes = ", ".join(str(array.shape) for array in (mass, jacobian, start, found))
        raise ValueError(f"expected M (n, n), J (m, n), momentum (n), forces (m) and bias (m), found {shapes}")
    if not dt > 0.0:
        raise ValueError(f"dt: expected a time step above 0 s, found {dt}")
    # Force times time step in, velocities out: one inverse serves both.
    try:
        response = np.linalg.solve(mass, np.column_stack([jacobian.T, start]))
    except np.linalg.LinAlgError:
        raise ValueError("M: expected an invertible mass matrix") from None
    W = jacobian @ response[:, :-1]
    W = 0.5 * (W + W.T)
    q = jacobian @ response[:, -1] + target
    arguments: dict[str, Any] = {"mu": mu, "laws": laws}
    checked = residual(W, q, dt * found, **arguments)
    exact = solve(M=mass, J=jacobian, force=start, bias=target, minimum_norm=True, **arguments)
    analysis = analyze(M=mass, J=jacobian, force=start, bias=target, max_modes=max_modes, **arguments)
    written = laws_of(len(jacobian), mu, laws, None)
    others = _delassus.other_impulses(
        np.ascontiguousarray(mass), np.ascontiguousarray(jacobian), start, target, written, exact.impulse
    )
    intervals = None if others is None or not exact.solved else others[0] / dt
    contacts = []
    velocity = W @ (dt * found) + q
    each = _each(len(jacobian), mu, laws)
    ends = np.cumsum([rows for rows, _ in each], dtype=int)
    places = [slice(int(end) - rows, int(end)) for end, (rows, _) in zip(ends, each, strict=True)]
    jams = jamming(W, places, [law for _, law in each], exact.impulse)
    for k, (here, (_, law)) in enumerate(zip(places, each, strict=True)):
        name = str(k) if names is None else names[k]
        at = here.start
        interval = None if intervals is None else (float(intervals[at, 0]), float(intervals[at, 1]))
        off = _violation(W[here, here], velocity[here], dt * found[here], law)
        force = exact.impulse[here] / dt
        contacts.append(
            AuditContact(name, found[here], force, interval, off[0], off[1] / dt, friction_of(law), jams[k])
        )
    return AuditReport(contacts, checked, exact, analysis, dt, list(not_covered))


def _violation(W: Array, velocity: Array, impulse: Array, law: Law) -> tuple[float, float]:
    """How far a contact is from its law at these velocities, as a velocity and as an impulse.

    The natural map of the one contact, F = r − P_K(r − ρ û), is what `residual` measures of a problem that has this
    contact alone and the same velocities.
    """
    largest = float(np.linalg.eigvalsh(0.5 * (W + W.T))[-1])
    if not largest > 0.0:
        return float(np.max(np.abs(velocity))), 0.0
    free = velocity - W @ impulse
    scale = float(np.linalg.norm(free)) / largest
    natural = residual(W, free, impulse, laws=[law]).relative * (scale if scale > 0.0 else 1.0)
    return natural * largest, natural


_ROWS = {
    "bilateral": 1,
    "unilateral": 1,
    "coulomb-plane": 2,
    "cone-plane": 2,
    "bilateral-coulomb-plane": 2,
    "rolling": 5,
    "cone-rolling": 5,
    "spinning": 6,
    "cone-spinning": 6,
}


def _each(rows: int, mu: Any, laws: Sequence[Law] | None) -> list[tuple[int, Law]]:
    """How many rows each constraint has, and its law."""
    if laws is None:
        dim, coefficients = laws_of(rows, mu, None, None)
        names = {1: "unilateral", 3: "coulomb"}
        return [(dim, {"law": names[dim]} | ({"mu": float(x)} if dim > 1 else {})) for x in coefficients]
    return [(_ROWS.get(law if isinstance(law, str) else str(law["law"]), 3), law) for law in laws]
