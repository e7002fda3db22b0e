"""Games and states in notebooks."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from gdl.syntax.format import convert
from gdl.syntax.notation import Notation
from ggp.game import Game
from ggp.terminal.drawing import plain_drawing
from players.kaskade.make_machine import make_machine

NOTATIONS: dict[Notation, str] = {"kif": "(control x)", "infix": "control(x)"}


def test_a_state_is_a_drawing_in_a_notebook() -> None:
    game = Game.load("tictactoe")
    state = game.machine("prover").initial_state().play("(mark b 2)")
    drawing = state._repr_svg_()
    assert drawing is not None
    assert "x on b 2" in drawing
    ET.fromstring(drawing)
    assert make_machine(game.rules, "prover").initial_state()._repr_svg_() is None


def test_a_game_is_its_first_state_and_its_roles() -> None:
    html = Game.load("rockpaperscissors")._repr_html_()
    assert "<svg" in html
    assert "rockpaperscissors" in html
    ET.fromstring(html)
    hostile = Game("<b>x</b>", Game.load("tictactoe").text)._repr_html_()
    assert "<b>" not in hostile


def test_what_stands_beside_a_board_is_in_the_notation_of_the_rules() -> None:
    rules = Game.load("tictactoe").text
    for notation, beside in NOTATIONS.items():
        state = Game.load(convert(rules, notation)).machine("prover").initial_state()
        assert plain_drawing(state.machine, "game")(state).splitlines()[-1] == beside
