"""Ends that random matches seldom reach, by our rules and by the oracle."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ggp.game import Game
from tests.games.oracles.hidden import BOARD, Mastermind, PhantomConnect, TwentyFortyEight
from tests.games.oracles.match import Match, apart
from tests.games.rules_of_games import state_of


def ends(name: str, match: Match, moves: Sequence[str]) -> list[int | None] | None:
    """The goals at the end of a line from a state of the oracle; our rules agree with it all the way."""
    machine = Game.load(name).machine("propnet")
    state = state_of(machine, match.facts())
    for move in moves:
        assert not apart(state, match) and not match.over
        joint = [move if own != ["noop"] else "noop" for own in match.options()]
        match.play(joint)
        state = state.play(*joint)
    assert not apart(state, match)
    assert match.over
    return match.goals()


@pytest.mark.parametrize("wrong", range(11))
def test_the_code_is_worth_less_with_each_guess(wrong: int) -> None:
    code = ["red", "blue", "red", "green"]
    hide = [f"(hide {p} {colour})" for p, colour in enumerate(code, 1)]
    guesses = ["(guess blue red red green)"] * wrong + [f"(guess {' '.join(code)})"]
    assert ends("mastermind", Mastermind(), [*hide, *guesses[:10]]) == [100 - 10 * wrong, None]


def test_a_full_board_without_four_is_a_draw() -> None:
    match = PhantomConnect()
    for x, y in ((x, y) for x in range(1, 8) for y in range(1, 7) if (x, y) != (7, 6)):
        match.marks[(x // 2 + y) % 2].add((x, y))
    match.turn = 1
    assert ends("phantomconnect", match, ["(drop a)", "(drop b)", "(drop g)"]) == [50, 50]


def test_a_tile_of_2048_ends_the_match_although_tiles_can_slide() -> None:
    match = TwentyFortyEight()
    match.turn = match.setup = 0
    match.tiles = dict(zip(BOARD, [1024, 2, 4, 2, 1024], strict=False))
    assert ends("twentyfortyeight", match, ["(slide left)"]) == [100, None]


def test_a_full_board_on_which_nothing_slides_ends_the_match() -> None:
    match = TwentyFortyEight()
    match.setup = 0
    match.tiles = {(x, y): 2 ** (1 + (x + y) % 2) for x, y in BOARD[1:]}
    assert ends("twentyfortyeight", match, ["(put a 1 1)"]) == [10, None]
