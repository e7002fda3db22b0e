"""Matches in lanes are those that single states give, in every autoreset mode; illegal moves are refused."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from copy import deepcopy
from functools import cache

import numpy as np
import pytest

from gdl.errors import GdlError, MoveError, TooLargeError
from gdl.machine import State
from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from propnet.environments.vector_match import AUTORESET, VectorMatch, random_moves
from propnet.kernels.records import pack
from propnet.machine import PropnetMachine
from tests.places import GAME_FILES

KINDS = ("connectfour", "tron", "rockpaperscissors", "eightpuzzle", "breakthrough")
"""Alternating, simultaneous, three roles or one: with goals of all kinds."""
STEPS = 100_000 if os.environ.get("GGP_CORPUS") else 20_000
"""Steps of single states to compare: all of them where there is time for everything."""
STUCK = """(role r) (init (at 1)) (succ 1 2) (succ 2 3)
    (<= (next (at ?y)) (true (at ?x)) (succ ?x ?y)) (<= (legal r go) (true (at ?x)) (succ ?x ?y))
    (<= (legal r stay) (true (at 1))) (<= (next (at 9)) (does r stay))
    (<= terminal (true (at 4))) (goal r 50)"""


@cache
def machine_of(game: str, level: str = "native") -> PropnetMachine:
    text = (GAME_FILES[game]).read_text() if "(" not in game else game
    machine = make_machine(parse_rules(text), level)
    assert isinstance(machine, PropnetMachine)
    return machine


class _Single:
    """One match by :meth:`State.play`, with the same autoreset."""

    def __init__(self, machine: PropnetMachine, mode: str, max_steps: int) -> None:
        self.machine, self.mode, self.max_steps = machine, mode, max_steps
        self.state = machine.initial_state()
        self.length = 0
        self.over = False

    def step(self, joint: list[int]) -> tuple[State, State, list[float], bool, bool]:
        """The state now, the state before any reset, rewards, terminated, truncated."""
        nothing = [0.0] * len(joint)
        if self.over and self.mode == "disabled":
            return self.state, self.state, nothing, False, False
        if self.over:
            self.state, self.length, self.over = self.machine.initial_state(), 0, False
            return self.state, self.state, nothing, False, False
        last = self.state = self.state.play(*joint)
        self.length += 1
        options = [self.machine.legal_moves(last, r) for r in range(len(joint))]
        cut = not last.terminal and (not all(options) or 0 < self.max_steps <= self.length)
        self.over = last.terminal or cut
        rewards = nothing
        if last.terminal:
            goals = [self.machine.result(last, r) for r in range(len(joint))]
            rewards = [(goal or 0) / 100 for goal in goals]
        if self.over and self.mode == "same-step":
            self.state, self.length, self.over = self.machine.initial_state(), 0, False
        return self.state, last, rewards, last.terminal, cut


@pytest.mark.slow
@pytest.mark.parametrize("mode", AUTORESET)
@pytest.mark.parametrize("game", [*KINDS, STUCK])
def test_steps_are_those_of_single_states(game: str, mode: str) -> None:
    machine, single = machine_of(game), machine_of(game, "propnet")
    n, max_steps = 600, 9
    matches = VectorMatch(machine, n, autoreset=mode, max_steps=max_steps)
    followed = list(range(0, n, 25))
    singles = {row: _Single(single, mode, max_steps) for row in followed}
    matches.reset(seed=3)
    ended = 0
    for _ in range(STEPS // len(KINDS) // len(AUTORESET) // len(followed)):
        actions = matches.random_actions()
        step = matches.step(actions)
        for row, match in singles.items():
            was_over = match.over
            state, last, rewards, terminated, truncated = match.step(actions[row].tolist())
            assert step.bits[row].tobytes() == state.key
            legal = [single.legal_moves(state, r) for r in range(matches.roles)]
            assert [np.flatnonzero(matches.legal(r)[row]).tolist() for r in range(matches.roles)] == legal
            assert step.rewards[row] == pytest.approx(rewards)
            if mode == "disabled" and was_over:
                assert step.done[row]
                continue
            assert (matches.terminated[row], matches.truncated[row]) == (terminated, truncated)
            assert step.done[row] == (terminated or truncated)
            ended += bool(step.done[row])
            if mode == "same-step" and step.done[row]:
                assert matches.final_bits[row].tobytes() == last.key
            else:
                assert matches.lengths[row] == match.length
        if mode == "disabled" and matches.done.mean() > 0.7:
            which = matches.done.copy()
            matches.reset(which)
            for row in singles:
                if which[row]:
                    singles[row] = _Single(single, mode, max_steps)
                assert matches.bits[row].tobytes() == singles[row].state.key
            assert not matches.done.any()
    assert ended > len(followed)


@pytest.mark.parametrize("level", ["propnet", "native"])
def test_masks_and_states_are_those_of_the_machine_in_every_lane(level: str) -> None:
    machine = machine_of("breakthrough", level)
    matches = VectorMatch(machine, 1100)
    for _ in range(60):
        before, over = matches.bits.copy(), matches.done.copy()
        actions = matches.random_actions()
        matches.step(actions)
        answer = machine.evaluate(matches.bits)
        wide = np.zeros((1100, machine.network.move_count), np.bool_)
        for role, low in enumerate(machine.role_moves[:-1]):
            wide[:, low : machine.role_moves[role + 1]] = matches.legal(role)
        assert (pack(wide) == answer.legal).all()
        after = machine.successors(before[~over], actions[~over])
        assert (matches.bits[~over] == after).all()
        assert (matches.terminated == answer.terminal).all()


def test_an_illegal_move_is_told_with_its_environment_and_changes_nothing() -> None:
    machine = machine_of("tictactoe")
    matches = VectorMatch(machine, 700)
    actions = matches.random_actions()
    matches.step(actions)
    taken = actions[650, 0]
    before = matches.bits.copy()
    again = matches.random_actions()
    again[650] = again[650, 0], taken
    with pytest.raises(MoveError, match=r"environment 650: .* is not legal for o .*legal move"):
        matches.step(again)
    assert (matches.bits == before).all()
    again[3] = 99
    with pytest.raises(MoveError, match="environment 3: x has no move 99"):
        matches.step(again)
    again[3] = -1
    with pytest.raises(MoveError, match="environment 3: -1 for o, which has 8 legal moves"):
        matches.step(again)
    with pytest.raises(MoveError, match="shape"):
        matches.step(again[:5])
    assert (matches.bits == before).all()


def test_minus_one_is_the_only_move() -> None:
    matches, named = (VectorMatch(machine_of("connectfour"), 513) for _ in range(2))
    for _ in range(30):
        actions = matches.random_actions()
        single = np.stack([matches.legal(r).sum(axis=1) for r in range(2)], axis=1) == 1
        named.step(actions)
        matches.step(np.where(single, -1, actions))
        assert (matches.bits == named.bits).all()


def test_buffers_are_reused() -> None:
    matches = VectorMatch(machine_of("tictactoe"), 4)
    first = matches.reset()
    second = matches.step(matches.random_actions())
    assert all(a is b for a, b in zip(first, second, strict=True))


def test_random_moves_are_legal_and_uniform() -> None:
    masks = np.zeros((60_000, 3), np.uint64)
    masks[:] = [(1 << 63) | 0b10110, 1 << 5, 0]
    moves = np.zeros((60_000, 2), np.int32)
    random_moves(masks, np.array([0, 2, 3]), np.array([7], np.uint64), moves)
    assert (moves[:, 1] == -1).all()
    ids, counts = np.unique(moves[:, 0], return_counts=True)
    assert ids.tolist() == [1, 2, 4, 63, 69]
    # Five bins of 12,000: six standard deviations are 590.
    assert (abs(counts - 12_000) < 600).all()


def test_what_does_not_fit_or_has_no_lanes_is_refused() -> None:
    machine = machine_of("tictactoe")
    with pytest.raises(TooLargeError, match="memory_limit"):
        VectorMatch(machine, 5_000, memory_limit=10_000)
    with pytest.raises(GdlError, match="autoreset"):
        VectorMatch(machine, 5, autoreset="never")
    with pytest.raises(GdlError, match="not a machine with a network"):
        VectorMatch(make_machine(machine.rules, "prover"), 5)
    with pytest.raises(GdlError, match="environments is 0"):
        VectorMatch(machine, 0)


@pytest.mark.parametrize("mode", AUTORESET)
@pytest.mark.parametrize("copied", [deepcopy, lambda match: pickle.loads(pickle.dumps(match))])
def test_copies_go_on_as_the_matches_that_they_are_copies_of(
    mode: str, copied: Callable[[VectorMatch], VectorMatch]
) -> None:
    match = VectorMatch(machine_of("connectfour"), 520, autoreset=mode, max_steps=30)
    match.reset(seed=2)
    for steps in (0, 3, 9, 20):
        for _ in range(steps):
            match.step(match.random_actions())
        again, untouched = copied(match), copied(match)
        for _ in range(15):
            actions = match.random_actions()
            assert (again.random_actions() == actions).all()
            for name, mine, theirs in zip(
                ("bits", "masks", "rewards", "done"), again.step(actions), match.step(actions), strict=True
            ):
                assert (mine == theirs).all(), name
            for name in ("terminated", "truncated", "lengths", "final_bits"):
                assert (getattr(again, name) == getattr(match, name)).all(), name
        match = untouched
