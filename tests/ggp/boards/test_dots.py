"""Dots and boxes is drawn with its dots, lines and boxes, under any names."""

from __future__ import annotations

import random

import pytest

from gdl.scramble import scramble
from gdl.syntax.parser import parse_terms
from gdl.terms import Term
from ggp.boards.board import find_board
from ggp.boards.shapes import BoardShape, line_layer
from ggp.boards.statics import CoordinateOrder
from ggp.boards.text import Painter
from ggp.game import Game

DOTS_AND_BOXES = """
(role xplayer) (role oplayer)
(index 1) (index 2) (index 3) (step 1 2) (step 2 3)
(init (control xplayer))
(<= (base (line ?x ?y ?x ?z)) (index ?x) (step ?y ?z))
(<= (base (line ?y ?x ?z ?x)) (index ?x) (step ?y ?z))
(<= (base (box ?x ?y ?m)) (step ?x ?a) (step ?y ?b) (mark ?m ?r))
(mark x xplayer) (mark o oplayer)
(<= (base (control ?r)) (role ?r))
(<= (input ?r (draw ?a ?b ?c ?d)) (role ?r) (base (line ?a ?b ?c ?d)))
(<= (input ?r noop) (role ?r))
(<= (open ?a ?b ?c ?d) (base (line ?a ?b ?c ?d)) (not (true (line ?a ?b ?c ?d))))
(<= (legal ?r (draw ?a ?b ?c ?d)) (true (control ?r)) (open ?a ?b ?c ?d))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (line ?a ?b ?c ?d)) (true (line ?a ?b ?c ?d)))
(<= (next (line ?a ?b ?c ?d)) (does ?r (draw ?a ?b ?c ?d)))
(<= (drawn ?a ?b ?c ?d) (true (line ?a ?b ?c ?d)))
(<= (drawn ?a ?b ?c ?d) (does ?r (draw ?a ?b ?c ?d)))
(<= (next (box ?x ?y ?m)) (true (box ?x ?y ?m)))
(<= (taken ?x ?y) (true (box ?x ?y ?m)))
(<= (next (box ?x ?y ?m)) (step ?x ?a) (step ?y ?b) (not (taken ?x ?y)) (true (control ?r)) (mark ?m ?r)
  (drawn ?x ?y ?a ?y) (drawn ?x ?y ?x ?b) (drawn ?a ?y ?a ?b) (drawn ?x ?b ?a ?b))
(<= (next (control xplayer)) (true (control oplayer)))
(<= (next (control oplayer)) (true (control xplayer)))
(<= terminal (not anyopen))
(<= anyopen (open ?a ?b ?c ?d))
(goal xplayer 50) (goal oplayer 50)
"""


def painter_of_game(text: str) -> tuple[Game, Painter]:
    game = Game("dots", text)
    machine = game.machine("propnet")
    board = find_board(machine)
    assert board is not None
    assert board.shape is BoardShape.DOTS
    return game, Painter(board, machine.rules, machine.roles)


def test_lines_join_dots_and_boxes_have_their_owners() -> None:
    _, painter = painter_of_game(DOTS_AND_BOXES)
    before = parse_terms("(line 1 1 2 1) (line 1 1 1 2) (line 1 2 2 2) (line 2 2 3 2) (control xplayer)")
    after = [*before[:-1], *parse_terms("(line 2 1 2 2) (box 1 1 x) (control oplayer)")]
    drawing = painter.draw(after, before=before)
    assert drawing.plain().splitlines() == [
        "3  +   +   +",
        "",
        "2  +---+---+",
        "   | x #",
        "1  +---+   +",
        "   1   2   3",
    ]
    assert drawing.beside == ("(control oplayer)",)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_line_of_a_match_is_drawn_whatever_it_is_called(seed: int) -> None:
    rules = scramble(Game("dots", DOTS_AND_BOXES).rules, seed=seed)[0]
    game, painter = painter_of_game(str(rules))
    state = game.machine("prover").initial_state()
    rng = random.Random(seed)
    for drawn in range(1, 13):
        assert not state.terminal
        machine = state.machine
        options = [machine.legal_moves(state, role) for role in range(2)]
        state = machine.next_state(state, [rng.choice(moves) for moves in options])
        grid = painter.draw(state.propositions).plain()
        assert grid.count("---") + grid.count("|") == drawn
    assert state.terminal


def test_other_functors_of_four_arguments_are_no_lines() -> None:
    order = CoordinateOrder(Game("dots", DOTS_AND_BOXES).rules)

    def found(text: str) -> bool:
        return line_layer(set[Term](parse_terms(text)), order) is not None

    assert found("(l 1 1 1 2) (l 1 1 2 1) (l 2 1 2 2)")
    assert not found("(l 1 1 1 2) (l 1 1 2 2)"), "a diagonal"
    assert not found("(l 1 1 1 2) (l 1 2 1 3)"), "one way alone"
    assert not found("(l 1 1 1 3) (l 1 1 3 1) (l 2 2 2 1)"), "too long"
    assert not found("(l 1 1 1 2 x) (l 1 1 2 1 x)")
    assert not found("(l red p q r) (l p red q p)")
