"""Quantities over all combinations of parameters: on all cores, or on a Ray cluster, written as they are found.

    point k  ─▶  parameters  ─▶  scene  ─▶  quantity           parts of the table: `part-START-COUNT.arrow`

Work goes out in ranges of points and comes back after about a second with what is done of it. A part of the table
is written under another name and then renamed, so that after a kill every part that is there is whole, and the
points that are in no part are those that are left.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import pickle
import time
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _delassus
from ._design import Axes, Axis, Map, axes_of, columns_of
from ._keywords import suggests
from ._progress import bar
from ._result import Shown
from ._scene import Parameters, System, World, _wrapped, load

Columns = dict[str, npt.NDArray[Any]]
Function = Callable[[Any], Any]
Quantity = Union[str, Sequence[str], Function]

FORMAT = "delassus sweep 1"
RETRIES = 5
"""How often a range of points is tried again whose worker died."""
FIRST_POINTS = 16
"""Points of a thread in the first call into the library; then as many as take a part of `seconds`."""
LEAST_SECONDS = 0.05
"""The shortest task that is worth a message to another process, as far as there are points for it."""


@dataclass(frozen=True)
class _Job:
    """What is asked at each point."""

    parts: tuple[Any, ...]
    """The source of the scene."""
    axes: list[tuple[str, npt.NDArray[np.float64]]]
    quantities: list[str]
    function: Function | None
    threads: int

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(values.size for _, values in self.axes)

    def values(self, points: npt.NDArray[np.int64]) -> Columns:
        """The parameters at points."""
        at = np.unravel_index(points, self.shape)
        return {name: values[k] for (name, values), k in zip(self.axes, at, strict=True)}


def _compiled(job: _Job, start: int, stop: int, seconds: float, stopped: Event | None) -> Columns:
    """Points from `start` on, as many as go in the time, without Python in between."""
    inner = _delassus.from_parts(job.parts)
    begin, at, size = time.monotonic(), start, FIRST_POINTS * max(1, job.threads or os.cpu_count() or 1)
    pieces: list[list[npt.NDArray[Any]]] = []
    while at < stop and (at == start or time.monotonic() - begin < seconds):
        if stopped is not None and stopped.is_set():
            break
        end, before = min(at + size, stop), time.monotonic()
        request = SimpleNamespace(
            axes=job.axes, quantities=job.quantities, start=at, stop=end, threads=job.threads, progress=None
        )
        pieces.append(columns_of(inner.grid(request)))
        at = end
        if time.monotonic() - before < seconds / 8:
            size *= 2
    return {name: np.concatenate([piece[k] for piece in pieces]) for k, name in enumerate(job.quantities)}


def _called(job: _Job, start: int, stop: int, seconds: float, stopped: Event | None) -> Columns:
    """Points from `start` on, as many as go in the time, by a function of the scene."""
    assert job.function is not None
    name, text, folder, fixed, *rest = job.parts
    begin, rows = time.monotonic(), []
    for point in range(start, stop):
        if point > start and (time.monotonic() - begin > seconds or (stopped is not None and stopped.is_set())):
            break
        values = {key: float(x[0]) for key, x in job.values(np.array([point])).items()}
        try:
            given = [*fixed, *((key, repr(x)) for key, x in values.items())]
            answer = job.function(_wrapped(_delassus.from_parts((name, text, folder, given, *rest))))
        except Exception as error:
            raise RuntimeError(f"at {_place(values)}: {type(error).__name__}: {error}") from error
        rows.append(_row(job, answer, values))
        if list(rows[-1]) != list(rows[0]):
            raise _other_columns(rows[0], rows[-1], values)
    return {key: _column(key, [row[key] for row in rows]) for key in rows[0]}


def _place(values: Mapping[str, float]) -> str:
    return ", ".join(f"{key} = {x:g}" for key, x in values.items())


def _row(job: _Job, answer: Any, values: dict[str, float]) -> dict[str, float | str]:
    """What a function returned, as numbers and texts by their columns."""
    row = {job.quantities[0]: answer} if not isinstance(answer, dict) else answer
    if not row:
        raise ValueError(f"quantity: expected at least one number or text, found none at {_place(values)}")
    for name in row:
        if not isinstance(name, str) or name in values:
            why = "that is a parameter" if isinstance(name, str) else f"of type {type(name).__name__}"
            raise ValueError(f"quantity: expected names of columns, found {name!r}, {why}; the axes have columns too")
    return {name: _entry(name, x, values) for name, x in row.items()}


def _entry(name: str, x: Any, values: dict[str, float]) -> float | str:
    if isinstance(x, (str, int, float, np.number, np.bool_)) and not isinstance(x, np.complexfloating):
        return str(x) if isinstance(x, str) else float(x)
    if isinstance(x, np.ndarray) and x.ndim == 0 and x.dtype.kind in "biuf":
        return float(x)
    raise TypeError(f"quantity: expected a number or a text for `{name}`, found {x!r} at {_place(values)}")


def _other_columns(first: Iterable[str], found: Iterable[str], values: dict[str, float]) -> ValueError:
    expected, names = ", ".join(first), ", ".join(found)
    return ValueError(f"quantity: expected the columns {expected} at every point, found {names} at {_place(values)}")


def _column(name: str, values: list[float | str]) -> npt.NDArray[Any]:
    """Numbers, or words as objects; the columns of words and numbers are told apart here."""
    words = [isinstance(x, str) for x in values]
    if all(words):
        return np.array(values, dtype=object)
    if any(words):
        number, word = values[words.index(False)], values[words.index(True)]
        raise TypeError(f"quantity: expected numbers or texts for `{name}`, found {number!r} and {word!r}")
    return np.array(values, dtype=float)


def _work(job: _Job, start: int, stop: int, seconds: float, stopped: Event | None = None) -> _Part:
    """What is done of a range of points after some seconds, at least one point."""
    begin = time.monotonic()
    columns = (_compiled if job.function is None else _called)(job, start, stop, seconds, stopped)
    return _Part(start, columns, time.monotonic() - begin)


@dataclass(frozen=True)
class _Part:
    """What was found of points from `start` on, in how many seconds."""

    start: int
    columns: Columns
    seconds: float

    @property
    def count(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0


class _Pending:
    """Ranges of points that are left."""

    def __init__(self, ranges: list[tuple[int, int]]) -> None:
        self._ranges = deque(ranges)
        self.left = sum(stop - start for start, stop in ranges)

    def take(self, most: int) -> tuple[int, int] | None:
        if not self._ranges:
            return None
        start, stop = self._ranges.popleft()
        if stop - start > most:
            self._ranges.appendleft((start + most, stop))
            stop = start + most
        self.left -= stop - start
        return start, stop

    def give_back(self, start: int, stop: int) -> None:
        if stop > start:
            self._ranges.appendleft((start, stop))
            self.left += stop - start


def _threads(job: _Job, pending: _Pending, workers: int, chunk: int, seconds: float) -> Iterator[_Part]:
    """All cores of this machine. Functions run in threads of Python; the library releases its lock."""
    stopped, at_once = Event(), 1 if job.function is None else workers
    pool = ThreadPoolExecutor(at_once)
    running: dict[Future[_Part], tuple[int, int]] = {}
    try:
        while True:
            while len(running) < at_once and (taken := pending.take(_share(pending.left, at_once, chunk))):
                running[pool.submit(_work, job, *taken, seconds, stopped)] = taken
            if not running:
                return
            done, _ = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
            for future in done:
                _, stop = running.pop(future)
                part = future.result()
                pending.give_back(part.start + part.count, stop)
                yield part
    finally:
        stopped.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _share(left: int, workers: int, chunk: int, least: int = 1) -> int:
    """So much that all workers end together."""
    return max(1, min(chunk, max(least, -(-left // (2 * workers)))))


def _ray(job: _Job, pending: _Pending, workers: int, chunk: int, seconds: float) -> Iterator[_Part]:
    """A cluster of Ray: the one this process is connected to, or one of its own on this machine."""
    import ray

    own = not ray.is_initialized()
    if own:
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        task = ray.remote(max_retries=RETRIES)(_work)
        shared = ray.put(job)
        running: dict[Any, tuple[int, int]] = {}
        least = 1
        while True:
            # Twice as many as there are workers: the next range is there when one ends.
            while len(running) < 2 * workers and (taken := pending.take(_share(pending.left, workers, chunk, least))):
                running[task.remote(shared, *taken, seconds)] = taken
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1, timeout=0.5)
            for reference in done:
                _, stop = running.pop(reference)
                part = ray.get(reference)
                pending.give_back(part.start + part.count, stop)
                least = math.ceil(LEAST_SECONDS * part.count / max(part.seconds, 1e-9))
                yield part
    finally:
        if own:
            ray.shutdown()


class _Folder:
    """The parts of a table in a folder, which one call writes at a time."""

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(path)
        try:
            self._open(about)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Lets others write here."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _open(self, about: dict[str, Any]) -> None:
        path = self.path
        try:
            import pyarrow  # noqa: F401

            self._arrow = True
        except ImportError:
            self._arrow = False
        note = path / "sweep.json"
        if note.exists():
            try:
                found = dict(json.loads(note.read_text()))
            except (ValueError, TypeError) as error:
                raise ValueError(f"{note}: expected what the sweep of this folder is, found {error}") from error
            different = [key for key, value in about.items() if found.get(key) != value]
            if different:
                raise ValueError(f"{path}: holds another sweep, with another {' and another '.join(different)}")
        elif self.parts():
            raise ValueError(f"{path}: holds parts of a table, but no `sweep.json` that says of which sweep")
        else:
            self._replace(note, json.dumps(about, indent=2).encode())
        for left_over in path.glob(".*.new"):
            left_over.unlink(missing_ok=True)

    def _replace(self, path: Path, content: bytes) -> None:
        new = path.with_name(f".{path.name}.new")
        with open(new, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)

    def parts(self) -> dict[int, tuple[int, Path]]:
        """Number of points and file by the first point."""
        found: dict[int, tuple[int, Path]] = {}
        for path in sorted(self.path.glob("part-*")):
            numbers = path.stem.split("-")[1:]
            if len(numbers) != 2 or not all(x.isdecimal() for x in numbers) or path.suffix not in (".arrow", ".npz"):
                raise ValueError(f"{path}: expected a name as `part-START-COUNT.arrow`")
            start, count = map(int, numbers)
            if start in found:
                raise ValueError(f"{path}: {found[start][1].name} begins with the same point")
            found[start] = (count, path)
        found = dict(sorted(found.items()))
        end, before = 0, ""
        for start, (count, path) in found.items():
            if start < end:
                raise ValueError(f"{path}: has points that {before} has too")
            end, before = start + count, path.name
        return found

    def write(self, start: int, count: int, columns: Columns) -> None:
        import io

        content = io.BytesIO()
        if self._arrow:
            import pyarrow as pa

            table = arrow_table(columns)
            with pa.ipc.new_file(content, table.schema) as writer:
                writer.write_table(table)
        else:
            texts = {f"c{k}": x.astype(str) if x.dtype == object else x for k, x in enumerate(columns.values())}
            np.savez(content, names=np.array(list(columns)), **texts)  # type: ignore[arg-type]
        suffix = "arrow" if self._arrow else "npz"
        self._replace(self.path / f"part-{start:012d}-{count:09d}.{suffix}", content.getvalue())

    def kinds(self) -> dict[str, str]:
        """The kinds of the columns in the first part, where there is one."""
        for _, path in self.parts().values():
            return _kinds(self.read(path))
        return {}

    @staticmethod
    def read(path: Path) -> Columns:
        try:
            return _read(path)
        except Exception as error:
            raise ValueError(f"{path}: expected a part of the table, found {error}; delete it to compute it anew") from error


def _locked(folder: Path) -> int | None:
    """An open file whose lock says that this folder is written; none where the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise RuntimeError(f"{folder}: another sweep writes here; wait for it, or give another folder") from None
    except OSError:
        # A file system without locks.
        os.close(lock)
        return None
    return lock


