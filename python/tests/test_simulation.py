"""Worlds in motion."""

import json
import pickle
import threading
import time

import numpy as np
import pytest

import delassus

BALL = """
    world = {}
    body = [
        { name = "ground", fixed = true, shape = [{ type = "plane" }] },
        { name = "ball", mass = 2, position = [0, 0, 1], shape = [{ type = "sphere", radius = 0.1 }] },
    ]
    simulation.dt = 1e-3
"""
WHEEL = """
    [world]
    [[body]]
    name = "wheel"
    mass = 1.0
    inertia = [0.5, 0.5, 0.5]
    [[joint]]
    name = "axle"
    type = "revolute"
    bodies = ["world", "wheel"]
    anchor = [0.0, 0.0, 0.0]
    axis = [0.0, 1.0, 0.0]
    motor = { torque = 0.0 }
"""


def test_free_fall_has_its_closed_form():
    sim = delassus.Simulation.from_text(BALL)
    report = sim.step(400)
    assert (report.steps, report.unsolved_steps) == (400, 0)
    assert sim.time == pytest.approx(0.4)
    # The scheme is exact under a constant force.
    assert sim.body("ball").position[2] == pytest.approx(1.0 - 0.5 * 9.81 * 0.4**2, abs=1e-12)
    assert sim.velocities[1, 2] == pytest.approx(-9.81 * 0.4, abs=1e-12)


def test_a_ball_rests_on_its_weight():
    sim = delassus.Simulation.from_text(BALL)
    motion = sim.run(1.0, every=10)
    assert motion.position.shape == (101, 2, 3) and motion.time[-1] == pytest.approx(1.0)
    assert [event.kind for event in motion.events][:1] == ["impact"]
    (contact,) = sim.contacts()
    assert contact.bodies == ("ground", "ball") and contact.unique is True
    assert contact.normal_force == pytest.approx(2 * 9.81, abs=1e-6)
    assert np.allclose(contact.force, [0, 0, 2 * 9.81], atol=1e-6)


def test_four_corners_are_not_unique(scenes):
    sim = delassus.Simulation.load(scenes / "table.toml")
    contacts = sim.contacts_now()
    assert any(contact.unique is False and contact.interval[1] > contact.interval[0] for contact in contacts)


def test_feedback_by_forces_and_what_is_set():
    sim = delassus.Simulation.from_text(BALL)
    for _ in range(3000):
        ball = sim.body("ball")
        sim.set_force("ball", [0, 0, 2 * 9.81 + 50 * (0.5 - ball.position[2]) - 20 * ball.velocity[2]])
        sim.step()
    assert sim.body("ball").position[2] == pytest.approx(0.5, abs=1e-3)
    sim.set_pose("ball", [1.0, 2.0, 3.0], [1, 0, 0, 0])
    sim.set_velocity("ball", [0.1, 0.0, 0.0])
    sim.set_angular_velocity("ball", [0.0, 0.0, 1.0])
    body = sim.body("ball")
    assert np.allclose(body.position, [1, 2, 3]) and np.allclose(body.velocity, [0.1, 0, 0])
    assert np.allclose(body.angular_velocity, [0, 0, 1])


def test_saving_goes_on_with_the_same_bits(scenes):
    sim = delassus.Simulation.load(scenes / "four-bar.toml")
    sim.step(20)
    here = sim.save()
    other = sim.copy()
    sim.step(30)
    other.step(30)
    assert np.array_equal(sim.positions, other.positions)
    sim.restore(here)
    sim.step(30)
    assert np.array_equal(sim.positions, other.positions)


def test_rollouts_have_the_bits_of_single_runs():
    sim = delassus.Simulation.from_text(WHEEL)
    controls = np.random.default_rng(1).normal(size=(4, 25, 1))
    many = delassus.rollout(sim, ["axle"], controls)
    assert many.orientation.shape == (4, 25, len(sim.bodies), 4)
    wheel = sim.bodies.index("wheel")
    for k in range(4):
        one = sim.copy()
        for t in range(25):
            one.set_control("axle", controls[k, t, 0])
            one.step()
            assert np.array_equal(one.orientations[wheel], many.orientation[k, t, wheel])
            assert one.joint("axle") == tuple(many.joint[k, t, 0])
        # Moments of inertia 0.5: the rate is the sum of the moments times dt over it.
        assert one.joint("axle")[1] == pytest.approx(controls[k].sum() * sim.dt / 0.5, abs=1e-12)
    assert sim.time == 0.0


def test_options_are_those_of_the_library():
    sim = delassus.Simulation.from_text(BALL, dt=1e-2, law="ccp", coordinates="maximal")
    assert sim.dt == 1e-2
    sim.dt = 5e-3
    sim.step(2)
    assert sim.time == pytest.approx(0.01)
    with pytest.raises(TypeError, match="did you mean `dt`"):
        delassus.Simulation.from_text(BALL, dtt=1e-2)
    with pytest.raises(ValueError, match="ncp, ccp"):
        delassus.Simulation.from_text(BALL, law="soft")
    with pytest.raises(ValueError, match="time step"):
        delassus.Simulation.from_text(BALL, dt=-1.0)


