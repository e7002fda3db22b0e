"""Records are read as managers write them; what is none is one line that says where."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.game import Game
from ggp.manager import GameManager, StandIn
from ggp.protocol.match_record import MatchRecord
from ggp.web.replay.recorded import RecordedMatch, read_match, records_in
from ggp.web.replay.replay_process import ComparedMatch, Replay, as_page


def read_record(text: str) -> RecordedMatch:
    return read_match(records_in(text)[0])


async def played(name: str, seed: int = 0) -> MatchRecord:
    game = Game.load(name)
    machine = game.machine("prover")
    players = [StandIn("random", "random") for _ in machine.roles]
    record = MatchRecord(f"Match.kaskade.{name}.1", 1, 1, [f"p{i}" for i in range(len(players))], game=name)
    await GameManager(game.kif, machine, players, record, seed=seed).run()
    return record


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    import asyncio

    return asyncio.run(played("tictactoe")).to_dict()


def test_a_match_of_ours_agrees_with_its_rules(told: dict[str, Any]) -> None:
    match = read_record(json.dumps(told))
    assert (match.game, match.players) == ("tictactoe", ("p0", "p1"))
    assert len(match.states) == len(match.moves) + 1
    replay = Replay(match, Game.load("tictactoe"))
    story = replay.story()
    compared = replay.compared()
    assert compared.doubts == {}
    assert list(compared.words) == list(range(1, len(match.states)))
    for step, words in compared.words.items():  # (mark a 1) is a1; who does not have the turn says nothing
        marked = [move.args for move in match.moves[step - 1] if move.args]
        assert [word for word in words if word] == [f"{x}{y}" for x, y in marked]
    assert story["roles"] == ["x", "o"]
    assert not any(step["faults"] for step in story["steps"])
    assert story["steps"][1]["moves"] == [
        move.replace("( ", "(").replace(" )", ")") for move in told["moves"][0]
    ]
    assert sum(story["goals"]) == 100


def test_the_board_is_the_same_with_rules_that_nobody_knows(told: dict[str, Any]) -> None:
    match = read_record(json.dumps(told))
    drawn = Replay(match, None).frame(len(match.states) - 1)
    assert str(drawn["svg"]).count('class="gb-square"') == 9


def test_what_parts_from_the_rules_is_told_at_its_step(told: dict[str, Any]) -> None:
    game = Game.load("tictactoe")
    other = {**told, "states": [*told["states"]], "errors": [["", ""] for _ in told["states"]]}
    other["states"][2] = other["states"][2].replace("control x", "control o")
    other["errors"][3] = ["TO", "IL no"]
    replay = Replay(read_record(json.dumps(other)), game)
    assert min(replay.compared().doubts) == 2
    faults = replay.story()["steps"][3]["faults"]
    assert [fault["text"] for fault in faults] == ["no answer in time", "illegal move: no"]
    twice = {**told, "moves": [told["moves"][0], told["moves"][0], *told["moves"][2:]]}
    assert "not legal" in Replay(read_record(json.dumps(twice)), game).compared().doubts[2]
    cut = {**told, "states": told["states"][:3], "moves": told["moves"][:2], "goalValues": [50, 50]}
    assert list(Replay(read_record(json.dumps(cut)), game).compared().doubts) == [2]


def test_records_of_other_managers_name_their_game_by_its_address(told: dict[str, Any]) -> None:
    for url in ("http://games.ggp.org/base/games/ticTacToe/", "http://x/base/games/ticTacToe/v0/"):
        assert read_record(json.dumps({**told, "game": "", "gameMetaURL": url})).game == "ticTacToe"
    # The id of a match is no name of a game.
    assert read_record(json.dumps({**told, "game": ""})).game == ""
    states = [
        f"( true {state.strip()[1:-1].strip().replace(' ( ', ' ( true ( ')} )" for state in ["( ( a 1 ) )"]
    ]
    assert read_record(json.dumps({"matchId": "m", "states": states})).states


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(
        [
            "matchId",
            "states",
            "moves",
            "errors",
            "stateTimes",
            "goalValues",
            "playerNamesFromHost",
            "playClock",
        ]
    ),
    st.integers(0, 3),
)
def test_malformed_records_are_one_line(value: Any, key: str, depth: int) -> None:
    told: dict[str, Any] = {
        "matchId": "m", "states": ["( ( a 1 ) )", "( ( a 2 ) )"], "moves": [["go"]], "errors": [[""], [""]],
        "stateTimes": [1, 2], "goalValues": [100], "playerNamesFromHost": ["p"], "playClock": 1,
    }  # fmt: skip
    if depth and isinstance(told[key], list):
        told[key][0] = [value] if depth > 1 and isinstance(told[key][0], list) else value
    else:
        told[key] = value
    lines = outcome(json.dumps(told))
    assert len(lines) == 1


def outcome(text: str) -> list[str]:
    """The lines that a record is refused with; one of a drawing else."""
    try:
        match = read_record(text)
    except GdlError as error:
        return str(error).splitlines()
    replay = Replay(match, None)
    assert len(replay.story()["steps"]) == len(match.states)
    return str(replay.frame(0)["svg"]).splitlines()[:1]


@given(st.text(max_size=200))
def test_text_that_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(GdlError):
        read_record(text)


def test_an_exported_file_has_no_way_out(told: dict[str, Any]) -> None:
    evil = {**told, "playerNamesFromHost": ["</script><script>alert(1)</script>", "<!--<script>"]}
    replay = Replay(read_record(json.dumps(evil)), Game.load("tictactoe"))
    page = as_page(replay.story(), ComparedMatch(), [replay.frame(0)])
    assert "default-src 'none'" in page
    assert page.count("<script") == 2 and "<!--" not in page.partition("<script")[2]
