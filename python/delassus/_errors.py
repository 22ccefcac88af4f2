"""Exceptions of the package. Each is also one of Python's own kinds, so that old habits catch it."""

from __future__ import annotations


class DelassusError(Exception):
    """Everything that this package raises by itself."""


class SceneError(DelassusError, ValueError):
    """A scene that makes no sense, with its place."""

    file: str | None
    line: int | None
    column: int | None
    expected: str | None

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        expected: str | None = None,
    ) -> None:
        super().__init__(message)
        self.file, self.line, self.column, self.expected = file, line, column, expected

    def __reduce__(self) -> tuple[type[SceneError], tuple[object, ...]]:
        return type(self), (self.args[0], self.file, self.line, self.column, self.expected)


class SimulationError(DelassusError, RuntimeError):
    """A step that cannot be made. The state is the one before it."""


class UnknownNameError(DelassusError, KeyError):
    """No body, joint or actuator has this name."""

    def __str__(self) -> str:
        return str(self.args[0])
