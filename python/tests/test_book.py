"""What the book and the README say in Python, run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "book/src/python.md", "book/src/auditing.md"]


@pytest.mark.parametrize("page", PAGES)
def test_code_of_the_page_runs(page, monkeypatch):
    if "auditing" in page:
        pytest.importorskip("mujoco")
        pytest.importorskip("pinocchio")
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
    assert blocks, f"{page} has no Python"
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
