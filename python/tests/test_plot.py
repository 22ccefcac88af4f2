"""Pictures are drawn on the axes that they are given."""

import numpy as np
import pytest

import delassus

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_pictures(scenes):
    import matplotlib.pyplot as plt

    rod = delassus.System.load(scenes / "painleve-rod.toml").analyze()
    figure, ax = plt.subplots()
    assert delassus.plot.friction_cone(rod, "tip", ax) is ax and "jams" in ax.get_title()
    sim = delassus.Simulation.load(scenes / "table.toml")
    assert len(delassus.plot.forces(sim.contacts_now()).get_yticks()) == len(sim.contacts_now())
    motion = sim.run(0.02)
    assert delassus.plot.energy(motion).get_ylabel() == "energy, J"
    assert len(delassus.plot.trajectory(motion).get_lines()) >= len(sim.bodies)
    plt.close("all")


def test_pavings_are_drawn(scenes):
    import matplotlib.pyplot as plt

    drawer = delassus.System.load(scenes / "drawer.toml", {"mu": 0.4})
    found = drawer.safe({"length": (0.2, 1.0), "mu": (0.1, 1.2)}, boxes=400)
    figure, ax = plt.subplots()
    assert found.plot(ax=ax) is ax and (ax.get_xlabel(), ax.get_ylabel()) == ("length", "mu")
    # Every cell is drawn once, at its place.
    drawn = np.concatenate([[path.vertices[:4] for path in part.get_paths()] for part in ax.collections])
    low, high = drawn.min(axis=1), drawn.max(axis=1)
    assert sorted(map(tuple, low)) == sorted(map(tuple, found.lo)) and sorted(map(tuple, high)) == sorted(map(tuple, found.hi))
    words = {text.get_text() for text in ax.get_legend().get_texts()}
    assert {"no solution: it jams", "the design", "the nearest counterexample"} <= words
    turned = found.plot("mu", "length")
    assert (turned.get_xlabel(), turned.get_ylabel()) == ("mu", "length")
    row = found.plot(x="length", mu=0.3)
    # Cells of a slice cover it, and none lies on another.
    sides = sorted((path.vertices[:4, 0].min(), path.vertices[:4, 0].max()) for part in row.collections for path in part.get_paths())
    assert sides[0][0] == 0.2 and sides[-1][1] == 1.0 and all(a[1] == b[0] for a, b in zip(sides, sides[1:]))
    with pytest.raises(ValueError, match="no parameter `nu`; expected one of: length, mu"):
        found.plot("nu")
    with pytest.raises(ValueError, match="from 0.1 to 1.2"):
        found.plot("length", mu=3.0)
    with pytest.raises(ValueError, match="different"):
        found.plot("mu", "mu")
    plt.close("all")
