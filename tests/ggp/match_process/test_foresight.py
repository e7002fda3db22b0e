"""A follower looks a turn ahead while it waits, so that the last resort is legal where roles alternate."""

from __future__ import annotations

import random
from typing import Any

import pytest

from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.match_process import foresight
from ggp.match_process.foresight import Foresight
from ggp.match_process.match_follower import Follower
from tests.places import GAMES


def messages(game: str, role: str) -> tuple[Follower, list[tuple[str, dict[str, Any]]]]:
    sent: list[tuple[str, dict[str, Any]]] = []
    start = {"role": role, "seed": 1, "history": []}
    rules = parse_rules((GAMES / f"{game}.kif").read_text())
    return Follower(rules, start, lambda kind, **fields: sent.append((kind, fields))), sent


def play(number: int, moves: list[str] | None, answered: str | None) -> dict[str, Any]:
    told = {"delivered": True, "late": False, "advanced": False}
    return {"id": number, "moves": moves, "answered": answered, **told}


@pytest.mark.parametrize("role", ["white", "black"])
def test_what_is_foreseen_is_legal_in_the_next_turn_where_roles_alternate(role: str) -> None:
    follower, sent = messages("breakthrough", role)
    draw = random.Random(3)
    machine = ProverMachine(parse_rules((GAMES / "breakthrough.kif").read_text()))
    state, joint, answered, foreseen, right, turns = machine.initial_state(), None, None, None, 0, 0
    while not state.terminal:
        turns += 1
        follower.play(play(turns, joint, answered))
        legal = {
            str(machine.move(machine.role_id(machine.roles[follower.match.role]), m))
            for m in machine.legal_moves(state, follower.match.role)
        }
        right += foreseen in legal
        while follower.look_ahead():
            pass
        kind, fields = sent[-1]
        assert kind == "foreseen"
        assert fields["id"] == turns
        foreseen = fields["move"]
        chosen = [draw.choice(machine.legal_moves(state, r)) for r in range(2)]
        joint = [str(machine.move(r, m)) for r, m in enumerate(chosen)]
        answered = joint[follower.match.role]
        state = machine.next_state(state, chosen)
    assert turns > 20
    assert right > 0.9 * (turns - 1)


def test_rehearsal_ends_and_leaves_the_match_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foresight, "REHEARSAL_SECONDS", 0.05)
    follower, sent = messages("connectfour", "red")
    before = follower.match.state
    steps = 0
    while follower.look_ahead():
        steps += 1
    assert steps > 5
    assert follower.match.state == before
    assert not sent


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
    assert ahead.move is None
