"""A tournament's page has the tables of its file, follows it, and takes no harm from a stranger's."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bench.hostile_tournaments import ENDLESS, picture, write_hostile, write_special, write_tournament
from ggp.game import Game
from ggp.protocol.http_error import BusyError
from ggp.tournament.schedule import Fixture
from ggp.tournament.session import stored_settings
from ggp.tournament.settings import GameSpec, TournamentSettings, parse_entrants
from ggp.tournament.statistics.ratings import Sprt
from ggp.tournament.statistics.tables import html_report
from ggp.tournament.store import Result, Store
from ggp.web.replay.routes import MOST_BEGUN, Shelf
from ggp.web.tournament_process import tables_of
from tests.ggp.web.pages import Client, Listener, WebServer, client_of, open_table, token_of, until, wait
from tests.ggp.web.replay.test_recorded import played

EVIL = "<b>tictactoe</b>"


def fixture(number: int, first: bool) -> Fixture:
    return Fixture("tictactoe", number, ("greedy", "random") if first else ("random", "greedy"))


def add(store: Store, number: int, first: bool, goal: int, record: dict[str, Any]) -> None:
    goals = (goal, 100 - goal) if first else (100 - goal, goal)
    store.add(Result(fixture(number, first), goals, ((0, 0, 0), (1, 0, 0)), True, 9, 0.5), record)


def kept_tournament(path: Path) -> Path:
    """A tournament's file with three matches of tic-tac-toe."""
    record = asyncio.run(played("tictactoe")).to_dict()
    game = Game.load("tictactoe")
    entrants = tuple(parse_entrants(["greedy,random"]))
    settings = TournamentSettings(EVIL, (GameSpec("tictactoe", game.kif, 2),), entrants, 3, 1.0, 0.5)
    with Store(path) as store:
        store.set("settings", settings.as_json())
        for number, first, goal in ((1, True, 100), (1, False, 100), (2, True, 50)):
            add(store, number, first, goal, record)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return kept_tournament(tmp_path / "one.sqlite")


def test_the_tables_are_those_of_the_file(path: Path) -> None:
    told = tables_of(path, Sprt(0, 20))
    assert (told["name"], told["played"], told["total"]) == (EVIL, 3, 6)
    assert [one["player"] for one in told["ratings"]] == ["greedy", "random"]
    assert told["ratings"][0]["low"] < told["ratings"][0]["elo"] < told["ratings"][0]["high"]
    assert told["cross"] == [["", "83.3 % (+2 =1 -0)"], ["16.7 % (+0 =1 -2)", ""]]
    assert told["verdict"].startswith("not sure yet: with 8")
    assert told["test"]["history"] and "undecided" in told["test"]["line"]
    assert [one["faults"] for one in told["matches"]] == [1, 1, 1]
    json.dumps(told)


async def test_news_come_while_matches_are_played_and_each_can_be_replayed(path: Path) -> None:
    async with client_of(records=path.parent) as client:
        assert "one.sqlite" in await (await client.get("/tournaments")).text()
        for bad in ("../one.sqlite", "two.sqlite", "/etc/passwd", "one.sqlite\0"):
            assert (await client.get("/tournaments/events", params={"file": bad})).status == 400
        news = await client.get("/tournaments/events", params={"file": "one.sqlite"})

        async def tables() -> dict[str, Any]:
            async with asyncio.timeout(30):
                text = (await news.content.readuntil(b"\n\n")).decode()
            told: dict[str, Any] = json.loads(text.partition("data: ")[2])
            return told

        assert (await tables())["played"] == 3
        with Store(path) as store:
            add(store, 2, False, 0, next(iter(store.records()))[1])
        assert (await tables())["played"] == 4
        story = await client.get("/replay/story", params={"tournament": "one.sqlite", "match": "4"})
        assert (await story.json())["game"] == "tictactoe"
        for number in ("5", "0", "x", ""):
            reply = await client.get("/replay/story", params={"tournament": "one.sqlite", "match": number})
            assert reply.status == 400


