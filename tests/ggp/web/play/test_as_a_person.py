"""Games are chosen by their cards and played as a person plays them, by clicks, drags, arrows and digits.
What a person brings is played and solved too."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from typing import Any

import pytest

from ggp.cover.instance import burr_file, written_xmpuzzle
from players.puzzles.cover.packing.text import packing_of_text

WebServer = Callable[..., str]
pytestmark = pytest.mark.slow
SQUARE = """
return [...document.querySelectorAll('[data-square]')].find((square) => {
  const title = square.querySelector('title').textContent;
  return title === arguments[0] || title.startsWith(arguments[0] + ':');
});
"""
DROP = """
const [name, data] = arguments;
const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
const transfer = new DataTransfer();
transfer.items.add(new File([bytes], name));
document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: transfer, bubbles: true, cancelable: true}));
"""
BANNER = "document.querySelector('.banner:not([hidden]) h2')?.textContent"


def wait(browser: Any, script: str, seconds: float = 90.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := browser.execute_script(f"try {{ return {script} }} catch {{ return null }}")):
        assert time.monotonic() < end, script
        time.sleep(0.03)
    return found


def choose(browser: Any, address: str, title: str, strength: str = "easy") -> None:
    """The card of this title, the sheet's usual side, an opponent; wait for the table."""
    browser.get(f"{address}/play")
    wait(browser, f"[...document.querySelectorAll('.card strong')].some((s) => s.textContent === '{title}')")
    browser.execute_script(
        "[...document.querySelectorAll('.card')].find((card) => card.querySelector('strong').textContent"
        " === arguments[0]).click()",
        title,
    )
    wait(browser, "document.querySelector('dialog[open] #start')")
    if browser.find_elements("css selector", f"dialog input[value={strength}]"):
        browser.find_element("css selector", f"dialog input[value={strength}]").click()
    browser.find_element("id", "start").click()
    wait(browser, "document.querySelector('.board svg') && location.pathname.startsWith('/play/')")


def drag(browser: Any, origin: str, target: str) -> None:
    """A piece from one square to another, once somebody may."""
    from selenium.webdriver import ActionChains

    wait(browser, f"(() => {{ {SQUARE.replace('arguments[0]', repr(origin))} }})()?.matches('.gb-may')")
    step = browser.execute_script("return document.querySelector('output').textContent")
    squares = [browser.execute_script(SQUARE, name) for name in (origin, target)]
    ActionChains(browser, duration=30).drag_and_drop(*squares).perform()
    wait(browser, f"document.querySelector('output').textContent !== '{step}'")


