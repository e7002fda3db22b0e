"""Fairy-Stockfish's rules, by pyffish."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import pytest

from tests.games.oracles.match import InTurn, Turn, cell

pyffish: Any = pytest.importorskip("pyffish", reason="pyffish is not installed")
_MOVE = re.compile(r"([a-z])(\d+)([a-z])(\d+)(.*)")


def moved(uci: str) -> tuple[str, ...]:
    """A move from one square to another."""
    found = _MOVE.fullmatch(uci)
    assert found is not None and not found[5], uci
    return (f"(move {found[1]} {found[2]} {found[3]} {found[4]})",)


def board_of(fen: str, pieces: Mapping[str, str]) -> set[str]:
    """The squares of a position that are not empty."""
    rows = fen.split()[0].partition("[")[0].split("/")
    found = set()
    for y, row in zip(range(len(rows), 0, -1), rows, strict=True):
        x = 1
        for sign in re.findall(r"\d+|\+?[A-Za-z*]~?", row):
            if sign.isdigit():
                x += int(sign)
                continue
            found.add(cell(x, y, pieces[sign.removesuffix("~")]))
            x += 1
    return found


class Fairy(InTurn):
    """A variant of Fairy-Stockfish. Each position stands alone, so repetition ends nothing.

    Args:
        variant: its name there.
        roles: white's and black's.
        pieces: the letters of positions -> our things.
        say: their move, and the position before it -> our moves.
        clock: after so many moves that take nothing the match is drawn; 0 for never.
        more: facts beside the board, of the position; the relations are ``relations``.
    """

    source = "Fairy-Stockfish"

    def __init__(
        self,
        variant: str,
        roles: tuple[str, str],
        pieces: Mapping[str, str],
        say: Callable[[str], tuple[str, ...]] = moved,
        clock: int = 0,
        more: Callable[[str], set[str]] = lambda fen: set(),
        relations: frozenset[str] = frozenset({"cell"}),
        most: int = 0,
    ) -> None:
        super().__init__()
        self.variant, self.roles, self._pieces = variant, roles, pieces
        self._say, self._clock, self._more, self.relations = say, clock, more, relations
        self._most, self.plies = most, 0
        self.fen = pyffish.start_fen(variant)
        self._turns: Turn | None = None

    def turn(self) -> str:
        return self.roles[self.fen.split()[1] == "b"]

    def turns(self) -> Turn:
        if self._turns is None:
            moves = pyffish.legal_moves(self.variant, self.fen, [])
            self._turns = {self._say(uci): uci for uci in moves}
            assert len(self._turns) == len(moves)
        return self._turns

    def go(self, turn: Hashable) -> None:
        self.fen = pyffish.get_fen(self.variant, self.fen, [turn])
        self._turns = None
        self.plies += 1

    def facts(self) -> set[str]:
        return board_of(self.fen, self._pieces) | self._more(self.fen)

    def result(self) -> dict[str, int] | None:
        over, value = pyffish.is_immediate_game_end(self.variant, self.fen, [])
        if not over and not self.turns():
            over, value = True, pyffish.game_result(self.variant, self.fen, [])
        if not over and self._clock and int(self.fen.split()[-2]) >= self._clock:
            over, value = True, 0
        if not over and self._most and self.plies >= self._most:
            over, value = True, 0
        if not over:
            return None
        mover = self.turn()
        mine = 100 if value > 0 else 0 if value < 0 else 50
        return {role: mine if role == mover else 100 - mine for role in self.roles}
