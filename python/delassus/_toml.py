"""Dictionaries as the text of a scene file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def _value(place: str, value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, Mapping):
        inside = (f"{_key(place, k)} = {_value(f'{place}.{k}', v)}" for k, v in value.items())
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, (Sequence, np.ndarray)):
        return "[" + ", ".join(_value(place, item) for item in value) + "]"
    raise TypeError(f"{place}: expected numbers, texts, lists or dictionaries, found {type(value).__name__}")


def _key(place: str, key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{place}: expected names as keys, found {key!r}")
    return json.dumps(key, ensure_ascii=False)


def toml(tables: Mapping[str, Any]) -> str:
    """The text of a file with these tables, one per line."""
    return "".join(f"{_key('the scene', name)} = {_value(name, table)}\n" for name, table in tables.items())
