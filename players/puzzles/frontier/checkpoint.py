"""What a search keeps in the manifest of its directory, checked before anything is made of it."""

from __future__ import annotations

from typing import Any

from gdl.errors import GdlError
from gdl.json_schema import FLAG, TEXT, check_json, matching, or_null, record, row, rows, whole
from gdl.machine import Machine, State
from players.puzzles.frontier.key_space import CODING_SCHEMA
from players.puzzles.frontier.runs import RUN_SCHEMA
from players.puzzles.frontier.search import Layers

_FOUND = record(
    layers=rows(RUN_SCHEMA, least=1),
    clocks=rows(rows(whole(0, (1 << 64) - 1))),
    visited=rows(whole(-1)),
    rewritten=or_null(RUN_SCHEMA),
    ends=rows(row(whole(0, 100), whole(), matching("0x[0-9a-f]+"))),
    merged=FLAG,
    extra={"type": "number", "minimum": 0},
)
_STATE = record(
    game=TEXT,
    symmetry=whole(),
    clocks=FLAG,
    coding=CODING_SCHEMA,
    found=_FOUND,
    lines={"type": "object", "additionalProperties": rows(whole())},
    earlier=whole(),
)


def check_state(state: dict[str, Any]) -> None:
    """Raise GdlError where this is not what a search keeps, as far as that can be told without its game."""
    check_json(state, _STATE, "state")


def check_lines(lines: dict[int, list[int]], machine: Machine, start: State) -> None:
    """Raise GdlError unless each line (move ids) leads from the start to an end with the goal it stands for
    (0 where none is defined), in a game of one role."""
    for value, line in lines.items():
        state = start
        for move in line:
            if machine.is_terminal(state) or move not in machine.legal_moves(state, 0):
                raise GdlError(f"the line to {value} has a move that is not legal")
            state = machine.next_state(state, [move])
        if not machine.is_terminal(state) or (machine.result(state, 0) or 0) != value:
            raise GdlError(f"the line to {value} does not lead there")


def check_found(found: Layers, words: int, key_bits: int) -> None:
    """Raise GdlError unless layers fit each other and the game: clocks have as many words as records, ends
    lie in a layer, and keys have as many bits."""
    if len(found.clocks) != len(found.layers) or any(len(clock) != words for clock in found.clocks):
        raise GdlError("the clocks are not those of the layers")
    if any(depth >= len(found.layers) or key >> key_bits for depth, key in found.ends.values()):
        raise GdlError("an end lies in no layer")
    if any(layer.tags is None for layer in found.layers):
        raise GdlError("a layer has no tags")
    runs = [*found.layers, *found.visited]
    if any(block.last >> key_bits for run in runs for block in run.blocks):
        raise GdlError("a key is too long")
