"""The state of a Pinocchio model with contacts and loops as an exact contact problem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from .._keywords import suggests
from ._report import AuditReport, problem

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PointContact:
    """A point of a body of a Pinocchio model that touches the ground or another body."""

    frame: Union[str, int]
    """The frame of the model, by name or id, in which the point is given."""
    point: Sequence[float] = (0.0, 0.0, 0.0)
    """m, in the axes of the frame."""
    normal: Sequence[float] = (0.0, 0.0, 1.0)
    """World axes, from the other body to this one: the direction in which the contact pushes."""
    mu: float = 0.0
    force: Union[Sequence[float], None] = None
    """Force on the body that the engine found, world axes, N; zero where there is none."""
    other: Union[str, int, None] = None
    """The frame of the other body; the ground where there is none."""
    name: Union[str, None] = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.mu < math.inf:
            raise ValueError(f"mu: expected a number that is not negative, found {self.mu}")
        for key in ("point", "normal", "force"):
            given = getattr(self, key)
            numbers = np.asarray(0.0 if given is None else given, dtype=float)
            if given is not None and (numbers.shape != (3,) or not np.isfinite(numbers).all()):
                raise ValueError(f"{key}: expected three finite numbers, found {given}")


def _frame_id(model: Any, frame: str | int) -> int:
    if isinstance(frame, str):
        if not model.existFrame(frame):
            raise ValueError(f"contacts: the model has no frame `{frame}`")
        return int(model.getFrameId(frame))
    if not 0 <= int(frame) < model.nframes:
        raise ValueError(f"contacts: expected one of {model.nframes} frames, found {frame}")
    return int(frame)


def _axes(normal: Array) -> Array:
    """Normal and two tangents as rows."""
    length = float(np.linalg.norm(normal))
    if normal.shape != (3,) or not np.isfinite(length) or length == 0.0:
        raise ValueError(f"contacts: expected a normal of three numbers, found {normal}")
    n = normal / length
    t = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
    t /= np.linalg.norm(t)
    return np.array([n, t, np.cross(n, t)])


def _point_rows(model: Any, data: Any, engine: Any, frame: int, at: Array) -> Array:
    """World velocity of the point of a frame's body that is at `at` now, per joint velocity."""
    world = engine.getFrameJacobian(model, data, frame, engine.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    arm = at - data.oMf[frame].translation
    found: Array = world[:3] + np.cross(world[3:].T, arm).T
    return found


@suggests
def pinocchio(
    model: Any,
    data: Any,
    q: npt.ArrayLike,
    v: npt.ArrayLike,
    contacts: Sequence[Any],
    *,
    tau: npt.ArrayLike | None = None,
    constraint_datas: Sequence[Any] | None = None,
    dt: float = 1e-3,
    max_modes: int | None = None,
) -> AuditReport:
    """Checks contact and loop forces of a Pinocchio model at a state.

    `contacts` holds `PointContact`s, under Coulomb's law, and Pinocchio's `RigidConstraintModel`s (loops, bodies that
    are held), which are bilateral; the forces of the latter are read from `constraint_datas`, one for each of them,
    after `pin.constraintDynamics`. `tau` are the joint forces. The problem is that of a step of `dt` from here:
    M v⁺ = M v + dt (tau − h) + Jᵀ dt f.
    """
    import pinocchio as engine

    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    torque = np.zeros(model.nv) if tau is None else np.asarray(tau, dtype=float)
    for name, array, size in (("q", q, model.nq), ("v", v, model.nv), ("tau", torque, model.nv)):
        if array.shape != (size,):
            raise ValueError(f"{name}: expected {size} numbers, found an array of shape {array.shape}")
    # The answer of the engine is in its own data; this work leaves them alone.
    work = model.createData()
    mass = np.array(engine.crba(model, work, q))
    mass = np.triu(mass) + np.triu(mass, 1).T
    free = torque - np.array(engine.nonLinearEffects(model, work, q, v))
    engine.computeJointJacobians(model, work, q)
    engine.updateFramePlacements(model, work)
    rows: list[Array] = []
    laws: list[dict[str, Any]] = []
    names: list[str] = []
    forces: list[Array] = []
    given = iter(constraint_datas or ())
    for k, contact in enumerate(contacts):
        if isinstance(contact, PointContact):
            axes = _axes(np.asarray(contact.normal, dtype=float))
            frame = _frame_id(model, contact.frame)
            at = work.oMf[frame].act(np.asarray(contact.point, dtype=float))
            jacobian = _point_rows(model, work, engine, frame, at)
            if contact.other is not None:
                jacobian = jacobian - _point_rows(model, work, engine, _frame_id(model, contact.other), at)
            found = np.zeros(3) if contact.force is None else np.asarray(contact.force, dtype=float)
            count = 3 if contact.mu > 0.0 else 1
            laws.append({"law": "coulomb", "mu": float(contact.mu)} if count == 3 else {"law": "unilateral"})
            names.append(contact.name or f"{model.frames[frame].name}#{k}")
            rows.append((axes @ jacobian)[:count])
            forces.append((axes @ found)[:count])
            continue
        jacobian, found = _loop(model, work, engine, contact, next(given, None))
        label = getattr(contact, "name", "") or f"loop {k}"
        for i, row in enumerate(jacobian):
            laws.append({"law": "bilateral"})
            names.append(f"{label}.{'xyz'[i % 3] if i < 3 else 'm' + 'xyz'[i % 3]}")
            rows.append(row[None, :])
        forces.append(found)
    jacobian = np.vstack([np.zeros((0, model.nv)), *rows])
    return problem(
        mass,
        jacobian,
        mass @ v + dt * free,
        forces=np.concatenate([np.zeros(0), *forces]),
        dt=dt,
        laws=laws,
        names=names,
        max_modes=max_modes,
    )


def _loop(model: Any, data: Any, engine: Any, constraint: Any, known: Any) -> tuple[Array, Array]:
    """Rows of a bilateral constraint and the forces of the engine along them."""
    try:
        own = constraint.createData()
        constraint.calc(model, data, own)
        jacobian = np.array(engine.getConstraintJacobian(model, data, constraint, own))
    except (AttributeError, TypeError) as error:  # Boost's ArgumentError is a TypeError
        raise TypeError(f"contacts: expected PointContact or RigidConstraintModel, found {constraint!r}") from error
    if known is None:
        return jacobian, np.zeros(len(jacobian))
    force = np.asarray(known.contact_force.vector, dtype=float)[: len(jacobian)]
    return jacobian, force