def test_wrong_calls_are_refused():
    sim = delassus.Simulation.from_text(BALL)
    with pytest.raises(KeyError, match="did you mean `ball`"):
        sim.body("bal")
    with pytest.raises(delassus.UnknownNameError):
        sim.set_force("bal", [0, 0, 1])
    with pytest.raises((TypeError, ValueError)):
        sim.set_force("ball", [0, 0])
    with pytest.raises(ValueError):
        sim.set_force("ball", [0, 0, np.nan])
    with pytest.raises(ValueError):
        sim.set_pose("ball", [0, 0, 1], [0, 0, 0, 0])
    with pytest.raises(ValueError, match="n: expected a number of steps"):
        sim.step(-1)
    with pytest.raises(ValueError):
        sim.run(float("nan"))
    with pytest.raises(TypeError, match="t_end"):
        sim.run()


def test_two_threads_step_at_once(scenes):
    # The interpreter is released: two simulations in two threads end, and with the bits of one after the other.
    alone = delassus.Simulation.load(scenes / "stack.toml")
    alone.step(50)
    both = [delassus.Simulation.load(scenes / "stack.toml") for _ in range(2)]
    threads = [threading.Thread(target=sim.step, args=(50,)) for sim in both]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for sim in both:
        assert np.array_equal(sim.positions, alone.positions)


def test_progress_is_shown(monkeypatch):
    sim = delassus.Simulation.from_text(BALL)
    seen = []
    start = time.perf_counter()
    sim._inner.run(30.0, 1000, False, seen.append)
    # Ten times a second, where the run takes that long.
    assert len(seen) <= 1 + (time.perf_counter() - start) / 0.1
    assert all(0.0 < t <= 30.0 for t in seen)


def test_show_makes_a_page_and_moves_nothing():
    sim = delassus.Simulation.from_text(BALL.replace('"ball"', '"</script><b>ball"'))
    page = sim.show(0.6)
    assert sim.time == 0.0
    assert page.html.startswith("<!doctype html>") and "<b>ball" not in page.html
    shown = page._repr_html_()
    # One attribute of one element: nothing of the page ends it.
    assert shown.startswith('<iframe srcdoc="') and shown.count("<") == 2
    assert "allow-same-origin" not in shown
    # Without an end there is the state alone.
    assert len(sim.show().html) < len(page.html)
    with pytest.raises(ValueError, match="finite"):
        sim.show(float("nan"))


def test_a_page_is_written_as_a_file(tmp_path):
    sim = delassus.Simulation.from_text(BALL)
    page = sim.analyze().show()
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html


def test_results_are_shown_and_become_plain_dictionaries(scenes):
    rod = delassus.System.load(scenes / "painleve-rod.toml")
    table = delassus.World.load(scenes / "table.toml")
    gears = delassus.Simulation.load(scenes / "gear-pair.toml")
    sim = table.simulate()
    motion, analysis = sim.run(0.01, contacts=True), rod.analyze()
    W, q = np.eye(3), [-2.0, 3.0, 0.0]
    branch = rod.explore(0.01)
    grid = {"mu": [0.5, 1.0]}
    results = [
        motion, motion.report, sim.contacts()[0], sim.body(1), rod.at(velocity={"x": 1.0}).run(0.01, times=3), branch, branch.tree,
        delassus.rollout(gears, ["pinion shaft"], np.zeros((2, 2, 1))), analysis, analysis.certificates[0], rod.safe("mu"),
        rod.safe({"mu": (0.0, 3.0)}, boxes=50), rod.map("mu_jam", grid), delassus.sweep(rod, grid, "mu_jam"), delassus.solve(W, q, mu=0.5),
        delassus.residual(W, q, [2.0, -1.0, 0.0], mu=0.5), delassus.analyze(W, q, mu=0.5), table.stand(tilt="x"), table.stand(tilt="x").margins[0],
        table.hold("table"), delassus.audit.problem(np.eye(3), np.eye(3), q, 0.5, forces=[2.0, -1.0, 0.0], dt=1.0),
    ]  # fmt: skip
    for result in results:
        name = type(result).__name__
        assert result._repr_html_().strip() and len(repr(result)) < 3000, name
        # JSON has lists and dictionaries, no arrays.
        json.dumps(result.to_dict())
        again = pickle.loads(pickle.dumps(result))
        assert json.dumps(again.to_dict()) == json.dumps(result.to_dict()), name
    for scene in (rod, table, sim):
        assert scene._repr_html_() and repr(pickle.loads(pickle.dumps(scene))) == repr(scene)
