"""What playouts at push level come to, by what they know, against all states of each level; and UCT.

    python -m bench.sokoban.rollouts LEVELS.xsb [--states 100000] [--levels 155]
    python -m bench.sokoban.rollouts LEVELS.xsb --uct 1.0

The first plays 200 playouts of up to 100 pushes from the start of each level with at most so many states, and
says how many were solved, how many ended in a state that cannot be solved, and how many there were a CPU
second. The second counts the levels that are solved in so many CPU seconds each: by UCT on the level's rules
in GDL, one step a move; by UCT at push level that knows nothing; and with all that playouts can know.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from players.puzzles.sokoban.deadsets.dead_sets import DeadSets, make_dead_sets
from players.puzzles.sokoban.geometry import Position, from_level
from players.puzzles.sokoban.levels.gdl import level_to_gdl
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.read import read_levels
from players.puzzles.sokoban.rollouts.playouts import (
    ALL,
    CORRALS,
    FREEZES,
    SETS,
    SOLVED,
    SQUARES,
    STUCK,
    PushEnds,
    PushPlayouts,
)
from players.puzzles.sokoban.rollouts.push_uct import PushUct
from players.puzzles.sokoban.search.push_search import LevelKnowledge, Outcome, PushTask
from players.puzzles.sokoban.state_space import StateSpace, explore
from players.uct.search import Search
from players.uct.tuning import Tuning

KINDS = (
    ("nothing", 0, 2),
    ("dead squares", SQUARES, 2),
    ("and freezes", SQUARES | FREEZES, 2),
    ("and corrals", SQUARES | FREEZES | CORRALS, 2),
    ("exact pairs", SQUARES | SETS, 2),
    ("exact triples", SQUARES | SETS, 3),
    ("triples, freezes, corrals", SQUARES | FREEZES | SETS | CORRALS, 3),
    ("and lost positions", ALL, 3),
)
"""What playouts know: for people, by flags, and the largest dead sets."""
PLAYOUTS, PUSHES = 200, 100
MEMORY = 300 << 20


def main() -> None:
    """Read the levels, measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--states", type=int, default=100_000, help="levels with more are left out")
    parser.add_argument("--levels", type=int, default=1000, help="only so many of the first levels")
    parser.add_argument("--uct", type=float, help="CPU seconds for each level: compare searches")
    arguments = parser.parse_args()
    levels = read_levels(arguments.file.read_text(), str(arguments.file))[: arguments.levels]
    if arguments.uct is not None:
        compare_searches(levels, arguments.uct)
    else:
        compare_playouts(levels, arguments.states)


def compare_playouts(levels: list[Level], most: int) -> None:
    """Print what playouts come to by what they know."""
    spaces = []
    for level in levels:
        geometry, start = from_level(level)
        try:
            space = explore(geometry, start, most)
        except GdlError:
            continue
        sets = {k: make_dead_sets(geometry, k) for k in (2, 3)}
        spaces.append((start, space, sets, {record.tobytes(): n for n, record in enumerate(space.records)}))
    played(spaces[0][2][2], spaces[0][0], ALL, 0)  # kernels are loaded
    table = Table(title=f"{len(spaces)} levels, {PLAYOUTS} playouts of up to {PUSHES} pushes")
    for name in ("what they know", "solved", "ended dead", "without a push", "playouts/s", "pushes/s"):
        table.add_column(name, justify="left" if name == "what they know" else "right")
    for name, asked, k in KINDS:
        sums = np.zeros(4)
        seconds = 0.0
        for number, (start, space, sets, numbers) in enumerate(spaces):
            ends, spent = played(sets[k], start, asked, number)
            seconds += spent
            last = [numbers[record.tobytes()] for record in records(space, ends)]
            shares = (ends.status == SOLVED, ~space.alive[last], ends.status == STUCK)
            sums += [*(share.mean() for share in shares), ends.pushes.sum()]
        solved, dead, stuck = (f"{100 * value / len(spaces):.1f} %" for value in sums[:3])
        rate = PLAYOUTS * len(spaces) / seconds
        table.add_row(name, solved, dead, stuck, f"{rate:,.0f}", f"{sums[3] / seconds:,.0f}")
    Console().print(table)


def played(sets: DeadSets, start: Position, asked: int, seed: int) -> tuple[PushEnds, float]:
    """Playouts from a start, and their CPU seconds."""
    playouts = PushPlayouts(sets, len(start.boxes), asked, seed=seed)
    began = time.thread_time()
    ends = playouts.play(start, PLAYOUTS, PUSHES)
    return ends, time.thread_time() - began


def records(space: StateSpace, ends: PushEnds) -> np.ndarray:
    """The last positions as records of the state space."""
    rows = np.zeros((len(ends.status), space.records.shape[1]), np.uint64)
    for column in ends.boxes.T.astype(np.int64):
        bits = np.uint64(1) << (column % 64).astype(np.uint64)
        np.bitwise_or.at(rows, (np.arange(len(rows)), column // 64), bits)
    rows[:, -1] = ends.keepers
    return rows


def compare_searches(levels: list[Level], seconds: float) -> None:
    """Print how many levels each search solves."""
    names = "UCT on the rules, a step a move", "push level, nothing known", "push level, all known"
    solved = dict.fromkeys(names, 0)
    for level in levels:
        solved[names[0]] += solves_by_rules(level, seconds)
        solved[names[1]] += solves_by_pushes(level, seconds, 0)
        solved[names[2]] += solves_by_pushes(level, seconds, ALL)
    table = Table("search", "levels solved", title=f"{len(levels)} levels, {seconds:g} CPU seconds each")
    for name, count in solved.items():
        table.add_row(name, str(count))
    Console().print(table)


def solves_by_pushes(level: Level, seconds: float, asked: int) -> bool:
    """Whether UCT at push level does, dead sets made in its time."""
    geometry, start = from_level(level)
    search = PushUct(PushTask(LevelKnowledge(geometry), start, MEMORY), asked)
    return search.step(seconds) is Outcome.SOLVED


def solves_by_rules(level: Level, seconds: float) -> bool:
    """Whether our UCT player's search does without solvers of puzzles, the machine made before its time."""
    machine = make_machine(parse_rules(level_to_gdl(level)), "propnet")
    search = Search(0, 0, Tuning(memory=MEMORY))
    search.set_machine(machine)
    search.set_root(machine.initial_state())
    end = time.thread_time() + seconds
    while time.thread_time() < end and search.line.value < 100:
        if not search.step(time.monotonic() + end - time.thread_time(), limit=1 << 40):
            break
    return search.line.value == 100


if __name__ == "__main__":
    main()
