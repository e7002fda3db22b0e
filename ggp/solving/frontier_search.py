"""Runs the frontier search of a puzzle until it is complete, time is up or Ctrl-C, and prints the result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson

from gdl.errors import GdlError
from gdl.machine import State
from ggp.console import noted_ctrl_c
from ggp.game import Game
from ggp.printing import show
from ggp.solving.frontier_view import FRONTIER, FrontierView
from ggp.solving.view import doubt_of, in_slices
from ggp.stopwatch import Stopwatch
from players.puzzles.frontier.budget import peak_bytes
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import FrontierOptions, FrontierResult
from players.solvers import Solution, replayed
from players.sorted_sets.directory import has_commit
from players.sorted_sets.files import OutOfRoomError
from propnet.capabilities import lane_machine
from propnet.machine import PropnetMachine


def solve_by_frontier(game: Game, options: FrontierOptions, seconds: float | None, as_json: bool) -> int:
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
        search = FrontierSearch(machine, records, replace(options, game=game.name), view.watch)
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
        seconds_cpu=0.0,
        seconds_wall=0.0,
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
