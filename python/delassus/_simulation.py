"""Worlds and systems in motion."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _delassus
from ._analysis import Analysis
from ._arrays import real
from ._keywords import suggests
from ._page import PageView
from ._progress import bar
from ._result import Record, Shown, plain

Array = npt.NDArray[np.float64]
Key = Union[str, int]
"""A body or joint by its name or its number."""


@dataclass(frozen=True)
class Body(Record):
    """A body as it is now."""

    name: str
    position: Array
    """Of the frame in which the body was written, m."""
    orientation: Array
    """w, x, y, z of that frame."""
    centre: Array
    """Centre of mass, m."""
    velocity: Array
    """Of the centre of mass, world axes, m/s."""
    angular_velocity: Array
    """World axes, rad/s."""


@dataclass(frozen=True)
class Contact(Record):
    """A contact and its force."""

    name: str
    bodies: tuple[str, str]
    point: Array
    normal: Array
    """From the first body to the second."""
    gap: float
    force: Array
    """On the second body, world axes, N."""
    normal_force: float
    friction: Array
    mode: str
    """`open`, `slide` or `stick`."""
    unique: bool | None
    """Whether no other normal force goes with the same motion; `None` where it is not known."""
    interval: tuple[float, float] | None
    """Where it is not unique: the least and the largest."""

    @classmethod
    def _of(cls, entry: dict[str, Any]) -> Contact:
        vectors = {name: np.array(entry[name]) for name in ("point", "normal", "force", "friction")}
        return cls(**{**entry, **vectors})


@dataclass(frozen=True)
class Event(Record):
    """Something that happened at a contact."""

    t: float
    kind: str
    """`impact`, `open`, `slide`, `stick`, `accumulation`, `jam`, …"""
    contact: str
    speed: float | None = None
    """Of approach, at an impact, m/s."""
    impulse: tuple[float, ...] = ()
    """Normal and tangents, in event-driven integration."""
    energy_change: float = 0.0


@dataclass(frozen=True)
class RunReport(Record):
    """What the steps of a call add up to."""

    steps: int
    unsolved_steps: int
    first_failure_time: float | None
    first_failure: str | None
    """What failed first, in words."""
    residual: float
    """Largest scale-free residual of a solve."""
    penetration: float
    """Largest overlap at the end of a step, m."""
    joint_error: float
    """Largest opening of a joint at the end of a step, m or rad."""


@dataclass(frozen=True, repr=False)
class Motion(Record):
    """A run by time stepping: arrays over the frames, then bodies or joints."""

    bodies: list[str]
    joints: list[str]
    time: Array
    position: Array
    """(frames, bodies, 3)"""
    orientation: Array
    """(frames, bodies, 4): w, x, y, z"""
    velocity: Array
    angular_velocity: Array
    energy: Array
    """Kinetic and potential energy together, J"""
    account: dict[str, Array]
    """Energy since the start, J: `supplied` by motors and forces, taken by `friction`, `impacts` and `dampers`, and
    `created` by contacts and laws of impact"""
    joint: Array
    """(frames, joints, 2): coordinate and its rate, NaN for joints without one"""
    contacts: list[list[Contact]]
    """Per frame, where they were asked for: mean forces of the step before it"""
    events: list[Event]
    report: RunReport

    @classmethod
    def _of(cls, entry: dict[str, Any]) -> Motion:
        account = entry.pop("account")
        names = ("supplied", "friction", "impacts", "dampers", "created")
        return cls(
            account={name: account[:, k] for k, name in enumerate(names)},
            contacts=[[Contact._of(contact) for contact in frame] for frame in entry.pop("contacts")],
            events=[Event(**event) for event in entry.pop("events")],
            report=RunReport(**entry.pop("report")),
            **entry,
        )

    @property
    def left_over(self) -> Array:
        """What the account does not explain of the energy, J: the error of the scheme."""
        a = self.account
        spent = a["friction"] + a["impacts"] + a["dampers"] - a["supplied"] - a["created"]
        found: Array = self.energy - self.energy[0] + spent
        return found

    def body(self, name: Key) -> Array:
        """Positions of a body over time."""
        at = name if isinstance(name, int) else self.bodies.index(name)
        found: Array = self.position[:, at]
        return found

    def __repr__(self) -> str:
        unsolved = f", {self.report.unsolved_steps} not solved" if self.report.unsolved_steps else ""
        return (
            f"<delassus.Motion: {len(self.time)} frames to {self.time[-1]:g} s, {self.report.steps} steps"
            f"{unsolved}, residual {self.report.residual:.2g}, {len(self.events)} events>"
        )


class Trajectory(Shown):
    """A run by event-driven integration: arrays over the recorded times."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self._entry = entry
        self.coordinates: list[str] = entry["coordinates"]
        self.contacts: list[str] = entry["contacts"]
        self.joints: list[str] = entry["joints"]
        self.time: Array = entry["time"]
        self.position: Array = entry["position"]
        """(times, coordinates)"""
        self.velocity: Array = entry["velocity"]
        self.acceleration: Array = entry["acceleration"]
        self.contact_force: Array = entry["contact_force"]
        """(times, contacts, 3): normal and tangents"""
        self.joint_force: Array = entry["joint_force"]
        self.mode: list[list[str]] = entry["mode"]
        self.energy: Array = entry["energy"]
        self.events: list[Event] = [
            Event(**{**event, "impulse": tuple(event["impulse"])}) for event in entry["events"]
        ]
        self.t_end: float = entry["t_end"]
        self.final_position: Array = entry["final_position"]
        self.final_velocity: Array = entry["final_velocity"]
        self.done: bool = entry["done"]
        """Whether the run reached its end."""
        self.ending: str = entry["ending"]
        """How it ended, in words."""

    def coordinate(self, name: str) -> Array:
        """A coordinate over time."""
        found: Array = self.position[:, self.coordinates.index(name)]
        return found

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = plain(self._entry)
        return found

    def __repr__(self) -> str:
        return f"<delassus.Trajectory: {self.ending} at {self.t_end:g} s, {len(self.events)} events>"

    def __reduce__(self) -> tuple[type[Trajectory], tuple[dict[str, Any]]]:
        return Trajectory, (self._entry,)


