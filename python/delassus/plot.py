"""Pictures by matplotlib. Each takes an `ax` and returns it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._analysis import Analysis
from ._simulation import Contact, Motion, Trajectory

__all__ = ["axes", "energy", "forces", "friction_cone", "trajectory"]


def axes(ax: Any = None, **options: Any) -> Any:
    """`ax`, or new axes."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(**options)[1]


def trajectory(motion: Trajectory | Motion, names: list[str] | None = None, ax: Any = None) -> Any:
    """Coordinates of a system, or heights of bodies, over time, with the events as lines."""
    ax = axes(ax)
    if isinstance(motion, Trajectory):
        for name in names if names is not None else motion.coordinates:
            ax.plot(motion.time, motion.coordinate(name), label=name)
    else:
        for name in names if names is not None else motion.bodies:
            ax.plot(motion.time, motion.body(name)[:, 2], label=f"{name}, z")
    colours = {"impact": "C3", "jam": "k", "accumulation": "C4"}
    for event in motion.events[:200]:
        ax.axvline(event.t, color=colours.get(event.kind, "0.8"), linewidth=0.6, zorder=0)
    ax.set_xlabel("time, s")
    ax.legend()
    return ax


def energy(motion: Trajectory | Motion, ax: Any = None) -> Any:
    """Kinetic and potential energy together over time."""
    ax = axes(ax)
    ax.plot(motion.time, motion.energy)
    ax.set_xlabel("time, s")
    ax.set_ylabel("energy, J")
    return ax


def forces(contacts: list[Contact], ax: Any = None) -> Any:
    """Normal forces of contacts; those that are not unique with the interval in which others lie."""
    ax = axes(ax)
    for k, contact in enumerate(contacts):
        if contact.interval is not None:
            low, high = contact.interval
            ax.barh(k, high - low, left=low, color="C1", alpha=0.35, height=0.7)
        ax.plot(contact.normal_force, k, "o", color="C0" if contact.unique else "C1")
    ax.set_yticks(range(len(contacts)), [contact.name for contact in contacts])
    ax.set_xlabel("normal force, N; bars: other forces that go with the same motion")
    return ax


def friction_cone(analysis: Analysis, contact: str | int = 0, ax: Any = None) -> Any:
    """The friction cone of a contact and the accelerations that its forces cause (003 §4).

    In the plane two rays each; in space two cones over a circle.
    """
    entries = analysis.contacts
    at = contact if isinstance(contact, int) else [c["name"] for c in entries].index(contact)
    entry = entries[at]
    if entry["effective_mass"] is None:
        raise ValueError(f"contact {entry['name']} has no friction cone: no tangents, or a direction is held")
    mu = float(entry["mu"])
    response = np.linalg.inv(np.array(entry["effective_mass"], dtype=float))
    if len(response) == 2:
        ax = axes(ax)
        forces_ = np.array([[1.0, -mu], [0.0, 0.0], [1.0, mu]])
        moved = forces_ @ response.T
        ax.fill(forces_[:, 1], forces_[:, 0], alpha=0.3, label="forces")
        ax.fill(moved[:, 1], moved[:, 0], alpha=0.3, label="accelerations")
        ax.set_xlabel("tangent")
        ax.set_ylabel("normal")
    else:
        ax = axes(ax, subplot_kw={"projection": "3d"})
        angle = np.linspace(0.0, 2.0 * np.pi, 65)
        rim = np.array([np.ones_like(angle), mu * np.cos(angle), mu * np.sin(angle)])
        for points, colour, label in ((rim, "C0", "forces"), (response @ rim, "C1", "accelerations")):
            reach = np.linspace(0.0, 1.0, 2)[:, None]
            ax.plot_surface(reach * points[1], reach * points[2], reach * points[0], color=colour, alpha=0.35)
            ax.plot(points[1], points[2], points[0], color=colour, label=label)
        ax.set_xlabel("tangent 1")
        ax.set_ylabel("tangent 2")
        ax.set_zlabel("normal")
    ax.set_title(f"{entry['name']}: mu {mu:g}" + (", jams" if entry["jams"] else ""))
    ax.legend()
    return ax
