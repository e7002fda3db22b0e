"""The rules game by game: theory where there is one, and second opinions in plain Python."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.machine import State
from tests.games.rules_of_games import (
    has,
    in_control,
    legal,
    options,
    play,
    prover,
    reachable,
    state_of,
    successors,
)

Stones = dict[tuple[int, int], str]


def random_states(name: str, seed: int) -> list[State]:
    """The states of a random match."""
    rng = random.Random(seed)
    state = prover(name).initial_state()
    states = [state]
    while not state.terminal:
        state = state.machine.next_state(state, [rng.choice(moves) for moves in options(state)])
        states.append(state)
    return states


def stones(state: State) -> Stones:
    """What is on the cells, by column and row from 1."""
    return {
        (ord(p.args[0].name) - ord("a") + 1, int(p.args[1].name)): p.args[2].name
        for p in state.propositions
        if p.name == "cell"
    }


@cache
def value(state: State) -> int:
    """The first role's goal under best play by two roles that move in turn."""
    if state.terminal:
        goal = state.machine.goal(state, 0)
        assert goal is not None
        return goal
    best = max if in_control(state) is state.machine.roles[0] else min
    return best(map(value, successors(state)))


def test_tictactoe_is_a_draw() -> None:
    assert value(prover("tictactoe").initial_state()) == 50


def test_nim_is_won_unless_the_heaps_cancel_in_binary() -> None:
    states = reachable(prover("nim").initial_state())
    assert len(states) >= 4 * 5 * 6
    for state in states:
        balance = 0
        for proposition in state.propositions:
            if proposition.name == "heap":
                balance ^= int(proposition.args[1].name)
        first_moves = in_control(state).name == "first"
        assert value(state) == (100 if (balance != 0) == first_moves else 0)


def test_chomp_is_won_by_whoever_begins_unless_only_the_poison_is_left() -> None:
    assert value(prover("chomp").initial_state()) == 100
    left = state_of(prover("chomp"), ["(cell a 1 chocolate)", "(control first)"])
    assert value(left) == 0
    assert sum(has(play(prover("chomp").initial_state(), "(eat c 2)"), f"(cell {x} {y} chocolate)")
               for x in "abcde" for y in range(1, 5)) == 20 - 9  # fmt: skip


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_othello_counts_discs_and_fills_at_most_64(seed: int) -> None:
    last = random_states("othello", seed)[-1]
    discs = list(stones(last).values())
    lead = discs.count("black") - discs.count("white")
    assert len(discs) <= 64
    assert last.goals["black"] == (100 if lead > 0 else 0 if lead < 0 else 50)
    assert last.goals["white"] == 100 - (last.goals["black"] or 0)


def test_othello_player_without_a_square_must_pass() -> None:
    state = state_of(prover("othello"), ["(cell a 1 white)", "(cell b 1 black)", "(control white)"])
    assert play(state, "(place c 1)").terminal  # all discs are white
    blocked = state_of(
        prover("othello"), ["(cell a 1 black)", "(cell b 1 white)", "(cell h 8 white)", "(control white)"]
    )
    assert legal(blocked, "white") == ["pass"]
    assert legal(play(blocked, "pass"), "black") == ["(place c 1)"]


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_hex_ends_with_the_first_chain_from_side_to_side(seed: int) -> None:
    *before, last = random_states("hex", seed)
    winner = next(role for role, goal in last.goals.items() if goal == 100)
    assert _chain(stones(last), winner)
    assert not any(_chain(stones(state), role) for state in before[-3:] for role in ("red", "blue"))


def _chain(board: Stones, colour: str) -> bool:
    along = 0 if colour == "red" else 1
    waiting = [p for p, c in board.items() if c == colour and p[along] == 1]
    seen = set(waiting)
    while waiting:
        x, y = waiting.pop()
        if (x, y)[along] == 9:
            return True
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1), (-1, 1), (1, -1)):
            beside = (x + dx, y + dy)
            if board.get(beside) == colour and beside not in seen:
                seen.add(beside)
                waiting.append(beside)
    return False


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_atari_go_ends_when_a_group_has_no_liberty_and_the_mover_captures_first(seed: int) -> None:
    *before, last = random_states("atarigo", seed)
    mover = "white" if in_control(last).name == "black" else "black"
    other = in_control(last).name
    dead = _dead(stones(last))
    assert dead
    assert last.goals == {mover: 100, other: 0} if other in dead else {mover: 0, other: 100}
    assert not any(_dead(stones(state)) for state in before)