class Simulation(Shown):
    """A world in motion: owns its model and its state.

    Between steps everything can be read and set; what is set stays until it is set again.
    """

    __slots__ = ("_inner",)

    def __init__(self, inner: _delassus.Simulation) -> None:
        self._inner = inner

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        parameters: Mapping[str, float | str] | None = None,
        *,
        keyframe: str | None = None,
        controls: Mapping[str, float] | None = None,
        packages: Mapping[str, str | os.PathLike[str]] | None = None,
        fixed_base: bool | None = None,
        **options: Any,
    ) -> Simulation:
        """A simulation of the world in a file.

        Options of the steps: dt (s), scheme ("symmetric", "half-implicit"), law ("ncp", "ccp"), coordinates
        ("auto", "maximal", "reduced"), impact_law, tolerance, solver, position_tolerance (m), warm_start,
        minimum_norm; else those of the file.
        """
        from ._scene import World

        world = World.load(
            path, parameters, keyframe=keyframe, controls=controls, packages=packages, fixed_base=fixed_base
        )
        return world.simulate(**options)

    @classmethod
    def from_text(cls, text: str, parameters: Mapping[str, float | str] | None = None, **options: Any) -> Simulation:
        """A simulation of the world in the text of a `.toml` file."""
        from ._scene import World

        return World.from_text(text, parameters).simulate(**options)

    @property
    def time(self) -> float:
        return self._inner.time

    @property
    def dt(self) -> float:
        return self._inner.dt

    @dt.setter
    def dt(self, value: float) -> None:
        self._inner.dt = value

    @property
    def t_end(self) -> float | None:
        """The end that the file asks for, s."""
        return self._inner.t_end

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def energy(self) -> float:
        """Kinetic and potential energy together, J."""
        return self._inner.energy

    @property
    def bodies(self) -> list[str]:
        return self._inner.bodies

    @property
    def joints(self) -> list[str]:
        return self._inner.joints

    @property
    def positions(self) -> Array:
        """(bodies, 3), of the frames in which bodies were written."""
        return self._inner.positions

    @property
    def orientations(self) -> Array:
        """(bodies, 4): w, x, y, z."""
        return self._inner.orientations

    @property
    def velocities(self) -> Array:
        """(bodies, 3), of the centres of mass, world axes."""
        return self._inner.velocities

    @property
    def angular_velocities(self) -> Array:
        """(bodies, 3), world axes."""
        return self._inner.angular_velocities

    def body(self, key: Key) -> Body:
        found = self._inner.body(key)
        name = found.pop("name")
        return Body(name=name, **{what: np.array(value) for what, value in found.items()})

    def joint(self, key: Key) -> tuple[float, float]:
        """The coordinate of a joint and its rate; angles count full turns."""
        return self._inner.joint(key)

    def joint_force(self, key: Key) -> tuple[Array, Array]:
        """Mean force and moment of the last step on the second body, world axes."""
        force, moment = self._inner.joint_force(key)
        return np.array(force), np.array(moment)

    def contacts(self, *, unique: bool = True) -> list[Contact]:
        """Contacts with their mean forces in the last step; `unique=False` leaves out whether they are unique."""
        return [Contact._of(entry) for entry in self._inner.contacts(unique)]

    def contacts_now(self) -> list[Contact]:
        """Contacts with their forces at this instant."""
        return [Contact._of(entry) for entry in self._inner.contacts_now()]

    def analyze(self, *, max_modes: int | None = None, certificate: bool = False) -> Analysis:
        """The contact problem at this state: do forces exist, are they unique?"""
        return Analysis(*self._inner.analyze(max_modes, certificate))

    def set_force(self, body: Key, force: Sequence[float]) -> None:
        """The force on the centre of mass of a body, world axes, N."""
        self._inner.set_force(body, force)

    def set_torque(self, body: Key, torque: Sequence[float]) -> None:
        """The moment on a body, world axes, N m."""
        self._inner.set_torque(body, torque)

    def set_force_at(self, body: Key, force: Sequence[float], point: Sequence[float]) -> None:
        """Force and moment of a force at a point, world axes."""
        self._inner.set_force_at(body, force, point)

    def set_control(self, joint: Key, value: float, actuator: int | None = None) -> None:
        """The target of a motor or the force of an actuator on a joint."""
        self._inner.set_control(joint, value, actuator)

    def set_joint(self, joint: Key, position: float, velocity: float = 0.0) -> None:
        """Puts a joint at a coordinate with a rate; all bodies that hang on it move with it, loops are closed."""
        self._inner.set_joint(joint, position, velocity)

    @property
    def options(self) -> dict[str, Any]:
        """The options of the steps."""
        return self._inner.options

    def set_options(self, **options: Any) -> None:
        """Goes on with other options, those of `Simulation.load`."""
        self._inner.set_options(**options)

    def set_pose(
        self, body: Key, position: Sequence[float], orientation: Sequence[float] | None = None
    ) -> None:
        """Position and orientation (w, x, y, z) of the frame in which a body was written."""
        self._inner.set_pose(body, position, orientation)

    def set_velocity(self, body: Key, velocity: Sequence[float]) -> None:
        self._inner.set_velocity(body, velocity)

    def set_angular_velocity(self, body: Key, angular_velocity: Sequence[float]) -> None:
        self._inner.set_angular_velocity(body, angular_velocity)

    def step(self, n: int = 1) -> RunReport:
        """n steps, without Python in between."""
        if n < 0:
            raise ValueError(f"n: expected a number of steps, found {n}")
        return RunReport(**self._inner.step(n))

    def run(
        self, t_end: float | None = None, *, every: int = 1, contacts: bool = False, progress: bool = False
    ) -> Motion:
        """Steps until a time (the one of the file by default) and keeps every so many states.

        With `contacts` their forces are kept too, with the interval of those that are not unique.
        """
        end = t_end if t_end is not None else self._inner.t_end
        if end is None:
            raise TypeError("t_end: expected an end, the file has none")
        with bar(progress, end - self.time, "s", self.time) as show:
            return Motion._of(self._inner.run(end, every, contacts, show))

    def show(self, t_end: float | None = None, *, height: int = 720) -> PageView:
        """The motion from here until a time (the one of the file by default) as a page, which notebooks show.

        A copy moves; this simulation stays where it is. Without an end the page has the state that there is.
        """
        end = t_end if t_end is not None else self._inner.t_end
        return PageView(self._inner.page(self.time if end is None else end), height)

    def save(self) -> _delassus.Snapshot:
        """All that is needed to go on from here with the same bits."""
        return self._inner.save()

    def restore(self, snapshot: _delassus.Snapshot) -> None:
        self._inner.restore(snapshot)

    def copy(self) -> Simulation:
        """Another simulation that stands where this one does."""
        return Simulation(_delassus.Simulation.from_snapshot(self._inner.save()))

    def __repr__(self) -> str:
        return repr(self._inner)

    def __reduce__(self) -> tuple[Any, ...]:
        return _resumed, self._inner.parts()


