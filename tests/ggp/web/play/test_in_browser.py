"""Games are played to their end in a real browser by clicks alone, or by keys alone."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.ggp.web.browsing import WebServer, end_web, open_table, press, start_web

FIND = """
const shown = (e) => e.offsetParent !== null || e instanceof SVGElement;
const pick = (css) => [...document.querySelectorAll(css)].filter(shown);
const text = (css) => document.querySelector(css)?.textContent ?? '';
const end = text('.banner:not([hidden]) .goals');
return [end ? 'Over: ' + end : text('.status'), text('output'),
  pick('.gb-may:not(.gb-chosen)'), pick('.offered [data-move]'),
  document.querySelectorAll('.gb-chosen').length];
"""


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


@pytest.mark.slow
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


def wait_for(browser: Any, css: str) -> Any:
    """The first thing that fits, once it is there."""
    end = time.monotonic() + 60
    while not (found := browser.find_elements("css selector", css)):
        assert time.monotonic() < end, css
        time.sleep(0.02)
    return found[0]


def click(browser: Any, css: str) -> None:
    browser.execute_script(
        "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", wait_for(browser, css)
    )


def square_of(browser: Any, words: str) -> str:
    """CSS of the square whose title says this."""
    keys = browser.execute_script(
        "return [...document.querySelectorAll('[data-square]')]"
        ".filter((s) => s.querySelector('title')?.textContent.includes(arguments[0]))"
        ".map((s) => s.dataset.square)",
        words,
    )
    assert len(keys) == 1, (words, keys)
    return f'[data-square="{keys[0]}"]'


@pytest.mark.slow
def test_a_game_is_played_to_its_end_by_keys_alone(web: WebServer, browser: Any) -> None:
    """Tab and Enter choose squares; the list is filtered by typing; what people want else has letters."""
    from selenium.webdriver import Keys

    browser.get(f"{web()}/play")
    wait_for(browser, "#filter").send_keys("tic-tac", Keys.ENTER)
    assert browser.switch_to.active_element.get_attribute("id") == "start"
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    look(browser, lambda s: len(s[2]) == 9)
    browser.execute_script("document.body.focus()")
    for _ in range(40):
        press(browser, Keys.TAB)
        if browser.execute_script("return document.activeElement.matches('.gb-may')"):
            break
    press(browser, Keys.ARROW_RIGHT, Keys.ENTER)
    look(browser, lambda s: s[1].startswith("step 2 "))
    press(browser, "b")
    look(browser, lambda s: s[1].startswith("step 0 "))
    press(browser, "g")
    look(browser, lambda s: len(s[2]) == 9)
    while not look(browser, lambda s: s[0].startswith("Over") or bool(s[2]))[0].startswith("Over"):
        before = look(browser, lambda s: True)
        press(browser, "/", "mark", Keys.ENTER)
        look(browser, partial(has_moved_on, before))


def test_names_of_strangers_are_text(web: WebServer, browser: Any) -> None:
    evil = "<img/src=x/onerror=document.title='hit'>"
    rules = (
        f"(role {evil}) (init (cell 1 1 {evil})) (init (cell 1 2 {evil}))"
        "(init (cell 2 1 b)) (init (cell 2 2 b))"
        f"(<= (legal {evil} (mark ?x ?y {evil})) (true (cell ?x ?y ?z)))"
        f"(<= (next (cell ?x ?y {evil})) (does {evil} (mark ?x ?y ?z))) (<= (next (cell ?x ?y ?w))"
        f"(true (cell ?x ?y ?w)) (does {evil} (mark ?u ?v ?z)) (distinct ?x ?u))"
        f"(<= terminal (not (true (cell 1 1 {evil})))) (goal {evil} 100)"
    )
    open_table(browser, web(), "", ["human"], rules)
    seen = look(browser, lambda s: bool(s[2]) or bool(s[3]))
    assert evil in browser.find_element("tag name", "body").text
    assert browser.execute_script("return document.querySelectorAll('main img').length") == 0
    assert seen and "hit" not in browser.title


COUNT = """
window.tones = 0;
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...when) { window.tones += 1; return start.apply(this, when); };
"""


def test_sounds_are_off_until_somebody_turns_them_on(web: WebServer, browser: Any) -> None:
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": COUNT})
    tones, pressed = "return window.tones", "return document.querySelector('#sound').ariaPressed"
    try:
        open_table(browser, web(), "tictactoe", ["human", "human"])
        look(browser, lambda s: bool(s[2]))
        click(browser, square_of(browser, "a 1") + ".gb-may")
        look(browser, lambda s: s[1].startswith("step 1 "))
        assert (browser.execute_script(pressed), browser.execute_script(tones)) == ("false", 0)
        browser.find_element("id", "sound").click()
        heard = browser.execute_script(tones)
        assert browser.execute_script(pressed) == "true" and heard > 0
        click(browser, square_of(browser, "b 2") + ".gb-may")
        look(browser, lambda s: s[1].startswith("step 2 "))
        assert browser.execute_script(tones) > heard
        browser.refresh()
        look(browser, lambda s: bool(s[2]))
        assert browser.execute_script(pressed) == "true"
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
        browser.execute_script("localStorage.clear()")


@pytest.mark.slow
def test_the_status_is_true_after_a_hint_a_pause_and_where_the_server_is_lost(browser: Any) -> None:

    def status(words: str) -> None:
        look(browser, lambda s: s[0].startswith(words), 150)

    server, address = start_web("web", "--port", "0")
    try:
        open_table(browser, address, "tictactoe", ["human", "random"])
        status("Your turn (x)")
        press(browser, "h")
        status("Hint: ")
        assert browser.find_elements("css selector", ".board .gb-hint")
        click(browser, square_of(browser, "b 2") + ".gb-may")
        look(browser, lambda s: s[1] == "step 2 of 2" and s[0] == "Your turn (x)")
        open_table(browser, address, "chess", ["uct", "uct"])
        look(browser, lambda s: s[1].startswith("step ") and not s[1].startswith("step 0 "))
        press(browser, "p")
        status("Paused. Go on with p.")
        paused = look(browser, lambda s: True)
        time.sleep(0.6)
        assert look(browser, lambda s: True)[:2] == paused[:2]
        press(browser, "p")
        look(browser, lambda s: s[1] != paused[1] and not s[0].startswith("Paused"))
        end_web(server, signal.SIGKILL)
        status("The server does not answer")
    finally:
        browser.get("about:blank")
        browser.get_log("browser")  # that the server was gone
        server.kill()


@pytest.mark.slow
def test_ggp_play_can_be_in_a_browser(browser: Any) -> None:
    server, address = start_web("play", "tictactoe", "-p", "human,legal", "--web")
    try:
        browser.get(address)
        result, _ = play_by_clicks(browser, random.Random(1), 20)
        assert result.startswith("Over: ")
        browser.get("about:blank")
    finally:
        end_web(server)
