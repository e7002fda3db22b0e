"""The player of a kaskade goes up to each machine as it comes, with its search, and answers in between."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import ggp
from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade import player as climbing
from players.kaskade.kaskade import Kaskade
from players.kaskade.make_machine import make_machine
from players.kaskade.player import KaskadePlayer
from players.kaskade.stages import STAGES, Stage
from players.kaskade.until_compiled import STAND_IN, UntilCompiled
from players.player import Candidate, Choice, Player, same_numbering
from players.registry import make_player
from players.uct.player import UctPlayer
from propnet.machine import PropnetMachine
from tests.players.kaskade.odd_stages import GAME, LONG, Log, stage
from tests.waiting import until

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


def started(
    player: Player, kaskade: Kaskade, on_up: Callable[[Machine], None] | None = None
) -> tuple[KaskadePlayer, State]:
    """The player of a kaskade at the beginning of a match, and its first state."""
    rising, state = KaskadePlayer(player, kaskade, on_up), kaskade.prover().initial_state()
    rising.start(state.machine, 0, state, 0.0, 0.0)
    return rising, state


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
    rising, state = started(player, kaskade, lambda machine: ups.append(machine.level))
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
    rising, state = started(player, kaskade)
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
    rising, state = started(player, kaskade)
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
        reply = machine.legal_moves(state, 1)[0]
        state = machine.next_state(state, [choice.move, reply])
        state = machine.next_state(state, [machine.legal_moves(state, r)[0] for r in (0, 1)])
    assert levels[0] == "prover"
    assert levels[-1] == kaskade.levels[-1]


def test_the_tree_is_kept_on_a_machine_of_the_same_network() -> None:
    rules = Game.load("connectfour").rules
    first, second = make_machine(rules, "propnet"), make_machine(rules, "propnet")
    assert same_numbering(first, second)
    assert not same_numbering(first, ProverMachine(rules))
    player = UctPlayer(seed=1, playouts=3000)
    state = first.initial_state()
    player.start(first, 0, state, 0.0, 0.0)
    before = player.choose(state, time.monotonic() + LONG)
    player.update_machine(second)
    again = player.choose(second.initial_state(), time.monotonic() + LONG)
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
    rising, state = started(player, kaskade)
    first = player.machine
    choice = rising.choose(state, time.monotonic() + LONG)
    assert choice.move in state.machine.legal_moves(state, 0)
    assert player.machine is not first
    assert len(player.visits) == 2
    assert player.visits[1] >= player.visits[0] > 0


def walk(state: State, steps: int, seed: int) -> list[tuple[State, list[str]]]:
    rng = random.Random(seed)
    seen = []
    for _ in range(steps):
        if state.terminal:
            break
        moves = [rng.choice(sorted(options)) for options in state.legal.values()]
        seen.append((state, moves))
        state = state.play(*moves)
    return seen


def test_small_games_stand_on_the_network_at_once() -> None:
    game = ggp.load("tictactoe")
    assert game.initial.machine.level == "propnet"
    assert game.ready(0)


def test_large_ones_go_up_and_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(climbing, "AT_ONCE_SECONDS", 0.0)
    monkeypatch.setattr(climbing, "MOST_RULES_AT_ONCE", 1)
    game = ggp.load("connectfour")
    first = game.initial
    assert first.machine.level == "prover"
    below = walk(first, 8, 3)
    assert game.ready(60)
    assert game.initial.machine.level == "propnet"
    above = walk(game.initial, 8, 3)
    assert [moves for _, moves in below] == [moves for _, moves in above]
    for low, high in zip(below, above, strict=True):
        assert low[0] == high[0] and hash(low[0]) == hash(high[0])
        assert low[0].board() == high[0].board()
    state, moves = below[-1]
    assert state.machine.level == "prover" and state.play(*moves).machine.level == "propnet"


def test_without_a_network_all_goes_on_on_the_prover(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> Machine:
        raise GdlError("too large")

    monkeypatch.setattr(climbing, "_network_at_once", lambda rules: None)
    monkeypatch.setattr(climbing, "STAGES", (replace(climbing.STAGES[0], load=fails),))
    game = ggp.load("tictactoe")
    state = game.initial
    assert not game.ready(60)
    assert state.play("(mark b 2)").machine.level == "prover"


# --- A match that begins before its kernels are compiled: legal moves at once, then the wanted player
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
