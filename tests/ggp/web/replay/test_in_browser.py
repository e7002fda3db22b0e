"""Records are replayed in a real browser, by keys; files are brought and kept."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.ggp.web.browsing import WebServer, press, until
from tests.ggp.web.replay.test_recorded import played


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    told = asyncio.run(played("breakthrough")).to_dict()
    told["errors"][3] = ["TO", ""]
    path = tmp_path_factory.mktemp("records") / "sub" / "one.json"
    path.parent.mkdir()
    path.write_text(json.dumps(told))
    return path


@pytest.mark.slow
def test_a_record_of_the_folder_is_replayed_by_keys(web: WebServer, browser: Any, record: Path) -> None:
    from selenium.webdriver import Keys

    last = len(json.loads(record.read_text(encoding="utf-8"))["states"]) - 1
    address = web("--records", str(record.parent.parent))
    browser.get(f"{address}/replay")
    until(browser, "document.querySelectorAll('a.card').length", 1)
    until(browser, "document.querySelectorAll('a.card .gb-square').length", 64)
    assert browser.find_element("css selector", "a.card strong").text == "Breakthrough"
    assert browser.find_element("css selector", "a.card .line").text.startswith("p0 ")
    browser.find_element("css selector", "a.card").click()
    where = "document.querySelector('output')?.textContent"
    until(browser, where, f"step 0 of {last}")
    press(browser, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    until(browser, where, f"step 2 of {last}")
    assert browser.current_url.endswith("#2")
    until(browser, "document.querySelectorAll('.history tbody td button').length", last)
    press(browser, "f")
    until(browser, where, f"step 3 of {last}")
    assert "no answer in time" in browser.find_element("css selector", ".status").text
    press(browser, Keys.END)
    until(browser, where, f"step {last} of {last}")
    until(browser, "document.querySelectorAll('.board .gb-square').length", 64)
    press(browser, Keys.HOME, " ")
    until(browser, "document.querySelector('[aria-pressed]').textContent", "Stop")
    until(browser, where, f"step 1 of {last}")
    browser.get(browser.current_url.partition("#")[0] + f"#{last - 1}")
    until(browser, where, f"step {last - 1} of {last}")


def test_a_file_is_brought_and_kept_as_one_page(
    web: WebServer, browser: Any, record: Path, tmp_path: Path
) -> None:
    browser.get(f"{web()}/replay")
    until(browser, "document.querySelectorAll('#file').length", 1)
    browser.find_element("id", "file").send_keys(str(record))
    until(browser, "document.querySelectorAll('.board .gb-square').length", 64)
    page = browser.execute_async_script(
        "const done = arguments[0];"
        "fetch(document.querySelector('a[download]').href).then((r) => r.text()).then(done)"
    )
    kept = tmp_path / "kept.html"
    kept.write_text(page)
    browser.get(f"{kept.as_uri()}#2")
    until(browser, "document.querySelector('output')?.textContent.startsWith('step 2 of')", True)
    until(browser, "document.querySelectorAll('.board .gb-square').length", 64)


@pytest.mark.slow
def test_a_match_that_is_being_played_is_followed(
    web: WebServer, browser: Any, tmp_path: Path, record: Path
) -> None:
    """The file grows as `ggp host --output` writes it."""
    told = json.loads(record.read_text(encoding="utf-8"))
    states, goals = told["states"], told.pop("goalValues")

    def write(steps: int, **more: object) -> None:
        cut = {"states": states[: steps + 1], "moves": told["moves"][:steps], "isCompleted": False}
        new = tmp_path / "new"
        new.write_text(json.dumps({**told, **cut, **more}))
        new.replace(tmp_path / "live.json")

    write(2)
    browser.get(f"{web('--records', str(tmp_path))}/replay?file=live.json#2")
    where = "document.querySelector('output')?.textContent"
    until(browser, where, "step 2 of 2")
    write(40)
    until(browser, where, "step 40 of 40")
    browser.execute_script("location.hash = '#7'")
    until(browser, where, "step 7 of 40")
    last = len(states) - 1
    write(last, goalValues=goals)
    until(browser, where, f"step 7 of {last}")
    browser.execute_script("document.querySelector('[aria-label=last]').click()")
    until(browser, "/ (100|0)\\b/.test(document.querySelector('.status').textContent)", True)