@pytest.mark.slow
def test_a_page_and_a_report_show_the_same_tables(web: WebServer, browser: Any, path: Path) -> None:
    told = tables_of(path)
    with Store(path) as store:
        settings, results = stored_settings(store), store.results()
    assert settings is not None
    report = path.with_suffix(".html")
    report.write_text(html_report(settings, results))
    cells = "[...document.querySelectorAll('main table')].slice(0, 4).map((one) => one.textContent).join('|')"
    shown = []
    for address in (report.as_uri(), f"{web('--records', str(path.parent))}/tournaments?file=one.sqlite"):
        browser.get(address)
        until(browser, "document.querySelector('h1').textContent", EVIL)
        shown.append(wait(browser, cells))
    assert shown[0] == shown[1]
    assert told["cross"][0][1] in shown[0]


# --- A stranger's file among the records is one line in both rooms, and meanwhile others are answered
SHOWN = ("view", "rounds", "settings-x", "row-large", "loop", "log-pipe", "entrants-lines")


@pytest.mark.slow
async def test_hostile_tournaments_are_one_line_in_both_rooms(tmp_path: Path) -> None:
    write_hostile(tmp_path)
    write_special(tmp_path)
    before = picture(tmp_path)
    async with client_of(records=tmp_path) as client:
        for name in SHOWN:
            asked = [
                client.get("/tournaments/events", params={"file": f"{name}.sqlite"}),
                client.get("/replay/story", params={"tournament": f"{name}.sqlite", "match": "1"}),
                client.get("/static/page.js"),
            ]
            tables, story, static = await asyncio.gather(*asked)
            assert static.status == 200
            assert tables.status == 400, name
            assert "\n" not in (await tables.json())["error"]
            assert str(tmp_path) not in await tables.text()
            # The row of one match may be whole where others are not.
            assert story.status == 400, name
            assert "internal" not in await story.text() + await tables.text()
        for name in ("pipe", "device", "folder"):
            for where, field in (("/tournaments/events", "file"), ("/replay/story", "tournament")):
                reply = await client.get(where, params={field: f"{name}.sqlite", "match": "1"})
                assert reply.status == 400
    assert picture(tmp_path) == before


async def test_all_who_ask_for_the_same_file_share_one_reading(tmp_path: Path) -> None:
    write_tournament(tmp_path / "t.sqlite", more=(f"CREATE VIEW other AS {ENDLESS} SELECT x FROM n",))
    async with client_of(records=tmp_path) as client:
        replies = await asyncio.gather(
            *(client.get("/tournaments/events", params={"file": "t.sqlite"}) for _ in range(40))
        )
        assert {reply.status for reply in replies} == {200}
        for reply in replies:
            reply.close()


# --- Tournaments that a page begins
PLAYERS = [{"label": "Greedy one", "spec": "greedy"}, {"label": "dice", "spec": "random"}]
ORDER = {"games": ["nim"], "players": PLAYERS, "rounds": 1, "playclock": 0.1}


def with_player(spec: str, label: str = "other") -> dict[str, object]:
    return {"players": [PLAYERS[0], {"label": label, "spec": spec}]}


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"games": ["hanoi"]}, "there is no game 'hanoi' for two players and more"),
        ({"games": ["/etc/passwd"]}, "there is no game"),
        ({"games": []}, "games"),
        (with_player("os:system"), "'os:system' is not offered here"),
        (with_player("http://localhost:1"), "is not offered here"),
        (with_player("uct:knowledge=/tmp"), "knowledge"),
        (with_player("uct:workers=1"), "no processes of their own"),
        (with_player("random", "Greedy one"), "two players are called Greedy one"),
        (with_player("random", "<b>"), "which cannot be"),
        ({"games": ["nim", "hex", "chomp"], "rounds": 20}, "120 matches are more than 100"),
        ({"rounds": 10**9}, "rounds is more than 20"),
        ({"playclock": 1e9}, "playclock is more than 10"),
    ],
)
def test_a_page_names_known_games_and_public_players_within_limits(
    client: Client, loop: asyncio.Runner, changed: dict[str, object], error: str
) -> None:
    async def told() -> tuple[int, dict[str, str]]:
        reply = await client.post("/tournaments/begin", json=ORDER | changed, headers=token_of(client))
        return reply.status, await reply.json()

    status, answer = loop.run(told())
    assert status == 400 and error in answer["error"]


