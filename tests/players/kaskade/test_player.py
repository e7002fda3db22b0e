"""The player of a kaskade goes up to each machine as it comes, with its search, and answers in between."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade.kaskade import Kaskade
from players.kaskade.make_machine import make_machine
from players.kaskade.player import KaskadePlayer
from players.kaskade.stages import STAGES, Stage
from players.player import Candidate, Choice, Player, same_numbering
from players.uct.player import UctPlayer
from propnet.machine import PropnetMachine
from tests.players.kaskade.kaskades import GAME, LONG, Log, until
from tests.players.kaskade.odd_stages import stage

pytestmark = pytest.mark.usefixtures("own_cache")


class Notes(Player):
    """Notes what it is asked and on which machine; does something while it thinks."""

    resumes = True

    def __init__(self, during: Callable[[], object] = lambda: None) -> None:
        super().__init__()
        self.during = during
        self.on: list[str] = []

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        assert state.machine is self.machine
        self.on.append(self.machine.level)
        self.during()
        self.interrupted()
        return Choice(options[-1], (Candidate(options[-1], 1),))


def test_a_player_goes_up_within_a_turn_and_answers_for_the_machine_it_was_asked_on(
    gated: tuple[Kaskade, Path],
) -> None:
    kaskade, gate = gated
    ups: list[str] = []

    def open_the_gate() -> None:
        gate.touch()
        assert kaskade.wait("two", LONG)
        until(lambda: not kaskade.rising)

    player = Notes(open_the_gate)
    rising = KaskadePlayer(player, kaskade, lambda machine: ups.append(machine.level))
    state = kaskade.prover().initial_state()
    rising.start(state.machine, 0, state, 0.0, 0.0)
    choice = rising.choose(state, time.monotonic() + LONG)
    assert player.on == ["one", "two"]
    assert ups == ["two"]
    assert choice.move in state.machine.legal_moves(state, 0)
    player.during = lambda: None
    after = state.machine.next_state(
        state, [state.machine.move_id(0, parse_rules("(a wait)").rules[0].head.args[0])]
    )
    assert rising.choose(after, time.monotonic() + LONG).move in state.machine.legal_moves(after, 0)
    assert player.on == ["one", "two", "two"]


def test_a_player_that_cannot_go_on_with_a_search_is_asked_once_a_turn(gated: tuple[Kaskade, Path]) -> None:
    kaskade, gate = gated
    player = Notes()
    player.resumes = False
    rising = KaskadePlayer(player, kaskade)
    state = kaskade.prover().initial_state()
    rising.start(state.machine, 0, state, 0.0, 0.0)
    rising.choose(state, time.monotonic() + LONG)
    gate.touch()
    assert kaskade.wait("two", LONG)
    rising.choose(state, time.monotonic() + LONG)
    assert player.on == ["one", "two"]


def test_a_machine_that_lies_is_not_current(log: Log, make: Callable[..., Kaskade]) -> None:
    kaskade = make(stage("one", "deliver"), stage("two", "lie"))
    kaskade.begin(GAME)
    assert kaskade.wait("two", LONG)
    player = Notes()
    rising = KaskadePlayer(player, kaskade)
    state = kaskade.prover().initial_state()
    rising.start(state.machine, 0, state, 0.0, 0.0)
    assert rising.choose(state, time.monotonic() + LONG).move in state.machine.legal_moves(state, 0)
    assert player.on == ["one"]
    assert "does not agree on the legal moves of me" in log.all()[-1].detail


def test_a_machine_that_the_player_cannot_take_is_given_up(log: Log, make: Callable[..., Kaskade]) -> None:
    class Stubborn(Notes):
        def update_machine(self, machine: Machine) -> None:
            if machine.level == "two":
                raise ZeroDivisionError("no")
            super().update_machine(machine)

    kaskade = make(stage("one", "deliver"), stage("two", "add"))
    kaskade.begin(GAME)
    player = Stubborn()
    rising = KaskadePlayer(player, kaskade)
    state = kaskade.prover().initial_state()
    assert kaskade.wait("one", LONG)
    player.machine = kaskade.prover()
    rising.machine = rising._current = player.machine
    player.role = rising.role = 0
    assert kaskade.wait("two", LONG)
    rising.choose(state, time.monotonic() + LONG)
    assert "cannot go over" in log.all()[-1].detail
    rising.choose(state, time.monotonic() + LONG)
    assert player.on[-1] == "one"


def test_uct_plays_legal_moves_through_all_machines(make: Callable[..., Kaskade]) -> None:
    game = Game.load("tictactoe")
    kaskade = make(*STAGES)
    kaskade.begin(game.text, game.rules)
    player = UctPlayer(seed=1, playouts=100)
    rising = KaskadePlayer(player, kaskade)
    state = kaskade.prover().initial_state()
    player.start(state.machine, 0, state, 0.0, 0.0)
    rising.role, rising.machine, rising._current = 0, state.machine, state.machine
    levels: list[str] = []
    machine = state.machine
    for level in ("prover", *kaskade.levels):
        if level != "prover":
            assert kaskade.wait(level, LONG)
        choice = (player if level == "prover" else rising).choose(state, time.monotonic() + LONG)
        levels.append(player.machine.level)
        assert choice.move in machine.legal_moves(state, 0)
        assert {c.move for c in choice.candidates} == set(machine.legal_moves(state, 0))
        other = machine.legal_moves(state, 1)[0]
        state = machine.next_state(state, [choice.move, other])
        state = machine.next_state(state, [machine.legal_moves(state, r)[0] for r in (0, 1)])
    assert levels[0] == "prover"
    assert levels[-1] == kaskade.levels[-1]


def test_the_tree_is_kept_on_a_machine_of_the_same_network() -> None:
    rules = Game.load("connectfour").rules
    one, other = make_machine(rules, "propnet"), make_machine(rules, "propnet")
    assert same_numbering(one, other)
    assert not same_numbering(one, ProverMachine(rules))
    player = UctPlayer(seed=1, playouts=3000)
    state = one.initial_state()
    player.start(one, 0, state, 0.0, 0.0)
    before = player.choose(state, time.monotonic() + LONG)
    player.update_machine(other)
    again = player.choose(other.initial_state(), time.monotonic() + LONG)
    assert sum(c.visits for c in before.candidates) == 3000
    assert sum(c.visits for c in again.candidates) == 6000


class CalledBack(UctPlayer):
    """Thinks for long when it is asked first, and for a moment when it is asked again."""

    def __init__(self) -> None:
        super().__init__(seed=1)
        self.visits: list[int] = []

    def choose(self, state: State, deadline: float) -> Choice:
        choice = super().choose(state, time.monotonic() + 0.3 if self.visits else deadline)
        self.visits.append(sum(candidate.visits for candidate in choice.candidates))
        return choice


def test_a_search_is_called_back_for_a_machine_and_goes_on_with_its_tree(
    tmp_path: Path, make: Callable[..., Kaskade]
) -> None:
    def twin(rules: Rules, product: bytes, before: Machine | None) -> Machine:
        assert isinstance(before, PropnetMachine)
        return PropnetMachine(rules, before.network)

    gate = tmp_path / "gate"
    game = Game.load("connectfour")
    kaskade = make(STAGES[0], Stage("twin", stage("twin", "when_told").job, twin))
    kaskade.begin(f"{game.text}\n;{gate}", game.rules)
    assert kaskade.wait(STAGES[0].level, LONG)
    player = CalledBack()
    player.on_progress = lambda _: gate.touch()
    rising = KaskadePlayer(player, kaskade)
    state = kaskade.prover().initial_state()
    rising.start(state.machine, 0, state, 0.0, 0.0)
    first = player.machine
    choice = rising.choose(state, time.monotonic() + LONG)
    assert choice.move in state.machine.legal_moves(state, 0)
    assert player.machine is not first
    assert len(player.visits) == 2
    assert player.visits[1] >= player.visits[0] > 0
