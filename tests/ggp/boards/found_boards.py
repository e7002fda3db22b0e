"""Our games' machines and boards, made and found once for all tests of pictures and of words."""

from __future__ import annotations

from functools import cache

from gdl.machine import Machine
from gdl.scramble import scramble
from ggp.boards.board import Grid, find_board
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from tests.games.small_sokoban import small_sokoban


@cache
def machine_of(game: str, seed: int = 0, level: str = "prover") -> Machine:
    """A machine of a game; of its rules scrambled by this seed, unless it is 0."""
    rules = small_sokoban().rules if game == "small_sokoban" else Game.load(game).rules
    return make_machine(scramble(rules, seed=seed)[0] if seed else rules, level)


@cache
def board_of_machine(game: str, seed: int = 0, level: str = "prover") -> Grid | None:
    """The board of this machine."""
    return find_board(machine_of(game, seed, level))


def found(game: str, seed: int = 0, level: str = "prover") -> tuple[Machine, Grid]:
    """The machine of a game that has a board, and this."""
    board = board_of_machine(game, seed, level)
    assert board is not None
    return machine_of(game, seed, level), board
