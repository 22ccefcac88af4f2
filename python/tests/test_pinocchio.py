"""Forces of Pinocchio models, judged by closed forms."""

import numpy as np
import pytest

import delassus
from delassus.audit import PointContact

pin = pytest.importorskip("pinocchio")
G = 9.81


def free_block():
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "block")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.zeros(3), 0.02 * np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("block", joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    return model


def corners(force, mu=0.5):
    places = [(x, y, -0.1) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    return [PointContact("block", place, mu=mu, force=force, name=f"leg {k}") for k, place in enumerate(places)]


def test_a_table_has_many_forces():
    model = free_block()
    q, v = np.array([0, 0, 0.1, 0, 0, 0, 1.0]), np.zeros(6)
    report = delassus.audit.pinocchio(model, model.createData(), q, v, corners([0, 0, 2 * G / 4]))
    assert report.exact and report.forces_unique == "refuted"
    for contact in report.contacts:
        assert contact.interval == pytest.approx((0.0, G), abs=1e-3) and contact.engine[0] == pytest.approx(G / 2)
    # Half of the weight is missing: off by a velocity of dt g/2 and more at a corner.
    wrong = delassus.audit.pinocchio(model, model.createData(), q, v, corners([0, 0, G / 4]))
    assert not wrong.exact and wrong.off_force > 0.1 * G


def test_a_sliding_point_has_one_force():
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "point")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.zeros(3), 1e-6 * np.eye(3)), pin.SE3.Identity())
    model.addFrame(pin.Frame("point", joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    data, v = model.createData(), np.array([3.0, 0.0, 0.0])
    # Friction 0.3 of the weight, against the motion.
    right = PointContact("point", mu=0.3, force=[-0.3 * 2 * G, 0.0, 2 * G])
    report = delassus.audit.pinocchio(model, data, np.zeros(3), v, [right])
    assert report.exact and report.existence == "proved"
    # A residual of 1e-8 of the momentum of 6 N s is 6e-5 N of force over a step of 1 ms.
    assert np.linalg.norm(report.contacts[0].exact[1:]) == pytest.approx(0.3 * 2 * G, abs=1e-4)
    against = PointContact("point", mu=0.3, force=[0.3 * 2 * G, 0.0, 2 * G])
    assert not delassus.audit.pinocchio(model, data, np.zeros(3), v, [against]).exact


def four_bar():
    """A parallelogram of revolute joints about y, closed by a point: one of the three rows holds nothing."""
    model = pin.Model()
    axis, arm = pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.3]))
    bar = pin.Inertia(1.0, np.array([0.0, 0.0, 0.15]), 0.01 * np.eye(3))
    long = pin.Inertia(2.0, np.array([0.25, 0.0, 0.0]), 0.04 * np.eye(3))
    crank = model.addJoint(0, axis, pin.SE3.Identity(), "crank")
    model.appendBodyToJoint(crank, bar, pin.SE3.Identity())
    coupler = model.addJoint(crank, axis, arm, "coupler")
    model.appendBodyToJoint(coupler, long, pin.SE3.Identity())
    rocker = model.addJoint(0, axis, pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0])), "rocker")
    model.appendBodyToJoint(rocker, bar, pin.SE3.Identity())
    end = pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]))
    loop = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, coupler, end, rocker, arm)
    return model, loop


def test_a_four_bar_has_a_row_that_holds_nothing():
    model, loop = four_bar()
    data, q, v, tau = model.createData(), np.array([0.4, -0.4, 0.4]), np.zeros(3), np.zeros(3)
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(loop)
    datas.append(loop.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    pin.constraintDynamics(model, data, q, v, tau, models, datas, pin.ProximalSettings(1e-12, 1e-12, 100))
    report = delassus.audit.pinocchio(model, data, q, v, [loop], tau=tau, constraint_datas=datas)
    assert report.existence == "proved" and report.motion_unique == "proved"
    assert report.forces_unique == "refuted"
    assert report.residual.relative < 1e-6
    # Two rows have one force each, the one across the plane any.
    unique = [contact.unique for contact in report.contacts]
    assert unique.count(True) == 2 and unique.count(False) == 1


def test_wrong_models_are_refused():
    model = free_block()
    data, q, v = model.createData(), np.array([0, 0, 0.1, 0, 0, 0, 1.0]), np.zeros(6)
    with pytest.raises(ValueError, match="no frame `blok`"):
        delassus.audit.pinocchio(model, data, q, v, [PointContact("blok")])
    with pytest.raises(ValueError, match="q: expected 7 numbers"):
        delassus.audit.pinocchio(model, data, v, v, [])
    with pytest.raises(TypeError, match="PointContact"):
        delassus.audit.pinocchio(model, data, q, v, [object()])
