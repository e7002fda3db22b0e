"""A follower that goes over to the network names the same legal moves as the prover, or goes back to it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from gdl.grounding.pipeline import ground
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from ggp.match_process.match_follower import Follower
from propnet.build import build
from propnet.machine import PropnetMachine
from tests.ggp.match_process.test_foresight import play
from tests.places import GAMES

Sent = list[tuple[str, dict[str, Any]]]
SMALL = ("tictactoe", "connectfour", "rockpaperscissors", "biddingtictactoe", "breakthrough", "sokoban")


@cache
def rules_of(game: str) -> Rules:
    return parse_rules((GAMES / f"{game}.kif").read_text(), game)


def network_machine(game: str) -> PropnetMachine:
    return PropnetMachine(rules_of(game), build(ground(rules_of(game))))


def follower(game: str) -> tuple[Follower, Sent]:
    sent: Sent = []
    role = str(ProverMachine(rules_of(game)).roles[-1])
    start = {"role": role, "seed": 1, "history": []}
    return Follower(rules_of(game), start, lambda kind, **f: sent.append((kind, f)), ahead=False), sent


def legal(each: Follower) -> set[str]:
    return {each.match.text(each.match.role, move) for move in each.match.options()}


@pytest.mark.parametrize("game", SMALL)
@pytest.mark.parametrize("seed", range(2))
def test_after_the_change_of_machine_the_same_moves_are_legal(game: str, seed: int) -> None:
    """In random games, with reports sent twice and reports that cannot be, whenever it changes."""
    draw = random.Random(seed)
    proving, _ = follower(game)
    changing, sent = follower(game)
    machine = network_machine(game)
    change = draw.randrange(1, 6)
    joint, answered, number = None, None, 0
    for _ in range(40):
        for _ in range(draw.choice((1, 1, 1, 2))):
            number += 1
            message = play(number, joint, answered)
            proving.play(message)
            changing.play(message)
            if draw.random() < 0.2:
                number += 1
                odd = play(number, ["nonsense"] * len(machine.roles), answered)
                proving.play(odd)
                changing.play(odd)
            if number >= change and changing.match.machine is not machine:
                while changing.look_ahead():
                    pass
                assert changing.move_to(machine)
            elif draw.random() < 0.7:  # the prover goes along behind, not always at once
                while changing.look_ahead():
                    pass
        state = proving.match.state
        assert changing.match.state == state
        assert changing.match.history == proving.match.history
        assert legal(changing) == legal(proving)
        if state.terminal:
            break
        texts = list(state.legal.values())
        joint = [draw.choice(moves) for moves in texts]
        assert changing.match.can_be(joint) and proving.match.can_be(joint)
        answered = joint[proving.match.role]
    assert changing.match.machine is machine
    ahead = [fields["id"] for kind, fields in sent if kind == "foreseen"]
    assert max(ahead) > 1 or game == "rockpaperscissors"
    assert not [fields for kind, fields in sent if kind == "log" and fields["level"] == "error"]


class Wrong(PropnetMachine):
    """A network that makes another move than it was told, from one turn on."""

    wrong = False

    def next_state(self, state: State, joint_move: Sequence[int]) -> State:
        if self.wrong:
            joint_move = [self.legal_moves(state, role)[0] for role in range(len(self.roles))]
        return super().next_state(state, joint_move)


def test_where_machine_and_prover_differ_the_match_goes_on_on_the_prover() -> None:
    game = "tictactoe"
    changing, sent = follower(game)
    machine = Wrong(rules_of(game), build(ground(rules_of(game))))
    changing.play(play(1, None, None))
    assert changing.move_to(machine)
    changing.play(play(2, ["(mark c 3)", "noop"], "noop"))
    while changing.look_ahead():
        pass
    assert changing.match.machine is machine
    machine.wrong = True
    joint = ["noop", "(mark b 2)"]
    changing.play(play(3, joint, "(mark b 2)"))
    while changing.look_ahead():
        pass
    assert changing.match.machine.level == "prover"
    expected = ProverMachine(rules_of(game)).initial_state().play("(mark c 3)", "noop").play(*joint)
    assert changing.match.state == expected
    assert [fields["event"] for kind, fields in sent if kind == "log"] == ["a machine is wrong"]


class Silent(PropnetMachine):
    """A network in which nobody may do anything."""

    def legal_moves(self, state: State, role: int) -> list[int]:
        return []


def test_a_machine_that_says_otherwise_where_the_match_stands_is_not_used() -> None:
    changing, sent = follower("tictactoe")
    changing.play(play(1, None, None))
    machine: Machine = Silent(rules_of("tictactoe"), build(ground(rules_of("tictactoe"))))
    assert not changing.move_to(machine)
    assert changing.match.machine.level == "prover"
    assert [fields["event"] for kind, fields in sent if kind == "log"] == ["not followed on this machine"]
