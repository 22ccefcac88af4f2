"""Pictures by matplotlib. Each takes an `ax` and returns it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._analysis import Analysis
from ._design import Map, Paving
from ._simulation import Contact, Motion, Trajectory

__all__ = ["axes", "energy", "force_bands", "forces", "friction_cone", "paving", "trajectory", "verdict_map"]

MEANINGS = {
    "one solution": "#9ecae1",
    "no solution": "#cb181d",
    "several solutions": "#fdae61",
    "infinitely many solutions": "#9e9ac8",
    "proved": "#9ecae1",
    "refuted": "#cb181d",
    "unknown": "#fdae61",
    "holds": "#9ecae1",
    "fails": "#cb181d",
    "no state": "#d9d9d9",
}
"""Colours of words, those of the pictures of the program."""
OTHERS = ("#41ab5d", "#807dba", "#fed976", "#6baed6", "#fb6a4a", "#bdbdbd")
CELLS = {
    "every-load": ("#9ecae1", "one solution, whatever the load"),
    "this-load": ("#c7e9c0", "one solution with this load"),
    "no-solution": ("#cb181d", "no solution: it jams"),
    "several-solutions": ("#fdae61", "several solutions"),
    "some-load": ("#cb181d", "none or several, for some load"),
    "no-state": ("#d9d9d9", "no such state"),
    "undecided": ("#ffffff", "undecided"),
}
"""Colours and meanings of the cells of pavings, those of the page."""
EVENT_COLOURS = {"impact": "C3", "jam": "k", "accumulation": "C4"}
MOST_EVENTS = 200
"""Events that are drawn as lines."""


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
    for event in motion.events[:MOST_EVENTS]:
        ax.axvline(event.t, color=EVENT_COLOURS.get(event.kind, "0.8"), linewidth=0.6, zorder=0)
    ax.set_xlabel("time, s")
    ax.legend()
    return ax


def energy(motion: Trajectory | Motion, ax: Any = None) -> Any:
    """Where the energy went: kinetic and potential energy, and above it what friction, impacts and dampers took.

    Where nothing is supplied the top stays level; what the account does not explain is the error of the scheme. Of
    event-driven motion the energy and its jumps at events are shown.
    """
    ax = axes(ax)
    ax.plot(motion.time, motion.energy, color="k", label="kinetic and potential")
    if isinstance(motion, Motion):
        low = motion.energy
        for name in ("friction", "impacts", "dampers"):
            taken = motion.account[name]
            if np.any(taken != 0.0):
                ax.fill_between(motion.time, low, low + taken, alpha=0.4, label=f"taken by {name}")
                low = low + taken
        for name in ("supplied", "created"):
            if np.any(motion.account[name] != 0.0):
                ax.plot(motion.time, motion.energy[0] + motion.account[name], "--", label=f"{name}, from the start")
    else:
        for event in [event for event in motion.events if event.energy_change != 0.0][:MOST_EVENTS]:
            ax.axvline(event.t, color=EVENT_COLOURS.get(event.kind, "0.8"), linewidth=0.6, zorder=0)
    ax.set_xlabel("time, s")
    ax.set_ylabel("energy, J")
    ax.legend()
    return ax


def verdict_map(found: Map, ax: Any = None) -> Any:
    """Words as coloured cells with a legend, numbers as a curve or as colours with a scale."""
    ax = axes(ax)
    x = found.axes[0]
    y = found.axes[1] if len(found.axes) > 1 else None
    values = found.values if y is not None else found.values[None, :]
    if values.dtype != object:
        if y is None:
            ax.plot(x.shown, values[0])
            ax.set_ylabel(found.show)
        else:
            drawn = ax.pcolormesh(x.shown, y.shown, values, shading="nearest")
            ax.figure.colorbar(drawn, ax=ax, label=found.show)
    else:
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        words = sorted({str(word) for word in values.ravel()}, key=lambda word: list(MEANINGS).index(word) if word in MEANINGS else 99)
        rest = iter(OTHERS * len(words))
        colours = [MEANINGS[word] if word in MEANINGS else next(rest) for word in words]
        codes = np.vectorize(words.index)(values.astype(str))
        rows = np.array([0.0]) if y is None else y.shown
        ax.pcolormesh(x.shown, rows, codes, shading="nearest", cmap=ListedColormap(colours), vmin=-0.5, vmax=len(words) - 0.5)
        names = [word if word else "no value" for word in words]
        handles = [Patch(color=colour, label=name) for colour, name in zip(colours, names, strict=True)]
        ax.legend(handles=handles, loc="best", fontsize="small")
        if y is None:
            ax.set_yticks([])
    ax.set_xlabel(x.label)
    if y is not None:
        ax.set_ylabel(y.label)
    ax.set_title(f"{found.name}: {found.show}" if found.name else found.show)
    return ax


def paving(found: Paving, x: str | None = None, y: str | None = None, ax: Any = None, **at: float) -> Any:
    """The cells of a paving over one or two of its parameters, with the design, the certified box and the counterexample.

    The first two parameters are drawn where `x` and `y` name no others; of the others a slice: `at` gives their values,
    else they are those of the design, as far as the box has them.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch, Rectangle

    names = found.parameters
    for name in [*(n for n in (x, y) if n is not None), *at]:
        if name not in names:
            raise ValueError(f"no parameter `{name}`; expected one of: {', '.join(names)}")
    rest = [name for name in names if name not in (x, y, *at)]
    x = x if x is not None else rest.pop(0)
    y = y if y is not None or not rest else rest.pop(0)
    if x == y or x in at or y in at:
        raise ValueError("x, y and the parameters of the slice: expected different ones")
    present = {name: float(np.clip(found.design[name], *found.over[name])) for name in names}
    slice_at = {name: float(at.get(name, present[name])) for name in names if name not in (x, y)}
    ax = axes(ax)
    lo, hi = found.lo, found.hi
    there = np.ones(len(lo), dtype=bool)
    for name, value in slice_at.items():
        low, high = found.over[name]
        if not low <= value <= high:
            raise ValueError(f"{name} = {value:g}: expected a value from {low:g} to {high:g}, where the cells are")
        k = names.index(name)
        # A value between two cells belongs to the one above it, at the end of the box to the one below.
        there &= (lo[:, k] <= value) & ((value < hi[:, k]) | (value == high) & (hi[:, k] == high))

    reasons = np.array(found.reasons, dtype=object)
    drawn = [word for word in CELLS if (there & (reasons == word)).any()]
    for word in drawn:
        boxes = np.flatnonzero(there & (reasons == word))
        a, b = lo[boxes, names.index(x)], hi[boxes, names.index(x)]
        c, d = (np.zeros_like(a), np.ones_like(a)) if y is None else (lo[boxes, names.index(y)], hi[boxes, names.index(y)])
        corners = np.stack([np.stack(p, axis=1) for p in ((a, c), (b, c), (b, d), (a, d))], axis=1)
        ax.add_collection(PolyCollection(list(corners), facecolors=CELLS[word][0], edgecolors="0.6", linewidths=0.2))
    ax.set_xlim(found.over[x])
    ax.set_ylim((0.0, 1.0) if y is None else found.over[y])
    inside = found.certified_box
    if inside is not None and all(inside[name][0] <= value <= inside[name][1] for name, value in slice_at.items()):
        (a, b), (c, d) = inside[x], (0.0, 1.0) if y is None else inside[y]
        ax.add_patch(Rectangle((a, c), b - a, d - c, fill=False, edgecolor="k", linewidth=1.5))
    marks = [("o", "the design", found.design), ("x", "the nearest counterexample", found.counterexample)]
    for marker, label, point in marks:
        if point is not None and all(point[name] == value for name, value in slice_at.items()):
            ax.plot(point[x], 0.5 if y is None else point[y], marker, color="k", linestyle="none", label=label)
    handles = [Patch(facecolor=CELLS[word][0], edgecolor="0.6", label=CELLS[word][1]) for word in drawn]
    ax.legend(handles=[*handles, *ax.get_legend_handles_labels()[0]], loc="best", fontsize="small")
    if y is None:
        ax.set_yticks([])
    else:
        ax.set_ylabel(y)
    ax.set_xlabel(x)
    ax.set_title(", ".join(f"{name} = {value:g}" for name, value in slice_at.items()))
    return ax


