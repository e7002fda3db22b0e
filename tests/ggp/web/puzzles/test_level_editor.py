"""Levels are drawn by clicks and keys, checked as one draws, played, saved, and opened again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.ggp.web.pages import WebServer, press, until, wait

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver import ActionChains, Keys

pytestmark = pytest.mark.slow
TEXT, STATUS = "document.querySelector('#text').value", "document.querySelector('.status').textContent"
BEGINNING = [
    "##########",
    "#        #",
    "#   @    #",
    "#        #",
    "#        #",
    "##########",
]


@pytest.fixture
def editor(web: WebServer, browser: Any) -> Any:
    browser.get(f"{web()}/puzzles/draw")
    wait(browser, "document.querySelector('.cells .cell')")
    yield browser
    browser.execute_script("localStorage.clear()")


def cell(browser: Any, y: int, x: int) -> Any:
    place = "document.querySelector('.cells').children[arguments[0]].children[arguments[1]]"
    return browser.execute_script(f"return {place}", y, x)


def pick(browser: Any, tool: str) -> None:
    browser.find_element("css selector", f"[data-tool='{tool}']").click()


def begin(browser: Any, kind: str) -> None:
    browser.find_element("css selector", f"#kind option[value={kind}]").click()


def rows(browser: Any) -> list[str]:
    text: str = browser.execute_script(f"return {TEXT}")
    return text.rstrip("\n").split("\n")


def test_a_level_is_drawn_by_a_mouse_and_played(editor: Any) -> None:
    until(editor, STATUS, "The level has no box")
    pick(editor, "$")
    cell(editor, 2, 5).click()
    until(editor, STATUS, "The level has 1 box and only 0 goals")
    pick(editor, ".")
    cell(editor, 2, 6).click()
    until(editor, STATUS, "It can be played.")
    pick(editor, "#")
    ActionChains(editor).drag_and_drop(cell(editor, 4, 2), cell(editor, 4, 5)).perform()
    assert rows(editor) == [*BEGINNING[:2], "#   @$.  #", BEGINNING[3], "# ####   #", BEGINNING[5]]
    until(editor, "document.querySelector('#play').disabled", False)
    editor.find_element("id", "play").click()
    until(editor, "document.querySelector('.tally').innerText.split('\\n')[0]", "0 moves, 0 pushes")
    press(editor, Keys.ARROW_RIGHT)
    until(editor, "document.querySelector('.best').textContent", "Your best: 1 move, 1 push")
    editor.back()  # the drawing is still there
    wait(editor, "document.querySelector('.cells .cell')")
    assert rows(editor)[2] == "#   @$.  #"


def test_a_level_is_drawn_by_keys_and_taken_back(editor: Any) -> None:
    cell(editor, 2, 4).click()  # a wall: the keeper is gone
    until(editor, STATUS, "The level has no keeper")
    press(
        editor,
        Keys.ARROW_DOWN,
        "@",
        Keys.ARROW_RIGHT,
        "$",
        Keys.ARROW_RIGHT,
        ".",
        Keys.ARROW_UP,
        "-",
        Keys.ENTER,
    )
    until(editor, STATUS, "It can be played.")
    assert rows(editor)[2:4] == ["#   #    #", "#   @$.  #"]
    press(editor, Keys.ARROW_DOWN, "@")  # on the goal; there is one keeper
    assert rows(editor)[3] == "#    $+  #"
    until(editor, "document.activeElement.getAttribute('aria-label')", "row 4, column 7: keeper on a goal")
    for _ in range(2):
        ActionChains(editor).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).perform()
    assert rows(editor)[3] == "#   @$   #"


def test_a_snake_grows_from_its_head_and_a_fault_is_marked_on_its_cell(editor: Any) -> None:
    begin(editor, "snakes")
    pick(editor, "B")
    cell(editor, 0, 5).click()
    until(editor, STATUS, "This head has no body")
    assert cell(editor, 0, 5).get_attribute("class") == "cell faulty"
    for place in ((0, 4), (0, 3), (1, 3)):
        cell(editor, *place).click()
    until(editor, STATUS, "It can be played.")
    assert rows(editor)[:2] == ["...>>B....", "...^......"]
    cell(editor, 5, 9).click()  # elsewhere: the snake is drawn from there
    assert rows(editor)[:2] == [".........."] * 2


def test_files_are_opened_and_saved_in_their_own_form(editor: Any, tmp_path: Path) -> None:
    def opened(name: str, text: str, first: str) -> str:
        (tmp_path / name).write_text(text)
        editor.find_element("id", "open").send_keys(str(tmp_path / name))
        until(editor, f"{TEXT}.split('\\n')[0]", first)
        return str(editor.execute_script(f"return {TEXT}"))

    two = "#####\n#@$.#\n#####\nTitle: one\n\n#####\n#@ .#\n#####\nTitle: not yet a level\n"
    assert opened("two.xsb", two, "#####") == two
    editor.find_element("css selector", "#which option:last-child").click()
    until(editor, STATUS, "The level has no box")
    assert (
        opened("runs.xsb", "Level 5\n6#\n#@-$.#|6#\n", "######") == "######\n#@ $.#\n######\nTitle: Level 5\n"
    )
    bars = "packing cubes\nflat\npiece bar x2\n##\nresult 2 x 2\n"
    drawn = "packing cubes\nflat\npiece bar x2\n##\nresult\n##\n##\n"
    assert opened("bars.packing", bars, "packing cubes") == drawn
    until(editor, STATUS, "It can be solved.")
    pick(editor, ".")
    cell(editor, 0, 0).click()
    until(editor, "document.querySelector('#solve').disabled", True)
    saved = editor.execute_async_script(
        "const done = arguments[0]; const make = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => { blob.text().then(done); return make(blob); };"
        "document.querySelector('#save').click();"
    )
    assert (
        saved == drawn.replace("result\n##\n##", "result\n.#\n##") == editor.execute_script(f"return {TEXT}")
    )
