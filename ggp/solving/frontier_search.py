"""Runs the frontier search of a puzzle until it is complete, time is up or Ctrl-C, shows its progress with an
estimate of the remaining states, and prints the result."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import orjson
from rich.table import Table
from rich.text import Text

from gdl.errors import GdlError
from gdl.machine import State
from gdl.words import counted, duration
from ggp.console import noted_ctrl_c
from ggp.game import Game
from ggp.printing import show
from ggp.solving.view import ProgressView, doubt_of, in_slices, show_moves
from ggp.stopwatch import Stopwatch
from players.puzzles.frontier.budget import peak_bytes
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import FrontierProgress, FrontierResult, SearchLimits
from players.solvers import Solution, replayed
from players.sorted_sets.files import OutOfRoomError, as_size, has_commit
from propnet.capabilities import lane_machine
from propnet.machine import PropnetMachine

FRONTIER = "frontier"
"""The name of the solver."""
_LOOK_SECONDS = 0.2


class FrontierView(ProgressView):
    """Shows the search while it runs, then its result."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "building the network, loading or compiling kernels")
        self._layers: list[int] = []
        self._looked = 0.0
        self._first: FrontierProgress | None = None

    def watch(self, progress: FrontierProgress) -> None:
        """Update the display of progress; may be called often."""
        layers = self._layers
        del layers[progress.layer :]
        layers.extend([0] * (progress.layer - len(layers)))  # The search was resumed.
        layers.append(progress.layer_states)
        first = self._first = self._first or progress
        now = time.monotonic()
        if self.is_live and now >= self._looked + _LOOK_SECONDS:
            self._looked = now
            self.tell([progress_line(progress, layers, first)])

    def show(self, result: FrontierResult, moves: list[str], watch: Stopwatch, doubt: str) -> None:
        """Print the line, move by move, and the results of the search. ``moves``: the line as GDL; ``doubt``:
        doubts about the rules."""
        console = self.console
        if result.value < 0:
            console.print(Text("no line found", "yellow"))
        if doubt:
            console.print(Text(doubt, "yellow"), soft_wrap=True)
        show_moves(console, moves)
        table = Table.grid(padding=(0, 2))
        table.add_row("solver", FRONTIER)
        if result.value >= 0:
            table.add_row("goal", f"{result.value} in {counted(len(moves), 'move')}, {_proof(result)}")
            lines = sorted(result.lines.items(), reverse=True)
            ends = ", ".join(f"{value} in {len(line)}" for value, line in lines)
            table.add_row("shortest" if result.shortest else "lines", f"{ends} moves")
            table.add_row("replayed", "by the prover, each line, move by move")
        else:
            table.add_row("goal", "none: no line comes to an end" if result.proven else "not known")
        whole = "all that there are" if result.complete else "not all that there are"
        table.add_row("states", f"{result.states:,} in {counted(len(result.layers), 'layer')}, {whole}")
        if result.symmetries > 1:
            table.add_row("symmetries", f"{result.symmetries}: one state stands for all that they make of it")
        table.add_row("a state", f"{result.key_bits} bits, {result.bytes_per_state:.3f} bytes coded")
        table.add_row("memory", f"{as_size(result.peak_rss)} at most")
        table.add_row("time", str(watch))
        spent = sum(result.seconds_by_stage.values())
        if spent > 0:
            shares = sorted(result.seconds_by_stage.items(), key=lambda stage: -stage[1])
            table.add_row(
                "spent on", ", ".join(f"{stage} {seconds / spent:.0%}" for stage, seconds in shares)
            )
        console.print(table)


def progress_line(progress: FrontierProgress, layers: list[int], first: FrontierProgress) -> str:
    """The progress of a search, in one line. ``layers``: the number of states of each layer, the present one
    included; ``first``: the first progress report, which may be of a resumed search."""
    rate = (_expanded(progress) - _expanded(first)) / max(progress.seconds - first.seconds, 1e-9)
    coded = progress.visited_bytes / max(1, progress.states)
    parts = [
        duration(progress.seconds),
        f"depth {progress.layer} with {counted(progress.layer_states, 'state')}",
        f"{progress.done / max(1, progress.layer_states):.0%} of it",
        f"{counted(progress.states, 'state')}, {rate:,.0f}/s, {coded:.2f} bytes each",
        f"{as_size(progress.memory)} of memory",
    ]
    if progress.disk:
        parts.append(f"{as_size(progress.disk)} of disk")
    more = states_to_come(layers)
    if more is not None and rate > 0:
        left = (progress.layer_states - progress.done + more) / rate
        parts.append(f"all may be seen in {duration(left)}")
    return ", ".join(parts)


def _expanded(progress: FrontierProgress) -> int:
    return progress.states - progress.layer_states + progress.done


def _proof(result: FrontierResult) -> str:
    if not result.proven:
        return "not proven to be the best"
    if not result.shortest:
        return "proven: none is higher"
    return "proven: none is higher, none shorter"


_SEEN = 7
"""Number of last layers used for the estimate."""
_FEWEST = 6
_GROWTH = 0.25
"""Largest logarithm of the growth per layer for which there is an estimate."""
_DEEPEST = 100_000


