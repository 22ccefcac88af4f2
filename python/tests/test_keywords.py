"""Keywords that nothing knows, and numbers of an audit that make no sense."""

import inspect

import numpy as np
import pytest

import delassus


def test_an_unknown_keyword_has_a_suggestion(scenes):
    rod, table = delassus.load(scenes / "painleve-rod.toml"), delassus.load(scenes / "table.toml")
    w, q = np.eye(3), np.array([-1.0, 0.0, 0.0])
    calls = [
        (lambda: delassus.solve(w, q, mus=0.5), "mu"),
        (lambda: delassus.solve(w, q, 0.5, tolerence=1e-6), "tolerance"),
        (lambda: delassus.residual(w, q, mus=0.5), "mu"),
        (lambda: delassus.analyze(w, q, 0.5, max_mode=3), "max_modes"),
        (lambda: delassus.load(scenes / "table.toml", keyfram="a"), "keyframe"),
        (lambda: rod.run(tims=[0.0, 1.0]), "times"),
        (lambda: rod.explore(depht=2), "depth"),
        (lambda: rod.safe("mu", witin=1.0), "within"),
        (lambda: rod.map("solutions", {"mu": [1.0]}, progres=True), "progress"),
        (lambda: table.stand(fricton=True), "friction"),
        (lambda: table.simulate().run(1.0, evry=3), "every"),
        (lambda: delassus.sweep(rod, {"mu": [1.0]}, "mu_jam", outt="x"), "out"),
        (lambda: delassus.audit.mujoco(None, None, max_mode=3), "max_modes"),
    ]
    for call, meant in calls:
        with pytest.raises(TypeError, match=f"did you mean `{meant}`"):
            call()
    with pytest.raises(TypeError, match="expected one of"):
        rod.analyze(zzz=1)


def test_other_mistakes_keep_their_message(scenes):
    with pytest.raises(TypeError, match="missing 1 required"):
        delassus.load()
    with pytest.raises(TypeError, match="found both"):
        delassus.solve(np.eye(3), np.zeros(3), M=np.eye(3))
    assert list(inspect.signature(delassus.solve).parameters)[:3] == ["W", "q", "mu"]
    assert delassus.solve.__doc__ and delassus.System.safe.__doc__


def test_contacts_of_an_audit_have_numbers():
    pytest.importorskip("pinocchio")
    contact = delassus.audit.PointContact
    for wrong in (dict(mu=np.nan), dict(mu=-0.5), dict(force=(1, 2)), dict(point=(0, 0, np.inf))):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}: expected"):
            contact("foot", **wrong)