def _dead(board: Stones) -> set[str]:
    """Colours that have a group without an empty point beside it."""
    found = set()
    for point, colour in board.items():
        group, waiting, free = {point}, [point], False
        while waiting:
            x, y = waiting.pop()
            for beside in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if 1 <= beside[0] <= 7 and 1 <= beside[1] <= 7:
                    free |= beside not in board
                    if board.get(beside) == colour and beside not in group:
                        group.add(beside)
                        waiting.append(beside)
        if not free:
            found.add(colour)
    return found


KALAH = {
    "south": ["b1", "c1", "d1", "e1", "f1", "e2", "d2", "c2", "b2"],
    "north": ["e2", "d2", "c2", "b2", "a2", "b1", "c1", "d1", "e1"],
}
"""The places in the order in which each side sows: four pits, the store, the other's pits."""


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_kalah_agrees_with_a_second_opinion_and_keeps_24_seeds(seed: int) -> None:
    rng = random.Random(seed)
    state = prover("kalah").initial_state()
    while not state.terminal:
        seeds = _seeds(state)
        assert sum(seeds.values()) == 24
        mover = in_control(state).name
        way = KALAH[mover]
        assert legal(state, mover) == [f"(sow {p[0]})" for p in sorted(way[:4]) if seeds[p]]
        move = rng.choice(legal(state, mover))
        place = way.index(f"{move[5]}{way[0][1]}")
        again = _sow(seeds, way, place)
        state = play(state, move)
        assert _seeds(state) == seeds
        assert (in_control(state).name == mover) == again
    seeds = _seeds(state)
    totals = {role: seeds[way[4]] for role, way in KALAH.items()}
    for role, way in KALAH.items():
        totals[role] += sum(seeds[pit] for pit in way[:4])
    lead = totals["south"] - totals["north"]
    assert state.goals["south"] == (100 if lead > 0 else 0 if lead < 0 else 50)


def _seeds(state: State) -> dict[str, int]:
    return {
        p.args[0].name + p.args[1].name: int(p.args[2].name) for p in state.propositions if p.name == "cell"
    }


def _sow(seeds: dict[str, int], way: list[str], place: int) -> bool:
    """Sow from a pit; whether the same side moves again."""
    hand, seeds[way[place]] = seeds[way[place]], 0
    for _ in range(hand):
        place = (place + 1) % 9
        seeds[way[place]] += 1
    end = way[place]
    opposite = end[0] + ("2" if end[1] == "1" else "1")
    if place < 4 and seeds[end] == 1 and seeds[opposite]:
        seeds[way[4]] += 1 + seeds[opposite]
        seeds[end] = seeds[opposite] = 0
    return place == 4


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_bids_keep_eight_coins_and_the_higher_bid_or_the_favour_marks(seed: int) -> None:
    rng = random.Random(seed)
    state = prover("biddingtictactoe").initial_state()
    while not state.terminal:
        coins = {r: next(n for n in range(9) if has(state, f"(coins {r} {n})")) for r in "xo"}
        assert sum(coins.values()) == 8
        moves = {role: rng.choice(legal) for role, legal in state.legal.items()}
        after = state.play(moves["x"], moves["o"])
        if moves["x"].startswith("(bid"):
            bids = {role: int(move[5:-1]) for role, move in moves.items()}
            favour = "x" if has(state, "(favour x)") else "o"
            tied = bids["x"] == bids["o"]
            winner = favour if tied else max(bids, key=lambda role: bids[role])
            loser = "o" if winner == "x" else "x"
            assert [has(after, f"(marking {r})") for r in (winner, loser)] == [True, False]
            assert has(after, f"(coins {winner} {coins[winner] - bids[winner]})")
            assert has(after, f"(favour {loser if tied else favour})")
        state = after


def test_rock_paper_scissors_and_the_dilemma_pay_both_sides() -> None:
    state = play(
        prover("rockpaperscissors").initial_state(),
        "rock scissors paper paper paper scissors rock paper paper rock",
    )
    assert state.terminal
    assert has(state, "(score left 2)") and has(state, "(score right 2)")
    assert state.goals == {"left": 50, "right": 50}
    dilemma = prover("prisonersdilemma").initial_state()
    assert play(dilemma, "cooperate cooperate " * 10).goals == {"alice": 60, "bob": 60}
    assert play(dilemma, "defect defect " * 10).goals == {"alice": 20, "bob": 20}
    assert play(dilemma, "defect cooperate " * 10).goals == {"alice": 100, "bob": 0}


