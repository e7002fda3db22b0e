"""``ggp tabulate`` and ``ggp lookup``: solve whole games, and print results and table entries."""

from __future__ import annotations

import ctypes
import sys
import time
from pathlib import Path
from typing import Any

import orjson
from rich.table import Table
from rich.text import Text

from gdl.machine import State
from gdl.words import counted
from ggp.console import new_console, spinner
from ggp.game import Game
from ggp.printing import show
from ggp.stopwatch import Stopwatch
from players.puzzles.frontier.budget import peak_bytes
from players.puzzles.frontier.outcome import SearchLimits
from players.strong.layers import solve_game
from players.strong.outcomes import SolvedGame
from players.strong.storage import TableWriter
from players.strong.tables import JointValue, TableAnswer, Tables, ask, facts
from propnet.machine import PropnetMachine

_MMAP_THRESHOLD = -3
"""glibc's M_MMAP_THRESHOLD: freed blocks from this size on go back to the system."""

_SLOW = 0.2
"""Seconds between two lines of progress."""


def solve_strongly(game: Game, options: SearchLimits, folder: Path | None, as_json: bool) -> None:
    """Solve a whole game, write its table to the folder if there is one, and print the result. Raises
    GdlError."""
    clock = Stopwatch()
    _give_back_at_once()
    machine = game.machine("propnet")
    assert isinstance(machine, PropnetMachine)
    progress = new_console(stderr=True)
    with spinner(progress) as shown:
        task = shown.add_task(f"{game.name}: compiling kernels")
        last = [0.0]

        def watch(what: str, layer: int, states: int) -> None:
            now = time.monotonic()
            if now - last[0] > _SLOW:
                last[0] = now
                rate = states / max(clock.wall, 1e-9)
                text = f"{game.name}: {what}, layer {layer}, {counted(states, 'state')}, {rate:,.0f} states/s"
                shown.update(task, description=text)

        writer = None if folder is None else TableWriter(folder)
        solved = solve_game(machine, options, writer, watch)
        size = None if writer is None else writer.size
    found = _summary(game, solved, size)
    found["seconds_cpu"] = round(clock.cpu, 3)
    found["seconds_wall"] = round(clock.wall, 3)
    found["peak_rss"] = peak_bytes()
    if as_json:
        show(orjson.dumps(found))
    else:
        _print_solved(found, clock)


def _give_back_at_once() -> None:
    """Make glibc return freed blocks of memory to the system at once. Otherwise blocks between long-lived
    ones stay, and the process grows to twice the memory it uses. Other C libraries need no such setting, or
    have none."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, 1 << 16)


def _summary(game: Game, solved: SolvedGame, size: int | None) -> dict[str, Any]:
    machine = solved.machine
    roles = [machine.rules.spell(role) for role in machine.roles]
    return {
        "game": game.name,
        "states": solved.states,
        "layers": solved.sizes,
        "symmetries": solved.symmetries,
        "cycles": solved.cyclic,
        "values": _by_role(roles, solved.start),
        "distance": solved.distance,
        "table_bytes": size,
        "bytes_per_state": None if size is None else round(size / solved.states, 4),
    }


def _print_solved(found: dict[str, Any], clock: Stopwatch) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_row("values", _values(found["values"]) + ", " + _ends(found["distance"], found["cycles"]))
    alike = "" if found["symmetries"] == 1 else f", one for each {found['symmetries']} that are alike at most"
    table.add_row("states", f"{found['states']:,} in {counted(len(found['layers']), 'layer')}{alike}")
    if found["table_bytes"] is not None:
        table.add_row("table", f"{found['table_bytes']:,} bytes, {found['bytes_per_state']:.3f} a state")
    table.add_row("time", str(clock))
    table.add_row("memory", f"{found['peak_rss'] / (1 << 20):,.0f} MB at most")
    new_console(soft_wrap=not sys.stdout.isatty()).print(table)


def answer_query(game: Game, text: str, folder: Path, as_json: bool) -> None:
    """Print the table entry of a state. Raises GdlError: no table, no such state."""
    tables = Tables.open(folder)
    tables.check_rules(game.rules)
    machine = game.machine("prover")
    start = text.strip().lower() == "init"
    state = machine.initial_state() if start else machine.state_of(facts(text))
    answer = ask(tables, state)
    roles = [machine.rules.spell(role) for role in machine.roles]
    if as_json:
        show(orjson.dumps(_as_object(state, answer, roles)))
    else:
        _print_answer(state, answer, roles, tables.cyclic)


def _as_object(state: State, answer: TableAnswer, roles: list[str]) -> dict[str, Any]:
    return {
        "state": sorted(map(state.machine.rules.spell, state.propositions)),
        "values": _by_role(roles, answer.value.goals),
        "distance": answer.value.distance,
        "terminal": not answer.moves,
        "moves": [
            {
                "moves": _spelled(state, move),
                "values": _by_role(roles, move.value.goals),
                "distance": move.value.distance,
            }
            for move in answer.moves
        ],
    }


def _print_answer(state: State, answer: TableAnswer, roles: list[str], cyclic: bool) -> None:
    console = new_console(soft_wrap=not sys.stdout.isatty())
    values = _values(_by_role(roles, answer.value.goals))
    console.print(Text(f"{values}, {_ends(answer.value.distance, cyclic)}", "bold"))
    if not answer.moves:
        return
    shown = answer.choosers or tuple(range(len(roles)))
    table = Table.grid(padding=(0, 2))
    for move in _best_first(answer):
        named = [f"{roles[role]}: {_spelled(state, move)[role]}" for role in shown]
        goals = _values(_by_role(roles, move.value.goals))
        same = move.value.goals == answer.value.goals
        table.add_row(
            Text(", ".join(named), "green" if same else ""), goals, _ends(move.value.distance, cyclic)
        )
    console.print(table)


def _best_first(answer: TableAnswer) -> list[JointValue]:
    """The moves, sorted by the preference of the first role with a choice."""
    role = answer.choosers[0] if answer.choosers else 0

    def liking(move: JointValue) -> tuple[int, int]:
        goal, distance = move.value.goals[role], move.value.distance
        far = 1 << 20 if distance is None else distance
        return -goal, far if goal > 50 else -far

    return sorted(answer.moves, key=liking)


def _spelled(state: State, move: JointValue) -> list[str]:
    machine = state.machine
    return [machine.rules.spell(machine.move(role, number)) for role, number in enumerate(move.joint)]


def _by_role(roles: list[str], goals: tuple[int, ...]) -> dict[str, int | None]:
    return {role: goal if goal >= 0 else None for role, goal in zip(roles, goals, strict=True)}


def _values(values: dict[str, int | None]) -> str:
    return ", ".join(f"{role} {'no goal' if goal is None else goal}" for role, goal in values.items())


def _ends(distance: int | None, cyclic: bool) -> str:
    if distance is None:
        return "play need not end"
    return (
        "the end"
        if distance == 0
        else f"{'at most ' if cyclic else ''}{counted(distance, 'move')} to the end"
    )
