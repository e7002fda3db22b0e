"""Second opinions on the rules: OpenSpiel, python-chess, and backgammon's longest plays by trying all."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from bench.engines import spelt
from bench.gnubg import dice_of
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term, parse_terms
from gdl.terms import Term
from ggp.game import Game
from propnet.expander import Expander
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from tests.places import GAME_FILES

REASON = "pip install 'kaskade-ggp[rl]'"
EVERYTHING = bool(os.environ.get("GGP_CORPUS"))
CHESS = GAME_FILES["chess"]
POSITIONS = 20
OURS_TO_THEIRS = {"amazons": (2, 3)}
"""Joint moves of a turn here, and OpenSpiel's actions: there an amazon is chosen before it moves."""
DEPTHS = {
    ("tictactoe", "tic_tac_toe"): 7,
    ("connectfour", "connect_four"): 6,
    ("breakthrough", "breakthrough"): 4,
    ("hex", "hex(board_size=9)"): 2,
    ("othello", "othello"): 6,
    ("nim", "nim(pile_sizes=3;4;5,is_misere=False)"): 8,
    ("amazons", "amazons(board_size=8)"): 1,
    ("checkers", "checkers"): 6,
}


@cache
def machine_of(name: str) -> PropnetMachine:
    machine = Game.load(name).machine("native")
    assert isinstance(machine, PropnetMachine)
    return machine


def perft(machine: PropnetMachine, state: State, depth: int) -> list[int]:
    """How many lines of each length from 1 to ``depth`` go on from a state; equal states are expanded
    once."""
    expander = Expander(machine)
    records, lines = machine.records([state]), np.ones(1, np.int64)
    counts = []
    for left in range(depth, 0, -1):
        if left == 1:
            evaluation = machine.evaluate(records)
            legal = unpack(evaluation.legal, machine.network.move_count)
            joints = np.ones(len(records), np.int64)
            for low, high in zip(machine.role_moves[:-1], machine.role_moves[1:], strict=True):
                joints *= legal[:, low:high].sum(axis=1)
            counts.append(int((lines * joints * ~evaluation.terminal).sum()))
            break
        after = expander.expand(records)
        records, which = np.unique(after.records, axis=0, return_inverse=True)
        lines = np.bincount(which.ravel(), lines[after.parents], len(records)).astype(np.int64)
        counts.append(int(lines.sum()))
    return counts


def spiel_perft(state: Any, depth: int) -> int:
    if depth == 1:
        return len(state.legal_actions())
    return sum(spiel_perft(state.child(action), depth - 1) for action in state.legal_actions())


@pytest.mark.slow
@pytest.mark.parametrize(("ours", "theirs"), DEPTHS, ids=lambda name: name.partition("(")[0])
def test_openspiel_counts_as_many_lines(ours: str, theirs: str) -> None:
    pyspiel = pytest.importorskip("pyspiel", reason=REASON)
    depth = DEPTHS[ours, theirs]
    our_unit, their_unit = OURS_TO_THEIRS.get(ours, (1, 1))
    machine = machine_of(ours)
    counts = perft(machine, machine.initial_state(), depth * our_unit)[our_unit - 1 :: our_unit]
    start = pyspiel.load_game(theirs).new_initial_state()
    assert counts == [spiel_perft(start, n * their_unit) for n in range(1, depth + 1)]


def chess_perft(board: Any, depth: int) -> int:
    if depth == 1:
        return int(board.legal_moves.count())
    total = 0
    for move in board.legal_moves:
        board.push(move)
        total += chess_perft(board, depth - 1)
        board.pop()
    return total


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(POSITIONS))
def test_python_chess_counts_as_many_lines(seed: int) -> None:
    chess = pytest.importorskip("chess", reason="pip install chess")
    machine = machine_of("chess")
    rng = random.Random(seed)
    state, board = machine.initial_state(), chess.Board()
    for ply in range(4 * seed + 1):
        white = ply % 2 == 0
        name = machine.rules.spell(machine.roles[0 if white else 1])
        mover = machine.roles[0 if white else 1]
        moves = {spelt(mover, parse_term(text)): text for text in state.legal[name]}
        assert set(moves) == {move.uci() for move in board.legal_moves}
        assert state.terminal == (board.is_game_over(claim_draw=False) or board.is_fifty_moves())
        uci = rng.choice(sorted(moves))
        after = state.play({name: moves[uci]})
        if after.terminal:
            break
        state = after
        board.push_uci(uci)
    depth = 4 if EVERYTHING else 2
    assert perft(machine, state, depth) == [chess_perft(board, n) for n in range(1, depth + 1)]


