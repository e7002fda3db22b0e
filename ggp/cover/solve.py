"""Runs the search of a cover problem until it is complete, time is up or Ctrl-C, and prints the result.
:class:`SaveFile` is a search on disk.

Solutions are appended to a separate file next to the saved search, so the cost of saving does not grow with
their number. The state itself is replaced atomically.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from gdl.reading import open_regular, read_limited
from gdl.words import counted, duration
from gdl.writing import make_lasting, replace_file, sealed, unsealed
from ggp.console import noted_ctrl_c
from ggp.cover.instance import CoverInstance, RunningSearch
from ggp.printing import show
from ggp.solving.view import ProgressView, in_slices
from players.puzzles.cover.outcome import CoverOptions, CoverResult, is_solution
from players.puzzles.cover.problem import CoverError

_MOST_BYTES = 1 << 30
_MOST_OF_LINE = 1 << 24
"""Most bytes of the state, and of a solution."""


class SaveFile:
    """A search in a file, its delivered solutions in ``FILE.solutions``, one JSON list a line.

    `lines` is the number of solutions in it. All methods raise CoverError if a file cannot be read or
    written, or has other contents.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.solutions_path = path.with_name(path.name + ".solutions")
        self.lines = self._bytes = 0

    def exists(self) -> bool:
        """Whether a search was saved there."""
        return os.path.exists(self.path)

    def load(self) -> dict[str, Any]:
        """The state that was saved last. Solutions appended after it are cut off, since the search will find
        them again."""
        data = read_limited(self.path, _MOST_BYTES, "--resume names a file to save in")
        try:
            _, whole = unsealed(data, bare="search")
        except ValueError as error:
            raise self._no_search(f"it is not what was written ({error})") from None
        if not isinstance(whole, dict) or not isinstance(whole.get("search"), dict):
            raise self._no_search("there is no search in it")
        counts = whole.get("told")
        if not isinstance(counts, dict):
            raise self._no_search("the number of solutions is missing")
        lines, size = counts.get("solutions"), counts.get("bytes")
        if type(lines) is not int or type(size) is not int or not 0 <= lines <= size < 2**62:
            raise self._no_search("the number of solutions is damaged")
        if self.solutions_path.is_symlink():
            raise self._no_search(f"{self.solutions_path.name} is a link, and would be cut off")
        try:
            there = self.solutions_path.stat().st_size if os.path.exists(self.solutions_path) else 0
            if there < size:
                raise self._no_search(f"{self.solutions_path.name} is too short")
            if there > size:
                os.truncate(self.solutions_path, size)
        except OSError as error:
            raise self._os_error(error) from None
        self.lines, self._bytes = lines, size
        search: dict[str, Any] = whole["search"]
        return search

    def begin(self) -> None:
        """Start without a saved search: delete an old file of solutions."""
        try:
            self.solutions_path.unlink(missing_ok=True)
        except OSError as error:
            raise self._os_error(error) from None

    def append(self, solutions: Iterable[NDArray[np.int32]]) -> None:
        """Append solutions; they count once :meth:`save` is called."""
        lines = [orjson.dumps(solution.tolist()) + b"\n" for solution in solutions]
        if not lines:
            return
        data = b"".join(lines)
        try:
            with self.solutions_path.open("ab") as file:
                file.write(data)
        except OSError as error:
            raise self._os_error(error) from None
        self.lines += len(lines)
        self._bytes += len(data)

    def save(self, search: dict[str, Any]) -> None:
        """Save the state of the search, and all solutions so far."""
        whole = {"search": search, "told": {"solutions": self.lines, "bytes": self._bytes}}
        try:
            if self.lines:
                make_lasting(self.solutions_path)
            replace_file(self.path, sealed(whole))
        except OSError as error:
            raise self._os_error(error) from None

    def solutions(self, options: int) -> Iterator[list[int]]:
        """All solutions so far, of a problem with ``options`` options."""
        if not self.lines:
            return
        with open_regular(self.solutions_path) as file:
            try:
                while line := file.readline(_MOST_OF_LINE):
                    row = orjson.loads(line)
                    if not is_solution(row, options):
                        raise self._no_search(f"{self.solutions_path.name} has a line that is not a solution")
                    yield row
            except OSError as error:
                raise self._os_error(error) from None
            except orjson.JSONDecodeError as error:
                raise self._no_search(f"{self.solutions_path.name}: {error.msg}") from None

    def _no_search(self, what: str) -> CoverError:
        return CoverError(
            f"{self.path} has no saved search: {what}", remedy="name another file, or delete this one"
        )

    def _os_error(self, error: OSError) -> CoverError:
        return CoverError(
            f"{error.filename or self.path}: {error.strerror}", remedy="--resume names a file to save in"
        )


