"""Keywords that a function does not know: the exception says which one was meant."""

from __future__ import annotations

import difflib
import functools
import inspect
import types
from collections.abc import Callable
from typing import TypeVar, cast

F = TypeVar("F", bound=Callable[..., object])
UNKNOWN = "unknown option `"


def suggests(function: F) -> F:
    """The function, whose `TypeError` for an unknown keyword has a suggestion."""

    @functools.wraps(function)
    def call(*arguments: object, **keywords: object) -> object:
        try:
            return function(*arguments, **keywords)
        except TypeError as error:
            better = _better(function, keywords, str(error))
            if better is None:
                raise
            raise TypeError(better) from None

    return cast(F, call)


def suggests_in(kind: type) -> None:
    """The same for all methods of a class that users call."""
    for name, method in list(vars(kind).items()):
        if isinstance(method, types.FunctionType) and not name.startswith("_"):
            setattr(kind, name, suggests(method))


def _better(function: Callable[..., object], keywords: dict[str, object], found: str) -> str | None:
    """What to say in the place of what was found; `None` where that says it already, or says something else."""
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name != "self"]
    unknown = [name for name in keywords if name not in names]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        # The others are options of the library, which has said which of them it does not know.
        unknown = [name for name in unknown if found.startswith(f"{UNKNOWN}{name}`")]
    elif unknown and "did you mean" in found:
        return None
    near = difflib.get_close_matches(unknown[0], names, 1) if unknown else []
    if near:
        return f"{UNKNOWN}{unknown[0]}`: did you mean `{near[0]}`?"
    if not unknown or found.startswith(UNKNOWN):
        return None
    return f"{UNKNOWN}{unknown[0]}`: expected one of {', '.join(names)}"
