"""Pages in notebooks."""

from __future__ import annotations

import html
import os


class PageView:
    """A page: a notebook shows it in its place, `save` writes it as a file for any browser."""

    __slots__ = ("_height", "_html")

    def __init__(self, text: str, height: int) -> None:
        self._html = text
        self._height = height

    @property
    def html(self) -> str:
        """The page as one self-contained HTML file."""
        return self._html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page; it opens without network."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._html)

    def __repr__(self) -> str:
        return f"<delassus.PageView: {len(self._html)} bytes; save(path) writes it>"

    def _repr_html_(self) -> str:
        # A document of its own: neither its styles nor its keys reach the notebook.
        return (
            f'<iframe srcdoc="{html.escape(self._html)}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {self._height}px; border: 0"></iframe>'
        )