def _read(path: Path) -> Columns:
    if path.suffix == ".arrow":
        import pyarrow as pa

        with pa.OSFile(str(path)) as file:
            table = pa.ipc.open_file(file).read_all()
        return {name: _numpy(table[name]) for name in table.column_names}
    with np.load(path) as found:
        columns = {str(name): found[f"c{k}"] for k, name in enumerate(found["names"])}
    return {name: x.astype(object) if x.dtype.kind == "U" else x for name, x in columns.items()}


def _numpy(column: Any) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = column.to_numpy()
    return found


def arrow_table(columns: Columns) -> Any:
    """An Arrow table, words as dictionaries."""
    import pyarrow as pa

    arrays = {}
    for name, values in columns.items():
        arrays[name] = pa.array(values, pa.string()).dictionary_encode() if values.dtype == object else pa.array(values)
    return pa.table(arrays)


@dataclass(frozen=True, repr=False)
class Sweep(Shown):
    """A table over all combinations of parameters, the last of which runs fastest."""

    name: str
    axes: list[Axis]
    columns: Columns
    """Parameters and quantities by name, one number or word per point."""
    folder: Path | None = None
    seconds: float = 0.0
    computed: int = 0
    """Points that this call found; the others were in the folder."""
    quantities: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.values.size for axis in self.axes)

    def __len__(self) -> int:
        return int(np.prod(self.shape))

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column as an array over the axes."""
        return self.columns[name].reshape(self.shape)

    def table(self) -> Any:
        """An Arrow table (needs pyarrow)."""
        return arrow_table(self.columns)

    def to_dict(self) -> dict[str, list[Any]]:
        return {name: values.tolist() for name, values in self.columns.items()}

    def map(self, name: str | None = None) -> Map:
        """A quantity of a sweep over one or two parameters, to be drawn: the last axis to the right."""
        if len(self.axes) > 2:
            raise ValueError(f"expected a sweep over one or two parameters, found {len(self.axes)}")
        show = self.quantities[0] if name is None else name
        return Map(self.name, show, list(reversed(self.axes)), self[show])

    def plot(self, name: str | None = None, ax: Any = None) -> Any:
        """Draws a quantity over one or two parameters into `ax` and returns it."""
        return self.map(name).plot(ax)

    def __repr__(self) -> str:
        over = " × ".join(f"{axis.name} ({axis.values.size})" for axis in self.axes)
        rate = f", {self.computed} in {self.seconds:.3g} s" if self.computed else ""
        return f"<delassus.Sweep: {', '.join(self.quantities)} over {over}: {len(self)} points{rate}>"


def _kinds(columns: Columns) -> dict[str, str]:
    """Whether columns hold words or numbers."""
    return {name: "texts" if x.dtype == object else "numbers" for name, x in columns.items()}


def _same(kinds: dict[str, str], found: dict[str, str]) -> None:
    """Refuses a part whose columns are others than those of the first one."""
    if list(found) != list(kinds):
        raise ValueError(f"quantity: expected the columns {', '.join(kinds)} at every point, found {', '.join(found)}")
    for name, kind in kinds.items():
        if found[name] != kind:
            raise TypeError(f"quantity: expected {kind} for `{name}` at every point, found {found[name]}")


def _hash(*items: Any) -> str:
    state = hashlib.sha256()
    for item in items:
        state.update(item if isinstance(item, bytes) else repr(item).encode())
        state.update(b"\0")
    return state.hexdigest()[:16]


def _mark(function: Function) -> str:
    """What distinguishes a function from others: its code, and all that it uses beside its argument."""
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"{name} {_hash(_content(function, set()))}"


def _content(x: Any, seen: set[int]) -> str:
    """A text that is another where a value is another."""
    if isinstance(x, (int, float, complex, str, bytes, type(None), type(...))):
        return repr(x)
    if id(x) in seen:
        return "again"
    seen = seen | {id(x)}
    inner = [_content(y, seen) for y in _used(x)]
    if isinstance(x, (set, frozenset)):
        inner.sort()
    return f"{type(x).__name__}({', '.join(inner)})"


def _used(x: Any) -> list[Any]:
    """What a value consists of."""
    if isinstance(x, (tuple, list, set, frozenset)):
        return list(x)
    if isinstance(x, Mapping):
        return [y for item in x.items() for y in item]
    if isinstance(x, functools.partial):
        return [x.func, x.args, x.keywords]
    if isinstance(x, types.MethodType):
        return [x.__func__, x.__self__]
    if isinstance(x, types.CodeType):
        return [x.co_code, x.co_names, x.co_consts]
    if isinstance(x, types.FunctionType):
        cells = [cell.cell_contents for cell in x.__closure__ or ()]
        around = {name: x.__globals__[name] for name in _names_in(x.__code__) if name in x.__globals__}
        return [x.__code__, x.__defaults__, x.__kwdefaults__, cells, around]
    if isinstance(x, (types.ModuleType, types.BuiltinFunctionType, type)):
        return [getattr(x, "__module__", None), getattr(x, "__qualname__", x.__name__)]
    if isinstance(x, np.ndarray) and x.dtype != object:
        return [x.dtype.str, x.shape, x.tobytes()]
    try:
        return [pickle.dumps(x)]
    except Exception as error:
        raise TypeError(
            f"quantity: with `out`, expected a function whose values can be told from others, found one that uses {x!r}"
        ) from error


def _names_in(code: types.CodeType) -> list[str]:
    """Names of this code and of the functions written in it."""
    inner = [name for x in code.co_consts if isinstance(x, types.CodeType) for name in _names_in(x)]
    return [*code.co_names, *inner]


def _gaps(found: dict[int, tuple[int, Any]], total: int) -> list[tuple[int, int]]:
    """Ranges of points that no part has."""
    gaps, at = [], 0
    for start, (count, _) in found.items():
        if start > at:
            gaps.append((at, start))
        at = max(at, start + count)
    return [*gaps, (at, total)] if at < total else gaps


def _names(quantity: Quantity, axes: list[Axis]) -> list[str]:
    """The columns that are asked for; a function has its own."""
    if callable(quantity):
        return ["value"]
    names = [quantity] if isinstance(quantity, str) else list(quantity)
    parameters = {axis.name for axis in axes}
    for k, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"quantity: expected names of quantities or a function, found {name!r}")
        if name in parameters:
            raise ValueError(f"quantity: `{name}` is a parameter of the axes, which has its column already")
        if name in names[:k]:
            raise ValueError(f"quantity: expected each name once, found `{name}` twice")
    if not names:
        raise ValueError("quantity: expected at least one")
    return names


@suggests
def sweep(
    scene: str | os.PathLike[str] | System | World,
    axes: Axes,
    quantity: Quantity,
    *,
    engine: str = "threads",
    parameters: Parameters | None = None,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    chunk: int | None = None,
    seconds: float = 1.0,
    progress: bool = False,
) -> Sweep:
    """A quantity at all combinations of values of parameters.

    `axes`: values by name, arrays or "lo:hi:n". `quantity`: one or several of those of `System.map`, found without
    Python in between; or a function of the system or world at each point that returns a number, a text, or a
    dictionary of them. `engine`: "threads" for all cores of this machine, "ray" for a cluster of Ray: the one to which
    the process is connected (`ray.init`), else one of `workers` processes here.

    With `out`, a folder, the table is written as it is found, as Arrow files (numpy's `.npz` without pyarrow); the same
    call again goes on where an earlier one ended or was killed. `chunk` is the largest number of points that are handed
    out at once; what takes longer than `seconds` comes back in parts.
    """
    if engine not in ("threads", "ray"):
        raise ValueError(f'engine: expected "threads" or "ray", found {engine!r}')
    if workers is not None and workers < 1 or chunk is not None and chunk < 1 or not seconds > 0.0:
        raise ValueError("workers, chunk and seconds: expected positive numbers")
    if isinstance(scene, (System, World)):
        if parameters is not None:
            raise TypeError("parameters: expected a file beside them, found a scene that has its own")
        source = scene
    else:
        source = load(scene, parameters)
    parts, *state = source.__reduce__()[1]
    if state and state[0] is not None:
        raise ValueError("sweep reads the state of the file for every value: use parameters in the place of `at`")
    found = axes_of(axes)
    if not found:
        raise ValueError("axes: expected at least one parameter")
    function = quantity if callable(quantity) else None
    names = _names(quantity, found)
    cores = workers or os.cpu_count() or 1
    job = _Job(parts, [(axis.name, axis.values) for axis in found], names, function, 1 if engine == "ray" else cores)
    if function is None:
        # Names and parameters that make no sense are refused here, not by a worker.
        source._inner.grid(
            SimpleNamespace(axes=job.axes, quantities=names, start=0, stop=0, threads=1, progress=None)
        )
    folder = None
    if out is not None:
        about = {
            "format": FORMAT,
            "scene": _hash(parts[1], *parts[3:]),
            "axes": {axis.name: [axis.values.size, _hash(axis.values.tobytes())] for axis in found},
            "quantity": names if function is None else _mark(function),
        }
        folder = _Folder(Path(out), about)
    try:
        return _swept(source.name, found, job, folder, engine, cores, (chunk, seconds), progress)
    finally:
        if folder is not None:
            folder.close()


def _swept(
    name: str,
    axes: list[Axis],
    job: _Job,
    folder: _Folder | None,
    engine: str,
    cores: int,
    most: tuple[int | None, float],
    progress: bool,
) -> Sweep:
    """The points that are not in the folder, and the whole table."""
    (chunk, seconds), total = most, math.prod(job.shape)
    done: dict[int, tuple[int, Any]] = {} if folder is None else {**folder.parts()}
    pending = _Pending(_gaps(done, total))
    left, begin = pending.left, time.monotonic()
    run = _ray if engine == "ray" else _threads
    with bar(progress, total, "points") as show:
        kinds: dict[str, str] = {} if folder is None else folder.kinds()
        for part in run(job, pending, cores, chunk or total, seconds):
            whole = {**job.values(np.arange(part.start, part.start + part.count)), **part.columns}
            kinds = kinds or _kinds(whole)
            _same(kinds, _kinds(whole))
            if folder is None:
                done[part.start] = (part.count, whole)
            else:
                folder.write(part.start, part.count, whole)
            if show is not None:
                show(total - pending.left)
    elapsed = time.monotonic() - begin
    if folder is None:
        pieces = [piece for _, (_, piece) in sorted(done.items())]
    else:
        pieces = [folder.read(path) for _, path in folder.parts().values()]
    keys = list(pieces[0])
    table = {key: np.concatenate([piece[key] for piece in pieces]) for key in keys}
    return Sweep(name, axes, table, None if folder is None else folder.path, elapsed, left, keys[len(axes) :])