@pytest.mark.parametrize(
    ("moves", "goals"),
    [
        ("(go left) (go up) (go left) (go up)", {"red": 0, "blue": 100}),  # off the board
        ("(go right) (go left) " * 3, {"red": 50, "blue": 50}),  # both enter e 5
        ("(go left) (go left)", None),
        ("(go right) (go right) (go left) (go left)", {"red": 50, "blue": 50}),  # into their own walls
    ],
)
def test_tron_riders_crash_into_walls_and_each_other(moves: str, goals: dict[str, int] | None) -> None:
    state = play(prover("tron").initial_state(), moves)
    assert state.terminal == (goals is not None)
    assert goals is None or state.goals == goals


def test_morris_mill_takes_a_stone_that_stands_in_no_mill() -> None:
    state = play(
        prover("ninemensmorris").initial_state(),
        "(place a 1) (place b 2) (place d 1) (place d 2) (place g 1)",
    )
    assert has(state, "taking")
    assert legal(state, "white") == ["(take b 2)", "(take d 2)"]
    assert legal(state, "black") == ["noop"]
    after = play(state, "(take d 2)")
    assert has(after, "(board black 1)") and not has(after, "taking")
    assert in_control(after).name == "black"


def test_morris_side_with_three_stones_flies_and_with_two_has_lost() -> None:
    rest = ["(hand white 0)", "(hand black 0)", "(step 50)", "(control white)"]
    black = [
        "(cell b 2 black)",
        "(cell d 3 black)",
        "(cell f 6 black)",
        "(cell g 1 black)",
        "(board black 4)",
    ]
    three = ["(cell a 1 white)", "(cell d 6 white)", "(cell e 4 white)", "(board white 3)"]
    flying = state_of(prover("ninemensmorris"), [*rest, *black, *three])
    assert len(legal(flying, "white")) == 3 * (24 - 7)
    two = state_of(prover("ninemensmorris"), [*rest, *black, *three[:2], "(board white 2)"])
    assert two.terminal
    assert two.goals == {"white": 0, "black": 100}


def test_checkers_jumps_are_forced_and_crowning_ends_the_turn() -> None:
    rest = ["(control black)", "(step 9)"]
    forced = state_of(prover("checkers"), [*rest, "(cell c 3 bm)", "(cell a 1 bm)", "(cell d 4 wm)"])
    assert legal(forced, "black") == ["(jump c 3 e 5)"]
    crowned = play(
        state_of(
            prover("checkers"), [*rest, "(cell b 6 bm)", "(cell c 7 wm)", "(cell e 7 wm)", "(cell h 2 wm)"]
        ),
        "(jump b 6 d 8)",
    )
    assert has(crowned, "(cell d 8 bk)")
    assert has(crowned, "(control white)")
    king = play(
        state_of(
            prover("checkers"), [*rest, "(cell b 6 bk)", "(cell c 7 wm)", "(cell e 7 wm)", "(cell h 2 wm)"]
        ),
        "(jump b 6 d 8)",
    )
    assert legal(king, "black") == ["(jump d 8 f 6)"]
    beaten = play(king, "(jump d 8 f 6)")
    assert not beaten.terminal and has(beaten, "(control white)")


def test_breakthrough_is_over_when_a_pawn_arrives_or_none_is_left() -> None:
    arrived = play(
        state_of(prover("breakthrough"), ["(cell c 7 white)", "(cell h 8 black)", "(control white)"]),
        "(move c 7 d 8)",
    )
    assert arrived.goals == {"white": 100, "black": 0}
    taken = play(
        state_of(prover("breakthrough"), ["(cell c 4 white)", "(cell d 5 black)", "(control white)"]),
        "(move c 4 d 5)",
    )
    assert taken.terminal and taken.goals == {"white": 100, "black": 0}


@settings(max_examples=5, deadline=None, derandomize=True)
@given(st.integers(0, 2**32))
def test_chinese_checkers_keeps_nine_marbles_and_pays_for_those_that_arrive(seed: int) -> None:
    ends = {
        "red": {(3, 9), (3, 8), (4, 8)},
        "green": {(9, 3), (8, 3), (8, 4)},
        "blue": {(3, 3), (4, 3), (3, 4)},
    }
    for state in random_states("chinesecheckers", seed)[::10]:
        board = stones(state)
        assert len(board) == 9
        for role, end in ends.items():
            there = sum(board.get(hole) == role for hole in end)
            assert state.goals[role] == (0, 25, 50, 100)[there]
