"""Our games' machines and boards, made and found once for all tests of pictures and of words."""

from __future__ import annotations

from functools import cache

from gdl.machine import Machine
from gdl.scramble import scramble
from ggp.boards.board import Grid, find_board
from ggp.game import Game
from players.kaskade.make_machine import make_machine


@cache
def machine_of(game: str, seed: int = 0) -> Machine:
    """A game's prover machine; of its rules scrambled by this seed, unless it is 0."""
    rules = Game.load(game).rules
    return make_machine(scramble(rules, seed=seed)[0] if seed else rules, "prover")


@cache
def board_of_machine(game: str, seed: int = 0) -> Grid | None:
    """The board of this machine."""
    return find_board(machine_of(game, seed))


def found(game: str, seed: int = 0) -> tuple[Machine, Grid]:
    """The machine of a game that has a board, and this."""
    board = board_of_machine(game, seed)
    assert board is not None
    return machine_of(game, seed), board
