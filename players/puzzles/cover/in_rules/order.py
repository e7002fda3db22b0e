"""A set of moves is put into an order in which each is legal, by depth-first search on the machine."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gdl.machine import State
from players.puzzles.cover.in_rules.latch_game import LatchGame
from propnet.jit.arrays import Words
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine

_NODES = 3_000
"""States that the search may look at."""


def ordered(
    machine: PropnetMachine, game: LatchGame, start: State, moves: list[int], last: int, length: int | None
) -> tuple[int, list[int]] | None:
    """A legal line of a set of moves.

    Args:
        machine: the game's machine.
        game: what is proven of it.
        start: where the line begins.
        moves: what it makes; all of them, once at least.
        last: its last move.
        length: how many moves it has: some are repeated where that is more; None for no repetitions.

    Returns:
        The goal value of the terminal state that it ends in, and the line; None if none is found.
    """
    earlier = [m for m in moves if m != last]
    # Moves that others block come first.
    counts = game.blocks[np.ix_(earlier, earlier)].sum(axis=0)
    earlier = [earlier[i] for i in np.argsort(-counts, kind="stable").tolist()]
    again = [m for m in moves if not game.blocks[m, m]]
    target = len(earlier) if length is None else length - 1
    if target < len(earlier):
        return None
    line: list[int] = []
    path = [_choices(machine, machine.records([start]), line, earlier, again, target)]
    records = [machine.records([start])]
    for _ in range(_NODES):
        move = next(path[-1], None)
        if move is not None:
            after = machine.successors(records[-1], np.array([[move]], np.int32))
            if machine.ends(after)[0][0]:
                continue
            line.append(move)
            records.append(after)
            path.append(_choices(machine, after, line, earlier, again, target))
            if len(line) < target:
                continue
        if len(line) == target and last in _legal(machine, records[-1]):
            after = machine.successors(records[-1], np.array([[last]], np.int32))
            terminal, goals = machine.ends(after)
            if terminal[0]:
                return int(goals[0, 0]), [*line, last]
        path.pop()
        records.pop()
        if not path:
            return None
        line.pop()
    return None


def _choices(
    machine: PropnetMachine, record: Words, line: list[int], earlier: list[int], again: list[int], target: int
) -> Iterator[int]:
    """The moves to try in a state: those that are not yet made, then those that may be repeated."""
    if len(line) >= target:
        return iter(())
    made = set(line)
    missing = [m for m in earlier if m not in made]
    legal = _legal(machine, record)
    spare = target - len(line) > len(missing)
    return iter([m for m in missing if m in legal] + [m for m in again if spare and m in legal])


def _legal(machine: PropnetMachine, record: Words) -> set[int]:
    """The legal moves of a state."""
    bits = unpack(machine.evaluate(record).legal, machine.network.move_count)
    return set(np.flatnonzero(bits[0]).tolist())
