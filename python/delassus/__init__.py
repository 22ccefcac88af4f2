"""Mechanical systems with joints, contacts and friction, and whether their answer can be trusted.

>>> import numpy as np, delassus
>>> delassus.solve(np.eye(3), [-2.0, 3.0, 0.0], mu=0.5).impulse.round(6)
array([ 2., -1.,  0.])

`load` reads a file; a `System` (energies and constraints as formulas) and a `World` (rigid bodies) are analyzed
by `analyze`, and moved by `run` and `simulate`; `stand` and `hold` ask a world at rest; `map`, `safe`, `explore`
and `sweep` ask over parameters. `solve` and `analyze` take anyone's matrices. `audit` checks the contact forces of
other engines, `verify` certificates, `plot` draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._analysis import Analysis, Certificate, ProblemAnalysis, analyze
from ._delassus import VERSION as __version__
from ._design import Axis, Branch, Exploration, Map, Paving, Safe
from ._errors import DelassusError, SceneError, SimulationError, UnknownNameError
from ._keywords import suggests_in as _suggests_in
from ._page import PageView
from ._problem import Residual, Solution, residual, solve
from ._scene import System, World, load
from ._simulation import Body, Contact, Event, Motion, Rollout, RunReport, Simulation, Trajectory, rollout
from ._standing import Holding, Margin, Standing

if TYPE_CHECKING:
    from . import audit as audit
    from . import plot as plot
    from . import verify as verify
    from ._sweep import Sweep as Sweep
    from ._sweep import sweep as sweep

__all__ = [
    "Analysis",
    "Axis",
    "Body",
    "Branch",
    "Certificate",
    "Contact",
    "DelassusError",
    "Event",
    "Exploration",
    "Holding",
    "Map",
    "Margin",
    "Motion",
    "PageView",
    "Paving",
    "ProblemAnalysis",
    "Residual",
    "Rollout",
    "RunReport",
    "Safe",
    "SceneError",
    "Simulation",
    "SimulationError",
    "Solution",
    "Standing",
    "Sweep",
    "System",
    "Trajectory",
    "UnknownNameError",
    "World",
    "__version__",
    "analyze",
    "audit",
    "load",
    "plot",
    "residual",
    "rollout",
    "solve",
    "sweep",
    "verify",
]

for _kind in (System, World, Simulation):
    _suggests_in(_kind)


def __getattr__(name: str) -> object:
    # Read when first used, so that the package is there at once.
    if name in ("audit", "plot", "verify"):
        import importlib

        return importlib.import_module(f"delassus.{name}")
    if name in ("Sweep", "sweep"):
        from . import _sweep

        return getattr(_sweep, name)
    raise AttributeError(f"module 'delassus' has no attribute '{name}'")
