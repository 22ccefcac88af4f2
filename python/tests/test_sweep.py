"""Sweeps: the same table by all engines, after a kill, and where workers die."""

import functools
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import delassus

MU, ANGLE = np.linspace(0.1, 3.0, 30), np.linspace(0.2, 1.4, 20)


def test_a_sweep_is_the_map(scenes):
    file = scenes / "painleve-rod.toml"
    found = delassus.sweep(file, {"mu": MU, "angle": ANGLE}, ["solutions", "mu_jam"])
    assert found.shape == (30, 20) and found["mu_jam"].shape == (30, 20) and len(found) == 600
    rod = delassus.System.load(file)
    assert np.array_equal(found["solutions"], rod.map("solutions", {"angle": ANGLE, "mu": MU}).values)
    assert np.array_equal(found.columns["mu"], np.repeat(MU, 20)) and found.columns["angle"][1] == ANGLE[1]
    c, s = np.cos(found.columns["angle"]), np.sin(found.columns["angle"])
    assert np.allclose(found.columns["mu_jam"], (1 + 3 * c**2) / (3 * s * c), rtol=1e-12)
    assert found.map("mu_jam").axes[0].name == "angle"


def test_functions_of_the_scene(scenes):
    def height(rod):
        analysis = rod.analyze()
        return {"y": rod.position[1], "word": analysis.existence}

    found = delassus.sweep(scenes / "painleve-rod.toml", {"angle": ANGLE}, height, workers=2)
    assert np.allclose(found["y"], np.sin(ANGLE), atol=1e-15) and set(found["word"]) <= {"proved", "refuted"}
    assert found.quantities == ["y", "word"]


def test_worlds_are_swept():
    world = delassus.World.from_text("""
        world = {}
        parameters.mass = 1.0
        body = [
            { name = "ground", fixed = true, shape = [{ type = "plane" }] },
            { name = "ball", mass = "mass", position = [0, 0, 0.1], shape = [{ type = "sphere", radius = 0.1 }] },
        ]
    """)
    found = delassus.sweep(world, {"mass": [1.0, 2.0]}, ["forces_unique", "existence"])
    assert list(found["forces_unique"]) == ["proved", "proved"]
    weight = delassus.sweep(world, {"mass": [1.0, 2.0]}, lambda w: w.simulate().contacts_now()[0].normal_force)
    assert np.allclose(weight["value"], [9.81, 19.62], atol=1e-9)


def test_tables_are_written_and_gone_on_with(scenes, tmp_path):
    file, out = scenes / "painleve-rod.toml", tmp_path / "table"
    first = delassus.sweep(file, {"mu": MU}, "mu_jam", out=out, chunk=7)
    assert first.computed == 30 and len(list(out.glob("part-*"))) >= 5
    again = delassus.sweep(file, {"mu": MU}, "mu_jam", out=out)
    assert again.computed == 0 and np.array_equal(again["mu_jam"], first["mu_jam"])
    # A part that is gone, and a file that a kill left behind.
    part = sorted(out.glob("part-*"))[1]
    part.rename(out / f".{part.name}.new")
    third = delassus.sweep(file, {"mu": MU}, "mu_jam", out=out)
    assert 0 < third.computed <= 7 and np.array_equal(third["mu_jam"], first["mu_jam"])
    with pytest.raises(ValueError, match="another sweep, with another axes"):
        delassus.sweep(file, {"mu": MU[:5]}, "mu_jam", out=out)
    with pytest.raises(ValueError, match="another quantity"):
        delassus.sweep(file, {"mu": MU}, "mu_crit", out=out)
    with pytest.raises(ValueError, match="another scene"):
        delassus.sweep(file, {"mu": MU}, "mu_jam", out=out, parameters={"slip": 1.0})