# --- Backgammon
BAR = 25
"""Points are counted from the side of who moves: 1 to 6 are the home, 0 is off the board."""


class Side:
    """Checkers per point as one side counts them, 0 to 25, its own and those of the other."""

    def __init__(self, own: list[int], others: list[int]) -> None:
        self.own, self.others = own, others

    @classmethod
    def of(cls, state: State, role: str) -> Side:
        own, others = [0] * 26, [0] * 26
        for fact in state.propositions:
            if fact.name == "bar" and fact.args[0].name == role:
                own[BAR] = int(fact.args[1].name)
            elif fact.name == "cell":
                place = int(fact.args[0].name)
                (own if fact.args[2].name == role else others)[25 - place if role == "black" else place] += 1
        return cls(own, others)

    def after(self, point: int, die: int) -> Side | None:
        """The position after a move; None where it is not allowed."""
        if not self.own[point] or (self.own[BAR] and point != BAR):
            return None
        to = point - die
        if to > 0 and self.others[to] > 1:
            return None
        if to <= 0 and (any(self.own[7:]) or (to < 0 and any(self.own[point + 1 :]))):
            return None
        own, others = list(self.own), list(self.others)
        own[point] -= 1
        if to > 0:
            own[to] += 1
            others[to] = 0
        return Side(own, others)

    def plays(self, dice: list[int]) -> Iterator[tuple[tuple[int, int], ...]]:
        """All plays that cannot go on, in any order of the dice."""
        stuck = True
        for die in sorted(set(dice)):
            left = list(dice)
            left.remove(die)
            for point in range(1, 26):
                then = self.after(point, die)
                if then is not None:
                    stuck = False
                    if not any(then.own):
                        yield ((point, die),)
                        continue
                    for rest in then.plays(left):
                        yield ((point, die), *rest)
        if stuck:
            yield ()

    def first_moves(self, dice: list[int]) -> set[tuple[int, int]]:
        """With what a play may begin: as many dice as possible, or else the larger one."""
        plays = list(self.plays(dice))
        # Who bears off the last checker needs no further die.
        longest = max(len(play) for play in plays)
        wanted = [play for play in plays if len(play) == longest and play]
        if longest == 1 and len(dice) > 1:
            largest = max(play[0][1] for play in wanted)
            wanted = [play for play in wanted if play[0][1] == largest]
        return {play[0] for play in wanted}


def told(machine: Machine, state: State, number: int, role: str) -> set[tuple[int, int]]:
    """The moves of a role as (point from its side, die)."""
    moves = [machine.move(number, move) for move in machine.legal_moves(state, number)]
    found = set()
    for move in moves:
        if move.name == "move":
            point, die = move.args
            place = BAR if point.name == "bar" else int(point.name)
            found.add((25 - place if role == "black" and place != BAR else place, int(die.name)))
    return found


def check(machine: Machine, state: State) -> bool:
    """Whether a role had dice to play, and its moves were the right ones."""
    for number, role in enumerate(("white", "black")):
        if Term("control", Term(role)) in state.propositions:
            wanted = Side.of(state, role).first_moves(dice_of(state))
            assert told(machine, state, number, role) == wanted, state
            return True
    return False


@pytest.fixture(scope="module")
def machine() -> Machine:
    return Game.load("backgammon").machine("propnet")


def position(machine: Machine, facts: str) -> State:
    """A state in which ``(point P ROLE N)`` stands for so many checkers."""
    every = list(parse_terms(f"{facts} (ones 1) (tens 0) (hundreds 0)"))
    for fact in [fact for fact in every if fact.name == "point"]:
        point, role, number = fact.args
        every += [Term("cell", point, Term(str(k)), role) for k in range(1, int(number.name) + 1)]
        every.remove(fact)
    return machine.state_of(every)


def test_moves_of_random_matches_are_those_of_the_longest_plays(machine: Machine) -> None:
    rng = random.Random(7)
    checked = 0
    for _ in range(3):
        state = machine.initial_state()
        while not machine.is_terminal(state):
            if rng.random() < 0.5:
                checked += check(machine, state)
            joint = [rng.choice(machine.legal_moves(state, role)) for role in range(3)]
            state = machine.next_state(state, joint)
    assert checked > 100


