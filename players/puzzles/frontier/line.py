"""Rebuild the line to a state backwards: in each layer only the states that may be the parent are expanded.

Each state keeps a hash of its parent, 8 bits: about one in 256 states of the layer before has it (J.
Snellman, 2018).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gdl.errors import GdlError
from players.puzzles.frontier.key_space import KeySpace
from players.sorted_sets.runs import Run
from propnet.expander import Expander
from propnet.jit.arrays import Words

_SOME = 1 << 12
"""Candidates that are expanded at a time."""


class _LineError(GdlError):
    """A state without a parent in the previous layer: the stored data are damaged, or there is a program
    error."""


@dataclass(frozen=True, slots=True)
class RebuiltLine:
    """A line from the start.

    Attributes:
        moves: the moves of role 0.
        records: uint64, shape (moves, words): the states after them, recoded.
    """

    moves: list[int]
    records: Words


def line_to(
    space: KeySpace, layers: list[Run], clocks: list[Words], depth: int, key: int
) -> Iterator[RebuiltLine | None]:
    """Find the line to the state with this key at this depth. Yields None now and then, and finally the line.
    Raises LineError."""
    machine = space.new_machine()
    expander = Expander(machine)
    moves: list[int] = []
    keys: list[int] = []
    for before in range(depth - 1, -1, -1):
        tag = _tag_of_state(layers[before + 1], key)
        step = None
        for candidates in _candidates(layers[before], tag):
            step = _parent(space, expander, candidates, clocks[before], key)
            if step is not None:
                break
            yield None
        if step is None:
            raise _LineError(f"no state at depth {before} leads to a state at depth {before + 1}")
        keys.append(key)
        key, move = step
        moves.append(move)
    records, tags = np.zeros((depth, space.words), np.uint64), np.zeros(1, np.uint64)
    for after, state in enumerate(reversed(keys)):
        one, record = space.kind.array([state]), records[after : after + 1]
        space.kind.to_records(one, clocks[after + 1], record, tags)
    yield RebuiltLine(moves[::-1], records)


def _tag_of_state(layer: Run, key: int) -> int:
    for block in layer.between(key, key + 1):
        keys = layer.read(block)
        place = int(layer.kind.places(keys, [key])[0])
        if place < len(keys) and layer.kind.key_at(keys, place) == key:
            return int(layer.read_tags(block)[place])
    raise _LineError("a state is not in its layer")


def _candidates(layer: Run, tag: int) -> Iterator[Words]:
    """Yield the states of a layer that have this tag, some at a time, in the layer's order."""
    some: list[Words] = []
    held = 0
    for block in layer.blocks:
        fitting = layer.kind.with_tag(layer.read(block), tag)
        some.append(fitting)
        held += len(fitting)
        if held >= _SOME:
            yield np.concatenate(some)
            some, held = [], 0
    if held:
        yield np.concatenate(some)


def _parent(
    space: KeySpace, expander: Expander, keys: Words, template: Words, wanted: int
) -> tuple[int, int] | None:
    """Return the lowest of these states that has the target as a successor, and the first such move."""
    records, tags = np.zeros((len(keys), space.words), np.uint64), np.zeros(len(keys), np.uint64)
    space.kind.to_records(keys, template, records, tags)
    best: tuple[int, int] | None = None
    for chunk in expander.stream(records):
        for hit in space.kind.equal(space.kind.of_records(chunk.records), wanted).tolist():
            parent = space.kind.key_at(keys, int(chunk.parents[hit]))
            if best is None or parent < best[0]:
                best = parent, int(chunk.moves[hit, 0])
    return best
