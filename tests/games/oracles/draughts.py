"""The rules of draughts by pydraughts."""

from __future__ import annotations

import re
from collections.abc import Hashable
from itertools import pairwise
from typing import Any

import pytest

from tests.games.oracles.match import LETTERS, InTurn, Turn

draughts: Any = pytest.importorskip("draughts", reason="pydraughts is not installed")


class Draughts(InTurn):
    """A variant of draughts on 8x8 squares whose squares are numbered from white's side."""

    source = "pydraughts"
    roles = ("white", "black")
    relations = frozenset({"cell"})

    def __init__(self, variant: str, most: int) -> None:
        super().__init__()
        self._board, self._most, self._plies = draughts.Board(variant=variant), most, 0
        self._turns: Turn | None = None

    def turn(self) -> str:
        return "white" if self._board.turn == draughts.WHITE else "black"

    @staticmethod
    def _square(number: int) -> str:
        row, place = divmod(number - 1, 4)
        return f"{LETTERS[2 * place + row % 2]} {row + 1}"

    def turns(self) -> Turn:
        if self._turns is None:
            self._turns = {}
            for move in self._board.legal_moves():
                word = "jump" if move.captures else "move"
                hops = pairwise(move.steps_move)
                made = tuple(f"({word} {self._square(a)} {self._square(b)})" for a, b in hops)
                self._turns[made] = move
        return self._turns

    def go(self, turn: Hashable) -> None:
        self._board.push(turn)
        self._plies += 1
        self._turns = None

    def facts(self) -> set[str]:
        found = set()
        for side in self._board.fen.split(":")[1:]:
            for king, column, row in re.findall(r"(K?)([a-h])(\d)", side[1:]):
                found.add(f"(cell {column} {row} {side[0].lower()}{'k' if king else 'm'})")
        return found

    @property
    def silent(self) -> bool:
        """Draws there depend on more than on the number of turns."""
        return bool(self._board.is_over()) and self._board.winner() == 0 and self._plies < self._most

    def result(self) -> dict[str, int] | None:
        if self._board.is_over() and self._board.winner():
            won = "white" if self._board.winner() == draughts.WHITE else "black"
            return {role: 100 * (role == won) for role in self.roles}
        return dict.fromkeys(self.roles, 50) if self._plies >= self._most else None
