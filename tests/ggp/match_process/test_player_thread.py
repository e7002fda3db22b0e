"""The thread that thinks uses each machine as it comes; games are known by their rules."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.scramble import scramble
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from ggp.match_process.player_thread import StateToRebuild, Thinker, by_length, name_of
from ggp.rule_files import installed_games
from players.kaskade.kaskade import Kaskade
from tests.places import in_turn
from tests.players.kaskade.odd_stages import stage

LONG = 120.0

ROUTINE = ("player", "game", "prepared")
"""What is logged of every startclock."""

GAME = (
    "(role me) (init (n 0)) (legal me Go) (legal me Wait) (<= (next (n 1)) (does me Go))"
    " (<= (next (n 0)) (does me Wait)) (<= terminal (true (n 1))) (goal me 100)"
)
Made = tuple[Thinker, queue.SimpleQueue[dict[str, Any]]]


@pytest.fixture
def make() -> Iterator[Callable[..., Made]]:
    thinkers: list[Thinker] = []

    def make(level: str = "auto", player: str = "legal") -> Made:
        messages: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

        def send(kind: str, **fields: object) -> None:
            messages.put({"kind": kind, **fields})

        thinkers.append(Thinker(send, player, level))
        return thinkers[-1], messages

    yield make
    for thinker in thinkers:
        thinker.stop(LONG)


def test_the_log_says_what_the_startclock_was_used_for(make: Callable[..., Made]) -> None:
    thinker, messages = make("prover", "random")
    thinker.begin(parse_rules(GAME), GAME, True)
    thinker.start(0, beginning(), "random", 7, LONG, time.monotonic() + LONG)
    heard: list[dict[str, Any]] = []
    while (message := messages.get(timeout=LONG))["kind"] != "ready":
        heard.append(message)
    fields = {message["event"]: message["fields"] for message in heard if message["kind"] == "log"}
    assert fields["player"] == {"player": "random", "seed": 7, "startclock": LONG}
    assert fields["prepared"]["machine"] == "prover"


def until(messages: queue.SimpleQueue[dict[str, Any]], kind: str) -> tuple[dict[str, Any], list[str]]:
    """The next message of a kind, and the events that were logged before it."""
    events: list[str] = []
    while True:
        message = messages.get(timeout=LONG)
        if message["kind"] == kind:
            return message, events
        if message["kind"] == "log" and message["event"] not in ROUTINE:
            events.append(message["event"])


def beginning() -> StateToRebuild:
    """Where a match of the game begins."""
    prover = ProverMachine(parse_rules(GAME))
    state = prover.initial_state()
    options = frozenset(prover.move(0, move) for move in prover.legal_moves(state, 0))
    return StateToRebuild(state.propositions, options)


def play(
    thinker: Thinker, messages: queue.SimpleQueue[dict[str, Any]], fast: bool = True
) -> tuple[str, str, list[str]]:
    """A match of one turn: the machine it began on, the move, the events."""
    thinker.begin(parse_rules(GAME), GAME, fast)
    position = beginning()
    thinker.start(0, position, "legal", 1, LONG, time.monotonic() + LONG)
    ready, events = until(messages, "ready")
    thinker.choose(1, position, "safe", time.monotonic() + LONG)
    move, more = until(messages, "move")
    return ready["machine"], move["move"], events + more


def test_a_match_begins_on_a_fast_machine(make: Callable[..., Made]) -> None:
    thinker, messages = make()
    assert thinker.single is None
    machine, move, events = play(thinker, messages)
    assert machine != "prover"
    # Who follows the match in another thread has one of its own.
    end = time.monotonic() + LONG
    while (single := thinker.single) is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert single not in (thinker._kaskade.newest, thinker._kaskade.prover())
    assert single.initial_state() == thinker._kaskade.prover().initial_state()
    assert move in ("Go", "Wait")
    assert events[:2] == ["machine begun", "machine ready"]


@pytest.mark.parametrize(("level", "fast"), [("prover", True), ("auto", False)])
def test_the_prover_is_used_where_no_fast_machine_is_wanted(
    make: Callable[..., Made], level: str, fast: bool
) -> None:
    machine, move, events = play(*make(level), fast)
    assert machine == "prover"
    assert move in ("Go", "Wait")
    assert events == []


@pytest.mark.parametrize("function", ["kill_itself", "leave", "fail", "deliver_nothing", "lie"])
def test_a_machine_that_cannot_be_had_costs_no_turn(
    make: Callable[..., Made], monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    monkeypatch.setattr(
        "ggp.match_process.player_thread.Kaskade", partial(Kaskade, stages=[stage("one", function)])
    )
    machine, move, events = play(*make())
    assert machine == "prover"
    assert move in ("Go", "Wait")
    assert "no machine" in events


def test_another_player_stands_in_while_the_first_is_being_compiled(
    make: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    def compile_for_long(thinker: Thinker, player: str, level: str) -> None:
        gate.wait(LONG)
        thinker._warm.set()
        thinker._warm_alone.set()

    monkeypatch.setattr("ggp.match_process.player_thread.STAND_IN", "legal")
    monkeypatch.setattr(Thinker, "_warm_up", compile_for_long)
    thinker, messages = make("prover", "random")
    thinker.begin(parse_rules(GAME), GAME, True)
    thinker.start(0, beginning(), "random", 1, 0.5, time.monotonic() + 0.5)
    _, events = until(messages, "ready")
    assert events == ["a stand-in begins"]
    thinker.choose(1, beginning(), "safe", time.monotonic() + LONG)
    assert until(messages, "move")[0]["move"] in ("Go", "Wait")
    assert thinker._player is not None and thinker._player._player.name == "legal"
    gate.set()
    assert thinker._warm.wait(LONG)
    thinker.choose(2, beginning(), "safe", time.monotonic() + LONG)
    move, events = until(messages, "move")
    assert move["move"] in ("Go", "Wait")
    assert events == []
    assert thinker._player is not None and thinker._player._player.name == "random"


def test_another_player_stands_in_for_one_that_cannot_be_made(
    make: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ggp.match_process.player_thread.STAND_IN", "legal")
    thinker, messages = make("prover")
    thinker.begin(parse_rules(GAME), GAME, True)
    thinker.start(0, beginning(), "no_such_module:Player", 1, LONG, time.monotonic() + LONG)
    _, events = until(messages, "ready")
    assert events == ["player cannot be made"]
    thinker.choose(1, beginning(), "safe", time.monotonic() + LONG)
    assert until(messages, "move")[0]["move"] in ("Go", "Wait")


# --- Games are known by their rules
NAMES = [path.stem for path in installed_games()]


def test_the_lengths_of_rules_are_those_of_the_parser() -> None:
    assert {name: length for length, names in by_length().items() for name in names} == {
        name: len(Game.load(name).rules) for name in NAMES
    }


@pytest.mark.parametrize("name", in_turn(NAMES))
def test_games_are_recognised_in_any_order_and_under_any_words(name: str) -> None:
    rules = Game.load(name).rules
    assert name_of(rules) == name
    shuffled = random.Random(1).sample(list(rules), len(rules))
    hidden, _ = scramble(Rules(tuple(shuffled), rules.spelling, rules.name), 7)
    assert name_of(hidden) == name


def test_rules_that_are_no_known_game_say_how_many_they_are() -> None:
    rules = list(map(str, Game.load("tictactoe").rules))
    goal = next(i for i, rule in enumerate(rules) if rule.startswith("(<= (goal"))
    other = [*rules[:goal], rules[goal].replace("100", "90"), *rules[goal + 1 :]]
    assert name_of(parse_rules("\n".join(other))) == f"unnamed, {len(rules)} rules"
    assert name_of(parse_rules("\n".join(rules[1:]))) == f"unnamed, {len(rules) - 1} rules"
