"""What goes wrong is said beside the button that was pressed, in every room."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ggp.web.browsing import WebServer, wait

REFUSED = """const old = window.fetch; window.fetch = (path, options) => options?.method === "POST"
  ? Promise.resolve(new Response('{"error": "refused"}', {status: 400})) : old(path, options);"""
DISTANCE = """const box = (one) => document.querySelector(one).getBoundingClientRect();
const [a, b] = ["#error", arguments[0]].map(box);
return Math.max(0, a.top - b.bottom, b.top - a.bottom)"""
RULES = [
    ("/rules?game=tictactoe", f"#{name}")
    for name in ("play", "solve", "rehearse", "format", "scramble", "draw")
]
NEAR = 60  # pixels


@pytest.mark.parametrize(
    ("path", "button"),
    [
        ("/", "#now"),
        ("/play", "#read"),
        ("/puzzles", "#read"),
        ("/play?game=connectfour", "#start"),
        ("/play?game=eightpuzzle", "#start"),
        ("/puzzles?game=eightpuzzle", "#solve"),
        *RULES,
    ],
)
def test_a_message_stands_beside_the_button(web: WebServer, browser: Any, path: str, button: str) -> None:
    browser.get(f"{web()}{path}")
    wait(browser, f"document.querySelector('{button}')")
    wait(browser, "document.querySelector('main').children.length > 1")
    browser.execute_script(REFUSED)
    browser.execute_script(f"document.querySelector({json.dumps(button)}).click()")
    wait(browser, "document.querySelector('#error:not([hidden])').textContent === 'refused'")
    assert browser.execute_script(DISTANCE, button) < NEAR


def test_what_nobody_has_caused_is_said_on_top(web: WebServer, browser: Any) -> None:
    browser.get(f"{web()}/play")
    wait(browser, "document.querySelector('#read')")
    browser.execute_script("import('/static/page.js').then((page) => page.fail(new Error('gone')))")
    wait(browser, "document.querySelector('main').firstElementChild.textContent === 'gone'")


def test_the_bar_of_a_puzzle_moves_before_its_search_begins(web: WebServer, browser: Any) -> None:
    browser.get(f"{web()}/puzzles")
    wait(browser, "document.querySelector('#filter')")
    browser.execute_script("document.body.append(document.createElement('main'))")
    made = "document.querySelector('main:last-of-type')"
    told = {"puzzle": "none", "seconds": 20, "source": {}}
    browser.execute_script(
        f"import('/static/puzzles.js').then((one) => one.show({made}, arguments[0]))", told
    )
    assert wait(browser, f"{made}.querySelector('progress').position") == -1
    browser.get_log("browser")  # that there is no such puzzle
