"""Progress bars of tqdm, where they are asked for and installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class bar:
    """Shows how much of `total` is done; within `with` it is a function of that, or `None`."""

    def __init__(self, wanted: bool, total: float, unit: str, start: float = 0.0) -> None:
        self._wanted, self._total, self._unit, self._start = wanted, total, unit, start
        self._bar: Any = None

    def __enter__(self) -> Callable[[float], None] | None:
        if not self._wanted:
            return None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        self._bar = tqdm(total=self._total, unit=f" {self._unit}", unit_scale=True)
        return self._show

    def _show(self, done: float) -> None:
        self._bar.update(done - self._start - self._bar.n)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            if error[0] is None:
                self._bar.update(self._total - self._bar.n)
            self._bar.close()
