"""Games are played to their end in a real browser by clicks alone, or by keys alone."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

WebServer = Callable[..., str]
FIND = """
const shown = (e) => e.offsetParent !== null || e instanceof SVGElement;
const pick = (css) => [...document.querySelectorAll(css)].filter(shown);
const text = (css) => document.querySelector(css)?.textContent ?? '';
return [text('.status'), text('output'),
  pick('.gb-may:not(.gb-chosen)'), pick('.offered [data-move]'),
  document.querySelectorAll('.gb-chosen').length];
"""
TABLE = """
const [game, rules, seats, done] = arguments;
const token = document.querySelector('meta[name=token]').content;
fetch('/play/tables', {method: 'POST', headers: {'X-Ggp-Token': token},
  body: JSON.stringify({game, rules, seats, others: 'random', playclock: 0.1})})
  .then((reply) => reply.json()).then((told) => done(told.page ?? told.error));
"""


def open_table(browser: Any, address: str, game: str, seats: list[str], rules: str = "") -> None:
    browser.get(f"{address}/play")
    browser.set_script_timeout(60)
    page = browser.execute_async_script(TABLE, game, rules, seats)
    assert page.startswith("/play/"), page
    browser.get(address + page)


def look(browser: Any, done: Callable[[list[Any]], bool], seconds: float = 60.0) -> list[Any]:
    end = time.monotonic() + seconds
    while True:
        seen: list[Any] = browser.execute_script(FIND)
        if done(seen):
            return seen
        assert time.monotonic() < end, seen[:2]
        time.sleep(0.02)


def has_moved_on(before: list[Any], now: list[Any]) -> bool:
    return now[0].startswith("Over") or now[1:] != before[1:]


def play_by_clicks(browser: Any, rng: random.Random, most: int) -> tuple[str, int]:
    """Click at random until the match is over; its result, and how many clicks that took."""
    clicks = 0
    while True:
        seen = look(browser, lambda s: s[0].startswith("Over") or bool(s[2]) or bool(s[3]))
        if seen[0].startswith("Over"):
            return seen[0], clicks
        clicks += 1
        assert clicks < most
        browser.execute_script(
            "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))",
            rng.choice(seen[3] or seen[2]),
        )
        look(browser, partial(has_moved_on, seen))


@pytest.mark.parametrize(
    ("game", "seats", "most"),
    [
        ("tictactoe", ["human", "random"], 20),
        ("breakthrough", ["human", "random"], 400),
        ("hex", ["human", "random"], 200),
        ("biddingtictactoe", ["human", "random"], 200),
        ("amazons", ["human", "random"], 400),
    ],
)
def test_a_game_is_played_to_its_end_by_clicks_alone(
    web: WebServer, browser: Any, game: str, seats: list[str], most: int
) -> None:
    open_table(browser, web(), game, seats)
    result, clicks = play_by_clicks(browser, random.Random(1), most)
    assert result.startswith("Over: ")
    assert clicks >= 3
