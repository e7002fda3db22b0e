"""Self-play by searches, its processes, and duels: legal moves, chance as it is, the dead done without."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

from gdl.errors import GdlError
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.state_values import StateValues
from players.knowledge.training import Training
from players.uct.training import duel, play_processes, searched_play
from players.uct.training.duel import Series, play_pair
from players.uct.training.play_processes import PlayProcesses, SearchedTraining
from players.uct.training.searched_play import PlayTerms, SearchedPlay
from players.uct.tuning import Tuning
from propnet.machine import PropnetMachine
from tests.machines import network
from tests.players.knowledge.test_values import GAMBLE, GUESS, THREE


def _play(machine: PropnetMachine, explored: float, seed: int = 0) -> SearchedPlay:
    values = StateValues(len(machine.network.bases), 2, (0,))
    return SearchedPlay(machine, values, PlayTerms(16, 24, explored), np.random.default_rng(seed))


@pytest.mark.parametrize("game", ["tictactoe", "connectfour", "kalah", "checkers"])
def test_each_state_of_a_match_follows_from_the_one_before(game: str) -> None:
    machine = network(game)
    play = _play(machine, 0.2)
    start = play.play(1)[0].records[0, 0]
    steps, inner, worth = _play(machine, 0.2).play(12)
    for lane in range(16):
        for step in range(11):
            here, there = steps.records[step, lane], steps.records[step + 1, lane]
            if not np.isnan(steps.results[step, lane]):
                assert np.array_equal(there, start)
                continue
            assert _reaches(machine, here, there) or np.array_equal(there, start)
    assert len(inner) and ((worth >= 0) & (worth <= 1)).all()
    assert not machine.ends(inner)[0].any()


def _reaches(machine: PropnetMachine, here: np.ndarray, there: np.ndarray) -> bool:
    """Whether a move leads from one state to the other, through plies without a choice where there are."""
    seen = machine.states(here[None])
    goal = machine.states(there[None])[0]
    for _ in range(70):
        following = [after for row in machine.expand(seen) for _, after in row]
        if goal in following:
            return True
        seen = [s for s in following if not machine.is_terminal(s) and len(machine.expand([s])[0]) == 1]
        if not seen:
            return False
    return False


def test_results_are_those_of_the_rules_and_wins_are_taken() -> None:
    machine = network("tictactoe")
    play = _play(machine, 0.0)
    steps, *_ = play.play(30)
    assert play.finished > 0
    ended = ~np.isnan(steps.results)
    assert set(np.unique(steps.results[ended])) <= {0.0, 0.5, 1.0}
    # Who can win at once does: a state with a win is worth that, and the next one is terminal.
    for step, lane in zip(*np.nonzero(~steps.broken), strict=True):
        state = machine.states(steps.records[step, lane][None])
        mover = next((r for r in (0, 1) if len(machine.legal_moves(state[0], r)) > 1), 0)
        results = [machine.result(s, mover) for _, s in machine.expand(state)[0] if machine.is_terminal(s)]
        if 100 in results:
            assert steps.results[step, lane] == 1.0 - mover == steps.values[step, lane]


def test_matches_are_fewer_where_the_tree_has_no_room_for_their_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Searches of amazons once ran out of room at their roots, and learnt nothing."""
    monkeypatch.setattr(searched_play, "_MEMORY", 1 << 20)
    machine = network("breakthrough")
    values = StateValues(len(machine.network.bases), 2, (0,))
    play = SearchedPlay(machine, values, PlayTerms(explored=0.0), np.random.default_rng(0))
    assert 8 < play.lanes < 100
    for _ in range(6):
        steps, *_ = play.play(1)
        tree = play._tree
        roots = tree.add(steps.records[0])
        nodes = tree.arrays.nodes[roots]
        assert ((nodes["visits"] >= 32) | (nodes["proven"] >= 0)).all()


def test_what_is_told_has_a_value_for_each_state() -> None:
    machine = network("breakthrough")
    told = _play(machine, 0.1).learnt(6)
    assert told.targets.shape == (len(told.records), 1) and told.moves == 6 * 16
    assert ((told.targets >= 0) & (told.targets <= 1)).all()


@pytest.mark.parametrize("game", ["biddingtictactoe", "lightsout"])
def test_games_that_searches_cannot_look_at_are_told(game: str) -> None:
    machine = network(game)
    with pytest.raises(GdlError, match=r"choose in turn|several roles"):
        SearchedTraining(Training(machine, canonical_names(machine.rules)))


def test_training_goes_on_from_what_it_knew() -> None:
    machine = network("tictactoe")
    names = canonical_names(machine.rules)
    training = SearchedTraining(Training(machine, names), terms=PlayTerms(lanes=32, visits=16))
    training.add_net()
    for number in range(15):
        training.round(number / 15)
    known = training.knowledge("tictactoe")
    assert known.model == "net" and known.moves == training.progress.moves > 0
    again = SearchedTraining(Training(machine, names, known), terms=PlayTerms(lanes=8, visits=8))
    records = machine.records([machine.initial_state()])
    assert np.allclose(again.values.of(records), training.values.of(records))
    assert np.allclose(StateValues.of_game(known, names, machine).of(records), training.values.of(records))
    for process in (training, again):
        process.close()