@pytest.mark.parametrize(
    "dice", ["(pair 6 5)", "(pair 5 2)", "(pair 2 1)", "(pair 4 3)", "(left 2 4)", "(left 5 4)"]
)
def test_moves_of_scattered_checkers_are_those_of_the_longest_plays(machine: Machine, dice: str) -> None:
    """Few checkers, many closed points: here it matters which die comes first."""
    rng = random.Random(dice)
    for _ in range(120):
        role, other = rng.sample(["white", "black"], 2)
        points = rng.sample(range(1, 25), 9)
        few = rng.randint(1, 3)
        facts = [f"(point {point} {role} {rng.randint(1, 2)})" for point in points[:few]]
        facts += [f"(point {point} {other} {rng.randint(1, 3)})" for point in points[few:]]
        if rng.random() < 0.3:
            facts.append(f"(bar {role} {rng.randint(1, 2)})")
        turn = f"(control {role}) (turn {role}) {dice}"
        assert check(machine, position(machine, f"{' '.join(facts)} {turn}"))


def moves(machine: Machine, state: State, number: int) -> set[str]:
    return {str(machine.move(number, move)) for move in machine.legal_moves(state, number)}


def test_the_larger_die_is_played_if_only_one_of_both_can_be(machine: Machine) -> None:
    facts = "(point 10 white 1) (point 1 black 2) (control white) (turn white) (pair 6 3)"
    # Both together would lead to point 1.
    assert moves(machine, position(machine, facts), 0) == {"(move 10 6)"}


def test_a_checker_on_the_bar_enters_first_and_may_have_to_pass(machine: Machine) -> None:
    facts = (
        "(bar white 1) (point 6 white 2) (point 24 black 2) (point 19 black 2) (control white) (turn white)"
    )
    assert moves(machine, position(machine, f"{facts} (pair 6 1)"), 0) == {"pass"}
    assert moves(machine, position(machine, f"{facts} (pair 3 1)"), 0) == {"(move bar 3)"}


@pytest.mark.parametrize(
    ("others", "goals"),
    [
        ("(off black 3) (point 12 black 12)", (67, 33)),
        ("(point 12 black 15)", (83, 17)),
        ("(point 12 black 14) (bar black 1)", (100, 0)),
        ("(point 12 black 14) (point 3 black 1)", (100, 0)),
    ],
)
def test_a_win_counts_once_twice_or_three_times(
    machine: Machine, others: str, goals: tuple[int, int]
) -> None:
    facts = f"(off white 14) (point 2 white 1) {others} (control white) (turn white) (left 5 1)"
    state = position(machine, facts)
    joint = [
        machine.move_id(0, parse_term("(move 2 5)")),
        *(machine.legal_moves(state, r)[0] for r in (1, 2)),
    ]
    after = machine.next_state(state, joint)
    assert machine.is_terminal(after)
    assert tuple(machine.goal(after, role) for role in (0, 1)) == goals


def test_a_hit_checker_goes_to_the_bar(machine: Machine) -> None:
    facts = "(point 8 white 1) (point 5 black 1) (bar black 1) (control white) (turn white) (left 3 2)"
    state = position(machine, facts)
    joint = [
        machine.move_id(0, parse_term("(move 8 3)")),
        *(machine.legal_moves(state, r)[0] for r in (1, 2)),
    ]
    after = {str(fact) for fact in machine.next_state(state, joint).propositions}
    assert {"(bar black 2)", "(cell 5 1 white)", "(left 3 1)"} <= after
    assert not {"(cell 8 1 white)", "(cell 5 1 black)"} & after


def test_who_throws_more_begins_with_both_dice(machine: Machine) -> None:
    state = machine.initial_state()
    throws = [machine.move(2, move) for move in machine.legal_moves(state, 2)]
    assert len(throws) == 30
    joint = [machine.legal_moves(state, 0)[0], machine.legal_moves(state, 1)[0], 0]
    for throw in throws:
        joint[2] = machine.move_id(2, throw)
        after = machine.next_state(state, joint)
        mine, theirs = (int(die.name) for die in throw.args)
        assert Term("control", Term("white" if mine > theirs else "black")) in after.propositions
        assert sorted(dice_of(after)) == sorted([mine, theirs])
