"""axe-core has no serious finding on any page, in light and dark colours. No page is wider than a phone."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.ggp.web.browsing import WebServer, order, press, wait
from tests.ggp.web.replay.test_recorded import played
from tests.ggp.web.test_tournaments import kept_tournament

pytestmark = pytest.mark.slow
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
PAGES = {
    "start": ("/", "document.querySelector('.doors')"),
    "cards": ("/play", "document.querySelectorAll('.card').length > 40"),
    "sheet": ("/play?game=chess", "document.querySelector('dialog[open]')"),
    "puzzles": ("/puzzles", "document.querySelectorAll('.card').length > 20"),
    "editor": ("/rules?game=tictactoe", "document.querySelector('.preview svg')"),
    "watch": ("/watch", "document.querySelector('.servers li')"),
    "replay": ("/replay", "document.querySelectorAll('.card svg').length === 2"),
    "match": ("/replay?file=one.json#9", "document.querySelectorAll('.history td button').length > 9"),
    "tournaments": ("/tournaments", "document.querySelector('main ul a')"),
    "tournament": ("/tournaments?file=cup.sqlite", "document.querySelector('.cross')"),
    "docs": ("/docs", "document.querySelectorAll('.contents a').length > 12"),
    "page of the docs": ("/docs/web", "document.querySelectorAll('article table').length > 2"),
    "api": ("/api", "document.querySelectorAll('textarea').length > 6"),
}
TABLES = {
    "chess": ({"game": "chess", "seats": ["human", "human"]}, 20),
    "hex": ({"game": "hex", "seats": ["human", "human"]}, 81),
    "level": ({"game": "tutorial.xsb:1", "seats": ["human"]}, 2),
    "at once": ({"game": "rockpaperscissors", "seats": ["human", "human"]}, 3),
}
"""Tables, and how many moves somebody has in the first state."""


@pytest.fixture(scope="module")
def address(web: WebServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("accessible")
    (folder / "one.json").write_text(json.dumps(asyncio.run(played("breakthrough")).to_dict()))
    kept_tournament(folder / "cup.sqlite")
    return web("--records", str(folder))


def findings(browser: Any) -> list[str]:
    """What axe-core calls serious or worse on the page that is shown, and where."""
    axe = pytest.importorskip("selenium_axe_python", reason="axe-core is not installed").Axe(browser)
    axe.inject()
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in axe.run()["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def look(browser: Any) -> None:
    """At the page that is shown: in both colours, and as wide as a phone."""
    seen: dict[str, list[str]] = {}
    try:
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            seen[scheme] = findings(browser)
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
        wait(browser, "innerWidth < 500")
        wide = browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert seen == {"light": [], "dark": []}


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious_on_a_page(address: str, browser: Any, name: str) -> None:
    path, shown = PAGES[name]
    browser.get(address + path)
    wait(browser, shown)
    look(browser)


@pytest.mark.parametrize("name", TABLES)
def test_axe_finds_nothing_serious_at_a_table(address: str, browser: Any, name: str) -> None:
    fields, moves = TABLES[name]
    order(browser, address, "/play/tables", rules="", **fields)
    wait(browser, f"document.querySelectorAll('.moves button').length === {moves}")
    look(browser)
    for tab in browser.find_elements("css selector", "[role=tab]"):
        tab.click()
        assert findings(browser) == []


def test_axe_finds_nothing_serious_at_the_end_and_on_a_solved_puzzle(address: str, browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    order(browser, address, "/play/tables", rules="", game="tutorial.xsb:1", seats=["human"])
    for number, key in enumerate((Keys.ARROW_UP, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)):
        wait(browser, f"document.querySelector('output')?.textContent === 'step {number} of {number}'")
        wait(browser, "document.title.startsWith('● Your turn')")
        press(browser, key)
    wait(browser, "document.querySelector('.banner:not([hidden])')")
    look(browser)
    order(browser, address, "/puzzles", game="tutorial.xsb:1", seconds=20, solver="")
    wait(browser, "Number(document.querySelector('input[aria-label=Step]')?.max) === 3")
    look(browser)
