"""Systems and worlds from files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _delassus
from ._analysis import Analysis
from ._simulation import Simulation, Trajectory

Parameters = Mapping[str, "float | str"]


def _import_options(
    keyframe: str | None,
    controls: Mapping[str, float] | None,
    packages: Mapping[str, str | os.PathLike[str]] | None,
    fixed_base: bool | None,
) -> dict[str, Any]:
    return {
        "keyframe": keyframe,
        "controls": None if controls is None else dict(controls),
        "packages": None if packages is None else {name: os.fspath(at) for name, at in packages.items()},
        "fixed_base": fixed_base,
    }


def load(
    path: str | os.PathLike[str],
    parameters: Parameters | None = None,
    *,
    keyframe: str | None = None,
    controls: Mapping[str, float] | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    fixed_base: bool | None = None,
) -> System | World:
    """A system or a world from a file: `.toml`, MJCF (`.xml`) or URDF.

    `parameters` override those of the file: numbers, or texts with a unit. The other keywords are for MJCF
    (`keyframe`, `controls`) and URDF (`packages`, `fixed_base`).
    """
    options = _import_options(keyframe, controls, packages, fixed_base)
    values = None if parameters is None else dict(parameters)
    inner = _delassus.load(os.fspath(path), values, **options)
    return System(inner) if isinstance(inner, _delassus.System) else World(inner)


class System:
    """A Lagrangian system: energies, contacts and joints as formulas, with the state of its file."""

    __slots__ = ("_inner",)

    def __init__(self, inner: _delassus.System) -> None:
        self._inner = inner

    @classmethod
    def load(cls, path: str | os.PathLike[str], parameters: Parameters | None = None) -> System:
        """A system from a file."""
        found = load(path, parameters)
        if not isinstance(found, System):
            raise TypeError(f"{os.fspath(path)}: expected a [system], found a world; `World.load` reads it")
        return found

    @classmethod
    def from_text(cls, text: str, parameters: Parameters | None = None) -> System:
        """A system from the text of a file."""
        return cls(_delassus.System.from_text(text, None if parameters is None else dict(parameters)))

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def coordinates(self) -> list[str]:
        return self._inner.coordinates

    @property
    def contacts(self) -> list[str]:
        return self._inner.contacts

    @property
    def joints(self) -> list[str]:
        return self._inner.joints

    @property
    def position(self) -> npt.NDArray[np.float64]:
        return np.array(self._inner.position)

    @property
    def velocity(self) -> npt.NDArray[np.float64]:
        return np.array(self._inner.velocity)

    def analyze(self, *, tolerances: tuple[float, float] | None = None, max_modes: int | None = None) -> Analysis:
        """All accelerations and contact forces at the state: do they exist, are they unique?

        `tolerances` are those below which gaps and velocities are zero.
        """
        return Analysis(*self._inner.analyze(tolerances, max_modes))

    def run(
        self,
        t_end: float | None = None,
        times: npt.ArrayLike | int = 1001,
        *,
        tolerance: float | None = None,
        impact_law: str | None = None,
        impact_at_start: bool | None = None,
        indeterminate: str | None = None,
        max_events: int | None = None,
    ) -> Trajectory:
        """Event-driven integration to `t_end`; `times` at which the motion is recorded, or how many."""
        end = t_end if t_end is not None else self._inner.t_end
        at = np.linspace(self._inner.t_start, end, times) if isinstance(times, int) else np.asarray(times, float)
        return Trajectory(
            self._inner.run(
                t_end,
                at.tolist(),
                tolerance=tolerance,
                impact_law=impact_law,
                impact_at_start=impact_at_start,
                indeterminate=indeterminate,
                max_events=max_events,
            )
        )

    def __repr__(self) -> str:
        return repr(self._inner)


class World:
    """Rigid bodies with shapes and joints, with the state of their file."""

    __slots__ = ("_inner",)

    def __init__(self, inner: _delassus.World) -> None:
        self._inner = inner

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        parameters: Parameters | None = None,
        *,
        keyframe: str | None = None,
        controls: Mapping[str, float] | None = None,
        packages: Mapping[str, str | os.PathLike[str]] | None = None,
        fixed_base: bool | None = None,
    ) -> World:
        """A world from a file: `.toml`, MJCF or URDF."""
        found = load(
            path, parameters, keyframe=keyframe, controls=controls, packages=packages, fixed_base=fixed_base
        )
        if not isinstance(found, World):
            raise TypeError(f"{os.fspath(path)}: expected a world, found a [system]; `System.load` reads it")
        return found

    @classmethod
    def from_text(cls, text: str, parameters: Parameters | None = None) -> World:
        """A world from the text of a `.toml` file."""
        return cls(_delassus.World.from_text(text, None if parameters is None else dict(parameters)))

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def bodies(self) -> list[str]:
        return self._inner.bodies

    @property
    def joints(self) -> list[str]:
        return self._inner.joints

    @property
    def not_read(self) -> list[str]:
        """What of a URDF or MJCF file was not read."""
        return self._inner.not_read

    def analyze(self, *, tolerances: tuple[float, float] | None = None, max_modes: int | None = None) -> Analysis:
        """All accelerations and contact forces at the state: do they exist, are they unique?"""
        return Analysis(*self._inner.analyze(tolerances, max_modes))

    def simulate(self, **options: Any) -> Simulation:
        """A simulation that starts here. Options are those of `Simulation.load`."""
        return Simulation(self._inner.simulate(**options))

    def __repr__(self) -> str:
        return repr(self._inner)
