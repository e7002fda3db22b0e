"""Games and states in notebooks."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from ggp.game import Game
from players.kaskade.make_machine import make_machine


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
