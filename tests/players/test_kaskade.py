"""The cascade: machines come as they are built, and nothing that happens to a builder reaches the player."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gdl.errors import GdlError
from gdl.ground import ground
from gdl.machine import Machine
from gdl.parser import parse_rules
from gdl.prover import ProverMachine
from gdl.rules import Rules
from gdl.state import State
from ggp.game import Game
from players.kaskade import BEGUN, FAILED, READY, Event, Kaskade
from players.kaskade_player import KaskadePlayer
from players.kaskade_stages import STAGES, Stage
from players.machines import make_machine
from players.player import Candidate, Choice, Player, same_numbering
from players.uct import UctPlayer
from propnet.build import build
from propnet.interpret import PropnetMachine
from propnet.network_bytes import to_bytes
from propnet.network_cache import keep
from tests.players.odd_stages import stage

ROOT = Path(__file__).parents[2]
LONG = 120.0
"""Seconds that nothing here takes; waits end earlier, when what they wait for has happened."""

GAME = (
    "(role me) (init (n 0)) (legal me go) (legal me wait) (<= (next (n 1)) (does me go))"
    " (<= (next (n 0)) (does me wait)) (<= terminal (true (n 1))) (goal me 100)"
)

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


class Log:
    """What a cascade tells, in order."""

    def __init__(self) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def __call__(self, event: Event) -> None:
        self.events.put(event)

    def all(self) -> list[Event]:
        found: list[Event] = []
        with contextlib.suppress(queue.Empty):
            while True:
                found.append(self.events.get_nowait())
        return found


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder for what is kept on disk."""
    monkeypatch.setenv("GGP_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def make(log: Log) -> Iterator[Callable[..., Kaskade]]:
    made: list[Kaskade] = []

    def make(*stages: Stage, level: str = "auto") -> Kaskade:
        made.append(Kaskade(level, on_event=log, stages=stages))
        return made[-1]

    files, children = _files(), _children()
    yield make
    pids = [builder.pid for kaskade in made for builder in kaskade._builders]
    for kaskade in made:
        kaskade.close(LONG)
    assert not any(map(_alive, pids))
    assert _files() <= files
    assert set(_children()) <= set(children)


def _files() -> int:
    """How many files this process has open."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def _children() -> list[int]:
    """The processes that this one has started and that are not gone, the dead ones among them."""
    try:
        return [int(pid) for pid in Path("/proc/thread-self/children").read_text().split()]
    except OSError:
        return []


def _alive(pid: int) -> bool:
    """Whether there is such a process, and it is not only waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def _until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.01)


# --- what comes ----------------------------------------------------------------------------------
def test_the_prover_answers_at_once_and_every_machine_that_comes_says_the_same(
    log: Log, make: Callable[..., Kaskade]
) -> None:
    kaskade = make(*STAGES)
    kaskade.begin(GAME)
    prover = kaskade.prover()
    assert prover.level == "prover"
    assert kaskade.wait("propnet", LONG)
    kaskade.wait(kaskade.levels[-1], LONG)
    machine = kaskade.best()
    assert machine.level == kaskade.levels[-1]
    state = machine.initial_state()
    assert state == prover.initial_state()
    assert state.legal == prover.initial_state().legal
    assert state.play("go") == prover.initial_state().play("go")
    _until(lambda: not kaskade.rising)
    assert [(e.level, e.what) for e in log.all()][:2] == [("propnet", BEGUN), ("propnet", READY)]


def test_a_game_that_was_built_before_is_not_built_again(make: Callable[..., Kaskade]) -> None:
    game = Game.load("tictactoe")
    network = build(ground(game.rules))
    assert keep(game.rules, to_bytes(replace(network, stats={"made by this test": 1.0})))
    kaskade = make(STAGES[0])
    kaskade.begin(game.text, game.rules)
    assert kaskade.wait("propnet", LONG)
    machine = kaskade.best()
    assert isinstance(machine, PropnetMachine)
    assert machine.network.stats == {"made by this test": 1.0}


def test_stages_are_built_on_each_other(log: Log, make: Callable[..., Kaskade]) -> None:
    kaskade = make(stage("one", "deliver"), stage("two", "add"), stage("three", "add"))
    kaskade.begin(GAME)
    assert kaskade.wait("three", LONG)
    assert kaskade.best().level == "three"
    told = [(e.level, e.what) for e in log.all() if e.level != "three"]
    assert told == [("one", BEGUN), ("one", READY), ("two", BEGUN), ("two", READY)]