async def test_a_page_begins_a_tournament_sees_it_played_and_alone_may_stop_it(tmp_path: Path) -> None:
    async with client_of(tournaments=tmp_path) as client:
        told = await begun(client, **ORDER)
        heard = Listener(client, f"/tournaments/events?file={told['file']}")
        tables = await heard.until("tables", lambda news: news["played"] == news["total"] == 2)
        assert (tables["name"], tables["players"]) == ("Nim", ["Greedy one", "dice"])
        story = await client.get("/replay/story", params={"tournament": told["file"], "match": "1"})
        assert (await story.json())["game"] == "nim"

        long = ORDER | {"games": ["chess"], "playclock": 10.0, **with_player("uct")}
        told, another = await begun(client, **long), await begun(client, **long)
        reply = await client.post("/tournaments/begin", json=long, headers=token_of(client))
        assert reply.status == 503 and "2 at a time: tournament" in (await reply.json())["error"]
        order = {"key": another["key"]}
        assert (await client.post("/tournaments/stop", json=order, headers=token_of(client))).status == 200
        for key, status in (("wrong", 400), ("", 400), (told["key"], 200)):
            reply = await client.post("/tournaments/stop", json={"key": key}, headers=token_of(client))
            assert reply.status == status, key
        assert told["file"] in await (await client.get("/tournaments")).text()
    assert len(list(tmp_path.glob("page-*.sqlite"))) == 3  # the operator's folder keeps them


async def begun(client: Client, **order: object) -> dict[str, str]:
    reply = await client.post("/tournaments/begin", json=order, headers=token_of(client))
    told: dict[str, str] = await reply.json()
    assert reply.status == 200, told
    return told


def test_a_folder_of_the_operator_is_not_filled_and_the_own_one_forgets_the_oldest(tmp_path: Path) -> None:
    for number in range(MOST_BEGUN):
        (tmp_path / f"page-{number:012}.sqlite").touch()
    with pytest.raises(BusyError, match="are kept here"):
        Shelf(None, tmp_path).begin_tournament()
    shelf = Shelf(None)
    for _ in range(MOST_BEGUN + 2):
        path = shelf.begin_tournament()
        path.touch()
    assert len(list(path.parent.iterdir())) == MOST_BEGUN and path.exists()
    assert shelf.path(path.name, "tournament") == path
    assert len(shelf.list()) == MOST_BEGUN
    shelf.close()
    assert not path.exists()


@pytest.mark.slow
def test_an_empty_room_begins_something_and_lists_what_this_browser_played(
    web: WebServer, browser: Any
) -> None:
    address = web()
    browser.get(f"{address}/replay")
    wait(browser, "document.querySelector('.empty a.main')")
    open_table(browser, address, "tictactoe", ["human"])
    for number in (2, 4, 6, 8, 9):
        wait(browser, "document.querySelector('.moves button') && document.title.startsWith('●')")
        if number == 4:  # in the middle the first page leads back
            browser.get(f"{address}/")
            wait(browser, "document.getElementById('continue')").click()
            wait(browser, "document.querySelector('.moves button') && document.title.startsWith('●')")
        browser.execute_script("document.querySelector('.moves button').click()")
        step = f"/step {number} /.test(document.querySelector('output').value)"
        wait(browser, f"{step} || !document.querySelector('.banner').hidden")
        if browser.execute_script("return !document.querySelector('.banner').hidden"):
            break
    wait(browser, "localStorage.getItem('my matches')")
    browser.get(f"{address}/replay")
    wait(browser, "document.querySelector('.cards .card svg')")
    browser.execute_script("document.querySelector('.cards .card').click()")
    until(browser, "document.querySelector('h1').textContent", "Tic-tac-toe")
    browser.get(f"{address}/")
    wait(browser, "document.querySelector('.continue')")
    assert not browser.find_elements("id", "continue")
    browser.get(f"{address}/tournaments")
    wait(browser, "document.getElementById('start')")
    players = [f"[name=player][value='{number}']" for number in (0, 1, 3)]
    for choice in (*players, "[value=connectfour]", "[value=chomp]"):
        browser.execute_script("document.querySelector(arguments[0]).click()", choice)
    for size, number in (("width", 3), ("height", 2)):
        shown = f".sizes:not([hidden]) [aria-label={size}]"
        browser.execute_script("document.querySelector(arguments[0]).value = arguments[1]", shown, number)
    assert "8 matches" in browser.find_element("css selector", ".begin [role=status]").text
    browser.find_element("id", "start").click()
    wait(browser, "document.querySelector('progress')?.value === 8")
    told = browser.find_element("css selector", "main").text
    assert "Greedy" in told and "Chomp 3x2" in told
