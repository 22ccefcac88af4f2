"""Processes that are forked after the import: threads of the library do not come along."""

import multiprocessing
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import delassus

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")

FORKED = """
    import os, sys, threading
    import numpy as np
    import delassus

    table, rod = delassus.World.load(sys.argv[1]), delassus.System.load(sys.argv[2])
    n = 1500
    size = 3 * n
    rng = np.random.default_rng(1)
    # Contacts in one island of so many that loops over them are shared out: blocks between neighbours.
    import scipy.sparse as sp
    W = sp.diags_array([np.full(size, 2.0), np.full(size - 3, 0.5), np.full(size - 3, 0.5)], offsets=[0, 3, -3]).tocsr()
    q = rng.normal(size=size)

    def answers():
        sim = table.simulate()
        sim.step(20)
        controls = np.zeros((4, 5, 1))
        gears = delassus.Simulation.load(sys.argv[3])
        many = delassus.rollout(gears, ["pinion shaft"], controls)
        solved = delassus.solve(W, q, mu=0.5)
        swept = delassus.sweep(rod, {"mu": np.linspace(0.1, 3.0, 50)}, ["solutions", "mu_jam"])
        return (sim.positions.tobytes(), many.position.tobytes(), solved.impulse.tobytes(), solved.status,
                swept["mu_jam"].tobytes(), str(rod.analyze()), [c.normal_force for c in sim.contacts()])

    here = answers()
    assert here[3] == "solved"

    def child(depth):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                found = []
                if depth % 2:
                    thread = threading.Thread(target=lambda: found.append(answers()))
                    thread.start()
                    thread.join()
                found.append(answers())
                same = all(one == here for one in found)
                # A fork of a fork.
                code = 0 if same and (depth == 0 or child(depth - 1) == 0) else 2
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    print(child(2))
    assert answers() == here
"""


def test_forked_processes_have_the_same_answers(scenes):
    pytest.importorskip("scipy")
    files = [str(scenes / name) for name in ("table.toml", "painleve-rod.toml", "gear-pair.toml")]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORKED), *files],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.split() == ["0"], done.stderr


def simulated(file):
    sim = delassus.Simulation.load(file)
    sim.step(50)
    return sim.positions


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pools_of_multiprocessing(scenes):
    file = scenes / "table.toml"
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(simulated, [file] * 4).get(timeout=120)
    assert all(np.array_equal(position, simulated(file)) for position in found)
