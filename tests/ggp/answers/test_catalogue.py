"""Requests name games that come along or bring rules; no other file is read for them."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.information import hides
from ggp.answers.catalogue import (
    checked_source,
    known_cards,
    known_games,
    known_levels,
    load_source,
    packing_files,
    title_of,
)
from ggp.game import Game
from ggp.web.choice.card_process import answer, game_picture
from ggp.web.replay.replay_process import game_of
from tests.examples import examples
from tests.ggp.web.pages import client_of, token_of
from tests.places import GAME_FILES, in_turn


def test_what_comes_along_is_found_by_name_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tictactoe").write_text("(role impostor)")
    (tmp_path / "yards.xsb").write_text("####\n#@$.#\n####")
    monkeypatch.chdir(tmp_path)
    for name in (*known_games(), *known_levels()):
        source = checked_source({"game": name})
        assert Path(source["game"].rpartition(".")[0]).is_absolute()
        if name in ("tictactoe", "yards.xsb:1"):
            assert "impostor" not in load_source(source).text
    assert load_source(checked_source({"game": "hex:3"})).name == "hex:3"
    assert load_source(checked_source({"rules": "role(x)"})).text == "role(x)"


@pytest.mark.parametrize("name", ["/etc/passwd", "../README.md", "secret", "secret.xsb", "x\0"])
async def test_other_files_are_no_games(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text("(role secret)")
    (tmp_path / "secret.xsb").write_text("####\n#@$.#\n####")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GdlError, match="there is no game"):
        checked_source({"game": name})
    async with client_of() as client:
        for path in ("/play/tables", "/puzzles"):
            reply = await client.post(path, json={"game": name}, headers=token_of(client))
            assert reply.status == 400
            assert "there is no game" in (await reply.json())["error"]


BRINGS_RULES = [
    "nim:a:(role r)",
    "nim:(role r)",
    "hex:11:(role r)",
    "hex:11\n(role r)",
    "hex:9/../nim.kif",
    "hex::11",
    "hex:\u0661\u0661",
    "yards.xsb:1:(role r)",
]
"""Names that begin as known ones do, and go on otherwise."""
POSTS: dict[str, dict[str, Any]] = {
    "/api/validate": {},
    "/play/tables": {},
    "/puzzles": {},
    "/tournaments/begin": {
        "players": [{"label": word, "spec": "random"} for word in "ab"],
        "rounds": 1,
        "playclock": 0.1,
    },
}


@pytest.mark.parametrize("name", BRINGS_RULES)
async def test_no_name_of_a_stranger_is_read_as_rules_wherever_it_is_sent(name: str) -> None:
    async with client_of() as client:
        for path, more in POSTS.items():
            named = {"games": [name]} if "players" in more else {"game": name}
            reply = await client.post(path, json=named | more, headers=token_of(client))
            assert reply.status == 400, path
        assert (await client.get(f"/rules/games/{quote(name, safe='')}")).status in (400, 404)


@examples(100)
@given(
    name=st.sampled_from(["nim", "hex", "chess", "yards.xsb"]), end=st.text(":()x/. \n0129ar", max_size=12)
)
@example(name="nim", end=":a:(role r)")
def test_a_name_loads_the_bundled_game_that_it_begins_with_or_none(name: str, end: str) -> None:
    for load in (
        lambda given: load_source(checked_source({"game": given})),
        lambda given: game_of(given, ""),
    ):
        with suppress(GdlError):
            game = load(name + end)
            assert game is None or re.fullmatch(rf"{name.partition('.')[0]}([:-][0-9x]+)?", game.name)


CARDS = known_cards()


def test_there_is_a_card_for_everything_that_comes_along_and_none_twice() -> None:
    names = [card["name"] for card in CARDS]
    assert len(set(names)) == len(names)
    assert set(names) == {*known_games(), *known_levels(), *(path.name for path in packing_files())}


@pytest.mark.parametrize("name", in_turn(known_games()))
def test_a_card_has_the_roles_of_its_game_and_says_whether_they_choose_at_once(name: str) -> None:
    card = next(card for card in CARDS if card["name"] == name)
    state = Game.load(name).machine("prover").initial_state()
    assert list(card["roles"]) == list(state.legal)
    choosing = sum(len(moves) > 1 for moves in state.legal.values())
    assert (card["kind"] == "hidden") == hides(Game.load(name).rules)
    assert (card["kind"] == "at once") == (choosing > 1) or card["kind"] == "hidden"
    assert re.fullmatch(r"[A-Z0-9][\w',. -]{2,40}", card["title"]), card["title"]


@pytest.mark.parametrize(
    ("head", "title", "line"),
    [
        ("; Hex: connect your two sides.", "Hex", "connect your two sides"),
        ("; Kalah with four pits.\n; more", "Kalah", "with four pits"),
        ("; Rock, paper, scissors: five rounds.", "Rock, paper, scissors", "five rounds"),
        ("; Go: long words\n; go on. More.", "Go", "long words go on"),
        ("; Go\n; how to play: surround.", "Go", ""),
        (f"; Go: one {'a' * 80}. Two {'b' * 80}.", "Go", f"one {'a' * 80}"),
        ("(role x)", "", ""),
    ],
)
def test_a_title_ends_where_one_takes_a_breath(head: str, title: str, line: str) -> None:
    assert title_of(head) == (title, line)


def test_a_card_is_of_several_kinds_by_its_rules_and_by_their_hints() -> None:
    kinds = {card["name"]: {card["kind"], *card["kinds"]} for card in CARDS}
    assert kinds["backgammon"] == {"turns", "chance", "board game", "dice game", "race"}
    assert kinds["blindtictactoe"] >= {"hidden", "chance", "at once"} and "chance" not in kinds["chess"]
    assert all(len(card["line"]) <= 110 for card in CARDS)


def test_pictures_are_svg_and_show_a_match_under_way() -> None:
    names = ("tictactoe", "nim", "yards.xsb:2", "city.xsb:1", "snakes.txt:1", "burr.packing")
    pictures = {
        name: str(answer({"do": "draw", "name": name, "step": -1}, lambda kind, **news: None)["svg"])
        for name in names
    }
    for name, svg in pictures.items():
        assert ElementTree.fromstring(svg).tag.endswith("svg"), name
        assert len(svg) < 100_000, name
    first, later = (game_picture(GAME_FILES["tictactoe"], moves) for moves in (0, 3))
    drawn = [re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL) for svg in (first, later)]
    assert drawn[0].count("gb-stroke") < drawn[1].count("gb-stroke")
    assert not any("control" in svg for svg in drawn)
