"""What results have in common: shown in notebooks, and as plain dictionaries."""

from __future__ import annotations

import html
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


class Shown:
    """Shows its `repr` in notebooks."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def plain(value: Any) -> Any:
    """Lists in the place of arrays, dictionaries in the place of results."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


class Record(Shown):
    """A result with named fields."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, with lists in the place of arrays."""
        assert is_dataclass(self)
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}
