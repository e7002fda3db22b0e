"""What a person brings is known by what is in it, whatever it is called; what cannot be read is one line."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.game import Game
from ggp.web.choice.card_process import answer, read_upload
from tests.examples import examples
from tests.ggp.web.pages import Client, token_of
from tests.places import GAME_FILES, GAMES

LEVEL = "#####\n#@$.#\n#####\n\n######\n#@ $.#\n######\nTitle: Long\n"


def test_each_kind_is_known_under_a_wrong_name() -> None:
    snakes = (GAMES / "levels" / "snakes.txt").read_bytes()
    for data, kind in (
        ((GAME_FILES["hex"]).read_bytes(), "rules"),
        (
            b"role(x). legal(x, stay) :- role(x). next(a). init(a). terminal :- true(a). goal(x, 100).",
            "rules",
        ),
        (LEVEL.encode(), "levels"),
        (snakes, "levels"),
        ((GAMES / "puzzles" / "soma.packing").read_bytes(), "packing"),
    ):
        told = read_upload("thing.bin", data)
        assert told["what"] == kind
        assert all(card["title"] for card in told["cards"])


def test_levels_become_games_that_are_played_by_their_rules() -> None:
    told = read_upload("mine.xsb", LEVEL.encode())
    assert [card["title"] for card in told["cards"]] == ["mine 1", "Long"]
    game = Game("level", told["cards"][0]["rules"])
    state = game.machine("prover").initial_state()
    assert state.play("(move right)").goals == {"keeper": 100}
    assert told["cards"][0]["svg"].startswith("<svg")


def test_an_editor_is_told_the_rows_of_a_level_and_why_it_cannot_be_solved() -> None:
    good, lost = read_upload("mine.xsb", LEVEL.encode() + b"\n#####\n#$ .#\n#@  #\n#####\n")["cards"][1:]
    assert (good["rows"], good["doubts"]) == (("######", "#@ $.#", "######"), [])
    assert lost["doubts"] == ["dead square: 1 box that no pushes can bring to a goal"]


async def test_what_is_being_drawn_is_checked_without_an_error(client: Client) -> None:
    data = base64.b64encode(b"#####\n#  .#\n#####").decode()
    reply = await client.post("/choice", json={"data": data, "check": True}, headers=token_of(client))
    told = await reply.json()
    assert (reply.status, told["cards"]) == (200, [])
    assert told["faults"] == ["line 1, column 1: the level has no keeper (draw it as @, or + on a goal)"]
    reply = await client.post("/choice", json={"data": data}, headers=token_of(client))
    assert reply.status == 400


BARS = b"""<puzzle version="2"><gridType type="0"/><shapes>
<voxel x="2" y="1" z="1" type="0">##</voxel><voxel x="2" y="2" z="1" type="0">####</voxel></shapes>
<problems><problem><shapes><shape id="0" count="2"/></shapes><result id="1"/></problem></problems></puzzle>"""
"""A puzzle as BurrTools writes it."""


def test_a_burrtools_file_is_a_packing_puzzle() -> None:
    for form in (BARS, gzip.compress(BARS)):
        told = read_upload("x.xmpuzzle", form)
        assert told["what"] == "packing"
        assert told["cards"][0]["line"] == "packing puzzle, 2 pieces"


def test_what_cannot_be_read_is_told_with_its_line() -> None:
    for data, words in (
        (b"", "nothing in it"),
        (b"(role x) (legal x", "bracket|parenthes|closed|\\)"),
        (b"#####\n#@$ #\n#####\n", "goal"),
        (b"hello\n", "level"),
    ):
        with pytest.raises(GdlError, match=words):
            read_upload("x.txt", data)
    with pytest.raises(GdlError, match="base64"):
        answer({"do": "read", "name": "x", "data": "*"}, lambda kind, **news: None)


@examples(60)
@given(st.binary(max_size=400), st.text(max_size=20))
def test_any_bytes_are_read_or_refused_in_one_line(data: bytes, name: str) -> None:
    try:
        cards = read_upload(name, data)["cards"]
    except GdlError:
        return
    assert cards


def test_only_the_files_name_and_never_its_folder_is_shown(tmp_path: Path) -> None:
    told = read_upload(str(tmp_path / "deep.xsb"), LEVEL.encode())
    assert str(tmp_path) not in str([card["title"] for card in told["cards"]])
