"""The JSON API does what its description says; no answer names a folder; the docs lead to what is there."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import tempfile
import time
import tomllib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.json_schema import check_json
from gdl.reading import games_folder
from gdl.visible import without_folders
from ggp.answers.operations import OPERATIONS
from ggp.game import Game
from ggp.protocol.event_source import BEHIND
from ggp.server.clients.connections import error_text
from ggp.web.api import DESK, ERROR, describe_api
from ggp.web.app import make_app
from ggp.web.gate import WebSettings, error_reply
from ggp.web.manual import NAMES, docs_folder, html_of_page, title_of_page
from ggp.web.play.view import TableView
from players.match import Match
from players.processes.lifeline import descendants
from players.registry import make_player
from tests.examples import examples
from tests.ggp.web.pages import Client
from tests.places import ROOT

HANOI = {"game": "hanoi"}
NRPA = "nested-policy"
TRACE = (games_folder() / "playthroughs" / "tictactoe.jsonl").read_text()
GOOD: list[tuple[str, dict[str, Any]]] = [
    ("validate", {"game": "tictactoe"}),
    ("validate", {"rules": "role(x) legal(x,M"}),
    ("validate", {"rules": "(role a) (init p) (legal a go) (goal a 100) terminal", "play": True}),
    ("state", {"game": "tictactoe"}),
    ("state", {"game": "tictactoe", "moves": [["(mark b 2)"], ["noop", "(mark a 1)"]]}),
    ("state", {"game": "tictactoe", "state": "(control o) (cell b 2 x)"}),
    ("legal", {"game": "breakthrough"}),
    ("next", {"game": "tictactoe", "joint": ["(mark b 2)", "noop"]}),
    ("goals", {"game": "nim"}),
    ("playouts", {"game": "tictactoe", "n": 600, "seed": 3}),
    ("verify", {"game": "tictactoe", "trace": TRACE}),
    ("verify", {"game": "breakthrough", "trace": TRACE}),
]


async def ask(client: Client, name: str, told: object) -> tuple[int, Any]:
    reply = await client.post(f"/api/{name}", json=told)
    return reply.status, await reply.json()


@pytest.mark.slow
async def test_answers_follow_their_schemas(client: Client) -> None:
    for name, told in GOOD:
        status, answer = await ask(client, name, told)
        assert status == 200, (name, answer)
        check_json(answer, OPERATIONS[name].reply)


async def test_answers_are_those_of_the_rules(client: Client) -> None:
    game = Game.load("breakthrough")
    rng = random.Random(1)
    state = game.machine("prover").initial_state()
    moves: list[list[str]] = []
    for _ in range(5):
        joint = [rng.choice(legal) for legal in state.legal.values()]
        _, after = await ask(client, "next", {"game": "breakthrough", "moves": moves, "joint": joint})
        moves.append(joint)
        state = state.play(*joint)
        assert after["state"] == [game.rules.spell(p) for p in sorted(state.propositions)]
        assert after["legal"] == state.legal
        _, legal = await ask(client, "legal", {"game": "breakthrough", "moves": moves})
        assert legal["legal"] == state.legal
    _, found = await ask(client, "playouts", {"game": "tictactoe", "n": 1000})
    assert found["playouts"] == sum(found["goals"]["x"]["counts"].values()) == 1000
    assert 55 < found["goals"]["x"]["mean"] < 75
    assert found["lengths"]["shortest"] >= 5
    assert (await ask(client, "verify", {"game": "tictactoe", "trace": TRACE}))[1]["fault"] is None
    assert (await ask(client, "verify", {"game": "breakthrough", "trace": TRACE}))[1]["fault"]


async def events(client: Client, told: object) -> list[tuple[str, dict[str, Any]]]:
    async with asyncio.timeout(120), client.post("/api/solve", json=told) as reply:
        assert reply.status == 200, await reply.text()
        assert reply.content_type == "text/event-stream"
        text = (await reply.read()).decode()
    return [(name, json.loads(data)) for name, data in re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)]


@pytest.mark.slow
async def test_a_search_tells_how_it_gets_on_and_what_came_of_it(client: Client) -> None:
    *progress, (last, answer) = await events(client, {**HANOI, "seconds": 60})
    schemas = describe_api()["components"]["schemas"]
    assert last == "solved"
    check_json(answer, schemas["Solved"])
    assert (answer["value"], len(answer["moves"]), answer["proven"]) == (100, 31, True)
    *progress, (last, _) = await events(client, {"game": "sudoku", "solver": NRPA, "seconds": 4.0})
    assert progress
    for name, news in progress:
        assert name == "progress"
        check_json(news, schemas["Progress"])
    [(last, answer)] = await events(client, {"game": "tictactoe"})
    assert (last, set(answer)) == ("failed", {"error"})


async def test_who_hangs_up_ends_the_search(client: Client) -> None:
    before = set(descendants(os.getpid()))
    reply = await client.post("/api/solve", json={"game": "sokoban", "seconds": 300, "solver": NRPA})
    await reply.content.readany()  # the search has begun
    own = set(descendants(os.getpid())) - before
    assert own
    reply.close()
    for _ in range(200):
        await asyncio.sleep(0.05)
        if not own & set(descendants(os.getpid())):
            return
    raise AssertionError("the search goes on")


BAD: list[tuple[str, object]] = [
    ("state", {}),
    ("state", []),
    ("state", {"game": "tictactoe", "rules": "(role x)"}),
    ("state", {"game": "../../etc/passwd"}),
    ("state", {"game": "tictactoe", "moves": [["(mark z 9)", "noop"]]}),
    ("state", {"game": "tictactoe", "moves": [["((("]]}),
    ("state", {"game": "tictactoe", "moves": "noop"}),
    ("state", {"game": "tictactoe", "moves": [["noop"]] * 5001}),
    ("state", {"game": "tictactoe", "state": "(wild <script>)"}),
    ("state", {"game": "tictactoe", "unknown": 1}),
    ("state", {"rules": "(role x) (<= terminal (not q)) (<= q (not terminal))"}),
    ("next", {"game": "tictactoe"}),
    ("next", {"game": "tictactoe", "joint": ["noop"] * 65}),
    ("playouts", {"game": "tictactoe", "n": 0}),
    ("playouts", {"game": "tictactoe", "n": 1e400}),
    ("playouts", {"game": "tictactoe", "n": True}),
    ("validate", {"rules": "x" * 1_000_001}),
    ("solve", {"game": "hanoi", "seconds": 601}),
    ("solve", {"game": "nosuch"}),
    ("verify", {"game": "tictactoe", "trace": "{"}),
    ("verify", {"game": "tictactoe", "trace": '{"type": "step"}'}),
    ("verify", {"game": "tictactoe", "trace": "7"}),
]


async def test_bad_questions_are_told_on_one_line(client: Client) -> None:
    for name, told in BAD:
        status, answer = await ask(client, name, told)
        assert status == 400, (name, told, answer)
        check_json(answer, ERROR)
        assert "\n" not in answer["error"]
        assert "Traceback" not in answer["error"]
        assert "internal" not in answer["error"]
    assert (await client.post("/api/state", data=b"{")).status == 400
    assert (await client.post("/api/state", data=b"x" * 3_000_000)).status == 413
    assert (await client.post("/api/nosuch", json={})).status in (404, 405)
    assert (await client.get("/api/state")).status == 405


async def test_the_description_names_every_route_and_nothing_else(client: Client) -> None:
    app = make_app(WebSettings())
    routes = {
        (route.resource.canonical, route.method.lower())
        for route in app.router.routes()
        if route.resource is not None and route.resource.canonical.startswith("/api/")
    }
    described = describe_api()
    paths = {(path, method) for path, item in described["paths"].items() for method in item}
    assert {(path, method) for path, method in routes if method != "head"} == paths
    assert await (await client.get("/api/openapi.json")).json() == json.loads(json.dumps(described))
    told = await (await client.get("/api/games")).json()
    schema = described["paths"]["/api/games"]["get"]["responses"]["200"]["content"]["application/json"]
    check_json(told, schema["schema"])
    assert "tictactoe" in told["games"]
    assert "yards.xsb:1" in told["levels"]


@pytest.mark.slow
def test_our_schemas_are_schemas_and_mean_what_the_standard_says() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    for name, operation in OPERATIONS.items():
        for schema in (operation.request, operation.reply):
            jsonschema.Draft202012Validator.check_schema(schema)
        for asked, told in [*GOOD, *BAD]:
            if asked == name:
                theirs = jsonschema.Draft202012Validator(operation.request).is_valid(told)
                assert theirs == _is_valid(told, operation.request), told


def _is_valid(value: object, schema: dict[str, Any]) -> bool:
    try:
        check_json(value, schema)
    except GdlError:
        return False
    return True


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["game", "n", "moves"]), inner)
    ),
    max_leaves=8,
)


@pytest.mark.slow
@examples(80)
@given(JSON, st.sampled_from(sorted(OPERATIONS)))
def test_any_json_is_judged_as_the_standard_judges_it(value: object, name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    schema = OPERATIONS[name].request
    # Draft 2020-12 takes 1.0 for a whole number, we do not.
    if not re.search(r"\d\.0\b|e\+", json.dumps(value)):
        assert _is_valid(value, schema) == jsonschema.Draft202012Validator(schema).is_valid(value)


async def test_a_search_that_tells_more_than_is_read_keeps_no_more_than_some_news(client: Client) -> None:
    async def ask(name: str, told: object, news: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        for number in range(10 * BEHIND):  # nothing is sent meanwhile
            news({"kind": "progress", "seconds": number})
        return {"value": 100}

    client.app[DESK].ask = ask  # type: ignore[method-assign, assignment]
    *progress, (last, answer) = await events(client, {"game": "hanoi", "seconds": 1})
    assert [data["seconds"] for _, data in progress] == list(range(BEHIND))
    assert (last, answer) == ("solved", {"value": 100})


# --- What the page, the API and the tools answer never says where files of the server lie
LEVEL = next(path.name for path in sorted((games_folder() / "levels").glob("*.xsb")))


@pytest.mark.parametrize("name", ["state", "solve"])
async def test_a_level_that_is_not_there_is_told_without_its_folder(client: Client, name: str) -> None:
    reply = await client.post(f"/api/{name}", json={"game": f"{LEVEL}:99999"})
    text = await reply.text()
    assert "there is no level 99999" in text and LEVEL in text
    assert str(games_folder()) not in text and str(ROOT) not in text


@pytest.mark.parametrize(
    "path",
    [games_folder() / "chess.kif", Path(tempfile.gettempdir()) / "a" / "b.sqlite", Path.home() / "x y" / "z"],
)
def test_no_refusal_says_where_a_file_lies(path: Path) -> None:
    for text in (f"cannot read {path}: it is a folder", f"{path}:3:4: wrong", f"'{path}' ({path})"):
        told = error_reply(400, text).body
        assert isinstance(told, bytes)
        error = orjson.loads(told)["error"]
        assert str(path.parent) not in error and path.name in error


def test_a_server_of_players_refuses_without_folders() -> None:
    place, said = Path(tempfile.gettempdir()) / "a" / "b.sqlite", list[dict[str, object]]()
    text, status = error_text(
        GdlError(f"cannot read {place}"), lambda level, event, **fields: said.append(fields)
    )
    assert (text, status) == ("error: cannot read b.sqlite", 400)
    assert said == [{"status": 400, "error": f"cannot read {place}"}]  # the operator is told where


def test_what_a_player_notes_is_told_without_folders(tmp_path: Path) -> None:
    game = Game.load("tictactoe")
    machine = game.machine("prover")
    player = make_player(f"tables:dir={tmp_path / 'none'},otherwise=legal")
    state = machine.initial_state()
    player.start(machine, 0, state, 0.1, time.monotonic() + 0.1)
    choice = player.choose(state, time.monotonic() + 0.1)
    assert str(tmp_path) in choice.note  # who started the player here is told where it has looked
    match = Match(machine)
    match.answer(0, choice)
    match.make()
    [told] = TableView(game, machine).seen(match, match.at)["history"]
    assert told["notes"]["x"].startswith("no table: ")
    assert str(tmp_path) not in told["notes"]["x"]


def test_words_with_slashes_stay() -> None:
    for text in (
        "GET /api/games lists them",
        "http://127.0.0.1:80/etc/x",
        "1/2",
        "(a/b /c)",
        "//etc/x",
        "-/-",
    ):
        assert without_folders(text) == text


# --- The docs in the page: each page is there, and leads nowhere that is not
class Parts(HTMLParser):
    """The addresses and ids of a page, and the elements that it has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.leads: set[str] = set()
        self.ids: set[str] = set()
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        found = dict(attrs)
        self.leads |= {found[name] or "" for name in ("href", "src") if name in found}
        self.ids |= {found["id"] or ""} if "id" in found else set()


