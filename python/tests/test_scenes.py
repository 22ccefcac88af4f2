"""Systems and worlds from files: the bits of the program."""

import json
import os
import pickle
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import delassus

PROGRAM = os.environ.get("DELASSUS_PROGRAM") or shutil.which("delassus")
SCENES = sorted((Path(__file__).parents[2] / "scenes").iterdir())
needs_program = pytest.mark.skipif(PROGRAM is None, reason="DELASSUS_PROGRAM names the program to compare with")


def of_program(*arguments):
    run = subprocess.run([PROGRAM, *map(str, arguments), "--json"], capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr
    return json.loads(run.stdout)


@needs_program
@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_analysis_is_that_of_the_program(path):
    ours = delassus.load(path).analyze()
    assert ours.to_dict() == of_program("analyze", path)


@needs_program
@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_motion_has_the_bits_of_the_program(path):
    scene = delassus.load(path)
    end = 0.05
    try:
        if isinstance(scene, delassus.World):
            theirs = of_program("run", path, "--t-end", end)
            sim = scene.simulate()
            sim.run(end)
            found = theirs["bodies"]
            for k, name in enumerate(sim.bodies):
                assert sim.positions[k].tolist() == found[name]["position"]
                assert sim.orientations[k].tolist() == found[name]["orientation"]
                assert sim.velocities[k].tolist() == found[name]["velocity"]
                assert sim.angular_velocities[k].tolist() == found[name]["angular_velocity"]
        else:
            theirs = of_program("run", path, "--t-end", end)
            run = scene.run(end, times=[])
            assert dict(zip(run.coordinates, run.final_position.tolist())) == theirs["final"]["position"]
            assert dict(zip(run.coordinates, run.final_velocity.tolist())) == theirs["final"]["velocity"]
    except delassus.SceneError as error:
        # Scenes that refuse to run, or that ask for the other integrator, say so.
        assert "event-driven" in str(error) or "approach" in str(error), error


def test_the_rod_of_painleve(scenes):
    rod = delassus.System.load(scenes / "painleve-rod.toml")
    found = rod.analyze()
    assert found.existence == "refuted" and found.contacts[0]["jams"]
    assert found.contacts[0]["mu_jam"] == pytest.approx(5 / 3, abs=1e-12)
    assert "NO SOLUTION" in str(found) and "NO SOLUTION" in found._repr_html_()
    assert delassus.System.load(scenes / "painleve-rod.toml", {"mu": 1.6}).analyze().existence == "proved"
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict() and str(again) == str(found)


def test_a_ball_comes_to_rest_where_the_closed_form_says(scenes):
    text = """
        [system]
        coordinates = ["y"]
        [energy]
        kinetic = "y'^2/2"
        potential = "9.81*y"
        [[contact]]
        name = "floor"
        gap = "y"
        restitution = 0.5
        [state.position]
        y = 1.0
    """
    run = delassus.System.from_text(text).run(2.0, times=201)
    last = next(event for event in run.events if event.kind == "accumulation")
    assert last.t == pytest.approx(3.0 * np.sqrt(2.0 / 9.81), abs=1e-9)
    assert run.done and run.position.shape == (201, 1) and run.energy[0] == pytest.approx(9.81)
    assert run.final_position[0] == pytest.approx(0.0, abs=1e-12)


def test_errors_carry_their_place(tmp_path):
    file = tmp_path / "broken.toml"
    file.write_text('[system]\ncoordinates = ["x"]\n[energy]\nkinetic = "m*x\'^2/2"\n')
    with pytest.raises(delassus.SceneError) as caught:
        delassus.load(file)
    error = caught.value
    assert (error.line, error.file) == (4, str(file)) and "unknown symbol `m`" in str(error)
    assert isinstance(error, ValueError) and pickle.loads(pickle.dumps(error)).line == 4
    with pytest.raises(FileNotFoundError):
        delassus.load(tmp_path / "none.toml")
    with pytest.raises(TypeError, match="World.load"):
        delassus.System.load(Path(__file__).parents[2] / "scenes" / "stack.toml")