def _resumed(parts: tuple[Any, ...], options: dict[str, Any], saved: dict[str, Any]) -> Simulation:
    """What was pickled: goes on with the same bits."""
    world = _delassus.from_parts(parts)
    if not isinstance(world, _delassus.World):
        raise TypeError("expected the source of a world")
    inner = world.simulate(**options)
    inner.resume(saved)
    return Simulation(inner)


@dataclass(frozen=True, repr=False)
class Rollout(Record):
    """Many motions: arrays over motions, steps, then bodies or joints."""

    position: Array
    orientation: Array
    velocity: Array
    angular_velocity: Array
    joint: Array
    unsolved_steps: Array
    residual: Array

    def __repr__(self) -> str:
        return f"<delassus.Rollout: {self.position.shape[0]} motions of {self.position.shape[1]} steps>"


@suggests
def rollout(simulation: Simulation, joints: Sequence[str], controls: npt.ArrayLike) -> Rollout:
    """Moves copies of a simulation under controls[motion, step, joint], on all cores.

    Each motion has the bits that it would have alone. The simulation itself stays where it is.
    """
    values = real("controls", controls)
    if values.ndim != 3:
        raise ValueError(f"controls: expected (motions, steps, joints), found an array of shape {values.shape}")
    found = _delassus.rollout(simulation._inner.save(), list(joints), values)
    body = found["body"]
    return Rollout(
        position=body[..., 0:3],
        orientation=body[..., 3:7],
        velocity=body[..., 7:10],
        angular_velocity=body[..., 10:13],
        joint=found["joint"],
        unsolved_steps=np.array(found["unsolved_steps"]),
        residual=found["residual"],
    )
