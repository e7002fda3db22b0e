"""A match is replayed in a real browser by keys alone, and from the file it is saved as."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ggp.game import Game
from ggp.web.replay.export import html_file
from ggp.web.replay.match_log import parse_match
from ggp.web.replay.scenes import Scenes

WebServer = Callable[..., str]
RECORD = {
    "matchId": "m<img src=x onerror=alert(1)>",
    "game": "tictactoe",
    "playerNamesFromHost": ["<script>alert(1)</script>", "second"],
    "startClock": 10,
    "playClock": 5,
    "isCompleted": False,
    "moves": [["(mark a 1)", "noop"], ["noop", "(mark b 2)"], ["(mark a 2)", "noop"]],
    "states": [],
    "errors": [["", ""], ["", ""], ["", "TO"], ["IL <b>what</b>", ""]],
}


def until(browser: Any, script: str, wanted: object, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while (seen := browser.execute_script(f"return {script}")) != wanted:
        assert time.monotonic() < end, seen
        time.sleep(0.02)


def press(browser: Any, *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    chain = ActionChains(browser)
    for key in keys:
        chain.send_keys(key)
    chain.perform()


AT = "document.querySelector('.board')?.dataset.step"


def test_a_match_is_replayed_by_keys_and_marks_its_errors(
    web: WebServer, browser: Any, tmp_path: Path
) -> None:
    from selenium.webdriver.common.keys import Keys

    (tmp_path / "one.json").write_text(json.dumps(RECORD))
    address = web("--records", str(tmp_path))
    browser.get(f"{address}/replay?source=file:one.json&match=0#1")
    until(browser, AT, "1")
    for key, step in [
        (Keys.ARROW_RIGHT, "2"),
        (Keys.END, "3"),
        (Keys.ARROW_LEFT, "2"),
        (Keys.HOME, "0"),
        ("e", "2"),
        (Keys.HOME, "0"),
        (" ", "3"),
    ]:
        press(browser, key)
        until(browser, AT, step)
    until(browser, "location.hash", "#3")
    faults = browser.execute_script(
        "return [...document.querySelectorAll('small.fault')].map(e => e.innerText)"
    )
    assert faults == ["o: no answer in time", "x: no legal move: <b>what</b>"]
    assert browser.execute_script("return document.querySelectorAll('.mark').length") == 2
    assert browser.execute_script("return document.querySelectorAll('main img, main script').length") == 0
    browser.get(f"{address}/replay?source=file:none.json&match=0")
    until(browser, "document.getElementById('error')?.textContent.includes('no such record')", True)
    browser.get_log("browser")  # the browser itself tells of the 400


def test_a_match_saved_as_a_file_steps_by_keys(browser: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    scenes = Scenes(parse_match(RECORD), Game.load("tictactoe").text)
    file = tmp_path / "match.html"
    file.write_text(html_file(scenes.about(), [scenes.draw(n) for n in range(4)]))
    browser.get(file.as_uri())
    at = "document.querySelector('output')?.textContent"
    until(browser, at, "step 0 of 3")
    press(browser, Keys.END, Keys.ARROW_LEFT)
    until(browser, at, "step 2 of 3")
    assert browser.execute_script("return document.querySelectorAll('.board svg .gb-square').length") == 9
    assert browser.execute_script("return document.querySelectorAll('main img, main script').length") == 0