def test_parts_are_arrow_tables(scenes, tmp_path):
    pa = pytest.importorskip("pyarrow")
    found = delassus.sweep(scenes / "painleve-rod.toml", {"mu": MU}, ["solutions", "mu_jam"], out=tmp_path, chunk=10)
    import pyarrow.dataset

    table = pyarrow.dataset.dataset(sorted(map(str, tmp_path.glob("*.arrow"))), format="arrow").to_table()
    assert table.num_rows == 30 and table.column_names == ["mu", "solutions", "mu_jam"]
    assert found.table().schema.field("solutions").type == pa.dictionary(pa.int32(), pa.string())
    assert np.array_equal(np.sort(table["mu"].to_numpy()), np.sort(MU))


def test_tables_without_pyarrow(scenes, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    file = scenes / "painleve-rod.toml"
    first = delassus.sweep(file, {"mu": MU}, ["solutions", "mu_jam"], out=tmp_path, chunk=10)
    assert {path.suffix for path in tmp_path.glob("part-*")} == {".npz"}
    again = delassus.sweep(file, {"mu": MU}, ["solutions", "mu_jam"], out=tmp_path)
    assert again.computed == 0
    assert all(np.array_equal(first.columns[name], again.columns[name]) for name in first.columns)


KILLED = """
    import sys, time
    import delassus

    def slow(rod):
        with open(sys.argv[2], "a") as log:
            log.write(f"{rod.parameters['mu']!r}\\n")
        time.sleep(0.01)
        return rod.parameters["mu"] ** 2

    values = [0.01 * k for k in range(1, 201)]
    found = delassus.sweep(sys.argv[1], {"mu": values}, slow, out=sys.argv[3], workers=2, seconds=0.1, engine=sys.argv[4])
    assert list(found["value"]) == [x**2 for x in values]
    print(found.computed)
"""


def swept(scenes, tmp_path, engine, kill):
    script = tmp_path / "sweep.py"
    script.write_text(textwrap.dedent(KILLED))
    log, out = tmp_path / "log", tmp_path / "out"
    arguments = [sys.executable, script, scenes / "painleve-rod.toml", log, out, engine]
    child = subprocess.Popen(list(map(str, arguments)), stdout=subprocess.PIPE, text=True, start_new_session=True)
    if kill:
        while len(list(out.glob("part-*"))) < 3:
            assert child.poll() is None
            time.sleep(0.01)
        os.killpg(child.pid, signal.SIGKILL)
    answer = child.communicate(timeout=300)[0]
    return answer, log, out


def points_of(out):
    """Values of mu in the parts."""
    return {float(x) for path in out.glob("part-*") for x in delassus._sweep._Folder.read(path)["mu"]}


def test_a_kill_loses_and_repeats_no_finished_point(scenes, tmp_path):
    _, log, out = swept(scenes, tmp_path, "threads", kill=True)
    finished = points_of(out)
    assert 0 < len(finished) < 200
    log.unlink()
    answer, log, _ = swept(scenes, tmp_path, "threads", kill=False)
    computed = [float(line) for line in log.read_text().split()]
    assert int(answer) == 200 - len(finished) == len(computed)
    assert not finished & set(computed)


def test_wrong_sweeps_are_refused(scenes):
    file = scenes / "painleve-rod.toml"
    with pytest.raises(ValueError, match='"threads" or "ray"'):
        delassus.sweep(file, {"mu": MU}, "mu_jam", engine="dask")
    with pytest.raises(delassus.SceneError, match="nu"):
        delassus.sweep(file, {"nu": MU}, "mu_jam")
    with pytest.raises(ValueError, match="no quantity"):
        delassus.sweep(file, {"mu": MU}, "mu_jams")
    with pytest.raises(ValueError, match="finite"):
        delassus.sweep(file, {"mu": [np.nan]}, "mu_jam")
    with pytest.raises(FileNotFoundError):
        delassus.sweep("none.toml", {"mu": MU}, "mu_jam")
    with pytest.raises(RuntimeError, match="at mu = .*: ZeroDivisionError"):
        delassus.sweep(file, {"mu": MU}, lambda rod: 1 / 0)


def test_quantities_that_make_no_column_are_refused(scenes):
    file = scenes / "painleve-rod.toml"
    for answer in ([1, 2], None, np.array([1.0]), np.array([1.0, 2.0]), 1 + 2j, {"a": {"b": 1.0}}, b"word"):
        with pytest.raises(TypeError, match="expected a number or a text for `.*`, found .* at mu = "):
            delassus.sweep(file, {"mu": MU}, lambda rod, answer=answer: answer)
    with pytest.raises(ValueError, match="at least one number or text, found none at mu = "):
        delassus.sweep(file, {"mu": MU}, lambda rod: {})
    with pytest.raises(ValueError, match="found 'mu', that is a parameter"):
        delassus.sweep(file, {"mu": MU}, lambda rod: {"mu": 1.0})
    with pytest.raises(ValueError, match="expected names of columns, found 1, of type int"):
        delassus.sweep(file, {"mu": MU}, lambda rod: {1: 1.0})

    def changes(at_two):
        return lambda rod: at_two if rod.parameters["mu"] == 2.0 else 1.0

    # Within a part and from one part to the next.
    for mu, chunk in (([1.0, 2.0], None), ([1.0, 1.0, 2.0], 1)):
        axes, only = {"mu": mu}, {"chunk": chunk, "workers": 1}
        with pytest.raises(TypeError, match="`value`"):
            delassus.sweep(file, axes, changes("word"), **only)
        with pytest.raises(ValueError, match="expected the columns .*value at every point, found .*other"):
            delassus.sweep(file, axes, changes({"other": 1.0}), **only)
    for names in (["mu_jam", "mu_jam"], ["solutions", "mu_crit", "solutions"]):
        with pytest.raises(ValueError, match="found `.*` twice"):
            delassus.sweep(file, {"mu": MU}, names)
    with pytest.raises(ValueError, match="`mu` is a parameter of the axes"):
        delassus.sweep(file, {"mu": MU}, "mu")
    with pytest.raises(TypeError, match="names of quantities"):
        delassus.sweep(file, {"mu": MU}, ["mu_jam", 3])
    for place, why in (("/contacts", "is a list of 1: expected a number"), ("/contacts/0", "expected one in it: .*mu_jam"), ("/contacs/0/mu", "no `contacs`.*contacts")):
        with pytest.raises(ValueError, match=why):
            delassus.sweep(file, {"mu": MU}, place)
    with pytest.raises(ValueError, match="no proposition `000.prop99`"):
        delassus.sweep(file, {"mu": MU}, "proposition:000.prop99")
    # Numpy's numbers and truth values are numbers.
    found = delassus.sweep(file, {"mu": [1.0]}, lambda rod: {"a": np.float32(2), "b": np.bool_(True), "c": np.array(3), "d": True})
    assert [float(found[name][0]) for name in "abcd"] == [2.0, 1.0, 3.0, 1.0]


@pytest.fixture(scope="module")
def cluster():
    ray = pytest.importorskip("ray")
    # Workers of Ray are polite (nice 15): what else the machine does would be counted as the cost of Ray.
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _system_config={"worker_niceness": 0})
    yield ray
    ray.shutdown()


