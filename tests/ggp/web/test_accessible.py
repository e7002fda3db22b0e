"""axe-core finds nothing serious in any room, in light and dark colours, on a desk and on a phone; words on
boards stand out from what is behind them; and no page is wider than a phone."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest
from yarl import URL

from ggp.tournament.session import stored_settings
from ggp.tournament.statistics.tables import html_report
from ggp.tournament.store import Store
from ggp.web.app import make_app
from ggp.web.gate import PAGES, WebSettings
from tests.ggp.web.pages import WebServer, open_table, order, press, wait
from tests.ggp.web.play.test_every_game import FIFTH, PLAYED, play
from tests.ggp.web.replay.test_recorded import played
from tests.ggp.web.test_tournaments import kept_tournament

pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver import Keys

WIDTHS = {
    "a desk": {"width": 1200, "height": 1000, "deviceScaleFactor": 1, "mobile": False},
    "a phone": {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True},
}
ROOMS = {
    "start": ("/", "document.querySelector('.doors')"),
    "cards": ("/play", "document.querySelectorAll('.card').length > 40"),
    "sheet": ("/play?game=chess", "document.querySelector('dialog[open]')"),
    "puzzles": ("/puzzles", "document.querySelectorAll('.card').length > 20"),
    "puzzle": ("/puzzles?game=eightpuzzle", "document.querySelector('dialog[open]')"),
    "levels": ("/puzzles/draw", "document.querySelector('.status').textContent"),
    "editor": ("/rules?game=tictactoe", "document.querySelector('.preview svg')"),
    "watch": ("/watch", "document.querySelector('.empty:not([hidden]), a.card')"),
    "replay": ("/replay", "document.querySelectorAll('.card svg').length === 2"),
    "match": ("/replay?file=one.json#9", "document.querySelectorAll('.history td button').length > 9"),
    "analysis": ("/replay?file=one.json&analyse=1#9", "document.querySelector('.values')"),
    "tournaments": ("/tournaments", "document.querySelector('main ul a')"),
    "tournament": ("/tournaments?file=cup.sqlite", "document.querySelector('.cross')"),
    "docs": ("/docs", "document.querySelectorAll('.contents a').length > 12"),
    "page of the docs": ("/docs/web", "document.querySelectorAll('article table').length > 2"),
    "api": ("/api", "document.querySelectorAll('textarea').length > 6"),
    "nothing": ("/nowhere", "document.querySelector('main a')"),
}
AT_ONCE = ["cards", "editor"]
"""Rooms that each run looks at."""
OPENED = {"/play/{table}", "/puzzles/{id}", "/packings/{id}"}
"""Pages of tables and solutions, which tests open by an order."""
TABLES = {
    "alone": {"game": "chess", "seats": ["human", "human"]},
    "against the page, with clocks": {"game": "connectfour", "seats": ["human", "legal"], "minutes": 5},
    "a free seat": {"game": "checkers", "seats": ["human", "friend"], "minutes": 5, "name": "Ann"},
    "level": {"game": "tutorial.xsb:1", "seats": ["human"]},
    "at once": {"game": "rockpaperscissors", "seats": ["human", "human"]},
}
SHORT = ["backgammon", "mastermind"]
"""Games whose boards each run looks at."""
CLICKS = 6
"""Clicks in a match before one looks at its board."""

CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def address(web: WebServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("accessible")
    (folder / "one.json").write_text(json.dumps(asyncio.run(played("breakthrough")).to_dict()))
    kept_tournament(folder / "cup.sqlite")
    return web("--records", str(folder), "--processes", "400")


def findings(browser: Any, *rules: str) -> list[str]:
    """What axe-core calls serious or worse on the shown page, and where: by these rules, or by all."""
    axe = pytest.importorskip("selenium_axe_python", reason="axe-core is not installed").Axe(browser)
    if not browser.execute_script("return 'axe' in window"):
        axe.inject()
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in axe.run("document", json.dumps(options))["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def look(browser: Any) -> None:
    """At the page that is shown: in both colours, on a desk and on a phone."""
    seen: dict[str, list[str]] = {}
    try:
        for place, size in WIDTHS.items():
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            wait(browser, f"innerWidth === {size['width']}")
            wide = browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
            seen[f"{place}, wider by"] = [wide] if wide > 0 else []
            for scheme, rules in (("light", ()), ("dark", ("color-contrast",))):
                features = [{"name": "prefers-color-scheme", "value": scheme}]
                browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
                seen[f"{place}, {scheme}"] = findings(browser, *rules) + browser.execute_script(CONTRAST)
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert {place: found for place, found in seen.items() if found} == {}


def look_at_file(browser: Any, path: Path, text: str, shown: str) -> None:
    """At a page that was saved as a file, once it shows what this selector finds."""
    path.write_text(text, encoding="utf-8")
    browser.get(path.as_uri())
    wait(browser, f"document.querySelector('{shown}')")
    look(browser)


def some(names: list[str], fast: list[str]) -> list[Any]:
    """Parameters of a test: most are slow."""
    return [name if name in fast else pytest.param(name, marks=pytest.mark.slow) for name in names]


def test_all_pages_are_looked_at() -> None:
    app = make_app(WebSettings())
    resources = {one.canonical: one for one in app.router.resources()}
    asked = {URL(path).path for path, _ in ROOMS.values()}
    seen = {name for name in app[PAGES] for path in asked if resources[name].get_info().get("path") == path}
    seen |= {"/docs/{name}"} & app[PAGES]
    assert app[PAGES] - seen == OPENED


@pytest.mark.parametrize("name", some([*ROOMS], AT_ONCE))
def test_axe_finds_nothing_serious_in_a_room(address: str, browser: Any, name: str) -> None:
    path, shown = ROOMS[name]
    browser.get(address + path)
    wait(browser, shown)
    browser.get_log("browser")  # that one of the addresses leads nowhere
    look(browser)


@pytest.mark.parametrize("name", some([*PLAYED, *FIFTH], SHORT))
def test_axe_finds_nothing_serious_on_the_board_of_a_match(address: str, browser: Any, name: str) -> None:
    open_table(browser, address, name, ["human"])
    wait(browser, "document.querySelector('.board svg')")
    play(browser, random.Random(2), CLICKS)
    look(browser)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_axe_finds_nothing_serious_behind_the_tabs_of_a_table(address: str, browser: Any, name: str) -> None:
    order(browser, address, "/play/tables", rules="", **TABLES[name])
    wait(browser, "document.querySelector('.moves button')")
    for tab in browser.find_elements("css selector", "[role=tab]"):
        tab.click()
        look(browser)


SITS = """
const headers = {'X-Ggp-Token': document.querySelector('meta[name=token]').content};
const post = async (name, body) => {
  const order = {method: 'POST', headers, body: JSON.stringify(body)};
  const reply = await fetch(`${location.pathname}/${name}`, order);
  return reply.json();
};
const sits = async () => {
  const { key } = await post('sit', {role: 'black', name: 'Bob'});
  for (const what of ['back', 'draw']) await post(what, {key});
};
sits().then(arguments[0]);
"""
"""Somebody sits down, asks to take back and offers a draw."""


@pytest.mark.slow
def test_axe_finds_nothing_serious_between_people_and_where_somebody_looks_on(
    address: str, browser: Any
) -> None:
    order(browser, address, "/play/tables", game="chess", seats=["human", "friend"], name="Ann")
    wait(browser, "document.querySelector('.company input')")
    here = browser.current_url
    browser.get(here.replace("localhost", "127.0.0.1"))  # another origin is another person's browser
    wait(browser, "document.querySelector('.sit')")
    look(browser)
    browser.get(here)
    wait(browser, "document.querySelector('.company input')")
    browser.execute_async_script(SITS)
    wait(browser, "document.querySelector('#accept-draw')")
    look(browser)


@pytest.mark.slow
def test_axe_finds_nothing_serious_where_a_match_is_watched(address: str, browser: Any) -> None:
    order(browser, address, "/play/tables", game="kalah", seats=["legal", "human"])
    browser.get(f"{address}/watch")
    wait(browser, "document.querySelector('a.card svg')")
    look(browser)
    browser.find_element("css selector", "a.card").click()
    wait(browser, "document.querySelector('.board svg')")
    look(browser)


@pytest.mark.slow
def test_axe_finds_nothing_serious_at_the_end_and_on_a_page_that_is_kept(
    address: str, browser: Any, tmp_path: Path
) -> None:
    order(browser, address, "/play/tables", game="mastermind", seats=["human"])
    wait(browser, "document.querySelector('.board svg')")
    play(browser, random.Random(1))
    look(browser)
    link = browser.find_element("css selector", ".banner a[href*=html]").get_attribute("href")
    browser.find_element("id", "look-back").click()
    wait(browser, "document.querySelector('#see-as')")
    look(browser)
    text = browser.execute_async_script("fetch(arguments[0]).then((r) => r.text()).then(arguments[1])", link)
    look_at_file(browser, tmp_path / "kept.html", text, "svg")


@pytest.mark.slow
def test_axe_finds_nothing_serious_in_the_report_of_a_tournament(browser: Any, tmp_path: Path) -> None:
    with Store(kept_tournament(tmp_path / "cup.sqlite")) as store:
        settings = stored_settings(store)
        assert settings is not None
        text = html_report(settings, store.results())
    look_at_file(browser, tmp_path / "cup.html", text, ".cross")


@pytest.mark.slow
def test_axe_finds_nothing_serious_on_solved_puzzles(address: str, browser: Any) -> None:
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
    browser.get(f"{address}/puzzles?game=soma.packing")
    wait(browser, "document.querySelector('dialog[open] #solve')").click()
    wait(browser, "document.querySelector('.space iframe')")
    look(browser)
