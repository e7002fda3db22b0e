"""The slides of the benchmark are those of the rules."""

from __future__ import annotations

import random

from bench.twentyfortyeight import board_of, corner, slide
from ggp.game import Game


def test_slides_come_to_the_boards_of_the_rules_and_the_best_one_is_legal() -> None:
    machine, rng = Game.load("twentyfortyeight").machine("propnet"), random.Random(2)
    state = machine.initial_state()
    for _ in range(120):
        own, puts = machine.legal_moves(state, 0), machine.legal_moves(state, 1)
        if machine.is_terminal(state):
            break
        ways = {str(machine.move(0, move)): move for move in own}
        if "noop" not in ways:
            board = board_of(state)
            for way, move in ways.items():
                after = machine.next_state(state, [move, puts[0]])
                assert board_of(after) == slide(board, way[7:-1])[0]
            legal = {way for way in ("left", "right", "up", "down") if slide(board, way)[0] != board}
            assert {f"(slide {way})" for way in legal} == set(ways)
            assert corner(board, 1)[1] in legal
        state = machine.next_state(state, [rng.choice(own), rng.choice(puts)])
