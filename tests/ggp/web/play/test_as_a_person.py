"""Games are chosen by their cards and played to the end as a person plays them, by clicks, drags, arrows and
digits. What a person brings is played and solved too."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.ggp.web.browsing import WebServer, press, wait

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
STEP = "document.querySelector('output').textContent"
MORRIS = """
b4 a4 d5 d2 d7 c5 d6 a4 d1 c4 f6 a4 f6 f4 e4 e3 b2 f2 b6 f2 g7 d6-f6 f4-g4 f6-d6 d1 g4-g1 d7-a7 d2-f2 a7-d7 g7
f2-d2 d6-f6 e3-d3 d5-d6 c5 g1-c5 e4-e5 d3-f4 e5-d5 c5
"""
"""Places, moves and takes of both sides: all stones are placed, mills close again and again, black flies."""
BANNER = "document.querySelector('.banner:not([hidden]) h2')?.textContent"


def choose(browser: Any, address: str, title: str, strength: str = "easy") -> None:
    """The card of this title, the sheet's usual side, an opponent; wait for the table."""
    browser.get(f"{address}/play")
    titles = "[...document.querySelectorAll('.card strong')].map((s) => s.textContent)"
    wait(browser, f"{titles}.includes({json.dumps(title)})")
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


def may(browser: Any, square: str) -> Any:
    """The square of this name, once somebody may click it."""
    found = f"(() => {{ {SQUARE.replace('arguments[0]', repr(square))} }})()"
    wait(browser, f"{found}?.matches('.gb-may')")
    return browser.execute_script(SQUARE, square)


def drag(browser: Any, origin: str, target: str) -> None:
    """A piece from one square to another, once somebody may."""
    from selenium.webdriver import ActionChains

    piece = may(browser, origin)
    ActionChains(browser, duration=30).drag_and_drop(piece, browser.execute_script(SQUARE, target)).perform()


def make(browser: Any, act: Callable[[], object]) -> None:
    """Make a move by an act, and wait until it is made."""
    step = browser.execute_script(f"return {STEP}")
    act()
    wait(browser, f"{STEP} !== '{step}'")


def click_line(browser: Any, line: str) -> None:
    """Several moves by clicks, of all sides: ``d5 a1-a4`` is a click on d 5, then one on a 1, one on a 4."""

    def click(move: str) -> None:
        for square in move.split("-"):
            may(browser, f"{square[0]} {square[1:]}").click()

    for move in line.split():
        make(browser, lambda move=move: click(move))  # type: ignore[misc]


def ended(browser: Any) -> tuple[str, str]:
    """What the banner says at the end: who has won, and why."""
    wait(browser, BANNER)
    return tuple(browser.find_element("css selector", f".banner {part}").text for part in ("h2", ".reason"))  # type: ignore[return-value]


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


def test_chess_is_dragged_with_en_passant_and_castling_to_a_promotion_that_mates(
    web: WebServer, browser: Any
) -> None:
    choose(browser, web(), "Chess", "people")
    moves = "e2e4 a7a6 e4e5 d7d5 e5d6 e7e6 d6c7 a6a5 d2d4 a5a4 c1g5 a4a3 g1f3 h7h5 f1e2 h5h4 0-0 h4h3"
    for move in moves.split():
        if move == "0-0":
            castle = wait(browser, "document.querySelector('.offered [data-move*=kingside]')")
            make(browser, castle.click)
        else:
            squares = f"{move[0]} {move[1]}", f"{move[2]} {move[3]}"
            make(browser, lambda squares=squares: drag(browser, *squares))  # type: ignore[misc]
        if move == "e5d6":  # the pawn that was passed has gone
            assert browser.execute_script(SQUARE, "d 5").get_attribute("textContent") == "d 5"
    drag(browser, "c 7", "d 8")
    offered = wait(browser, "document.querySelectorAll('.offered [data-move*=promote]')")
    assert len(offered) == 4
    next(one for one in offered if "queen" in one.get_attribute("data-move")).click()
    assert ended(browser)[0] == "white won"
    words = [cell.text for cell in browser.find_elements("css selector", ".history td button")]
    assert len(words) == len(moves.split()) + 1
    assert words[:2] == ["e2-e4", "a7-a6"]


def test_sokoban_is_solved_by_arrows_then_by_walking_and_pushing_with_clicks(
    web: WebServer, browser: Any
) -> None:
    from selenium.webdriver.common.keys import Keys

    choose(browser, web(), "One parcel")
    for key in (Keys.ARROW_UP, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT):
        wait(browser, "document.title.startsWith('● Your turn')")
        make(browser, lambda key=key: press(browser, key))  # type: ignore[misc]
    assert ended(browser)[0] == "Solved!"
    browser.find_element("id", "again").click()
    wait(browser, "document.title.startsWith('● Your turn')")
    # The keeper walks to the far corner, then the box is pushed to its goal.
    browser.execute_script(SQUARE, "e 4").click()
    wait(browser, f"{STEP} === 'step 5 of 5'")
    wait(browser, "document.title.startsWith('● Your turn')")
    browser.execute_script(SQUARE, "c 3: box").click()
    wait(browser, "document.querySelector('.status').textContent.startsWith('Now click')")
    browser.execute_script(SQUARE, "e 3").click()
    assert ended(browser)[0] == "Solved!"


def test_nine_mens_morris_is_played_until_two_stones_are_left(web: WebServer, browser: Any) -> None:
    choose(browser, web(), "Nine men's morris", "people")
    click_line(browser, MORRIS)
    assert ended(browser)[0] == "white won"
    stones = browser.execute_script(
        "return [...document.querySelectorAll('.board [data-square] title')]"
        ".map((title) => title.textContent.split(': ')[1]).filter((stone) => stone === 'black').length"
    )
    assert stones == 2


def test_kalah_is_sown_by_clicks_until_a_side_is_empty(web: WebServer, browser: Any) -> None:
    choose(browser, web(), "Kalah", "people")
    click_line(browser, "c1 d1 e2 c2 c1")  # the only move that is left then is made without a click
    title, _ = ended(browser)
    assert title == "south won"


def test_a_pasted_level_is_solved_by_an_arrow_and_taken_back(web: WebServer, browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.get(f"{web()}/play")
    wait(browser, "document.querySelector('#rules')")
    browser.find_element("id", "rules").send_keys(
        "#######\n#  @$.#\n#######\n\n#####\n#@ .#\n#####\n\n#########\n#  @ $ .#\n#########\n"
    )
    browser.find_element("id", "read").click()
    wait(browser, "document.querySelectorAll('.bring .card').length === 2")
    said = browser.find_element("css selector", ".bring [role=status]").text
    assert said.startswith("2 levels; line 5, column 1: the level has no box")
    browser.find_elements("css selector", ".bring .card")[0].click()
    browser.find_element("id", "start").click()
    wait(browser, "document.title.startsWith('● Your turn')")
    press(browser, Keys.ARROW_RIGHT)
    assert wait(browser, BANNER) == "Solved!"
    press(browser, Keys.BACKSPACE)
    wait(browser, "document.querySelector('output').textContent.startsWith('step 0 ')")


def test_a_dropped_packing_is_solved_in_space(web: WebServer, browser: Any) -> None:
    data = b"packing cubes\ntitle Two bars\npiece A\n##\npiece B\n##\nresult 2 x 2\n"
    browser.get(f"{web()}/puzzles")
    wait(browser, "document.querySelector('.bring')")
    browser.execute_script(DROP, "bars.packing", base64.b64encode(data).decode())
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
