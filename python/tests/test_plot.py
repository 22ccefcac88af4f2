"""Pictures are drawn on the axes that they are given."""

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