def test_ray_gives_the_same_table(scenes, cluster):
    file = scenes / "painleve-rod.toml"
    here = delassus.sweep(file, {"mu": MU, "angle": ANGLE}, ["solutions", "mu_jam"])
    there = delassus.sweep(file, {"mu": MU, "angle": ANGLE}, ["solutions", "mu_jam"], engine="ray")
    assert all(np.array_equal(here.columns[name], there.columns[name]) for name in here.columns)


def test_points_of_a_worker_that_dies_are_tried_again(scenes, cluster, tmp_path):
    mark = str(tmp_path / "died")

    def fragile(rod):
        if rod.parameters["mu"] > 1.5 and not Path(mark).exists():
            Path(mark).touch()
            os._exit(1)
        return rod.parameters["mu"]

    found = delassus.sweep(scenes / "painleve-rod.toml", {"mu": MU}, fragile, engine="ray", out=tmp_path / "out")
    assert Path(mark).exists() and np.array_equal(found["value"], MU)


def test_ray_costs_little(scenes, cluster):
    # Points that need no processor, and two threads without Ray that do the same, in turns: what else the machine
    # does slows both down.
    def ten_milliseconds(rod):
        time.sleep(0.01)
        return rod.parameters["mu"]

    def seconds(engine, points=MU.size):
        values = {"mu": np.linspace(0.1, 3.0, points)}
        found = delassus.sweep(scenes / "painleve-rod.toml", values, ten_milliseconds, engine=engine, workers=2)
        assert np.array_equal(found["value"], values["mu"])
        return found.seconds

    seconds("ray")
    best = {"threads": np.inf, "ray": np.inf}
    for _ in range(6):
        best = {engine: min(least, seconds(engine, 400)) for engine, least in best.items()}
        if best["ray"] < 1.1 * best["threads"]:
            break
    print(json.dumps({"points": 400, **best, "ideal": 400 * 0.01 / 2}))
    assert best["ray"] < 1.1 * best["threads"]


