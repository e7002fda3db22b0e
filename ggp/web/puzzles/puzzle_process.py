"""The process that solves one puzzle, reports its progress, and draws its result: the states along a line of
moves, or the packed pieces in 3D."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from gdl.errors import GdlError
from gdl.reading import games_folder, read_limited
from ggp.answers.answer_process import solve_told
from ggp.answers.catalogue import load_source, uploaded
from ggp.cover.drawings import page
from ggp.cover.instance import MOST_BYTES, PackingInstance, packing_instance
from ggp.game import Game
from ggp.processes.parent import JsonMessage, Send, answer_requests
from ggp.web.drawing_process import DrawnLine
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.problem import CoverError

MEMORY = 3 * 1024**3
CPU_SECONDS = 3600.0
LONGEST = 100_000
"""Moves of a line."""


class PuzzleBench:
    """Answers requests about one puzzle at a time. The game and its drawings stay cached for the next one."""

    def __init__(self) -> None:
        self._key: tuple[str, str] | None = None
        self._game: Game | None = None
        self._line: DrawnLine | None = None

    def answer(self, request: JsonMessage, send: Send) -> JsonMessage:
        """``pack``, ``draw`` or ``solve``. Raises GdlError."""
        if request["do"] == "pack":
            return _packed(request, send)
        key = request["game"], request["rules"]
        if self._game is None or key != self._key:
            self._key, self._game, self._line = key, load_source(request), None
        if request["do"] == "draw":
            moves, step = request["moves"], request["step"]
            if len(moves) > LONGEST or not 0 <= step <= len(moves):
                raise GdlError(f"there is no step {step}", remedy=f"0 to {len(moves)}")
            return {"svg": self._drawn(self._game).draw([[move] for move in moves], step)}
        answer = solve_told(self._game, request, send)
        line: Sequence[str] = answer["moves"]
        lurd = answer["steps"] or _lurd(self._game, line)
        # LURD describes a Sokoban solution completely, and the board of a large level takes long to find.
        words = [] if lurd else self._drawn(self._game).words(line)
        return {**answer, "lurd": lurd, "words": words}

    def _drawn(self, game: Game) -> DrawnLine:
        if self._line is None:
            self._line = DrawnLine(game.machine("prover"), game.name)
        return self._line


def _lurd(game: Game, moves: Sequence[str]) -> str:
    """A Sokoban line in LURD notation, as solvers write it; empty for other games."""
    from ggp.sokoban.machine_stage import stage_of_machine, steps_of_moves

    try:
        machine = game.machine()
        stage = stage_of_machine(machine)
        return "" if stage is None else steps_of_moves(machine, stage, moves)
    except GdlError:  # too large for a network, so there is no level map
        return ""


_MOST_SOLUTIONS = 50
"""The search ends after this many solutions."""
_MOST_APART = 10
"""Solutions for which a disassembly is computed."""
BEAT = 0.3
"""Seconds between news."""


def _instance(request: JsonMessage, apart: bool) -> PackingInstance:
    name = str(request["name"])
    if request["data"]:
        data = uploaded(request["data"])
    else:
        data = read_limited(games_folder() / "puzzles" / name, MOST_BYTES)
    found = packing_instance(Path(name or "puzzle"), data, None, every=False, apart=apart)
    if found is None:
        raise GdlError("this is not a packing puzzle", remedy="bring a .packing or .xmpuzzle file")
    return found


def _packed(request: JsonMessage, send: Send) -> JsonMessage:
    """Solve the bundled packing puzzle ``name``, or the one in ``data`` (base64), for at most ``seconds``.

    Returns:
        The number of ``solutions``, ``complete`` (whether these are all), the ``seconds`` used, ``apart``
        (whether the disassembly is shown), and the ``page`` of the pieces, empty without solutions.
    """
    began = time.monotonic()
    try:
        instance = _instance(request, apart=True)
    except CoverError:  # pieces of this grid do not slide, or the puzzle is invalid and fails again
        instance = _instance(request, apart=False)
    search = instance.search(CoverOptions(first=_MOST_SOLUTIONS), None)
    end = began + float(request["seconds"])
    while not search.step(min(end, time.monotonic() + BEAT)) and (now := time.monotonic()) < end:
        found_yet = search.result()
        seconds = round(now - began, 2)
        send("progress", solutions=found_yet.solutions, share=found_yet.progress, seconds=seconds)
    found = search.taken()
    result = search.result()
    seconds = time.monotonic() - began
    drawn = []
    for number, solution in enumerate(found[:_MOST_SOLUTIONS]):
        instance.apart = instance.apart and number < _MOST_APART
        drawn.append(instance.packed(solution))
    return {
        "title": instance.name,
        "solutions": len(found),
        "complete": result.complete,
        "seconds": round(seconds, 3),
        "apart": bool(drawn) and drawn[0].apart is not None,
        "page": page(instance.name, drawn) if drawn else "",
    }


def main() -> None:
    """Solve and draw until the other end is gone."""
    answer_requests(PuzzleBench().answer, "solver", MEMORY, CPU_SECONDS)
