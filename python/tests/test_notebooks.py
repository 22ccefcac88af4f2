"""The notebooks of the book, run cell by cell: what they print is what stands in them."""

import ast
import contextlib
import io
import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "book" / "src" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_six():
    assert len(NOTEBOOKS) == 6 and all(path.stat().st_size < 300_000 for path in NOTEBOOKS)


def run(source, name, names):
    """What a cell prints, and the value of its last line."""
    tree, printed, value = ast.parse(source), io.StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
    return printed.getvalue(), value


def plain(text):
    """Without times of the clock."""
    return re.sub(r"in [\d.e-]+ s\b", "in … s", text)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    if "mujoco" in path.stem:
        pytest.importorskip("mujoco")
    monkeypatch.chdir(FOLDER)
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        printed, value = run("".join(cell["source"]), path.name, names)
        outputs = cell["outputs"]
        text = "".join("".join(out["text"]) for out in outputs if out["output_type"] == "stream")
        assert plain(printed) == plain(text)
        for out in outputs:
            if out["output_type"] == "execute_result":
                assert plain(repr(value)) == plain("".join(out["data"]["text/plain"]))
