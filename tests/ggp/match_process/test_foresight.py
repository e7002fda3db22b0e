"""A follower looks a turn ahead while it waits: it knows answers to joint moves that are not reported yet."""

from __future__ import annotations

import math
import random
from itertools import product
from typing import Any

import pytest

from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.match_process import match_follower
from ggp.match_process.match_follower import Follower, Foresight
from ggp.protocol.messages import Play
from tests.places import GAMES


def messages(game: str, role: str) -> tuple[Follower, list[tuple[str, dict[str, Any]]]]:
    sent: list[tuple[str, dict[str, Any]]] = []
    start = {"role": role, "seed": 1, "history": []}
    rules = parse_rules((GAMES / f"{game}.kif").read_text())
    return Follower(rules, start, lambda kind, **fields: sent.append((kind, fields))), sent


def play(
    number: int, moves: list[str] | None, answered: str | None, advanced: bool = False
) -> dict[str, Any]:
    told = {"delivered": True, "late": False, "advanced": advanced}
    return {"id": number, "moves": moves, "answered": answered, **told}


@pytest.mark.slow
@pytest.mark.parametrize("game", ["breakthrough", "tictactoe", "rockpaperscissors", "sokoban", "chess"])
def test_replies_are_legal_after_their_joint_moves(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a follower says before a PLAY is an answer to it, whatever the others did."""
    monkeypatch.setattr(match_follower, "AHEAD_SECONDS", 60.0)
    rules = parse_rules((GAMES / f"{game}.kif").read_text())
    machine = ProverMachine(rules)
    draw = random.Random(3)
    follower, sent = messages(game, str(machine.roles[-1]))
    role = follower.match.role
    state, joint, answered, known = machine.initial_state(), None, None, 0
    for number in range(1, 13):
        if state.terminal:
            break
        sent.clear()
        follower.play(play(number, joint, answered))
        while follower.look_ahead():
            pass
        replies = [r for kind, fields in sent if kind == "foreseen" for r in fields["replies"]]
        assert all(fields["id"] == number for kind, fields in sent if kind == "foreseen")
        for reported, reply in replies:
            assert reply in state.play(*reported).legal[str(machine.roles[role])]
        legal = list(state.legal.values())
        count = math.prod(map(len, legal))
        ends = (
            sum(state.play(*each).terminal for each in product(*legal))
            if count <= match_follower.AHEAD
            else 0
        )
        assert len(replies) == count - ends or count > match_follower.AHEAD
        assert len(replies) <= match_follower.AHEAD
        known += len(replies)
        joint = [draw.choice(moves) for moves in legal]
        answered = joint[role]
        state = state.play(*joint)
    assert known > 5


def test_what_is_legal_in_the_first_turn_is_told_at_the_start_of_a_match() -> None:
    follower, sent = messages("connectfour", "red")
    ((kind, fields),) = sent
    assert (kind, fields["id"]) == ("foreseen", 0)
    ((reported, reply),) = fields["replies"]
    assert reported is None
    assert follower.match.is_legal(reply)


def test_what_is_known_is_told_before_the_next_turn_is_begun() -> None:
    follower, sent = messages("tictactoe", "x")
    follower.play(play(1, None, None))
    follower.look_ahead()
    follower.look_ahead()
    sent.clear()
    follower.play(play(2, ["(mark a 1)", "noop"], "(mark a 1)"))
    assert [kind for kind, _ in sent] == ["foreseen", "options"]
    assert sent[0][1]["id"] == 1


def test_where_information_is_hidden_a_move_is_guessed_that_is_legal_after_most() -> None:
    """Own shots are known as they are made; a guess is a square at which the role has not shot before."""
    machine = ProverMachine(parse_rules((GAMES / "battleships.kif").read_text()))
    follower, sent = messages("battleships", "blue")
    draw = random.Random(2)
    state, told, own = machine.initial_state(), Play("m", (), 0, None).told, None
    right = guesses = 0
    for number in range(1, 11):
        sent.clear()
        follower.play(play(number, told, own))  # type: ignore[arg-type]
        while follower.look_ahead():
            pass
        joint = [draw.choice(machine.legal_moves(state, role)) for role in range(2)]
        own = machine.rules.spell(machine.move(0, joint[0]))
        percepts = map(machine.rules.spell, sorted(machine.percepts(state, joint)[0]))
        told = Play("m", tuple(percepts), number, own).told
        state = machine.next_state(state, joint)
        legal = [machine.rules.spell(machine.move(0, move)) for move in machine.legal_moves(state, 0)]
        for fields in (fields for kind, fields in sent if kind == "foreseen"):
            assert (fields["id"], fields["replies"]) == (number, [])
            guesses, right = guesses + 1, right + (fields["guess"] in legal)
    assert guesses == 10 and right >= 8


def test_nothing_is_foreseen_at_the_end() -> None:
    machine = ProverMachine(parse_rules((GAMES / "tictactoe.kif").read_text()))
    ahead = Foresight(machine, 0, random.Random(1))
    state = machine.initial_state()
    draw = random.Random(1)
    while not state.terminal:
        state = machine.next_state(state, [draw.choice(machine.legal_moves(state, r)) for r in range(2)])
    ahead.turn(9, state)
    while ahead.step():
        pass
    assert ahead.seen() is None
