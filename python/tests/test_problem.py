"""Contact problems from arrays, against closed forms."""

import pickle

import numpy as np
import pytest

import delassus

# A block of unit mass comes down at 2 m/s and slides at 3 m/s.
W, Q = np.eye(3), np.array([-2.0, 3.0, 0.0])


def test_a_sliding_block_has_its_closed_form():
    found = delassus.solve(W, Q, mu=0.5)
    assert found.solved and found.residual < 1e-8
    assert np.allclose(found.impulse, [2.0, -1.0, 0.0], atol=1e-7)
    assert np.allclose(found.velocity, [0.0, 2.0, 0.0], atol=1e-7)


def test_all_forms_agree():
    dense = delassus.solve(W, Q, mu=0.5).impulse
    scipy = pytest.importorskip("scipy.sparse")
    sparse = delassus.solve(scipy.csr_matrix(W), Q, mu=0.5).impulse
    in_laws = delassus.solve(W, Q, laws=[{"law": "coulomb", "mu": 0.5}]).impulse
    # M v = f + Jᵀ r with M = 1, J = 1, f = q is the same problem.
    whole = delassus.solve(M=np.eye(3), J=np.eye(3), force=Q, mu=0.5).impulse
    for other in (sparse, in_laws, whole):
        assert np.allclose(other, dense, atol=1e-8)


def test_rows_per_contact():
    # A weight of 1 without friction, and in the plane with friction that stops a slip of 0.2.
    assert np.allclose(delassus.solve([[1.0]], [-1.0]).impulse, [1.0])
    plane = delassus.solve(np.eye(2), [-1.0, 0.2], mu=0.5, dim=2)
    assert np.allclose(plane.impulse, [1.0, -0.2], atol=1e-8)


def test_the_residual_judges_any_impulse():
    exact = delassus.residual(W, Q, [2.0, -1.0, 0.0], mu=0.5)
    assert exact.relative < 1e-12
    # The convex relaxation lifts the block: a velocity in the normal with a force that pushes.
    lifted = delassus.solve(W, Q, laws=[{"law": "cone", "mu": 0.5}])
    assert lifted.solved and lifted.velocity[0] > 0.5
    assert delassus.residual(W, Q, lifted.impulse, mu=0.5).relative > 0.1


def test_verdicts_of_arrays():
    one = delassus.analyze(W, Q, mu=0.5)
    assert (one.existence, one.velocity_unique, one.forces_unique) == ("proved",) * 3
    assert np.allclose(one.forces, [[2.0, -1.0, 0.0]])
    # Two legs under one weight: W has rank one, the sum is unique and the shares are not.
    table = delassus.analyze(np.ones((2, 2)), [-1.0, -1.0])
    assert (table.existence, table.velocity_unique, table.forces_unique) == ("proved", "proved", "refuted")
    assert np.allclose(table.intervals, [[0.0, 1.0], [0.0, 1.0]])
    assert np.allclose(table.minimum_norm, [0.5, 0.5])
    # The same by M and J.
    whole = delassus.analyze(M=[[1.0]], J=[[1.0], [1.0]], force=[-1.0])
    assert np.allclose(whole.intervals, table.intervals)


def test_a_problem_without_solution_is_refuted():
    # 0 ≤ u = -1 has no answer, whatever the force.
    nothing = delassus.analyze([[0.0]], [-1.0])
    assert nothing.existence == "refuted" and nothing.kind == "none" and len(nothing.forces) == 0
    assert delassus.solve([[0.0]], [-1.0]).status == "no-solution"


def test_answers_can_be_kept():
    for answer in (delassus.solve(W, Q, mu=0.5), delassus.analyze(W, Q, mu=0.5)):
        again = pickle.loads(pickle.dumps(answer))
        assert str(again.to_dict()) == str(answer.to_dict())
        assert repr(again) == repr(answer)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: delassus.solve(W, [1.0, 2.0], mu=0.5), ValueError, "3 rows per contact"),
        (lambda: delassus.solve(W, [1.0, 2.0, np.nan], mu=0.5), ValueError, "not finite"),
        (lambda: delassus.solve(W, Q, mu=-0.5), ValueError, "friction"),
        (lambda: delassus.solve(W, Q, mu=[0.5, 0.5]), ValueError, "one for each of 1 contacts"),
        (lambda: delassus.solve(W, Q, mu=0.5, tolerence=1e-6), TypeError, "did you mean `tolerance`"),
        (lambda: delassus.solve(W, Q, mu=0.5, tolerance="small"), TypeError, "tolerance: expected a number"),
        (lambda: delassus.solve(W, Q, mu=0.5, tolerance=-1.0), ValueError, "positive"),
        (lambda: delassus.solve(W, Q, mu=0.5, solver="magic"), ValueError, "gauss-seidel"),
        (lambda: delassus.solve(W, Q, laws=["coulom"]), ValueError, "coulom"),
        (lambda: delassus.solve(W, Q, mu=0.5, laws=["bilateral"]), TypeError, "either"),
        (lambda: delassus.solve(W), TypeError, "q: expected"),
        (lambda: delassus.solve(M=W), TypeError, "M and J"),
        (lambda: delassus.solve("W", Q, mu=0.5), TypeError, "W: expected numbers"),
        (lambda: delassus.solve(np.eye(4), Q, mu=0.5), ValueError, "W"),
        (lambda: delassus.solve(W, Q, mu=0.5, start=[1.0]), ValueError, "start"),
        (lambda: delassus.analyze(-W, Q, mu=0.5), ValueError, "positive semidefinite"),
        (lambda: delassus.analyze([[1.0, 2.0], [0.0, 1.0]], [0.0, 0.0]), ValueError, "symmetric"),
        (lambda: delassus.residual(W, Q, [1.0], mu=0.5), ValueError, "3 finite numbers"),
    ],
)
def test_wrong_calls_say_what_was_expected(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