def test_a_new_net_begins_with_the_states_that_linear_weights_learnt_from() -> None:
    machine = network("connectfour")
    training = SearchedTraining(Training(machine, canonical_names(machine.rules)))
    for number in range(6):
        training.round(number / 6)
    replay = training._weights._replay
    records, targets = replay.records[: replay.held], replay.targets[: replay.held, 0]
    training.add_net()
    net = training.values.of(records)[:, 0]
    training.close()
    assert ((net - targets) ** 2).mean() < 0.8 * ((0.5 - targets) ** 2).mean()


@pytest.mark.slow
def test_processes_that_play_bring_their_states_and_one_that_dies_is_missed() -> None:
    machine = network("tictactoe")
    weights = Training(machine, canonical_names(machine.rules))
    training = SearchedTraining(weights, workers=3, terms=PlayTerms(lanes=8, visits=8))
    try:
        own = 12 * 8
        rounds = 0
        while training.progress.moves <= rounds * own and rounds < 20_000:
            training.round()
            rounds += 1
        assert training.progress.moves > rounds * own
        members = training._processes._members
        next(iter(members.values())).kill()
        for _ in range(20_000):
            training.round()
            if len(members) == 1:
                break
        assert len(members) == 1
        before = training.progress.moves
        training.round()
        assert training.progress.moves >= before + own
    finally:
        training.close()


# --- Duels leave the moves of chance to chance, the same in both matches of a pair, and give it no seat
def _pair(machine: PropnetMachine, seed: int) -> tuple[float, float]:
    usual = Tuning()
    result = play_pair(machine, machine.initial_state(), (usual, usual), 0.0, seed, 10)
    assert result is not None
    return result


def test_both_matches_of_a_pair_have_the_same_throws(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = network(GAMBLE)
    asked: list[int] = []

    def risky(search: object, state: object, role: int, seconds: float, rng: object) -> int:
        asked.append(role)
        return max(
            machine.legal_moves(state, role), key=lambda move: str(machine.move(role, move)) == "risky"
        )

    monkeypatch.setattr(duel, "choose", risky)
    pairs = {_pair(machine, seed) for seed in range(30)}
    # Who is white wins by a throw of 1 or 2, in both matches; by one of 3 black does.
    assert pairs == {(1.0, 0.0), (0.0, 1.0)}
    assert set(asked) == {0}  # the others have no choice, and chance is drawn


@pytest.mark.parametrize(("text", "seats"), [(GAMBLE, {0}), (GUESS, {1}), (THREE, {0, 1, 2})])
def test_chance_has_no_seat(text: str, seats: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(duel, "play_pair", lambda *given: asked.append(given[-1]) or (0.5, 0.5))
    series = Series(network(text), (Tuning(), Tuning()), 1)
    for _ in range(6):
        series.play(0.0)
    assert set(asked) == seats and len(series.scores) == 12 and series.wins == series.losses == 0


STUCK = """
(role white) (role black) (role {third}) (init start)
(<= (legal white (bid ?n)) (number ?n))
(<= (legal black (bid ?n)) (number ?n) {condition})
(<= (legal {third} (throw ?n)) (number ?n) {other})
(number 1) (number 2)
(<= (next later) (true start))
(<= (next (won ?n)) (true later) (does white (bid ?n)))
(<= terminal (true (won ?n)))
(goal white 100) (goal black 0) (goal {third} 0)
"""


@pytest.mark.parametrize("third", ["random", "red"])
@pytest.mark.parametrize("stuck", ["black", "third"])
def test_a_match_in_which_a_role_has_no_legal_move_is_drawn(third: str, stuck: str) -> None:
    conditions = {"condition": "", "other": "", "condition" if stuck == "black" else "other": "(true start)"}
    machine = network(STUCK.format(third=third, **conditions))
    assert _pair(machine, 1) == (0.5, 0.5)


# --- Processes that play are done without when they have died or hang
STOPPED = """
import os, signal
os.write({number}, b'{{"do": "a part')
os.kill(os.getpid(), signal.SIGSTOP)
"""
DEAD = "exit(3)"


@pytest.mark.skipif(os.name != "posix", reason="processes are stopped by a signal")
@pytest.mark.parametrize("program", [STOPPED, DEAD], ids=["stopped in a message", "dead before the first"])
def test_one_that_says_nothing_more_is_missed_and_training_goes_on(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = network("tictactoe")
    values = StateValues(len(machine.network.bases), 2, (0,))
    ours, theirs = socket.socketpair()
    script = program.format(number=theirs.fileno())
    process = subprocess.Popen([sys.executable, "-c", script], pass_fds=[theirs.fileno()])
    theirs.close()
    monkeypatch.setattr(play_processes, "launch_linked", lambda *_, **__: (ours, process))
    processes = PlayProcesses(machine, PlayTerms(), 1, 0)
    try:
        (lines,) = processes._members
        assert select.select([lines.connection], [], [], 60)[0]
        over = threading.Event()

        def train() -> None:
            processes.exchange(values, lambda _: None)
            over.set()

        threading.Thread(target=train, daemon=True).start()
        assert over.wait(30) and len(processes._members) == (program is STOPPED)
    finally:
        process.kill()
        process.wait()