def press(browser: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def test_connect_four_is_played_to_its_end_by_digits(web: WebServer, browser: Any) -> None:
    choose(browser, web(), "Connect Four")
    for number in range(60):
        wait(browser, f"{BANNER} || document.title.startsWith('● Your turn')")
        if wait(browser, "document.title") and browser.execute_script(f"return {BANNER}"):
            break
        step = browser.execute_script("return document.querySelector('output').textContent")
        press(browser, str(1 + number % 7))
        time.sleep(0.1)
        wait(browser, f"{BANNER} || document.querySelector('output').textContent !== '{step}'", 20)
    assert wait(browser, BANNER) in ("You won", "You lost", "A draw")
    reason = browser.find_element("css selector", ".banner .reason").text
    assert reason in ("four in a row", "the board is full")
    browser.find_element("id", "again").click()
    wait(browser, "document.querySelector('.banner').hidden")


def test_chess_is_dragged_with_a_capture_in_passing_and_castling(web: WebServer, browser: Any) -> None:
    choose(browser, web(), "Chess", "people")
    moves = ["e2e4", "a7a6", "e4e5", "d7d5", "e5d6", "h7h6", "g1f3", "h6h5", "f1e2", "h5h4"]
    for move in moves:
        drag(browser, f"{move[0]} {move[1]}", f"{move[2]} {move[3]}")
    wait(browser, "document.querySelector('.offered [data-move*=kingside]')").click()
    wait(browser, "document.querySelector('output').textContent === 'step 11 of 11'")
    words = [cell.text for cell in browser.find_elements("css selector", ".history td button")]
    assert len(words) == len(moves) + 1
    assert words[0] == "e2-e4"
    empty = "return (() => {%s})().querySelector('title').textContent" % SQUARE  # noqa: UP031
    assert browser.execute_script(empty, "d 5") == "d 5"
    assert browser.execute_script(empty, "f 1") != "f 1" or "wr" in browser.execute_script(empty, "f 1")


def test_a_pasted_level_is_solved_by_an_arrow_and_taken_back(web: WebServer, browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.get(f"{web()}/play")
    wait(browser, "document.querySelector('#rules')")
    browser.find_element("id", "rules").send_keys(
        "#######\n#  @$.#\n#######\n\n#########\n#  @ $ .#\n#########\n"
    )
    browser.find_element("id", "read").click()
    wait(browser, "document.querySelectorAll('.bring .card').length === 2")
    browser.find_elements("css selector", ".bring .card")[0].click()
    browser.find_element("id", "start").click()
    wait(browser, "document.title.startsWith('● Your turn')")
    press(browser, Keys.ARROW_RIGHT)
    assert wait(browser, BANNER) == "Solved!"
    press(browser, Keys.BACKSPACE)
    wait(browser, "document.querySelector('output').textContent.startsWith('step 0 ')")


def test_rock_paper_scissors_is_chosen_secretly_and_shown_together(web: WebServer, browser: Any) -> None:
    choose(browser, web(), "Rock, paper, scissors")
    wait(browser, "document.querySelector('.status').textContent.includes('choose, secretly')")
    while not browser.execute_script(f"return {BANNER}"):
        button = wait(browser, f"document.querySelector('.offered button') || {BANNER}")
        if isinstance(button, str):
            break
        step = browser.execute_script("return document.querySelector('output').textContent")
        browser.execute_script("document.querySelector('.offered button')?.click()")
        wait(browser, f"{BANNER} || document.querySelector('output').textContent !== '{step}'")
    assert wait(browser, BANNER) in ("You won", "You lost", "A draw")
    rows = browser.execute_script(
        "return [...document.querySelectorAll('.history tbody tr')]"
        ".map((row) => row.querySelectorAll('button').length)"
    )
    assert rows == [2] * 5


def test_a_dropped_packing_is_solved_in_space(web: WebServer, browser: Any) -> None:
    puzzle = packing_of_text("packing cubes\ntitle Two bars\npiece A\n##\npiece B\n##\nresult 2 x 2\n")
    data = written_xmpuzzle(burr_file(puzzle), {}, complete=False)
    browser.get(f"{web()}/puzzles")
    wait(browser, "document.querySelector('.bring')")
    browser.execute_script(DROP, "bars.xmpuzzle", base64.b64encode(data).decode())
    wait(browser, "document.querySelector('dialog[open] #solve')").click()
    wait(browser, "document.querySelector('.status').textContent.startsWith('1 solution')")
    frame = wait(browser, "document.querySelector('.space iframe')")
    browser.switch_to.frame(frame)
    try:
        wait(
            browser, "document.documentElement.dataset.drawn || document.querySelector('#pieces').textContent"
        )
        size = "[canvas.width / canvas.height, canvas.clientWidth / canvas.clientHeight]"
        ratio = browser.execute_script(f"const canvas = document.getElementById('space'); return {size}")
        assert abs(ratio[0] - ratio[1]) < 0.02
    finally:
        browser.switch_to.default_content()


def test_rules_from_the_editor_are_played_at_once(web: WebServer, browser: Any) -> None:
    browser.get(f"{web()}/rules")
    wait(browser, "document.querySelector('#template')")
    browser.execute_script(
        "const s = document.querySelector('#template'); s.value = 'new'; s.dispatchEvent(new Event('change'))"
    )
    wait(browser, "document.querySelector('.preview svg')")
    browser.find_element("id", "play").click()
    wait(browser, "document.querySelector('.offered button')")
    while not browser.execute_script(f"return {BANNER}"):
        browser.execute_script("document.querySelector('.offered button')?.click()")
        time.sleep(0.2)
    assert browser.execute_script(f"return {BANNER}") in ("You won", "You lost")
