"""Maps, safe intervals, all motions: by closed forms, and as the program prints them."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import delassus

PROGRAM = os.environ.get("DELASSUS_PROGRAM")
program = pytest.mark.skipif(PROGRAM is None, reason="DELASSUS_PROGRAM names no program")


def printed(*arguments):
    out = subprocess.run([PROGRAM, *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
    return json.loads(out.stdout)


def test_a_map_has_the_closed_form_of_the_rod(scenes):
    rod = delassus.System.load(scenes / "painleve-rod.toml")
    found = rod.map("solutions", {"mu": np.linspace(0.1, 4.0, 14), "angle": "5deg:85deg:9"})
    assert found.values.shape == (9, 14) and found.axes[1].unit == "deg"
    # The tip slides in the jamming direction: no solution above mu_jam = (1 + 3 c²)/(3 s c), one below.
    angle = found.axes[1].values[:, None]
    jam = (1 + 3 * np.cos(angle) ** 2) / (3 * np.sin(angle) * np.cos(angle))
    expected = np.where(found.axes[0].values[None, :] > jam, "no solution", "one solution")
    assert np.array_equal(found.values.astype(str), expected)
    numbers = rod.map("mu_jam", {"angle": "5deg:85deg:9"})
    assert np.allclose(numbers.values, jam[:, 0], rtol=1e-12)
    assert "no solution" in repr(found) and "mu_jam" in numbers._repr_html_()


@program
def test_maps_are_those_of_the_program(scenes):
    file = scenes / "painleve-rod.toml"
    axes = {"mu": "0.1:3:7", "angle": "-20deg:85deg:6"}
    rod = delassus.System.load(file)
    for show in ("solutions", "mu_jam", "force:tip", "/contacts/0/mu", "/contacts/0/jams"):
        ours = rod.map(show, axes).to_dict()
        theirs = printed("map", file, "--x", "mu=0.1:3:7", "--y", "angle=-20deg:85deg:6", "--show", show)
        if show.endswith("jams"):
            ours["values"] = [[x or None for x in row] for row in ours["values"]]
        assert ours == theirs, show


def test_the_safe_interval_ends_at_jamming(scenes):
    rod = delassus.System.load(scenes / "painleve-rod.toml")
    safe = rod.safe("mu")
    assert safe.certified and safe.interval[0] == 0.0
    assert 5 / 3 - 1e-5 < safe.interval[1] <= 5 / 3
    assert 1.0 in safe and 2.0 not in safe and "CERTIFIED" in str(safe)
    narrow = rod.safe("mu", (0.0, 3.0), for_all={"angle": (0.7, 0.8)}, any_slip=True)
    assert narrow.interval[1] < safe.interval[1]
    assert pickle.loads(pickle.dumps(safe)).to_dict() == safe.to_dict()


def test_a_box_of_the_drawer_has_its_border_between_the_cells(scenes):
    drawer = delassus.System.load(scenes / "drawer.toml", {"mu": 0.4})
    found = drawer.safe({"length": (0.2, 1.0), "mu": (0.1, 1.2)}, boxes=1500)
    # It comes where the length exceeds friction times the width 0.6.
    verdicts = np.array(found.verdicts)
    proved, refuted = verdicts == "proved", verdicts == "refuted"
    assert proved.any() and (found.lo[proved, 0] >= 0.6 * found.hi[proved, 1]).all()
    assert refuted.any() and (found.hi[refuted, 0] <= 0.6 * found.lo[refuted, 1]).all()
    assert found.shares["undecided"] < 0.1 and "PROVED" in str(found) and "refuted" in repr(found)
    low, high = found.certified_box["length"][0], found.certified_box["mu"][1]
    assert low >= 0.6 * high and found.counterexample["length"] <= 0.6 * found.counterexample["mu"]
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()
    turn = delassus.System.load(scenes / "slider-crank-friction.toml")
    turn = turn.safe({"angle": (0.0, 2 * np.pi), "mu": (0.0, 0.6)}, cycle=True, any_load=True, boxes=3000)
    # A sum of the sizes of cells, each rounded.
    assert turn.shares["proved"] == pytest.approx(1.0, abs=1e-12) and turn.counterexample is None
    with pytest.raises(ValueError, match="within"):
        drawer.safe({"mu": (0.1, 1.2)}, (0.0, 1.0))
    with pytest.raises(ValueError, match="cycle"):
        drawer.safe("mu", cycle=True)


@program
def test_safe_and_explore_are_those_of_the_program(scenes):
    file = scenes / "painleve-rod.toml"
    rod = delassus.System.load(file)
    assert rod.safe("mu").to_dict() == printed("safe", file, "--over", "mu")
    box = rod.safe({"mu": (0.0, 3.0), "angle": (0.2, 1.4)}, boxes=300)
    over = ["--over", "mu=0:3", "--over", "angle=0.2:1.4", "--boxes", "300"]
    assert box.to_dict() == printed("safe", file, *over)
    assert rod.explore(0.1).to_dict() == printed("explore", file, "--t-end", "0.1")
    world = scenes / "painleve-rod-world.toml"
    assert delassus.World.load(world).explore(0.01).to_dict() == printed("explore", world, "--t-end", "0.01")


TWO_ANSWERS = """
    [system]
    coordinates = ["x", "y", "theta"]
    [parameters]
    mu = 2.0
    omega = 4.0
    [energy]
    kinetic = "(x'^2 + y'^2)/2 + theta'^2/6"
    potential = "9.81*y"
    [[contact]]
    name = "tip"
    gap = "y - sin(theta)"
    slip = ["x - cos(theta)"]
    mu = "mu"
    [state.position]
    y = "sin(pi/4)"
    theta = "pi/4"
    [state.velocity]
    x = "-1 - omega*sin(pi/4)"
    y = "omega*cos(pi/4)"
    theta = "omega"
