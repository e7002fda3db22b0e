"""The JSON API does what its OpenAPI description says, for every operation, good questions and bad ones."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.json_schema import check_json
from ggp.answers.operations import OPERATIONS
from ggp.game import Game
from ggp.protocol.event_source import BEHIND
from ggp.rule_files import games_folder
from ggp.web.api import DESK, ERROR, describe_api
from ggp.web.app import make_app
from ggp.web.gate import WebSettings
from players.processes.lifeline import descendants
from tests.examples import examples
from tests.ggp.web.clients import Client

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
    reply.close()
    for _ in range(200):
        await asyncio.sleep(0.05)
        if set(descendants(os.getpid())) <= before:
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


NAMES = ["game", "n", "moves"]
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
    assert client.app is not None

    async def ask(name: str, told: object, news: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
        for number in range(10 * BEHIND):  # nothing is sent meanwhile
            news({"kind": "progress", "seconds": number})
        return {"value": 100}

    client.app[DESK].ask = ask  # type: ignore[method-assign, assignment]
    *progress, (last, answer) = await events(client, {"game": "hanoi", "seconds": 1})
    assert [data["seconds"] for _, data in progress] == list(range(BEHIND))
    assert (last, answer) == ("solved", {"value": 100})
