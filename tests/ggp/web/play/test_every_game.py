"""Every own game is played to its end in a real browser, by a pointer: on the board, and on buttons where
moves are not on it. Sokoban is solved by keys."""

from __future__ import annotations

import json
import random
import time
from math import inf
from typing import Any

import pytest

from ggp.rule_files import installed_games
from tests.games.known import OWN_TESTS
from tests.ggp.program import started
from tests.ggp.web.pages import WebServer, open_table, press, wait

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import Keys

FAST = [
    "atarigo", "chomp", "kalah", "kuhn", "liarsdice", "mastermind", "montyhall", "nim", "numberguessing",
    "rockpaperscissors", "tictactoe", "tron",
]  # fmt: skip
"""Games that each run plays: short ones, of which no two look alike."""
SLOW = [
    "amazons", "backgammon", "battleships", "biddingtictactoe", "blindtictactoe", "breakthrough",
    "checkers", "chess", "chinesecheckers", "connectfour", "eightpuzzle", "hanoi", "hex", "knightstour",
    "kriegtictactoe", "leduc", "lightsout", "ninemensmorris", "othello", "pegsolitaire", "pentominoes",
    "phantomconnect", "prisonersdilemma", "queens", "rubikscube", "snakes", "soma", "sudoku",
    "twentyfortyeight",
]  # fmt: skip
BY_KEYS = ["sokoban"]
PLAYED = [*FAST, *SLOW, *BY_KEYS]
FIFTH = [path.stem for path in installed_games() if path.stem not in PLAYED][::5]
"""Of the other games, one in five."""
MOST_FAST = 12
BESIDE = {
    "blackjack", "couples", "hiddengoofspiel", "kuhn", "leduc", "liarsdice", "pentominoes", "rubikscube",
    "snakes",
    "soccer", "soma", "threekuhn", "torchbridge", "tron", "twentyfortyeight", "twothirds",
}  # fmt: skip
"""Games whose moves are on buttons beside the board; all others have moves on the board."""
LONGEST = 400.0
"""Seconds of a match."""
OVER = "return document.querySelector('.banner:not([hidden])') !== null"

SEEN = """
const pick = (css) => [...document.querySelectorAll(css)].filter((one) => one.getClientRects().length > 0);
return [document.getAnimations().some((one) => one.effect.target?.closest('.board')),
  document.querySelector('.banner:not([hidden]) .goals')?.textContent ?? '',
  pick('.board .gb-ready'), pick('.board .gb-may:not(.gb-chosen)'), pick('.offered [data-move]'),
  document.querySelector('#error:not([hidden])')?.textContent ?? ''];
"""


def play(browser: Any, rng: random.Random, most: float = inf) -> tuple[int, int]:
    """Play at random until the match is over, or for so many clicks; how many fell on the board, and on
    buttons beside it.

    What is covered, and so cannot be clicked by a person, is an error.
    """
    on_board = beside = 0
    end = time.monotonic() + LONGEST
    while True:
        flies, over, ready, squares, buttons, error = browser.execute_script(SEEN)
        assert not error and time.monotonic() < end, (error, on_board, beside)
        if over or on_board + beside >= most:
            return on_board, beside
        if flies or not (ready or squares or buttons):  # a piece that flies makes its square larger
            time.sleep(0.02)
            continue
        if not ready and (not squares or (buttons and rng.random() < 0.3)):
            chosen, board = rng.choice(buttons), False
        else:
            chosen, board = rng.choice(ready or squares), True
        try:
            chosen.click()
        except StaleElementReferenceException:
            continue  # the board has been drawn again meanwhile
        on_board, beside = on_board + board, beside + (not board)


def test_each_game_without_an_oracle_is_played_here_and_few_of_them_in_each_run() -> None:
    assert len({*PLAYED}) == len(PLAYED)
    assert {*PLAYED} >= {*OWN_TESTS}
    assert len(FAST) <= MOST_FAST


@pytest.mark.parametrize(
    "name", [*FAST, *(pytest.param(name, marks=pytest.mark.slow) for name in (*SLOW, *FIFTH))]
)
def test_a_game_is_played_to_its_end_by_clicks(web: WebServer, browser: Any, name: str) -> None:
    # Who wins no bid marks nothing, so one person plays both sides there.
    open_table(browser, web(), name, ["human"] * (2 if name == "biddingtictactoe" else 1))
    wait(browser, "document.querySelector('.board svg')")
    on_board, beside = play(browser, random.Random(1))
    assert on_board + beside > 0
    assert (on_board > 0) == (name not in BESIDE)


@pytest.mark.slow
def test_sokoban_is_solved_by_keys(web: WebServer, browser: Any) -> None:
    """A move that is the only one is made by the page itself."""
    solver = started("solve", "sokoban", "--seconds", "60", "--json", stderr=None)
    moves = json.loads(solver.communicate(timeout=120)[0])["moves"]
    open_table(browser, web(), "sokoban", ["human"])
    wait(browser, "document.title.startsWith('● Your turn')")
    pressed = 0
    while not browser.execute_script(OVER):
        step = int(browser.execute_script("return document.querySelector('output').textContent").split()[1])
        press(browser, getattr(Keys, f"ARROW_{moves[step].strip('()').split()[-1].upper()}"))
        pressed += 1
        wait(browser, f"!document.querySelector('output').textContent.startsWith('step {step} ')", 30)
        wait(browser, "document.title.startsWith('● Your turn') || !document.querySelector('.banner').hidden")
    assert browser.find_element("css selector", ".banner h2").text == "Solved!"
    assert 0.9 * len(moves) < pressed <= len(moves)
