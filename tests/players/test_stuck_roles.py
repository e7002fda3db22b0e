"""Rules that leave a role without moves break neither machines nor players nor solvers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from gdl.errors import GdlError
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from players.kaskade.kaskade import Event, Kaskade
from players.kaskade.make_machine import make_machine
from players.portfolio import solve
from players.registry import NAMES, make_player
from propnet.analysis.random_play import forced_moves, rivals
from propnet.machine import PropnetMachine
from tests.gdl.test_ends import ALONE, AT_FIRST, LATER, NOBODY


def _analysed(rules: Rules) -> object:
    machine = make_machine(rules, "native")
    assert isinstance(machine, PropnetMachine)
    return forced_moves(machine), rivals(machine)


def _kaskade(rules: Rules) -> None:
    events: list[Event] = []
    with Kaskade(on_event=events.append) as kaskade:
        kaskade.begin("\n".join(map(str, rules)), rules)
        kaskade.settle(60.0)
    assert [str(event) for event in events if event.what == "failed"] == []
    assert any(event.what == "ready" for event in events)


def _solved(rules: Rules) -> object:
    machine = make_machine(rules, "propnet")
    return solve(machine, 1.0) if len(machine.roles) == 1 else None


def _player(name: str, level: str) -> Callable[[Rules], object]:
    def play(rules: Rules) -> object:
        machine, player = make_machine(rules, level), make_player(name, 1)
        state = machine.initial_state()
        try:
            player.start(machine, 0, state, 0.1, time.monotonic() + 0.1)
            return player.choose(state, time.monotonic() + 0.2)
        finally:
            player.stop()

    return play


PLACES: dict[str, Callable[[Rules], Any]] = {
    "analysis": _analysed,
    "kaskade": _kaskade,
    "solve": _solved,
    **{
        f"{name} on {level}": _player(name, level)
        for name in NAMES
        for level in ("prover", "propnet", "native")
        if name != "tables"
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", [AT_FIRST, LATER, ALONE, NOBODY])
def test_rules_that_leave_a_role_without_moves_break_nothing(place: str, text: str) -> None:
    try:
        PLACES[place](parse_rules(text))
    except GdlError as error:
        assert "no legal move in the state" in error.message  # noqa: PT017 - no error is right, too
