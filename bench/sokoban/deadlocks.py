"""How many fatal Sokoban pushes does each deadlock detector flag at once, how fast, and is it ever wrong?

    python -m bench.sokoban.deadlocks LEVELS.xsb... --most 100000 --budget 300 --sets 3

All states of each level that has at most so many are the oracle. Every push of them is asked about: the box
just moved, the keeper on the square it left. A push is fatal if it leads from a state that can be solved to
one that cannot. A false positive is flagged, and can be solved. Also counted: states that can be solved where
PI-corrals leave out pushes, pushes that a tunnel makes go on, and how often nothing that is left is solved.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.scripts import command_line
from bench.sokoban.state_space import StateSpace, explore, unpack
from gdl.errors import GdlError, TooLargeError, sound
from players.puzzles.sokoban.board import Board, new_board, walk
from players.puzzles.sokoban.deadlocks.bipartite import Bipartite, is_bipartite_deadlock, new_bipartite
from players.puzzles.sokoban.deadlocks.corral_deadlock import (
    CorralDetector,
    corral_pushes,
    new_corral_detector,
)
from players.puzzles.sokoban.deadlocks.freeze import Freeze, is_freeze_deadlock, new_freeze
from players.puzzles.sokoban.deadlocks.patterns import Patterns, is_pattern_deadlock, new_patterns
from players.puzzles.sokoban.deadsets.dead_sets import Lookup, dead_after_push, make_dead_sets, set_box
from players.puzzles.sokoban.geometry import Geometry, from_level
from players.puzzles.sokoban.levels.read import levels_of_file
from players.puzzles.sokoban.rooms import forced_pushes
from propnet.jit.arrays import Flags, Index, Int32s, Octets, Words
from propnet.jit.decorators import ARENA, kernel


@dataclass(slots=True)
class Tally:
    """What one detector said: pushes asked, fatal ones, those flagged, those that no other kind flags, false
    positives, CPU seconds."""

    asked: int = 0
    fatal: int = 0
    flagged: int = 0
    alone: int = 0
    wrong: int = 0
    seconds: float = 0.0


Asked = Callable[[Words, Int32s, Flags], None]
"""Fills flags for edges of a state space."""


@kernel(**ARENA)
def _nothing(board: Board, records: Words, edges: Int32s, flags: Flags) -> None:
    """What it costs to put the boxes on the board."""
    for edge in range(len(edges)):
        unpack(board, records, edges[edge, 1])
        flags[edge] = False


@kernel(**ARENA)
def _dead(board: Board, dead: Octets, records: Words, edges: Int32s, flags: Flags) -> None:
    for edge in range(len(edges)):
        unpack(board, records, edges[edge, 1])
        way = edges[edge, 3]
        flags[edge] = dead[board.neighbours[edges[edge, 2], way]] >> (way ^ 2) & 1


@kernel(**ARENA)
def _freeze(board: Board, freeze: Freeze, records: Words, edges: Int32s, flags: Flags) -> None:
    for edge in range(len(edges)):
        unpack(board, records, edges[edge, 1])
        ahead = board.neighbours[edges[edge, 2], edges[edge, 3]]
        flags[edge] = is_freeze_deadlock(board, freeze, ahead)


@kernel(**ARENA)
def _bipartite(board: Board, bipartite: Bipartite, records: Words, edges: Int32s, flags: Flags) -> None:
    for edge in range(len(edges)):
        unpack(board, records, edges[edge, 1])
        flags[edge] = is_bipartite_deadlock(board, bipartite, edges[edge, 2])


@kernel(**ARENA)
def _patterns(board: Board, patterns: Patterns, records: Words, edges: Int32s, flags: Flags) -> None:
    for edge in range(len(edges)):
        unpack(board, records, edges[edge, 1])
        keeper = edges[edge, 2]
        flags[edge] = is_pattern_deadlock(board, patterns, board.neighbours[keeper, edges[edge, 3]], keeper)


@kernel(**ARENA)
def _corrals(
    board: Board, detector: CorralDetector, budget: Index, records: Words, edges: Int32s, flags: Flags
) -> None:
    for edge in range(len(edges)):
        unpack(board, records, edges[edge, 1])
        keeper = np.int64(edges[edge, 2])
        walk(board, keeper)
        flags[edge] = corral_pushes(board, detector, keeper, budget) == 0


@kernel(**ARENA)
def _sets(board: Board, lookup: Lookup, bits: Words, records: Words, edges: Int32s, flags: Flags) -> None:
    for edge in range(len(edges)):
        unpack(board, records, edges[edge, 1])
        bits[:] = 0
        for square in range(len(board.occupied) - 1):
            if board.occupied[square]:
                set_box(lookup, bits, square)
        way = edges[edge, 3]
        flags[edge] = dead_after_push(lookup, bits, board.neighbours[edges[edge, 2], way], way)


@kernel(**ARENA)
def _pruned_to_death(
    board: Board,
    detector: CorralDetector,
    budget: Index,
    space: tuple[Words, Int32s, Int32s, Flags],
    flags: Flags,
) -> int:
    """Flag states that can be solved, but not by the pushes that PI-corrals leave. Returns how many states
    that can be solved have some."""
    records, edges, starts, alive = space
    found = 0
    for state in range(len(records)):
        flags[state] = False
        if not alive[state]:
            continue
        unpack(board, records, state)
        keeper = np.int64(records[state, records.shape[1] - 1])
        walk(board, keeper)
        count = corral_pushes(board, detector, keeper, budget)
        if count < 0:
            continue
        found += 1
        flags[state] = True
        for edge in range(starts[state], starts[state + 1]):
            for row in range(count):
                same = detector.pushes[row, 0] == edges[edge, 2] and detector.pushes[row, 1] == edges[edge, 3]
                if same and alive[edges[edge, 1]]:
                    flags[state] = False
    return found


LAST = "corrals, searched"
"""The last detector that knows nothing of sets."""


def _detectors(geometry: Geometry, budget: int, sets: int) -> dict[str, Asked]:
    board = new_board(geometry)
    freeze, corrals = new_freeze(geometry), new_corral_detector(geometry, max(budget, 1))
    bipartite, patterns = new_bipartite(geometry), new_patterns(geometry)
    found: dict[str, Asked] = {
        "nothing": lambda *asked: _nothing(board, *asked),
        "dead squares": lambda *asked: _dead(board, freeze.dead, *asked),
        "freeze": lambda *asked: _freeze(board, freeze, *asked),
        "bipartite": lambda *asked: _bipartite(board, bipartite, *asked),
        "4x4 patterns": lambda *asked: _patterns(board, patterns, *asked),
        "corrals": lambda *asked: _corrals(board, corrals, np.int64(0), *asked),
        LAST: lambda *asked: _corrals(board, corrals, np.int64(budget), *asked),
    }
    for size in range(2, sets + 1):
        lookup = make_dead_sets(geometry, size).lookup
        bits = np.zeros((geometry.size + 63) // 64, np.uint64)
        found[f"sets of up to {size}"] = lambda *asked, lookup=lookup, bits=bits: _sets(
            board, lookup, bits, *asked
        )
    return found


def ask(space: StateSpace, budget: int, sets: int, tallies: dict[str, Tally]) -> None:
    """Ask all detectors about all pushes of a level."""
    edges = space.edges
    good, alive = space.alive[edges[:, 0]], space.alive[edges[:, 1]]
    fatal = good & ~alive
    together = np.zeros(len(edges), np.bool_)
    kinds: dict[str, Flags] = {}
    for name, detector in _detectors(space.geometry, budget, sets).items():
        flags = np.zeros(len(edges), np.bool_)
        detector(space.records, edges[:1], flags)
        began = time.process_time()
        detector(space.records, edges, flags)
        _note(tallies, name, flags, fatal, alive, time.process_time() - began)
        together |= flags
        kinds[name.partition(",")[0].partition(" of")[0]] = flags  # the last of a kind flags the most
        if name.startswith("sets") or name == LAST:
            _note(tallies, f"all to {name}", together, fatal, alive, 0.0)
    once = sum(flags.astype(np.int8) for flags in kinds.values()) == 1
    for kind, flags in kinds.items():
        last = [name for name in tallies if name.startswith(kind)][-1]
        tallies[last].alone += int((flags & fatal & once).sum())


def _note(
    tallies: dict[str, Tally], name: str, flags: Flags, fatal: Flags, alive: Flags, seconds: float
) -> None:
    tally = tallies.setdefault(name, Tally())
    tally.asked += len(flags)
    tally.fatal += int(fatal.sum())
    tally.flagged += int((flags & fatal).sum())
    tally.wrong += int((flags & alive).sum())
    tally.seconds += seconds


def prune(space: StateSpace, budget: int) -> tuple[int, int, int, int]:
    """States that can be solved where PI-corrals leave out pushes, and those of them that they spoil; pushes
    that tunnels make go on, and those of them that this spoils."""
    geometry, edges = space.geometry, space.edges
    starts = np.searchsorted(edges[:, 0], np.arange(space.size + 1)).astype(np.int32)
    detector, flags = new_corral_detector(geometry, max(budget, 1)), np.zeros(space.size, np.bool_)
    parts = space.records, edges, starts, space.alive
    found = _pruned_to_death(new_board(geometry), detector, np.int64(budget), parts, flags)
    spoilt = int(flags.sum())
    # The push that goes on is the child's edge with the box just pushed and the same direction.
    squares = geometry.neighbours[edges[:, 2], edges[:, 3]].astype(np.int64)
    forced = (forced_pushes(geometry)[squares] >> edges[:, 3] & 1 == 1) & space.alive[edges[:, 1]]
    names = {
        (parent, box, way): child for parent, child, box, way in edges[space.alive[edges[:, 0]]].tolist()
    }
    made = wrong = 0
    for (_, child, _, way), square in zip(edges[forced].tolist(), squares[forced].tolist(), strict=True):
        if (after := names.get((child, square, way))) is not None:
            made += 1
            wrong += not space.alive[after]
    return found, spoilt, made, wrong


def main() -> None:
    """Read the arguments, print the table."""
    parser = command_line(__doc__)
    parser.add_argument("levels", nargs="+", help="level files")
    parser.add_argument("--most", type=int, default=100_000, help="states of a level, at most")
    parser.add_argument("--budget", type=int, default=300, help="states that a search of a corral expands")
    parser.add_argument("--sets", type=int, default=0, help="sets of up to so many boxes (0: none)")
    parser.add_argument("--first", type=int, help="only so many levels of each file")
    given = parser.parse_args()
    tallies: dict[str, Tally] = {}
    levels = states = 0
    pruned = np.zeros(4, np.int64)
    for file in given.levels:
        for level in levels_of_file(file)[: given.first]:
            try:
                space = explore(*from_level(sound(level)), given.most)
            except (TooLargeError, GdlError):
                continue
            levels += 1
            states += space.size
            ask(space, given.budget, given.sets, tallies)
            pruned += prune(space, given.budget)
    print(f"{levels} levels of up to {given.most:,} states, {states:,} states")
    if not levels:
        return
    heads = ("pushes", 12), ("fatal", 9), ("flagged", 9), ("share", 7), ("alone", 7), ("wrong", 6), ("ns", 7)
    print(f"{'detector':28}", *(f"{head:>{width}}" for head, width in heads))
    base = tallies.pop("nothing").seconds
    for name, tally in tallies.items():
        speed = f"{(tally.seconds - base) / max(tally.asked, 1) * 1e9:7.0f}" if tally.seconds else ""
        share = tally.flagged / max(tally.fatal, 1)
        counts = f"{tally.asked:12,} {tally.fatal:9,} {tally.flagged:9,} {share:7.1%} {tally.alone:7,}"
        print(f"{name:28} {counts} {tally.wrong:6} {speed}")
    print(f"PI-corrals leave out pushes in {pruned[0]:,} states that can be solved, and spoil {pruned[1]}")
    print(f"tunnels make {pruned[2]:,} pushes go on, and spoil {pruned[3]}")


if __name__ == "__main__":
    main()
