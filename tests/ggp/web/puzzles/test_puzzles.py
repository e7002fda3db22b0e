"""Puzzles and packings are solved while one looks on; what is no puzzle is told."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from gdl.errors import GdlError
from ggp.answers.answer_process import solve_told
from ggp.answers.catalogue import checked_source, known_cards, load_source
from ggp.game import Game
from ggp.web.puzzles import routes as puzzles
from ggp.web.puzzles.puzzle_process import PuzzleBench
from players.puzzles.sokoban.levels.gdl import level_to_gdl
from players.puzzles.sokoban.levels.level import Level
from tests.ggp.web.pages import Client, WebServer, token_of, wait

STEPS = (
    "(role you) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3) (<= (legal you up) (true (at ?n)))"
    "(<= (legal you stay) (true (at ?n))) (<= (next (at ?m)) (does you up) (true (at ?n)) (succ ?n ?m))"
    "(<= (next (at ?n)) (does you stay) (true (at ?n))) (<= terminal (true (at 3))) (goal you 100)"
)


async def begin(client: Client, **order: object) -> tuple[int, dict[str, Any]]:
    reply = await client.post("/puzzles", json=order, headers=token_of(client))
    return reply.status, await reply.json()


async def outcome(client: Client, key: str) -> tuple[str, dict[str, Any], int]:
    """The last event, its data, and how many came before it."""
    async with asyncio.timeout(120), client.get(f"/puzzles/{key}/events") as reply:
        for number in range(10_000):
            text = (await reply.content.readuntil(b"\n\n")).decode()
            found = re.fullmatch(r"event: (\w+)\ndata: (.*)\n\n", text)
            if found and found[1] != "progress":
                return found[1], json.loads(found[2]), number
    raise AssertionError


async def test_a_puzzle_is_solved_and_its_states_are_drawn(client: Client) -> None:
    status, told = await begin(client, rules=STEPS, seconds=60)
    assert (status, told["page"]) == (200, f"/puzzles/{told['puzzle']}")
    event, found, _ = await outcome(client, told["puzzle"])
    assert (event, found["value"], found["proven"]) == ("solved", 100, True), found
    assert found["moves"] == found["words"] == ["up", "up", "up"]
    pictures = []
    for step in range(4):
        reply = await client.get(f"/puzzles/{told['puzzle']}/steps/{step}")
        assert reply.status == 200
        ET.fromstring(text := await reply.text())
        pictures.append(text)
    assert len(set(pictures)) == 4
    assert (await client.get(f"/puzzles/{told['puzzle']}/steps/4")).status == 400
    # Who comes later is told the end at once.
    assert (await outcome(client, told["puzzle"]))[2] == 0
    assert 'data-module="puzzles.js"' in await (await client.get(told["page"])).text()


def test_a_line_is_told_in_words_or_as_lurd() -> None:
    bench = PuzzleBench()
    order: dict[str, Any] = {"do": "solve", "rules": "", "seconds": 60, "solver": "", "seed": 0}
    hanoi = bench.answer({**order, "game": "hanoi"}, lambda kind, **fields: None)
    moves, words = hanoi["moves"], hanoi["words"]
    assert isinstance(moves, tuple) and isinstance(words, list)
    assert len(words) == len(moves) == 31 and not any("(" in word for word in words)
    assert len(set(words)) == len(set(moves))
    level = bench.answer({**order, "game": "tutorial.xsb:1"}, lambda kind, **fields: None)
    assert level["lurd"] and not level["words"]


@pytest.mark.parametrize("named", [True, False], ids=["by its name", "by its rules"])
def test_a_level_is_solved_by_its_own_solver(named: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ggp.solving.solve_puzzle.solve_puzzle", lambda *_: pytest.fail("its rules were searched")
    )
    monkeypatch.setattr(Game, "machine", lambda *_: pytest.fail("a network was built"))
    told = {"game": "yards.xsb:1"} if named else {"rules": Game.load("yards.xsb:1").text}
    source = {"game": "", "rules": "", **checked_source(told)}
    bench, news = PuzzleBench(), []
    order = {"do": "solve", "seconds": 60, "solver": "", "seed": 0, **source}
    found = bench.answer(order, lambda kind, **fields: news.append(fields))
    assert (found["value"], found["words"], found["doubt"]) == (100, [], "")
    assert found["lurd"] == found["steps"] and len(str(found["lurd"])) == len(found["moves"])  # type: ignore[arg-type]
    assert all(one["value"] is None for one in news)


def test_why_a_level_is_not_solved_is_told() -> None:
    stuck = Level(("#####", "#@ .#", "#  ##", "#$###", "#####"))
    order = {"seconds": 20, "solver": "", "seed": 0}
    told = solve_told(Game("stuck", level_to_gdl(stuck)), order, lambda kind, **fields: None)
    assert (told["value"], told["moves"], told["doubt"]) == (None, (), "proven unsolvable")


def test_a_level_whose_rules_end_before_its_solution_is_searched_by_its_rules() -> None:
    level = Level(("#######", "#@ $ .#", "#######"))
    game = Game("short", level_to_gdl(level, steps=2))
    told = solve_told(game, {"seconds": 20, "solver": "", "seed": 0}, lambda kind, **fields: None)
    assert (told["value"], told["steps"], len(told["moves"])) == (0, "", 2)  # type: ignore[arg-type]


async def test_a_search_is_stopped(client: Client) -> None:
    status, told = await begin(client, game="sokoban", seconds=300, solver="nested-policy")
    assert status == 200
    await asyncio.sleep(0.3)
    assert (await client.post(f"/puzzles/{told['puzzle']}/stop", headers=token_of(client))).status == 200
    event, found, _ = await outcome(client, told["puzzle"])
    assert event == "failed"
    assert "ended" in found["error"]


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ({"game": "tictactoe"}, "2 roles"),
        ({"rules": "(role you) (((("}, "never closed"),
        ({"rules": STEPS, "solver": "nosuch"}, "no solver"),
    ],
)
async def test_what_cannot_be_solved_is_told(client: Client, order: dict[str, object], words: str) -> None:
    status, told = await begin(client, **order)
    assert status == 200
    event, found, _ = await outcome(client, told["puzzle"])
    assert event == "failed"
    assert words in found["error"]
    assert "\n" not in found["error"]


@pytest.mark.parametrize(
    "order",
    [
        {},
        {"game": "nosuchgame"},
        {"game": "../../../etc/passwd"},
        {"game": "/etc/passwd"},
        {"game": "yards.xsb:1/../x"},
        {"game": ["hanoi"]},
        {"game": "hanoi", "rules": STEPS},
        {"rules": "x" * 1_000_001},
        {"game": "hanoi", "seconds": 1e9},
        {"game": "hanoi", "seconds": "1"},
        {"game": "hanoi", "seconds": True},
        {"game": "hanoi", "solver": 7},
    ],
)
async def test_malformed_orders_are_refused(client: Client, order: dict[str, object]) -> None:
    status, told = await begin(client, **order)
    assert status == 400
    assert "\n" not in told["error"]
    assert (await client.get("/puzzles/nothing/events")).status == 400


def test_all_puzzles_that_are_offered_are_there() -> None:
    names = [card["name"] for card in known_cards() if card["kind"] in ("puzzle", "level")]
    assert {"hanoi", "sokoban", "yards.xsb:1", "snakes.txt:1"} <= set(names)
    assert "tictactoe" not in names
    for name in names:
        game = load_source(checked_source({"game": name}))
        assert sum(rule.head.name == "role" for rule in game.rules) == 1, name


def test_steps_outside_a_line_and_moves_that_are_not_legal_are_told() -> None:
    bench = PuzzleBench()
    order = {"do": "draw", "game": "", "rules": STEPS}

    def draw(moves: list[str], step: int) -> object:
        return bench.answer({**order, "moves": moves, "step": step}, lambda kind, **fields: None)["svg"]

    first = draw(["up", "stay"], 2)
    assert draw(["up", "up"], 2) != first
    assert draw(["up", "stay"], 2) == first
    for moves, step in ((["up"], 2), (["up"], -1), (["fly"], 1), (["up"] * 5, 5)):
        with pytest.raises(GdlError):
            draw(moves, step)


async def test_of_puzzles_that_are_over_so_many_rules_are_kept_and_no_more(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client.app[puzzles.PUZZLES], "_most_size", 3 * len(STEPS) + 100)
    keys = []
    for _ in range(5):
        _, told = await begin(client, rules=STEPS, seconds=60)
        keys.append(told["puzzle"])
        await outcome(client, told["puzzle"])
    assert list(client.app[puzzles.PUZZLES]._jobs) == keys[2:]


# --- Packing puzzles are solved, and their pieces are drawn in a frame that runs nothing of strangers
SMALL = b"packing cubes\ntitle <b>Two</b>\npiece A\n##\npiece B\n##\nresult 2 x 2\n"


def quiet(kind: str, **news: Any) -> None:
    """Nobody listens."""


def order(data: bytes = b"", name: str = "") -> dict[str, Any]:
    return {"do": "pack", "name": name, "data": base64.b64encode(data).decode(), "seconds": 20.0}


def test_all_solutions_of_a_small_packing_are_found_and_drawn() -> None:
    told = PuzzleBench().answer(order(SMALL), quiet)
    assert told["complete"]
    assert told["solutions"] == 1
    assert told["apart"]
    page = str(told["page"])
    assert "<b>Two</b>" not in page
    assert "&lt;b&gt;Two&lt;/b&gt;" in page
    assert len(re.findall(r"<script", page)) == 3


def test_a_packing_that_comes_along_comes_apart() -> None:
    told = PuzzleBench().answer(order(name="burr.packing"), quiet)
    assert told["complete"]
    assert told["solutions"] >= 1
    assert told["apart"]


def test_what_is_no_packing_is_refused() -> None:
    with pytest.raises(GdlError):
        PuzzleBench().answer(order(b"(role x)"), quiet)


# --- A puzzle is chosen, solved and played on the board in a real browser, by keys alone
def test_a_puzzle_is_solved_and_its_line_is_played(web: WebServer, browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.get(f"{web()}/puzzles")
    wait(browser, "document.querySelector('#filter')")
    browser.find_element("id", "filter").send_keys("hanoi" + Keys.ENTER)
    wait(browser, "document.querySelector('#solve')")
    browser.find_element("id", "solve").send_keys(Keys.ENTER)
    wait(browser, "document.querySelector('.status').textContent.startsWith('Solved in ')")
    assert "31 moves" in browser.find_element("css selector", ".status").text
    # It plays at once.
    wait(browser, "parseInt(document.querySelector('output').textContent.slice(5)) > 1")
    body = browser.find_element("tag name", "body")
    body.send_keys(Keys.END)
    wait(browser, "document.querySelector('output').textContent === 'step 31 of 31'")
    wait(browser, "document.querySelector('.board svg')")
    last = browser.execute_script("return document.querySelector('.board').innerHTML")
    wait(browser, "document.querySelector('#toggle').textContent === 'Play'")
    body.send_keys(Keys.HOME + Keys.RIGHT)
    wait(browser, "document.querySelector('output').textContent === 'step 1 of 31'")
    body.send_keys(" ")
    wait(browser, "parseInt(document.querySelector('output').textContent.slice(5)) > 3")
    body.send_keys(" ")
    assert browser.execute_script("return document.querySelector('.board').innerHTML") != last
