"""The notebooks of the book, run cell by cell."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "book" / "src" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_six():
    assert len(NOTEBOOKS) == 6 and all(path.stat().st_size < 300_000 for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    if "mujoco" in path.stem:
        pytest.importorskip("mujoco")
    monkeypatch.chdir(FOLDER)
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), path.name, "exec"), names)
