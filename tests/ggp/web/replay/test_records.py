"""Records of strangers: what is right is shown as it was, what is wrong is told in one line."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.game import Game
from ggp.processes.parent import explain
from ggp.protocol.match_record import MatchRecord
from ggp.web.app import make_app
from ggp.web.gate import TOKENS
from ggp.web.replay.match_log import matches_in, parse_match
from ggp.web.replay.replay_process import RecordReader
from ggp.web.replay.scenes import Scenes
from ggp.web.settings import WebSettings


def recorded(game: str = "tictactoe", seed: int = 0, most: int = 1000) -> dict[str, Any]:
    """The record of a random match."""
    rng = random.Random(seed)
    machine = Game.load(game).machine("prover")
    record = MatchRecord(f"Match.kaskade.{game}.1", 10, 5, ["first", "second"])
    spell = machine.rules.spell
    state = machine.initial_state()
    while True:
        record.add_state(map(spell, sorted(state.propositions)), ["", ""])
        if machine.is_terminal(state) or len(record.moves) == most:
            break
        joint = [rng.choice(machine.legal_moves(state, role)) for role in range(len(machine.roles))]
        record.add_moves(spell(machine.move(role, move)) for role, move in enumerate(joint))
        state = machine.next_state(state, joint)
    record.completed = machine.is_terminal(state)
    record.goals = [machine.result(state, role) or 0 for role in range(len(machine.roles))]
    return record.to_dict()


@pytest.mark.parametrize("game", ["tictactoe", "chess", "biddingtictactoe"])
def test_a_record_is_shown_as_it_was(game: str) -> None:
    record = recorded(game, most=30)
    scenes = Scenes(parse_match(record))
    assert scenes.note == ""
    about = scenes.about()
    tidy = [[move.replace("( ", "(").replace(" )", ")") for move in joint] for joint in record["moves"]]
    assert [step["moves"] for step in about["steps"][1:]] == tidy
    drawings = [scenes.draw(n) for n in range(len(record["states"]))]
    assert len(set(drawings)) == len(drawings)
    without = {**record, "states": []}
    computed = Scenes(parse_match(without))
    assert [computed.draw(n) for n in range(len(drawings))] == drawings


def test_what_does_not_follow_the_rules_is_told_at_its_step() -> None:
    record = recorded()
    record["states"][2], record["states"][3] = record["states"][3], record["states"][2]
    assert "from step 2 on" in Scenes(parse_match(record)).note


def test_games_that_nobody_knows_are_shown_as_facts() -> None:
    record = recorded()
    record["matchId"] = "<b>somewhere</b>"
    scenes = Scenes(parse_match(record))
    assert "not known" in scenes.note
    assert "cell" in scenes.draw(3)
    assert "<b>" not in scenes.draw(3)
    with pytest.raises(GdlError, match="choose the game"):
        Scenes(parse_match({**record, "states": []}))


def test_traces_and_arrays_of_records_are_read() -> None:
    trace = Path("games/playthroughs/tictactoe.jsonl").read_bytes()
    assert len(Scenes(parse_match(matches_in(trace)[0])).about()["steps"]) > 5
    records = matches_in(orjson.dumps([recorded(), recorded(seed=1)]))
    assert len(records) == 2


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
GDL = st.text(alphabet="()? abx1\n;'\"<>\x00\u202e", max_size=30)
GOOD = recorded()


@st.composite
def malformed(draw: st.DrawFn) -> bytes:
    """A record that somebody has had a hand in."""
    record = json.loads(json.dumps(GOOD))
    for _ in range(draw(st.integers(1, 3))):
        key = draw(st.sampled_from(sorted(record) or ["states"]))
        value = record[key]
        match draw(st.integers(0, 3)):
            case 0:
                del record[key]
                if not record:
                    break
            case 1:
                record[key] = draw(JUNK)
            case 2 if isinstance(value, list) and value:
                value[draw(st.integers(0, len(value) - 1))] = draw(JUNK | GDL | st.lists(GDL, max_size=3))
            case _:
                record[key] = draw(GDL | JUNK)
    data = json.dumps(record).encode()
    if draw(st.booleans()):
        at = draw(st.integers(0, len(data)))
        data = data[:at] + draw(st.binary(max_size=3)) + data[at + draw(st.integers(0, 4)) :]
    return data


@settings(max_examples=1000, deadline=None)
@given(malformed())
def test_malformed_records_are_told_in_one_line(data: bytes) -> None:
    try:
        reader = RecordReader("", data.decode(errors="replace"))
        reader.matches()
        scenes = reader.scenes(0, "")
        for number in {0, len(scenes.log.steps) - 1}:
            scenes.draw(number)
    except GdlError as error:
        told = explain(error, "drawing")
    else:
        told = "fine"
    assert told.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "[" * 100_000,
        '{"states": 7}',
        '{"states": ["' + "(" * 50_000 + '"]}',
        '{"states": ["' + "(" * 50_000 + ")" * 50_000 + '"]}',
        '{"states": ["( ( a ) )"], "moves": [["x"], ["y"], ["z"]]}',
    ],
)
def test_the_server_tells_what_is_wrong_and_goes_on(text: str) -> None:
    async def run() -> None:
        async with TestClient(TestServer(make_app(WebSettings()))) as client:
            assert client.app is not None
            headers = {"X-Ggp-Token": client.app[TOKENS].make()}
            reply = await client.post("/replay/records", data=text.encode(), headers=headers)
            if reply.status == 200:
                source = (await reply.json())["source"]
                reply = await client.get("/replay/match", params={"source": source, "match": "0"})
            told = await reply.json()
            assert reply.status == 400
            assert told["error"].isprintable()
            assert (await client.get("/replay/list")).status == 200
            refused = await client.post("/replay/records", data=b"{}")
            assert refused.status == 403

    asyncio.run(run())


def test_only_files_of_the_folder_are_shown(tmp_path: Path) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    (tmp_path / "secret.json").write_text(json.dumps(GOOD))
    (folder / "mine.json").write_text(json.dumps(GOOD))
    (folder / "link.json").symlink_to(tmp_path / "secret.json")

    async def run() -> None:
        async with TestClient(TestServer(make_app(WebSettings(records=folder)))) as client:
            listed = (await (await client.get("/replay/list")).json())["records"]
            assert [record["name"] for record in listed] == ["mine.json"]
            for name in ("../secret.json", "link.json", "/etc/passwd"):
                asked = await client.get("/replay/match", params={"source": f"file:{name}", "match": "0"})
                assert asked.status == 400
            reply = await client.get("/replay/file", params={"source": "file:mine.json", "match": "0"})
            text = await reply.text()
            assert text.count("<svg") == len(GOOD["states"])
            assert text.count("<script") == 1

    asyncio.run(run())
