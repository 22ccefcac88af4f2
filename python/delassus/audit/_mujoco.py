"""The state of a MuJoCo simulation as an exact contact problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._keywords import suggests
from ._report import AuditReport, RunAudit, problem

Array = npt.NDArray[np.float64]


def _name(model: Any, mujoco: Any, geom: int) -> str:
    if geom < 0:
        return "flex"
    name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, geom)
    if name:
        return str(name)
    body = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, int(model.geom_bodyid[geom]))
    return str(body) if body else f"geom{geom}"


def _mass(model: Any, data: Any, mujoco: Any) -> Array:
    mass = np.zeros((model.nv, model.nv))
    if hasattr(data, "qM"):
        mujoco.mj_fullM(model, mass, data.qM)
    else:  # from version 4 on
        mujoco.mj_fullM(model, data, mass)
    return mass


def _contact_rows(model: Any, data: Any, mujoco: Any, contact: Any) -> Array:
    """Velocity of the second geom's body relative to the first in the frame of the contact."""
    rows = np.zeros((3, model.nv))
    jacobian = np.zeros((3, model.nv))
    for geom, sign in ((contact.geom[0], -1.0), (contact.geom[1], 1.0)):
        if geom < 0:
            raise ValueError("contacts of flexible bodies are not covered: their points are no rigid bodies")
        mujoco.mj_jac(model, data, jacobian, None, contact.pos, int(model.geom_bodyid[geom]))
        rows += sign * jacobian
    found: Array = np.asarray(contact.frame).reshape(3, 3) @ rows
    return found


def _dense_rows(model: Any, data: Any, mujoco: Any) -> Array:
    """All constraint rows of the engine, dense."""
    if data.nefc == 0:
        return np.zeros((0, model.nv))
    if mujoco.mj_isSparse(model):
        dense = np.zeros((data.nefc, model.nv))
        for i in range(data.nefc):
            at, count = int(data.efc_J_rowadr[i]), int(data.efc_J_rownnz[i])
            dense[i, data.efc_J_colind[at : at + count]] = np.ravel(data.efc_J)[at : at + count]
        return dense
    return np.array(data.efc_J, dtype=float).reshape(-1, model.nv)[: data.nefc]


@suggests
def mujoco(model: Any, data: Any, *, max_modes: int | None = None, gap: float = 1e-3) -> AuditReport:
    """Checks the contact forces of a MuJoCo state.

    `data` is a state after `mj_forward` or `mj_step1`; where it was stepped, call `mj_forward` first, so that
    positions, velocities and forces belong together. Contacts that are further apart than `gap` (m) are left out.
    Equality constraints and active joint limits are rows of the problem; dry friction of joints and tendons is not
    covered and said so.
    """
    import mujoco as engine

    nv = model.nv
    mass = _mass(model, data, engine)
    dt = float(model.opt.timestep)
    # M v + dt (all forces but those of constraints).
    momentum = mass @ (np.asarray(data.qvel) + dt * np.asarray(data.qacc_smooth))
    rows: list[Array] = []
    laws: list[dict[str, Any]] = []
    forces: list[float] = []
    names: list[str] = []
    not_covered: set[str] = set()
    all_rows = _dense_rows(model, data, engine)
    kinds = engine.mjtConstraint
    for i in range(data.nefc):
        kind = int(data.efc_type[i])
        if kind == int(kinds.mjCNSTR_EQUALITY):
            laws.append({"law": "bilateral"})
            names.append(f"equality {int(data.efc_id[i])}")
        elif kind in (int(kinds.mjCNSTR_LIMIT_JOINT), int(kinds.mjCNSTR_LIMIT_TENDON)):
            if float(data.efc_pos[i]) > gap:
                continue
            laws.append({"law": "unilateral"})
            names.append(f"limit {int(data.efc_id[i])}")
        elif kind in (int(kinds.mjCNSTR_FRICTION_DOF), int(kinds.mjCNSTR_FRICTION_TENDON)):
            not_covered.add("dry friction of joints and tendons: its forces are taken as the engine has them")
            momentum = momentum + dt * all_rows[i] * float(data.efc_force[i])
            continue
        else:
            continue
        rows.append(all_rows[i : i + 1])
        forces.append(float(data.efc_force[i]))
    out = np.zeros(6)
    for k in range(data.ncon):
        contact = data.contact[k]
        if contact.dist > gap or contact.exclude:
            continue
        engine.mj_contactForce(model, data, k, out)
        frame_rows = _contact_rows(model, data, engine, contact)
        label = f"{_name(model, engine, contact.geom[0])}|{_name(model, engine, contact.geom[1])}#{k}"
        names.append(label)
        if contact.dim == 1:
            laws.append({"law": "unilateral"})
            rows.append(frame_rows[:1])
            forces.append(float(out[0]))
            continue
        mu = [float(x) for x in contact.friction[:2]]
        law = {"law": "coulomb", "mu": mu[0]} if mu[0] == mu[1] else {"law": "coulomb-ellipse", "mu": mu}
        if contact.dim > 3:
            not_covered.add("rolling and spinning friction of contacts: moments are taken as the engine has them")
            moments = out[3 : contact.dim]
            rotation = np.zeros((3, nv))
            turn = np.zeros((3, nv))
            for geom, sign in ((contact.geom[0], -1.0), (contact.geom[1], 1.0)):
                engine.mj_jac(model, data, None, turn, contact.pos, int(model.geom_bodyid[geom]))
                rotation += sign * turn
            spin = (np.asarray(contact.frame).reshape(3, 3) @ rotation)[: len(moments)]
            momentum = momentum + dt * spin.T @ moments
        laws.append(law)
        rows.append(frame_rows)
        forces.extend(float(x) for x in out[:3])
    if not rows:
        rows = [np.zeros((0, nv))]
    return problem(
        mass,
        np.vstack(rows),
        momentum,
        forces=forces,
        dt=dt,
        laws=laws,
        names=names,
        max_modes=max_modes,
        not_covered=sorted(not_covered),
    )


@suggests
def mujoco_run(
    model: Any,
    data: Any,
    steps: int,
    *,
    every: int = 1,
    control: Callable[[Any, Any], None] | None = None,
    max_modes: int | None = 4096,
) -> RunAudit:
    """Steps a MuJoCo simulation and checks every so many of its states. `control` is called before each step."""
    import mujoco as engine

    if steps < 0 or every < 1:
        raise ValueError(f"steps and every: expected a number of steps and at least 1, found {steps} and {every}")
    kept: list[tuple[float, AuditReport]] = []
    for k in range(steps):
        if control is not None:
            control(model, data)
        if k % every == 0:
            engine.mj_forward(model, data)
            kept.append((float(data.time), mujoco(model, data, max_modes=max_modes)))
        engine.mj_step(model, data)
    reports = [report for _, report in kept]
    return RunAudit(
        time=np.array([t for t, _ in kept]),
        relative=np.array([r.residual.relative for r in reports]),
        velocity=np.array([r.off_velocity for r in reports]),
        force=np.array([r.off_force for r in reports]),
        contacts=np.array([len(r.contacts) for r in reports], dtype=float),
        forces_unique=[r.forces_unique for r in reports],
        motion_unique=[r.motion_unique for r in reports],
    )