def test_a_stage_may_deliver_several_times(log: Log, make: Callable[..., Kaskade]) -> None:
    kaskade = make(stage("one", "deliver_thrice"))
    kaskade.begin(GAME)
    _until(lambda: not kaskade.rising)
    assert [e.what for e in log.all()] == [BEGUN, READY, READY, READY]


@pytest.mark.parametrize(("level", "levels"), [("prover", ()), ("one", ("one",)), ("auto", ("one", "two"))])
def test_the_cap_holds(make: Callable[..., Kaskade], level: str, levels: tuple[str, ...]) -> None:
    kaskade = make(stage("one", "deliver"), stage("two", "add"), level=level)
    assert kaskade.levels == levels
    assert len(kaskade._builders) == len(levels)
    kaskade.begin(GAME)
    assert kaskade.wait("two", LONG) == ("two" in levels)
    _until(lambda: not kaskade.rising)
    assert kaskade.best().level == (levels or ("prover",))[-1]


def test_levels_that_do_not_exist_are_refused() -> None:
    with pytest.raises(GdlError, match="no machine 'abacus'"):
        Kaskade("abacus")


def test_rules_that_cannot_be_built_leave_the_prover(log: Log, make: Callable[..., Kaskade]) -> None:
    kaskade = make(*STAGES)
    kaskade.begin("(<=)", parse_rules(GAME))
    assert not kaskade.wait("propnet", LONG)
    assert kaskade.best().level == "prover"
    assert "has no head" in log.all()[-1].detail


# --- what goes wrong ----------------------------------------------------------------------------------
@needs_proc
@pytest.mark.parametrize(
    ("function", "limits", "reason"),
    [
        ("fail", {}, "ZeroDivisionError: this stage is broken at odd_builders.py"),
        ("kill_itself", {}, "killed by SIGKILL"),
        ("stop_itself", {}, "stopped by a signal"),
        ("sleep", {"seconds": 1.0}, "took more than 1 s"),
        ("sleep_with_a_child", {"seconds": 2.0}, "took more than 2 s"),
        ("work_forever", {"cpu_seconds": 0.1}, "CPU time"),
        ("take_memory", {"memory": 400_000_000}, "more memory than it may"),
        ("take_file_space", {"memory": 120_000_000}, "OSError|memory"),
        ("leave", {}, "ended with status 3, and said 'goodbye'"),
        ("deliver_nothing", {}, "delivered nothing"),
        ("be_unloadable", {}, "ZeroDivisionError: this cannot be loaded"),
        ("talk_nonsense", {}, "sends what it should not"),
        ("talk_json_nonsense", {}, "sends what it should not"),
        ("talk_without_end", {}, "message without an end"),
        ("announce_too_much", {}, "bytes of 1,000,000,000,000"),
        ("announce_something_else", {}, "not what it announced"),
        ("no_such_function", {}, "no_such_function"),
    ],
)
def test_a_stage_that_fails_leaves_the_one_before_and_says_why(
    log: Log, make: Callable[..., Kaskade], function: str, limits: dict[str, float], reason: str
) -> None:
    kaskade = make(stage("one", "deliver"), stage("two", function, **limits))
    kaskade.begin(GAME)
    _until(lambda: not kaskade.rising)
    failure = log.all()[-1]
    assert (failure.level, failure.what) == ("two", FAILED)
    assert re.search(reason, failure.detail), failure.detail
    machine = kaskade.best()
    # Those two may have delivered something before they failed.
    assert machine.level in ("one", "two" if "space" in function or "child" in function else "one")
    assert machine.initial_state().legal == {"me": ["go", "wait"]}


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
def test_a_builder_that_is_killed_or_stopped_from_outside_is_replaced_once(
    log: Log, make: Callable[..., Kaskade], tmp_path: Path, number: signal.Signals
) -> None:
    gate = tmp_path / "gate"
    kaskade = make(stage("one", "deliver"), stage("two", "when_told"))
    kaskade.begin(f"{GAME};{gate}")
    assert kaskade.wait("one", LONG)
    os.kill(kaskade._builders[1].pid, number)
    _until(lambda: len(kaskade._builders) == 3)
    gate.touch()
    assert kaskade.wait("two", LONG)
    assert not [event for event in log.all() if event.what == FAILED]


