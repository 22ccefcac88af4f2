"""Systems and worlds: from files, texts or dictionaries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Union, overload

import numpy as np
import numpy.typing as npt

from . import _delassus
from ._analysis import Analysis
from ._arrays import real
from ._design import Axes, Exploration, Map, Paving, Safe, axes_of, columns_of
from ._keywords import suggests
from ._progress import bar
from ._result import Shown
from ._simulation import Simulation, Trajectory
from ._standing import Direction, Holding, Standing, directions, names, vector3
from ._toml import toml

MOST_TIMES = 100_000_000

Parameters = Mapping[str, "float | str"]
Range = Union[tuple[float, float], Sequence[float]]
Coordinates = Union[npt.ArrayLike, Mapping[str, float]]


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


@suggests
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
    return _wrapped(_delassus.load(os.fspath(path), values, **options))


def _wrapped(inner: _delassus.System | _delassus.World) -> System | World:
    return System(inner) if isinstance(inner, _delassus.System) else World(inner)


def _from_parts(parts: tuple[Any, ...], state: tuple[float, list[float], list[float]] | None = None) -> System | World:
    """What was pickled."""
    inner = _delassus.from_parts(parts)
    if isinstance(inner, _delassus.System) and state is not None:
        inner = inner.at(*state)
    return _wrapped(inner)


def _motion(
    t_start: float,
    t_end: float,
    asked: float | None,
    times: npt.ArrayLike | int,
    depth: int = 1,
    **options: Any,
) -> Any:
    """What the library is asked for."""
    end = t_end if asked is None else float(asked)
    if isinstance(times, int):
        if not (np.isfinite(end) and 0 <= times <= MOST_TIMES):
            raise ValueError(f"times: expected a finite end and at most {MOST_TIMES} times, found {end} and {times}")
        at = np.linspace(t_start, end, times)
    else:
        at = real("times", times)
    return SimpleNamespace(t_end=end, times=at.tolist(), depth=depth, **options)


def _mapped(inner: _delassus.System | _delassus.World, show: str, axes: Axes, progress: bool, name: str) -> Map:
    found = axes_of(axes)
    if not 1 <= len(found) <= 2:
        raise ValueError(f"axes: expected one or two parameters, found {len(found)}")
    # The library runs the last axis fastest; the first one here is drawn to the right.
    order = list(reversed(found))
    shape = tuple(axis.values.size for axis in order)
    total = int(np.prod(shape))
    with bar(progress, total, "points") as shown:
        request = SimpleNamespace(
            axes=[(axis.name, axis.values) for axis in order],
            quantities=[show],
            start=0,
            stop=total,
            threads=0,
            progress=shown,
        )
        columns = inner.grid(request)
    (values,) = columns_of(columns)
    return Map(name, show, found, values.reshape(shape) if len(found) == 2 else values, columns[0][3])


class System(Shown):
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

    @classmethod
    def build(cls, **tables: Any) -> System:
        """A system from the tables of a file as keywords: `system={"coordinates": ["x"]}, energy={…}, contact=[{…}]`."""
        return cls.from_text(toml(tables))

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def parameters(self) -> dict[str, float]:
        """Values of the parameters."""
        return dict(self._inner.parameters)

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

    @property
    def time(self) -> float:
        return self._inner.t_start

    def at(
        self, position: Coordinates | None = None, velocity: Coordinates | None = None, time: float | None = None
    ) -> System:
        """The same system at another state: arrays of all coordinates, or some of them by name."""
        q = self._numbers("position", position, self.position)
        v = self._numbers("velocity", velocity, self.velocity)
        return System(self._inner.at(self.time if time is None else float(time), q, v))

    def _numbers(self, what: str, given: Coordinates | None, now: npt.NDArray[np.float64]) -> list[float]:
        if isinstance(given, Mapping):
            names = self.coordinates
            for name, value in given.items():
                if name not in names:
                    raise ValueError(f"{what}: no coordinate `{name}`, expected some of {', '.join(names)}")
                now[names.index(name)] = value
            given = None
        values = now if given is None else real(what, given)
        if values.ndim != 1:
            raise ValueError(f"{what}: expected a vector, found an array of shape {values.shape}")
        numbers: list[float] = values.tolist()
        return numbers

    def analyze(
        self,
        *,
        tolerances: tuple[float, float] | None = None,
        max_modes: int | None = None,
        certificate: bool = False,
    ) -> Analysis:
        """All accelerations and contact forces at the state: do they exist, are they unique?

        `tolerances` are those below which gaps and velocities are zero. With `certificate`, what proves the verdicts
        is kept with the answer, where there is one.
        """
        return Analysis(*self._inner.analyze(tolerances, max_modes, certificate))

    def map(self, show: str, axes: Axes, *, progress: bool = False) -> Map:
        """A quantity or a verdict over one or two parameters, on all cores.

        `show` as for `delassus map`: solutions, existence, acceleration_unique, forces_unique, p_matrix,
        mu_jam[:CONTACT], mu_crit[:CONTACT], locking_angle[:CONTACT], friction_bound, force:NAME, proposition:ID or
        a place such as /contacts/0/mu. `axes`: values by name, as arrays or as "5deg:85deg:200".
        """
        return _mapped(self._inner, show, axes, progress, self.name)

    @overload
    def safe(
        self,
        over: str,
        within: Range | None = None,
        *,
        for_all: Mapping[str, Range] | None = None,
        any_slip: bool = False,
    ) -> Safe: ...
    @overload
    def safe(
        self,
        over: Mapping[str, Range],
        *,
        for_all: Mapping[str, Range] | None = None,
        any_slip: bool = False,
        any_load: bool = False,
        cycle: bool = False,
        boxes: int = 20_000,
        certificate: bool = False,
    ) -> Paving: ...
    def safe(
        self,
        over: str | Mapping[str, Range],
        within: Range | None = None,
        *,
        for_all: Mapping[str, Range] | None = None,
        any_slip: bool = False,
        any_load: bool = False,
        cycle: bool = False,
        boxes: int = 20_000,
        certificate: bool = False,
    ) -> Safe | Paving:
        """Where the answer is certified to exist and be unique: the largest interval of a parameter, or, for ranges by
        name, the whole box in cells. `any_load`, `cycle`, `boxes` and `certificate`, which keeps what proves the cells,
        are for boxes, as on the command line."""
        if not isinstance(for_all, (Mapping, type(None))):
            raise TypeError(f"for_all: expected ranges by name, found {type(for_all).__name__}")
        pairs = [(name, _range(name, values)) for name, values in (for_all or {}).items()]
        if isinstance(over, Mapping):
            if within is not None:
                raise ValueError("within: the ranges are those of over")
            if not over:
                raise ValueError("over: expected at least one range by name")
            ranges = [(name, _range(name, values)) for name, values in over.items()]
            return Paving(*self._inner.pave(ranges, pairs, any_slip, any_load, cycle, boxes, bool(certificate)))
        if any_load or cycle or certificate:
            raise ValueError("any_load, cycle, certificate: expected ranges by name, over={name: (lo, hi)}")
        searched = None if within is None else _range("within", within)
        return Safe(*self._inner.safe(over, searched, pairs, any_slip))

    def explore(
        self,
        t_end: float | None = None,
        *,
        depth: int = 3,
        tolerance: float | None = None,
        impact_law: str | None = None,
        impact_at_start: bool | None = None,
    ) -> Exploration:
        """All motions, where several accelerations satisfy the laws."""
        request = _motion(
            self._inner.t_start,
            self._inner.t_end,
            t_end,
            [],
            depth,
            tolerance=tolerance,
            impact_law=impact_law,
            impact_at_start=impact_at_start,
            indeterminate=None,
            max_events=None,
        )
        return Exploration(*self._inner.explore(request))

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
        request = _motion(
            self._inner.t_start,
            self._inner.t_end,
            t_end,
            times,
            tolerance=tolerance,
            impact_law=impact_law,
            impact_at_start=impact_at_start,
            indeterminate=indeterminate,
            max_events=max_events,
        )
        return Trajectory(self._inner.run(request))

    def __repr__(self) -> str:
        return repr(self._inner)

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_parts, self._inner.parts()


def _range(name: str, values: Range) -> list[float]:
    try:
        pair = [float(x) for x in values]
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected the least and the largest value: {error}") from None
    if len(pair) != 2:
        raise ValueError(f"{name}: expected the least and the largest value, found {len(pair)} values")
    return pair


class World(Shown):
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

    @classmethod
    def build(cls, **tables: Any) -> World:
        """A world from the tables of a file as keywords: `world={}, body=[{"name": "ball", …}], joint=[…]`."""
        return cls.from_text(toml({"world": {}, **tables}))

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def parameters(self) -> dict[str, float]:
        """Values of the parameters."""
        return dict(self._inner.parameters)

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

    def analyze(
        self,
        *,
        tolerances: tuple[float, float] | None = None,
        max_modes: int | None = None,
        certificate: bool = False,
    ) -> Analysis:
        """All accelerations and contact forces at the state, as `System.analyze`."""
        return Analysis(*self._inner.analyze(tolerances, max_modes, certificate))

    def stand(
        self,
        *,
        friction: bool = False,
        load: str | Iterable[str] = (),
        tilt: Direction | Iterable[Direction] = (),
        tolerances: tuple[float, float] | None = None,
        certificate: bool = False,
    ) -> Standing:
        """Does the world stand as it rests: surely, possibly or not at all?

        `friction`, `load` (bodies) and `tilt` (directions) ask for margins: what is left before it falls. With
        `certificate`, what proves the answer is kept with it, where there is one.
        """
        request = SimpleNamespace(
            friction=bool(friction),
            load=names("load", load),
            tilt=directions(tilt),
            tolerances=tolerances,
            certificate=bool(certificate),
        )
        return Standing(*self._inner.stand(request))

    def hold(
        self,
        body: str,
        point: npt.ArrayLike | None = None,
        force: float | None = None,
        *,
        tolerances: tuple[float, float] | None = None,
        certificate: bool = False,
    ) -> Holding:
        """The largest force at a point of a body that the world at rest resists in every direction.

        The point is in world axes, by default the centre of mass; `force` asks for one size of force.
        """
        request = SimpleNamespace(
            body=body,
            point=None if point is None else vector3("point", point),
            force=force,
            tolerances=tolerances,
            certificate=bool(certificate),
        )
        return Holding(*self._inner.hold(request))

    def map(self, show: str, axes: Axes, *, progress: bool = False) -> Map:
        """A quantity or a verdict over one or two parameters of the file, as `System.map`."""
        return _mapped(self._inner, show, axes, progress, self.name)

    def explore(
        self,
        t_end: float | None = None,
        *,
        depth: int = 3,
        tolerance: float | None = None,
        impact_law: str | None = None,
        impact_at_start: bool | None = None,
    ) -> Exploration:
        """All motions of a small world, and the one to which time stepping converges."""
        request = _motion(
            self._inner.t_start,
            self._inner.t_end,
            t_end,
            [],
            depth,
            tolerance=tolerance,
            impact_law=impact_law,
            impact_at_start=impact_at_start,
            indeterminate=None,
            max_events=None,
        )
        return Exploration(*self._inner.explore(request))

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
        """Event-driven integration of a small world, as `System.run`; `simulate` steps in time."""
        request = _motion(
            self._inner.t_start,
            self._inner.t_end,
            t_end,
            times,
            tolerance=tolerance,
            impact_law=impact_law,
            impact_at_start=impact_at_start,
            indeterminate=indeterminate,
            max_events=max_events,
        )
        return Trajectory(self._inner.run(request))

    def simulate(self, **options: Any) -> Simulation:
        """A simulation that starts here. Options are those of `Simulation.load`."""
        return Simulation(self._inner.simulate(**options))

    def __repr__(self) -> str:
        return repr(self._inner)

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_parts, (self._inner.parts(),)
