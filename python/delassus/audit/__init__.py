"""What the contact forces of another engine are worth.

`audit.mujoco(model, data)` takes the state of a MuJoCo simulation, writes down the contact problem of its step
without softness, and compares:

    u = J v⁺ ,  M v⁺ = M v + dt F + Jᵀ r ,  (u_i, r_i) in Coulomb's law          r = dt × force

The engine's forces get a residual by code that shares no line with any solver; the problem itself gets verdicts:
do forces exist, are they unique, in which interval does each lie, is another motion possible.
`audit.pinocchio(model, data, q, v, contacts)` does the same for a Pinocchio model, `audit.problem` for anyone's
matrices.
"""

from __future__ import annotations

from ._mujoco import mujoco, mujoco_run
from ._pinocchio import PointContact, pinocchio
from ._report import AuditContact, AuditReport, RunAudit, problem

__all__ = ["AuditContact", "AuditReport", "PointContact", "RunAudit", "mujoco", "mujoco_run", "pinocchio", "problem"]
