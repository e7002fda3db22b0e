"""Proof-number search says what minimax says, within little memory, and gives up what is not its own."""

from __future__ import annotations

import time

import pytest

from bench.positions import load_game, open_states
from bench.positions.solver import role_to_move
from gdl.machine import State
from gdl.syntax.parser import parse_terms
from players.kaskade.make_machine import make_machine
from players.proof.search import Bounds, Proof
from propnet.machine import PropnetMachine

LONG = 60.0
"""Seconds that no test needs."""
LITTLE = 1


def machine_of(game: str) -> PropnetMachine:
    machine = make_machine(load_game(game).rules, "propnet")
    assert isinstance(machine, PropnetMachine)
    return machine


def proven(proof: Proof, state: State) -> Bounds:
    proof.set_root(proof.machine.records([state])[0])
    proof.step(time.monotonic() + LONG)
    assert proof.fits
    return proof.bounds


def minimax(machine: PropnetMachine, state: State, known: dict[State, int]) -> int:
    """Role 0's points under best play, by looking at everything."""
    if state not in known:
        if machine.is_terminal(state):
            known[state] = machine.goal(state, 0) or 0
        else:
            values = [minimax(machine, after, known) for _, after in machine.expand([state])[0]]
            known[state] = min(values) if role_to_move(machine, state) else max(values)
    return known[state]


@pytest.mark.parametrize(("game", "plies"), [("tictactoe", 3), ("connectfour", 36)])
def test_positions_of_random_matches_are_worth_what_minimax_says(game: str, plies: int) -> None:
    machine = machine_of(game)
    proof = Proof(machine, memory=LITTLE, lines=8)
    known: dict[State, int] = {}
    for state in open_states(machine, plies, 4, seed=5):
        value = minimax(machine, state, known)
        assert proven(proof, state) == Bounds(value, value)


@pytest.mark.parametrize("lines", [1, 128])
def test_tic_tac_toe_is_a_draw_and_its_moves_stay_proven(lines: int) -> None:
    machine = machine_of("tictactoe")
    start = machine.initial_state()
    proof = Proof(machine, memory=LITTLE, lines=lines)
    assert proven(proof, start) == Bounds(50, 50)
    after = [state for _, state in machine.expand([start])[0]]
    values = proof.values(machine.records(after)).tolist()
    assert set(values) <= {50, -1}
    state = start
    for move in parse_terms("(mark a 1) (mark a 2)", "moves"):
        state = state.play(move)
    known: dict[State, int] = {}
    value = minimax(machine, state, known)
    assert proven(proof, state) == Bounds(value, value)


def test_what_was_found_below_the_next_root_is_kept() -> None:
    machine = machine_of("tictactoe")
    proof = Proof(machine, lines=1)
    start = machine.initial_state()
    proven(proof, start)
    opened = proof.opened
    for _, after in machine.expand([start])[0]:
        if proof.values(machine.records([after]))[0] == 50:
            assert proven(proof, after) == Bounds(50, 50)
            break
    assert proof.opened == opened


@pytest.mark.parametrize("game", ["rockpaperscissors", "prisonersdilemma", "lightsout"])
def test_games_of_another_class_are_given_up(game: str) -> None:
    machine = machine_of(game)
    proof = Proof(machine, memory=LITTLE)
    if proof.fits:
        proof.set_root(machine.records([machine.initial_state()])[0])
    proof.step(time.monotonic() + LONG)
    assert not proof.fits
    assert proof.finished