def force_bands(motion: Motion | Trajectory, names: list[str] | None = None, ax: Any = None) -> Any:
    """Normal forces over time; a band where others go with the same motion.

    A motion by time stepping needs its contacts: `sim.run(…, contacts=True)`.
    """
    ax = axes(ax)
    if isinstance(motion, Trajectory):
        for k, name in enumerate(motion.contacts):
            if names is None or name in names:
                ax.plot(motion.time, motion.contact_force[:, k, 0], label=name)
    else:
        found = sorted({contact.name for frame in motion.contacts for contact in frame})
        if not found and any(event.kind == "impact" for event in motion.events):
            raise ValueError("the motion has no contacts: `sim.run(…, contacts=True)` keeps them")
        for k, name in enumerate(found if names is None else names):
            at = [next((c for c in frame if c.name == name), None) for frame in motion.contacts]
            force = np.array([np.nan if c is None else c.normal_force for c in at])
            bounds = [(np.nan, np.nan) if c is None else c.interval or (c.normal_force, c.normal_force) for c in at]
            low, high = np.array(bounds).reshape(-1, 2).T
            ax.fill_between(motion.time, low, np.minimum(high, np.finfo(float).max), color=f"C{k}", alpha=0.25)
            ax.plot(motion.time, force, color=f"C{k}", label=name)
    ax.set_xlabel("time, s")
    ax.set_ylabel("normal force, N; bands: other forces of the same motion")
    ax.legend()
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
