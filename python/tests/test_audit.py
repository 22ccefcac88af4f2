"""The answers of MuJoCo, judged by closed forms."""

import numpy as np
import pytest

import delassus

mujoco = pytest.importorskip("mujoco")


def model(body, options=""):
    text = f"""
    <mujoco>
      <option timestep="0.001" cone="elliptic" {options}/>
      <worldbody><geom name="floor" type="plane" size="9 9 .1" friction="0.3 0 0"/>{body}</worldbody>
    </mujoco>"""
    found = mujoco.MjModel.from_xml_string(text)
    return found, mujoco.MjData(found)


BLOCK = """<body pos="0 0 0.1"><freejoint/>
  <geom name="block" type="box" size=".1 .1 .1" mass="2" friction="0.3 0 0"/></body>"""


def test_rest_is_exact_and_one_choice_of_many():
    m, d = model(BLOCK)
    for _ in range(2000):
        mujoco.mj_step(m, d)
    mujoco.mj_forward(m, d)
    report = delassus.audit.mujoco(m, d)
    # A settled block of 2 kg: forces carry the weight, and satisfy the law to what softness leaves.
    assert sum(c.engine[0] for c in report.contacts) == pytest.approx(2 * 9.81, rel=1e-4)
    assert report.existence == "proved" and report.off_velocity < 1e-6
    assert report.forces_unique == "refuted"
    # Four corners: each carries between nothing and half of the weight.
    for contact in report.contacts:
        assert contact.unique is False
        assert contact.interval == pytest.approx((0.0, 9.81), abs=0.02)


def test_a_sliding_block_is_lifted_by_stiff_settings():
    # The convex cone asks for v_n = mu v_t / (1 + mu²) where the law has none.
    m, d = model(BLOCK, 'impratio="100"')
    m.opt.o_solref[:] = [0.002, 1.0]
    m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_OVERRIDE
    for _ in range(2000):
        mujoco.mj_step(m, d)
    d.qvel[0] = 3.0
    mujoco.mj_forward(m, d)
    report = delassus.audit.mujoco(m, d)
    assert not report.exact and report.off_velocity > 0.05
    assert "do NOT satisfy" in str(report)
    # The exact answer carries the weight and slides with friction 0.3 of it.
    assert sum(c.exact[0] for c in report.contacts) == pytest.approx(2 * 9.81, rel=1e-2)


def test_a_run_is_judged_step_by_step():
    m, d = model(BLOCK)
    run = delassus.audit.mujoco_run(m, d, 40, every=10)
    assert run.time.shape == run.relative.shape == (4,)
    assert len(run.table().splitlines()) == 5
    plt = pytest.importorskip("matplotlib")
    plt.use("Agg")
    ax = run.plot()
    assert ax.get_xlabel() == "time, s"


def test_anyones_matrices():
    # Two legs under 1 N s of momentum: the engine chose to load one of them.
    report = delassus.audit.problem(
        np.eye(1), [[1.0], [1.0]], [-1.0], forces=[1.0, 0.0], dt=1.0, laws=["unilateral"] * 2
    )
    assert report.exact and report.forces_unique == "refuted"
    assert report.contacts[0].interval == pytest.approx((0.0, 1.0), abs=1e-6)
    assert np.allclose([c.exact[0] for c in report.contacts], 0.5, atol=1e-6)


def test_how_far_from_jamming():
    # The rod of Painlevé, its tip at (x − l cos θ, y − l sin θ) with l the half length: W_nn = 1/m + c²l²/I with
    # I = ml²/3, W_nt = −scl²/I, so that μ_jam = (1 + 3c²)/(3sc) (003 eq. 36).
    m, l = 2.0, 0.7
    for angle, mu in ((np.pi / 4, 2.0), (1.0, 0.3)):
        s, c = np.sin(angle), np.cos(angle)
        mass = np.diag([m, m, m * l**2 / 3])
        rows = np.array([[0.0, 1.0, -l * c], [1.0, 0.0, l * s]])
        momentum = mass @ np.array([-1.0, -0.01, 0.0])
        law = [{"law": "coulomb-plane", "mu": mu}]
        report = delassus.audit.problem(mass, rows, momentum, laws=law, forces=[0.0, 0.0], dt=1e-3)
        expected = (1 + 3 * c**2) / (3 * s * c)
        assert report.contacts[0].mu_jam == pytest.approx(expected, rel=1e-12)
        assert report.jamming is report.contacts[0] and report.contacts[0].mu == mu
        assert ("it can jam" in str(report)) == (mu > expected)
        # With the rotation held by a joint nothing couples normal and tangent.
        held = np.vstack([rows, [[0.0, 0.0, 1.0]]])
        report = delassus.audit.problem(mass, held, momentum, laws=[*law, "bilateral"], forces=np.zeros(3), dt=1e-3)
        assert report.contacts[0].mu_jam is None and report.jamming is None
