"""Known numbers of positions and lines of play."""

from __future__ import annotations

import pytest

from tests.games.rules_of_games import legal, perft, play, prover, reachable, successors


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("othello", [4, 12, 56, 244, 1396]),
        ("checkers", [7, 49, 302, 1469, 7361]),
        ("connectfour", [7, 49, 343, 2401, 16807]),
        ("breakthrough", [22, 484]),
        ("chess", [20, 400, 8902]),
        ("tictactoe", [9, 72, 504, 3024]),
        ("hex", [81, 81 * 80]),
        ("atarigo", [49, 49 * 48]),
        ("ninemensmorris", [24, 24 * 23, 24 * 23 * 22]),
        ("nim", [12]),
        ("chomp", [20]),
        ("kalah", [3 + 3]),  # three pits end the turn; the other moves again, from three full pits
    ],
)
def test_number_of_lines_of_play_after_each_turn_is_the_known_one(name: str, known: list[int]) -> None:
    state = prover(name).initial_state()
    assert [perft(state, turns) for turns in range(1, len(known) + 1)] == known


def test_queens_has_92_solutions_among_2057_positions() -> None:
    positions = reachable(prover("queens").initial_state())
    assert len(positions) == 2057
    assert sum(state.goals["player"] == 100 for state in positions) == 92


def test_amazons_has_60_first_moves_and_1232_with_their_arrows() -> None:
    """Counted on a drawing of the board, queen line by queen line."""
    amazons = {(3, 1), (6, 1), (1, 3), (8, 3), (3, 8), (6, 8), (1, 6), (8, 6)}
    first = [(a, to) for a in sorted(amazons) if a[1] <= 3 for to in _reach(a, amazons)]
    arrows = sum(len(_reach(to, amazons - {a} | {to})) for a, to in first)
    assert (len(first), arrows) == (60, 1232)
    state = prover("amazons").initial_state()
    assert (len(successors(state)), perft(state, 1)) == (len(first), arrows)


def _reach(start: tuple[int, int], taken: set[tuple[int, int]]) -> list[tuple[int, int]]:
    found = []
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            x, y = start[0] + dx, start[1] + dy
            while (dx or dy) and 1 <= x <= 8 and 1 <= y <= 8 and (x, y) not in taken:
                found.append((x, y))
                x, y = x + dx, y + dy
    return found


def test_chinese_checkers_marble_may_jump_on_and_may_stop() -> None:
    state = prover("chinesecheckers").initial_state().play("(jump g 1 e 3)", "noop", "noop")
    assert legal(state, "red") == ["(jump e 3 g 1)", "stop"]
    assert legal(state, "green") == ["noop"]
    assert legal(play(state, "stop"), "red") == ["noop"]
