"""There is one way to a picture: each card's, its table's, the solver's, a replay's and a notebook's show
the same board, and nothing but the rules decides which."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import cast

import pytest

from gdl.machine import Machine
from ggp.answers.catalogue import known_games, known_levels
from ggp.boards.board import find_board
from ggp.boards.svg.level_pictures import SnakesPicture, SokobanPicture
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.web.choice.card_process import answer
from ggp.web.drawing_process import DrawnLine
from ggp.web.play.view import TableView
from ggp.web.replay.recorded import RecordedMatch
from ggp.web.replay.replay_process import game_of, painter_of
from players.kaskade.make_machine import make_machine
from players.match import Match
from players.puzzles.snakes.level import find_level
from players.puzzles.sokoban.levels.gdl import level_of_gdl
from tests.places import GAMES

CARDS = [*known_games(), *known_levels()]


def plain(svg: str) -> str:
    """A drawing without its stylesheet and its name."""
    svg = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL)
    return re.sub(r"<title>[^<]*: a state</title>|aria-label=\"[^\"]*: a state\"", "", svg)


def used_machine(game: Game) -> Machine:
    """One that has numbered its moves and propositions in another order than a new one does."""
    machine = make_machine(game.rules, "prover")
    rng, state = random.Random(7), machine.initial_state()
    for _ in range(12):
        options = machine.options(state)
        if machine.is_terminal(state) or not all(options):
            break
        state = machine.next_state(state, [rng.choice(moves) for moves in options])
    return machine


@pytest.mark.parametrize("name", CARDS)
def test_all_pictures_of_a_card_are_the_same(name: str) -> None:
    game = Game.load(name)
    machine = used_machine(game)
    card = plain(str(answer({"do": "draw", "name": name, "step": 0}, lambda kind, **news: None)["svg"]))
    table = TableView(game, machine).seen(Match(machine))["svg"]
    assert plain(table) == card
    assert plain(DrawnLine(game.machine("prover"), game.name).draw([], 0)) == card
    carried = game_of(game.name, game.text)
    assert carried is not None
    replayed = painter_of(cast(RecordedMatch, None), carried)
    assert plain(replayed.draw_board(carried.machine("prover").initial_state())) == card
    notebook = carried.machine("prover").initial_state()._repr_svg_()
    assert notebook is not None
    board = re.search(r"<g transform=.*</g>(?=</svg>)", card, re.DOTALL)
    assert board is None or board[0] in plain(notebook)


@pytest.mark.parametrize("name", known_levels())
def test_a_level_is_drawn_whole_and_as_a_level_of_its_own_game(name: str) -> None:
    game = Game.load(name)
    machine = game.machine("prover")
    painter = SvgPainter.of_machine(machine)
    assert painter.board is not None
    size = len(painter.board.columns), len(painter.board.rows)
    drawn = level_of_gdl(game.text)
    if drawn is None:
        level = find_level(str(GAMES / "levels" / name))
        assert isinstance(painter._level, SnakesPicture)
        assert size == (level.width, level.height)
    else:
        assert isinstance(painter._level, SokobanPicture)
        walls = 0 if painter._level.margin else 2
        spread = [len({square[side] for square in drawn.inside}) for side in (0, 1)]
        assert size == (spread[0] + walls, spread[1] + walls), (
            "a wall on each side, drawn around or among them"
        )
    assert len(painter.draw_board(machine.initial_state())) < 250_000


@pytest.mark.parametrize("name", ["tictactoe", "checkers", "tutorial.xsb:2"])
def test_the_board_is_the_same_on_every_machine(name: str) -> None:
    game = Game.load(name)
    assert find_board(game.machine("propnet")) == find_board(used_machine(game))


def test_a_level_of_snakes_with_another_map_is_drawn_as_no_other_game() -> None:
    game = Game.load("snakes.txt:5")
    board = find_board(game.machine("prover"))
    assert board is not None
    cut = replace(board, rows=board.rows[:-1])
    assert SvgPainter(cut, game.rules, game.machine("prover").roles)._level is None