def test_a_function_with_other_values_is_another_sweep(scenes, tmp_path):
    file = scenes / "painleve-rod.toml"

    def of(factor):
        return lambda system: factor

    def first(system, shift=1.0):
        return shift

    def second(system, shift=2.0):
        return shift

    second.__qualname__ = first.__qualname__
    pairs = [
        (of(1.0), of(2.0)),
        (first, second),
        (functools.partial(first, shift=3.0), functools.partial(first, shift=4.0)),
        (lambda s: max((1.0, 5.0)), lambda s: max((2.0, 7.0))),
        (lambda s: sum(x for x in (1.0, 2.0)), lambda s: sum(x for x in (1.0, 3.0))),
    ]
    for k, (one, other) in enumerate(pairs):
        out = tmp_path / str(k)
        assert delassus.sweep(file, {"mu": [1.0, 2.0]}, one, out=out).computed == 2
        assert delassus.sweep(file, {"mu": [1.0, 2.0]}, one, out=out).computed == 0
        with pytest.raises(ValueError, match="another quantity"):
            delassus.sweep(file, {"mu": [1.0, 2.0]}, other, out=out)
    lock = threading.Lock()
    with pytest.raises(TypeError, match="told from others"):
        delassus.sweep(file, {"mu": [1.0]}, lambda s: float(lock.locked()), out=tmp_path / "lock")


def test_a_folder_is_written_by_one_sweep_at_a_time(scenes, tmp_path):
    file = scenes / "painleve-rod.toml"

    def within(system):
        with pytest.raises(RuntimeError, match="another sweep writes here"):
            delassus.sweep(file, {"mu": MU}, "mu_jam", out=tmp_path)
        return 1.0

    assert delassus.sweep(file, {"mu": [1.0]}, within, out=tmp_path).computed == 1
    # It is free again afterwards.
    assert len(delassus.sweep(file, {"mu": [1.0]}, within, out=tmp_path)) == 1


def test_a_folder_that_is_not_whole_is_refused_with_its_file(scenes, tmp_path):
    def again():
        return delassus.sweep(scenes / "painleve-rod.toml", {"mu": MU}, "mu_jam", out=tmp_path)

    whole = again()
    part = next(tmp_path.glob("part-*"))
    content = part.read_bytes()
    part.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=f"{part.name}.*delete it"):
        again()
    part.unlink()
    assert np.array_equal(again()["mu_jam"], whole["mu_jam"], equal_nan=True)
    part = next(tmp_path.glob("part-*"))
    twice = part.with_name(f"part-000000000001-{1:09d}{part.suffix}")
    twice.write_bytes(part.read_bytes())
    with pytest.raises(ValueError, match="has points that"):
        again()
    twice.rename(tmp_path / "part-one-two.arrow")
    with pytest.raises(ValueError, match="part-one-two.*expected a name"):
        again()
    (tmp_path / "part-one-two.arrow").unlink()
    (tmp_path / "sweep.json").write_text("{")
    with pytest.raises(ValueError, match="sweep.json"):
        again()
    (tmp_path / "sweep.json").unlink()
    with pytest.raises(ValueError, match="no `sweep.json`"):
        again()
