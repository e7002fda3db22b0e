"""Every game, level and packing puzzle that comes along has a card, and each card a picture of its own."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from gdl.information import hides
from ggp.answers.catalogue import known_cards, packing_files, title_of
from ggp.answers.source import known_games, known_levels, known_puzzles
from ggp.game import Game
from ggp.web.choice.card_process import draw, game_picture
from tests.places import GAMES

CARDS = known_cards()


def test_there_is_a_card_for_everything_that_comes_along_and_none_twice() -> None:
    names = [card["name"] for card in CARDS]
    assert len(set(names)) == len(names)
    assert set(names) == {*known_games(), *known_levels(), *(path.name for path in packing_files())}
    alone = {card["name"] for card in CARDS if card["kind"] in ("puzzle", "level")}
    assert alone == set(known_puzzles())


@pytest.mark.parametrize("name", known_games())
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
        ("(role x)", "", ""),
    ],
)
def test_a_title_ends_where_one_takes_a_breath(head: str, title: str, line: str) -> None:
    assert title_of(head) == (title, line)


def test_pictures_are_svg_and_show_a_match_under_way() -> None:
    names = ("tictactoe", "nim", "yards.xsb:2", "city.xsb:1", "snakes.txt:1", "burr.packing")
    pictures = {
        name: str(draw({"name": name, "step": -1}, lambda kind, **news: None)["svg"]) for name in names
    }
    for name, svg in pictures.items():
        assert ElementTree.fromstring(svg).tag.endswith("svg"), name
        assert len(svg) < 100_000, name
    first, later = (game_picture(GAMES / "tictactoe.kif", moves) for moves in (0, 3))
    drawn = [re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL) for svg in (first, later)]
    assert drawn[0].count("gb-stroke") < drawn[1].count("gb-stroke")
    assert not any("control" in svg for svg in drawn)