"""


def test_all_motions_of_a_rod_that_has_several():
    # Above mu_jam with a fast rotation the free tip leaves the floor: detaching and jamming both satisfy the laws.
    rod = delassus.System.from_text(TWO_ANSWERS)
    assert rod.map("solutions", {"mu": [2.0]}).values[0] == "several solutions"
    found = rod.explore(0.01)
    assert len(found) == len(found.motions) >= 2 and found.complete
    ends = {branch.answer: branch.position["y"] for branch in found.motions}
    assert len({round(y, 12) for y in ends.values()}) >= 2, ends
    assert "motions" in str(found) and pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()


def test_states_that_are_set(scenes):
    rod = delassus.System.load(scenes / "painleve-rod.toml")
    assert rod.analyze().existence == "refuted"
    other = rod.at(velocity={"x": 1.0})
    assert other.analyze().existence == "proved" and other.velocity[0] == 1.0 and rod.velocity[0] == -1.0
    again = pickle.loads(pickle.dumps(other))
    assert np.array_equal(again.velocity, other.velocity)
    with pytest.raises(ValueError, match="parameters"):
        other.safe("mu")
    with pytest.raises(ValueError, match="no coordinate `z`"):
        rod.at({"z": 1.0})
    with pytest.raises(ValueError, match="3 finite numbers"):
        rod.at([0.0, 1.0])


def test_systems_and_worlds_from_dictionaries():
    ball = delassus.System.build(
        system={"coordinates": ["y"]},
        energy={"kinetic": "y'^2/2", "potential": "9.81*y"},
        contact=[{"name": "floor", "gap": "y"}],
        state={"position": {"y": np.float64(1.0)}},
    )
    assert ball.run(0.1, times=[0.1]).position[0, 0] == pytest.approx(1 - 9.81 * 0.005, abs=1e-12)
    world = delassus.World.build(
        body=[
            {"name": "ground", "fixed": True, "shape": [{"type": "plane"}]},
            {"name": "ball", "mass": 2, "position": [0, 0, 0.1], "shape": [{"type": "sphere", "radius": 0.1}]},
        ]
    )
    (contact,) = world.simulate().contacts_now()
    assert contact.normal_force == pytest.approx(2 * 9.81, abs=1e-9)
    with pytest.raises(TypeError, match="body.name: expected numbers"):
        delassus.World.build(body=[{"name": object()}])


def test_worlds_move_by_events():
    world = delassus.World.from_text("""
        world = {}
        body = [
            { name = "ground", fixed = true, shape = [{ type = "plane" }] },
            { name = "ball", mass = 2, position = [0, 0, 1], shape = [{ type = "sphere", radius = 0.1 }] },
        ]
    """)
    run = world.run(1.0)
    impact = next(event for event in run.events if event.kind == "impact")
    assert impact.t == pytest.approx(np.sqrt(2 * 0.9 / 9.81), abs=1e-10) and run.done


@pytest.mark.parametrize("name", ["four-bar.toml", "gear-pair.toml", "stack.toml"])
def test_pickled_simulations_go_on_with_the_same_bits(scenes, name):
    sim = delassus.Simulation.load(scenes / name)
    if name.startswith("gear"):
        sim.set_control("pinion shaft", 3.0)
    sim.step(15)
    moving = next(name for name in sim.bodies if name not in ("world", "ground", "floor"))
    sim.set_force(moving, [0.1, 0.0, 0.2])
    other = pickle.loads(pickle.dumps(sim))
    assert other.time == sim.time and other.options == sim.options
    sim.step(15)
    other.step(15)
    assert np.array_equal(sim.positions, other.positions)
    assert np.array_equal(sim.velocities, other.velocities)


def test_joints_and_options_are_set(scenes):
    sim = delassus.Simulation.load(scenes / "four-bar.toml")
    crank = next(name for name in sim.joints if np.isfinite(sim.joint(name)[0]))
    before = sim.joint(crank)[0]
    sim.set_joint(crank, before + 0.01, 0.5)
    assert sim.joint(crank)[0] == pytest.approx(before + 0.01, abs=1e-9)
    sim.set_options(dt=2e-3, tolerance=1e-9)
    assert sim.options["dt"] == 2e-3 and sim.options["tolerance"] == 1e-9
    with pytest.raises(TypeError, match="did you mean `tolerance`"):
        sim.set_options(tolerence=1.0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_ctrl_c_ends_long_calls(scenes):
    # 10⁶ points would take a minute; the call ends within a second of the signal.
    # A shell that starts the tests in the background lets them ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rod = delassus.System.load(scenes / "painleve-rod.toml")
    pendulum = delassus.System.build(
        system={"coordinates": ["x"]}, energy={"kinetic": "x'^2/2", "potential": "50*x^2"}, state={"position": {"x": 1.0}}
    )
    gears = delassus.Simulation.load(scenes / "gear-pair.toml")
    drawer = delassus.System.load(scenes / "drawer.toml")
    calls = [
        lambda: rod.map("solutions", {"mu": np.linspace(0.1, 3, 1000), "angle": np.linspace(0.1, 1.4, 1000)}),
        lambda: pendulum.run(1e7, times=2),
        lambda: delassus.Simulation.load(scenes / "stack.toml").step(10**9),
        lambda: delassus.sweep(scenes / "painleve-rod.toml", {"mu": np.linspace(0.1, 3, 10**6)}, "solutions"),
        lambda: delassus.rollout(gears, ["pinion shaft"], np.zeros((2, 10**6, 1))),
        lambda: drawer.safe({"length": (0.2, 1.0), "mu": (0.1, 1.2)}, boxes=10**8),
    ]
    for k, call in enumerate(calls):
        sent = []

        def send(sent=sent):
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.5, send)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            call()
        # A second, and what other programs take of the processor meanwhile.
        assert time.perf_counter() - sent[0] < 3.0, k


def test_a_paving_has_a_certificate_that_is_checked(scenes):
    from delassus.verify import Unproved, verify

    drawer = delassus.System.load(scenes / "drawer.toml", {"mu": 0.4})
    box = {"length": (0.2, 1.0), "mu": (0.1, 1.2)}
    assert drawer.safe(box, boxes=100).certificate is None
    found = drawer.safe(box, boxes=100, certificate=True)
    assert "% proved" in verify(found.certificate)
    assert pickle.loads(pickle.dumps(found)).certificate == found.certificate
    forged = json.loads(json.dumps(found.certificate))
    forged["claim"]["proved"] = "1"
    with pytest.raises(Unproved):
        verify(forged)
    with pytest.raises(ValueError, match="certificate"):
        drawer.safe("mu", certificate=True)
