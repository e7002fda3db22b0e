"""A cover problem is searched: until it is over, time is up or Ctrl-C, then told."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ggp.console import noted_ctrl_c
from ggp.cover.instance import CoverInstance, RunningSearch
from ggp.cover.save_file import SaveFile
from ggp.cover.view import CoverView
from players.puzzles.cover.outcome import CoverOptions, CoverResult

_SLICE_SECONDS = 0.25
_SAVE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class CoverOrder:
    """What the command line asked for.

    Attributes:
        options: how to search; their `delivers` says whether solutions are told.
        seconds: of wall time; None for as long as it takes.
        save: the file to save in, and to go on from if it is there; None for neither.
        keep: files to be written of the solutions: drawings, exports.
    """

    options: CoverOptions
    seconds: float | None = None
    save: Path | None = None
    keep: tuple[Path, ...] = ()


def solve_cover(instance: CoverInstance, order: CoverOrder, as_json: bool) -> int:
    """Search, and tell what came of it. Returns the exit status: 0 with a solution, 1 without, 130 after
    Ctrl-C. Raises GdlError."""
    view = CoverView(instance.name)
    file = None if order.save is None else SaveFile(order.save)
    found: list[list[int]] = []
    with view, noted_ctrl_c() as interrupted:
        if file is not None and file.exists():
            search = instance.search(order.options, view.watch, file.load())
            if as_json or order.keep:
                found += file.solutions(instance.options)
        else:
            search = instance.search(order.options, view.watch, None)
            if file is not None:
                file.begin()
        teller = _Teller(instance, view, file, found, shows=not as_json, keeps=as_json or bool(order.keep))
        stopped = _run(search, order.seconds, interrupted, teller)
    result = search.result()
    for path in order.keep:
        instance.keep(path, [np.array(each, np.int32) for each in found], complete=result.complete)
    if as_json:
        import json

        told = [instance.as_json(each) for each in found] if order.options.delivers else None
        line = as_json_object(instance.name, result, told, stopped)
        sys.stdout.write(json.dumps(line) + "\n")
    else:
        view.show(result, stopped)
    if stopped and file is not None:
        print(f"ggp: it goes on from here with --resume {file.path}", file=sys.stderr)
    if stopped == "interrupted":
        return 130
    return 0 if result.solutions else 1


def as_json_object(
    name: str, result: CoverResult, found: list[object] | None, stopped: str | None
) -> dict[str, object]:
    """What ``--json`` prints: ``found`` has each solution, also those from before it was resumed (None: they
    were only counted): the numbers of its options, or where each piece lies; ``stopped`` says why it ended
    early (None: it did not)."""
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
    """Keeps and shows solutions as they are found, and saves the search every few seconds."""

    def __init__(
        self,
        instance: CoverInstance,
        view: CoverView,
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
        """Some more solutions."""
        if self._file is not None:
            self._file.append(solutions)
        for solution in solutions:
            self._told += 1
            if self._shows:
                self._view.solution(self._told, self._instance.tell(solution))
            if self._keeps:
                self._found.append(solution.tolist())

    def save(self, search: RunningSearch, now: bool = False) -> None:
        """Save the search, if it is time to, or now."""
        if self._file is not None and (now or time.monotonic() >= self._saved + _SAVE_SECONDS):
            self._file.save(search.saved())
            self._saved = time.monotonic()


def _run(
    search: RunningSearch, seconds: float | None, interrupted: Callable[[], bool], teller: _Teller
) -> str | None:
    """Search in slices. Why it was stopped; None if it is over."""
    end = None if seconds is None else time.monotonic() + seconds
    teller.save(search, now=True)
    while True:
        now = time.monotonic()
        stopped = "interrupted" if interrupted() else "time is up" if end is not None and now >= end else None
        more = stopped is None and search.step(min(now + _SLICE_SECONDS, end or now + _SLICE_SECONDS))
        teller.tell(search.taken())
        teller.save(search, now=not more)
        if not more:
            return stopped