def states_to_come(layers: Sequence[int]) -> float | None:
    """Estimated number of states in all layers after the last one. None if the layers are too few, or still
    grow too fast."""
    sizes = np.array(layers[-_SEEN:], np.float64)
    if len(sizes) < _FEWEST or sizes.min() < 1:
        return None
    square, slope, _ = np.polyfit(np.arange(1 - len(sizes), 1), np.log(sizes), 2)
    if slope > _GROWTH or (square > -1e-6 and slope >= 0):
        return None
    total, last = 0.0, math.log(sizes[-1])
    for ahead in range(1, _DEEPEST):
        size = last + slope * ahead + min(square, 0.0) * ahead * ahead
        if size < 0:
            break
        if size > 60:
            return None
        total += math.exp(size)
    return total


def solve_by_frontier(game: Game, options: SearchLimits, seconds: float | None, as_json: bool) -> int:
    """Search, and print the result. Returns the exit status: 0 with a line, 1 without, 130 after Ctrl-C.

    ``seconds`` limits wall time, None for no limit.
    Raises GdlError if the request cannot be met, or memory or disk ran out; results so far are then printed
    first.
    """
    watch = Stopwatch()
    machine = _puzzle(game)
    view = FrontierView(game.name)
    fault: GdlError | None = None
    stopped: str | None = None
    start = machine.initial_state()
    if machine.is_terminal(start):
        result = _at_once(machine.result(start, 0) or 0)
    else:
        records = machine.records([start]).copy()
        search = FrontierSearch(machine, records, options, view.watch)
        try:
            with view, noted_ctrl_c() as interrupted:
                try:
                    left = None if seconds is None else seconds - watch.wall
                    stopped = in_slices(search.step, left, interrupted)
                except GdlError as error:
                    fault, stopped = error, str(error)
            if not search.states:
                if fault is not None:
                    raise fault
                raise GdlError("stopped before the search began")
            result = search.result()
        finally:
            search.close()
    moves, last = _told_and_replayed(game, machine, result)
    doubt = doubt_of(game.rules, last) if result.complete or last is not None else ""
    if as_json:
        show(orjson.dumps(as_json_object(game.name, result, moves, watch, stopped, doubt)))
    else:
        view.show(result, moves.get(result.value, []), watch, doubt)
    if stopped is not None and (fault is None or isinstance(fault, OutOfRoomError)):
        _say_how_to_go_on(options.scratch)
    if fault is not None:
        raise fault
    if stopped == "interrupted":
        return 130
    return 0 if result.value >= 0 else 1


def as_json_object(
    name: str,
    result: FrontierResult,
    moves: dict[int, list[str]],
    watch: Stopwatch,
    stopped: str | None,
    doubt: str,
) -> dict[str, object]:
    """The result for ``--json``.

    ``moves`` has the line to each goal value, ``watch`` the total time, ``stopped`` the reason why the search
    ended early (None if it did not), ``doubt`` the doubts about the rules.
    """
    return {
        "game": name,
        "value": result.value if result.value >= 0 else None,
        "moves": moves.get(result.value, []),
        "proven": result.proven,
        "shortest": result.shortest,
        "solver": FRONTIER,
        "seconds_cpu": round(watch.cpu, 3),
        "seconds_wall": round(watch.wall, 3),
        "states": result.states,
        "symmetries": result.symmetries,
        "complete": result.complete,
        "stopped": stopped,
        "doubt": doubt,
        "lines": {str(value): line for value, line in moves.items()},
        "layers": result.layers,
        "key_bits": result.key_bits,
        "bytes_per_state": round(result.bytes_per_state, 4),
        "peak_rss": result.peak_rss,
        "seconds_by_stage": {stage: round(seconds, 3) for stage, seconds in result.seconds_by_stage.items()},
    }


def _puzzle(game: Game) -> PropnetMachine:
    machine = game.machine("propnet")
    if len(machine.roles) != 1:
        raise GdlError(
            f"{game.name} has {len(machine.roles)} roles, and only a puzzle of one role is explored",
            remedy=f"ggp tabulate {game.name}",
        )
    lanes = lane_machine(machine)
    assert isinstance(lanes, PropnetMachine)
    return lanes


def _told_and_replayed(
    game: Game, machine: PropnetMachine, result: FrontierResult
) -> tuple[dict[int, list[str]], State | None]:
    """The line to each goal value as GDL, each replayed by the prover, and the last state of the best one.
    Raises GdlError if a line is wrong."""
    spelled: dict[int, list[str]] = {}
    last: State | None = None
    for value, line in sorted(result.lines.items(), reverse=True):
        spelled[value] = [machine.rules.spell(machine.move(0, move)) for move in line]
        end = replayed(game.rules, Solution(value, tuple(spelled[value]), False, FRONTIER, 0, 0.0))
        last = last or end
    return spelled, last


def _at_once(value: int) -> FrontierResult:
    """The result if the initial state is terminal."""
    return FrontierResult(
        value=value,
        moves=[],
        proven=True,
        lines={value: []},
        layers=[1],
        states=1,
        key_bits=0,
        symmetries=1,
        bytes_per_state=0.0,
        peak_rss=peak_bytes(),
        complete=True,
        shortest=True,
    )


def _say_how_to_go_on(scratch: Path | None) -> None:
    if scratch is None:
        hint = "what was searched is lost; with --scratch DIR a search can go on later"
    elif has_commit(scratch):
        hint = f"the same command, with --scratch {scratch}, goes on from the last whole layer"
    else:
        hint = f"no layer was whole: there is nothing to go on with in {scratch}"
    show(f"ggp: {hint}", err=True)