@needs_proc
@pytest.mark.parametrize(("number", "times"), [(signal.SIGKILL, 2), (signal.SIGSEGV, 1)])
def test_a_builder_that_is_killed_again_or_crashes_is_told(
    log: Log, make: Callable[..., Kaskade], number: signal.Signals, times: int
) -> None:
    kaskade = make(stage("one", "deliver"), stage("two", "sleep"))
    kaskade.begin(GAME)
    assert kaskade.wait("one", LONG)
    for place in range(times):
        _until(lambda place=place: len(kaskade._builders) == 2 + place)  # type: ignore[misc]
        os.kill(kaskade._builders[1 + place].pid, number)
    assert not kaskade.wait("two", LONG)
    assert f"killed by {number.name}" in log.all()[-1].detail
    assert kaskade.best().level == "one"


def test_a_builder_that_dies_before_the_rules_come_is_replaced(make: Callable[..., Kaskade]) -> None:
    kaskade = make(stage("one", "deliver"))
    os.kill(kaskade._builders[0].pid, signal.SIGKILL)
    kaskade.begin(GAME)
    assert kaskade.wait("one", LONG)


@needs_proc
def test_what_a_builder_has_started_dies_with_it(make: Callable[..., Kaskade]) -> None:
    children: list[int] = []
    hanging = stage("one", "sleep_with_a_child")

    def load(rules: object, product: bytes, before: object) -> Machine:
        children.append(int(product))
        return ProverMachine(parse_rules(GAME))

    kaskade = make(Stage("one", hanging.work, load))
    kaskade.begin(GAME)
    assert kaskade.wait("one", LONG)
    assert _alive(children[0])
    kaskade.close(LONG)
    _until(lambda: not _alive(children[0]))


@pytest.mark.parametrize("function", ["sleep", "stop_itself", "work_forever"])
def test_closing_does_not_wait_for_a_builder_that_hangs(
    log: Log, make: Callable[..., Kaskade], function: str
) -> None:
    kaskade = make(stage("one", "deliver"), stage("two", function), stage("three", "add"))
    kaskade.begin(GAME)
    assert kaskade.wait("one", LONG)
    kaskade.close(LONG)
    assert not kaskade.rising
    assert kaskade.best().level == "one", "what is ready stays"
    assert FAILED not in {event.what for event in log.all()}


def test_a_cascade_that_nobody_begins_leaves_nothing(make: Callable[..., Kaskade]) -> None:
    make(stage("one", "deliver"))


@needs_proc
@pytest.mark.parametrize("function", ["sleep", "stop_itself", "work_forever", "when_never"])
def test_builders_end_when_the_player_is_killed(function: str) -> None:
    begin = "" if function == "when_never" else f"k.begin({GAME!r})\n"
    script = (
        "import time\n"
        "from players.kaskade import Kaskade\n"
        "from tests.players.odd_stages import stage\n"
        f"k = Kaskade(stages=[stage('one', {function!r})])\n{begin}"
        "print(k._builders[0].pid, flush=True)\n"
        "time.sleep(3600)\n"
    )
    player = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True, cwd=ROOT
    )
    assert player.stdout is not None
    with player:
        builder = int(player.stdout.readline())
        if function == "stop_itself":
            state = Path(f"/proc/{builder}/stat")
            _until(lambda: state.read_text().rsplit(")", 1)[1].split()[0] == "T")
        player.kill()
    _until(lambda: not _alive(builder))


# --- the player that goes up --------------------------------------------------------------------------
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
    tmp_path: Path, make: Callable[..., Kaskade]
) -> None:
    gate = tmp_path / "gate"
    kaskade = make(stage("one", "deliver"), stage("two", "when_told"))
    kaskade.begin(f"{GAME} ;{gate}")
    ups: list[str] = []

    def open_the_gate() -> None:
        gate.touch()
        assert kaskade.wait("two", LONG)
        _until(lambda: not kaskade.rising)

    player = Notes(open_the_gate)
    rising = KaskadePlayer(player, kaskade, lambda machine: ups.append(machine.level))
    state = kaskade.prover().initial_state()
    assert kaskade.wait("one", LONG)
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


def test_a_player_that_cannot_go_on_with_a_search_is_asked_once_a_turn(
    tmp_path: Path, make: Callable[..., Kaskade]
) -> None:
    gate = tmp_path / "gate"
    kaskade = make(stage("one", "deliver"), stage("two", "when_told"))
    kaskade.begin(f"{GAME} ;{gate}")
    assert kaskade.wait("one", LONG)
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


def test_a_machine_that_lies_is_not_taken(log: Log, make: Callable[..., Kaskade]) -> None:
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
    rising.machine = rising._taken = player.machine
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
    rising.role, rising.machine, rising._taken = 0, state.machine, state.machine
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
    kaskade = make(STAGES[0], Stage("twin", stage("twin", "when_told").work, twin))
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
