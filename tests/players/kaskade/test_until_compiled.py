"""A match that begins before its kernels are compiled: legal moves at once, then the wanted player."""

from __future__ import annotations

import time

from gdl.machine import State
from ggp.game import Game
from players.kaskade.until_compiled import STAND_IN, UntilCompiled
from players.player import Choice, Player
from players.registry import make_player


class Noted(Player):
    """Plays the first legal move, and notes where it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[State] = []
        self.stopped = False

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        self.asked.append(state)
        return Choice(options[0], note="noted")

    def stop(self) -> None:
        self.stopped = True


def test_random_games_choose_until_the_kernels_are_there_and_the_wanted_player_from_then_on() -> None:
    machine = Game.load("tictactoe").machine("prover")
    wanted, ready = Noted(), [False]
    player = UntilCompiled("uct", make_player(STAND_IN, 1), lambda: wanted, lambda: ready[0])
    state = machine.initial_state()
    player.start(machine, 0, state, 1.0, time.monotonic() + 1.0)
    turn = 0
    while not machine.is_terminal(state):
        ready[0] = turn >= 4
        joint = [machine.legal_moves(state, role)[0] for role in range(2)]
        if len(machine.legal_moves(state, 0)) > 1:
            choice = player.choose(state, time.monotonic() + 2.0)
            assert choice.move in machine.legal_moves(state, 0)
            assert (choice.note == "noted") is ready[0]
            joint[0] = choice.move
        state = machine.next_state(state, joint)
        turn += 1
    assert turn > 4 and wanted.asked
    player.stop()
    assert wanted.stopped
