"""Worlds at rest: by closed forms, and as the program prints them."""

import json
import os
import pickle
import subprocess

import numpy as np
import pytest

import delassus

PROGRAM = os.environ.get("DELASSUS_PROGRAM")
program = pytest.mark.skipif(PROGRAM is None, reason="DELASSUS_PROGRAM names no program")

MU, MASS, G = 0.3, 2.0, 9.81
BLOCK = f"""
    world = {{}}
    parameters.mu = {MU}
    body = [
        {{ name = "ground", fixed = true, shape = [{{ type = "plane" }}] }},
        {{ name = "block", mass = {MASS}, position = [0, 0, 0.1], shape = [{{ type = "box", half_extents = [0.1, 0.1, 0.1] }}] }},
    ]
    friction = [{{ between = ["block", "ground"], mu = "mu" }}]
"""


def test_a_block_slides_from_the_angle_of_friction_on():
    block = delassus.World.from_text(BLOCK)
    found = block.stand(friction=True, tilt="x", load="block")
    assert found.stands == "surely" and found.collapse is None
    assert "SURELY STANDS" in str(found) and "surely" in repr(found) and "SURELY" in found._repr_html_()
    assert sum(c["normal_force"] for c in found.contacts) == pytest.approx(MASS * G, rel=1e-9)
    by_kind = {margin.kind: margin for margin in found.margins}
    tilt = by_kind["tilt"]
    # Both ends are proved, and tan of the angle between them is the coefficient of friction.
    assert tilt.stands <= np.arctan(MU) <= tilt.falls and tilt.falls - tilt.stands < 1e-4
    assert by_kind["load"].of == "block" and by_kind["load"].falls is None
    steep = block.stand(tilt=[[1.0, 1.0, 0.0]]).margins[0]
    assert steep.stands <= np.arctan(MU) <= steep.falls
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict() and str(again) == str(found)


def test_a_block_holds_what_its_friction_does():
    # The easiest pull is along the edge of the friction cone: F = μ m g / √(1 + μ²).
    least = MU * MASS * G / np.hypot(1.0, MU)
    block = delassus.World.from_text(BLOCK)
    found = block.hold("block", force=1.0)
    assert 0.5 * least < found.resists <= least <= found.fails < 1.2 * least
    assert found.holds == "yes" and found.weakest[2] > 0.0 and "resisted" in str(found)
    assert block.hold("block", force=2.0 * least).holds == "no"
    assert block.hold("block", (0.1, 0.0, 0.2)).resists <= least
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()


def test_what_leans_too_far_falls():
    tipped = delassus.World.from_text(BLOCK.replace("mass = 2.0", "mass = 2.0, force = [50, 0, 0]"))
    found = tipped.stand(certificate=True)
    assert found.stands == "no" and found.collapse[0]["body"] == "block" and found.collapse[0]["velocity"][0] > 0.0
    assert found.certificate["claim"] == {"stands": "no"}


def test_certificates_are_checked_by_the_other_checker(scenes):
    verify = delassus.verify.verify
    block = delassus.World.from_text(BLOCK)
    for answer in (block.stand(certificate=True), block.hold("block", certificate=True)):
        assert verify(answer.certificate)
        assert pickle.loads(pickle.dumps(answer)).certificate == answer.certificate
        forged = json.loads(json.dumps(answer.certificate))
        if "stands" in forged["claim"]:
            forged["claim"]["stands"] = "no"
        else:
            forged["claim"]["resists"] = "1000"
        with pytest.raises((delassus.verify.Unproved, delassus.verify.NotACertificate)):
            verify(forged)
    rod = delassus.System.load(scenes / "painleve-rod.toml").analyze(certificate=True)
    assert rod.certificate["claim"]["existence"] is False and verify(rod.certificate)
    assert pickle.loads(pickle.dumps(rod)).certificate == rod.certificate
    assert block.stand().certificate is None


@program
def test_answers_are_those_of_the_program(scenes, tmp_path):
    def printed(*arguments):
        out = subprocess.run([PROGRAM, *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
        return json.loads(out.stdout)

    file = scenes / "arch.toml"
    arch = delassus.load(file)
    written = tmp_path / "certificate.json"
    printed("stand", file, "--certificate", written)
    assert arch.stand(certificate=True).certificate == json.loads(written.read_text())
    block = tmp_path / "block.toml"
    block.write_text(BLOCK)
    theirs = printed("stand", block, "--friction", "--tilt", "x", "--tilt", "-y", "--load", "block")
    assert delassus.load(block).stand(friction=True, tilt=["x", "-y"], load="block").to_dict() == theirs
    theirs = printed("hold", block, "--body", "block", "--point", "0.1,0,0.2", "--force", "3")
    assert delassus.load(block).hold("block", (0.1, 0, 0.2), 3.0).to_dict() == theirs


def test_wrong_questions_are_refused(scenes):
    block = delassus.World.from_text(BLOCK)
    with pytest.raises(delassus.UnknownNameError, match="blok.*did you mean `block`"):
        block.hold("blok")
    with pytest.raises(delassus.UnknownNameError, match="nothing"):
        block.stand(load=["nothing"])
    for wrong in (lambda: block.hold("ground"), lambda: block.hold("block", (1, 2)), lambda: block.stand(tilt="w")):
        with pytest.raises(ValueError):
            wrong()
    for force in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="positive number of newtons"):
            block.hold("block", force=force)
    with pytest.raises(ValueError, match="not below 0"):
        block.stand(tolerances=(-1.0, 0.0))
    with pytest.raises(TypeError):
        block.stand(load=[3])
    moving = BLOCK.replace("mass = 2.0", "mass = 2.0, velocity = [1, 0, 0]")
    with pytest.raises(delassus.SceneError, match="moves"):
        delassus.World.from_text(moving).stand()
    with pytest.raises(delassus.SceneError, match="across gravity"):
        block.stand(tilt="z")