@pytest.mark.parametrize("name", sorted(NAMES))
def test_links_of_a_page_lead_to_pages_pictures_and_headings_that_are_there(name: str) -> None:
    page = Parts(html_of_page(name))
    assert title_of_page(name) not in ("", name)
    assert not page.tags & {"script", "style", "iframe", "svg", "form", "input", "button", "object", "embed"}
    assert "p" in page.tags
    for lead in page.leads:
        if lead.startswith(("https://", "http://")):
            continue
        path, _, part = lead.partition("#")
        if path.startswith("/docs/pictures/"):
            assert (docs_folder() / path.removeprefix("/docs/")).is_file(), lead
            continue
        there = path.removeprefix("/docs/") or name
        assert there in NAMES, lead
        assert not part or part in Parts(html_of_page(there)).ids, lead


def test_wheels_have_the_pages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    carried = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    wanted = {"docs/pictures", *(f"docs/{name}.md" for name in NAMES)}
    assert {name for name in carried if name.startswith("docs/")} == wanted
    assert all(inside == f"ggp/{name}" for name, inside in carried.items())


async def test_pages_and_pictures_are_served_and_nothing_else(client: Client) -> None:
    listed = await (await client.get("/docs")).text()
    assert all(f"&quot;{name}&quot;" in listed for name in NAMES)
    shown = await (await client.get("/docs/tutorials/first-game")).text()
    assert title_of_page("tutorials/first-game") in shown
    assert (await client.get("/docs/pictures/play.png")).content_type == "image/png"
    for name in ("measurements", "web.md", "../README", "tutorials", "pictures", "%2e%2e/README"):
        assert (await client.get(f"/docs/{name}")).status in (403, 404), name
