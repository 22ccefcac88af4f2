"""Which worlds stand, and what they hold."""

import math
import pickle

import delassus
import pytest
from delassus.verify import Unproved, verify

SLOPE = """
[world]
name = "slope"
gravity = ["9.81*sin(angle)", 0, "-9.81*cos(angle)"]
[parameters]
angle = "15 deg"
[[body]]
name = "ground"
fixed = true
[[body.shape]]
type = "plane"
[[body]]
name = "block"
mass = 2.0
position = [0, 0, 0.2]
[[body.shape]]
type = "box"
half_extents = [0.5, 0.4, 0.2]
[[friction]]
between = ["*", "*"]
mu = 0.3
"""


def test_a_block_stands_on_a_slope_up_to_its_friction():
    world = delassus.World.from_text(SLOPE)
    found = world.stand(friction=True, tilt=[(1, 0, 0)])
    assert (found.stands, found.reason) == ("surely", "plane-faces")
    (stands, falls), (tilts, slides) = found.margins
    # tan 15° = 0.3 x; from 15° on, it slides at atan 0.3.
    assert falls < math.tan(math.radians(15)) / 0.3 < stands < falls * (1 + 1e-5)
    assert tilts < math.atan(0.3) - math.radians(15) < slides
    assert "stands: surely" in verify(found.certificate)
    forged = found.certificate
    forged["certificates"][1]["claim"]["stands"] = forged["certificates"][1]["claim"]["falls"]
    with pytest.raises(Unproved):
        verify(forged)
    assert pickle.loads(pickle.dumps(found)).certificate == found.certificate
    steeper = delassus.World.from_text(SLOPE, {"angle": 0.3})
    assert steeper.stand().stands == "no" and steeper.stand().to_dict()["collapse"][0]["velocity"][0] > 0


def test_a_block_on_a_floor_holds_what_its_friction_does():
    world = delassus.World.from_text(SLOPE, {"angle": 0})
    weight = 2 * 9.81
    least = 0.3 * weight / math.hypot(1, 0.3)
    found = world.hold("block", (0, 0, 0), force=0.9 * least)
    assert found.holds == "yes" and 0.97 * least < found.resists <= least <= found.fails * (1 + 1e-9)
    assert verify(found.certificate)


def test_questions_without_sense_are_refused():
    world = delassus.World.from_text(SLOPE)
    with pytest.raises(delassus.UnknownNameError, match="no body `brick`"):
        world.stand(load="brick")
    with pytest.raises(ValueError, match="is fixed"):
        world.hold("ground")
    with pytest.raises(ValueError, match="positive number of newtons"):
        world.hold("block", force=-1)
    with pytest.raises(ValueError, match="three numbers"):
        world.stand(tilt=[(1, 0)])