class _CoverView(ProgressView):
    """Shows the search while it runs, then its result."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "loading or compiling kernels")

    def watch(self, result: CoverResult) -> None:
        """Update the display of progress; may be called often."""
        left = result.seconds_left
        to_go = f"about {duration(left)} to go" if left else ""
        found = counted(result.solutions, "solution")
        self.tell([f"{result.progress:.0%}", found, counted(result.nodes, "node"), to_go])

    def solution(self, number: int, text: str) -> None:
        """One solution; ``number`` counts from 1."""
        sys.stdout.write(f"solution {number}\n{text}\n\n")

    def show(self, result: CoverResult, stopped: str | None) -> None:
        """Print the result of the search. ``stopped`` is the reason why it ended early, None if it did
        not."""
        table = Table.grid(padding=(0, 2))
        least = "at least " if stopped and not result.complete else ""
        more = "" if result.complete or stopped else ", there may be more: --all prints them"
        table.add_row("solutions", Text(f"{least}{result.solutions:,}{more}"))
        if stopped and not result.complete:
            table.add_row("searched", f"{result.progress:.2%}, {stopped}")
        table.add_row("nodes", f"{result.nodes:,}")
        table.add_row("engine", result.engine)
        if result.reduction:
            removed = ", ".join(
                f"{name.replace('_', ' ')} {number:,}" for name, number in result.reduction.items()
            )
            table.add_row("reduction", removed)
        table.add_row("time", f"{result.seconds_cpu:.2f} s CPU, {result.seconds_wall:.2f} s wall")
        self.console.print(table)


_SAVE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class CoverRequest:
    """The options of the command line.

    Attributes:
        options: options of the search; `delivers` is set if solutions are printed.
        seconds: limit of wall time; None for no limit.
        save: the file in which to save the search, and from which to resume it if it exists; None for
            neither.
        output: the drawing to be written of the solutions; None for none.
    """

    options: CoverOptions
    seconds: float | None = None
    save: Path | None = None
    output: Path | None = None


def solve_cover(instance: CoverInstance, request: CoverRequest, as_json: bool) -> int:
    """Search, and print the result. Returns the exit status: 0 with a solution, 1 without, 130 after Ctrl-C.
    Raises GdlError."""
    view = _CoverView(instance.name)
    file = None if request.save is None else SaveFile(request.save)
    found: list[list[int]] = []
    keeps = as_json or request.output is not None
    with view, noted_ctrl_c() as interrupted:
        if file is not None and file.exists():
            search = instance.search(request.options, file.load())
            if keeps:
                found += file.solutions(instance.options)
        else:
            search = instance.search(request.options, None)
            if file is not None:
                file.begin()
        teller = _Teller(instance, view, file, found, shows=not as_json, keeps=keeps)
        teller.save(search, now=True)
        stopped = in_slices(search.step, request.seconds, interrupted, lambda: teller.hear(search))
        teller.save(search, now=True)
    result = search.result()
    if request.output is not None:
        instance.draw(request.output, found)
    if as_json:
        import json

        found_json = [instance.as_json(each) for each in found] if request.options.delivers else None
        line = as_json_object(instance.name, result, found_json, stopped)
        show(json.dumps(line))
    else:
        view.show(result, stopped)
    if stopped and file is not None:
        show(f"ggp: it goes on from here with --resume {file.path}", err=True)
    if stopped == "interrupted":
        return 130
    return 0 if result.solutions else 1


def as_json_object(
    name: str, result: CoverResult, found: list[object] | None, stopped: str | None
) -> dict[str, object]:
    """The result for ``--json``.

    ``found`` has each solution, also those from before the search was resumed, as the numbers of its options
    or the places of the pieces; None if they were only counted. ``stopped`` is the reason why the search
    ended early; None if it did not.
    """
    return {
        "puzzle": name,
        "solutions": result.solutions,
        "complete": result.complete,
        "nodes": result.nodes,
        "engine": result.engine,
        "seconds_cpu": round(result.seconds_cpu, 4),
        "seconds_wall": round(result.seconds_wall, 4),
        "progress": result.progress,
        "seconds_left": result.seconds_left,
        "stopped": stopped,
        "reduction": result.reduction,
        "found": found,
    }


class _Teller:
    """Stores and shows solutions as they are found, and saves the search every few seconds."""

    def __init__(
        self,
        instance: CoverInstance,
        view: _CoverView,
        file: SaveFile | None,
        found: list[list[int]],
        *,
        shows: bool,
        keeps: bool,
    ) -> None:
        self._instance, self._view, self._file, self._found = instance, view, file, found
        self._shows, self._keeps = shows, keeps
        self._told = 0 if file is None else file.lines
        self._saved = time.monotonic()

    def tell(self, solutions: list[NDArray[np.int32]]) -> None:
        """Store and show more solutions."""
        if self._file is not None:
            self._file.append(solutions)
        for solution in solutions:
            self._told += 1
            if self._shows:
                self._view.solution(self._told, self._instance.tell(solution))
            if self._keeps:
                self._found.append(solution.tolist())

    def hear(self, search: RunningSearch) -> None:
        """Store and show what the search has found and how far it is, and save it from time to time."""
        self._view.watch(search.result())
        self.tell(search.taken())
        self.save(search)

    def save(self, search: RunningSearch, now: bool = False) -> None:
        """Save the search if the last save is old enough, or ``now`` is set."""
        if self._file is not None and (now or time.monotonic() >= self._saved + _SAVE_SECONDS):
            self._file.save(search.saved())
            self._saved = time.monotonic()
