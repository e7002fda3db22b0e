"""The rules game by game: theory where there is one, known numbers, and second opinions in plain Python."""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.machine import State
from gdl.syntax.parser import parse_terms
from gdl.terms import Term
from tests.games.known import OPENINGS, SOLVED
from tests.games.rules_of_games import (
    has,
    in_control,
    legal,
    options,
    perft,
    play,
    prover,
    reachable,
    state_of,
    successors,
)
from tests.games.small_sokoban import SOLUTION, small_sokoban

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
    white = ["(cell c 7 wm)", "(cell e 7 wm)", "(cell h 2 wm)"]
    crowned, king = (
        play(state_of(prover("checkers"), [*rest, own, *white]), "(jump b 6 d 8)")
        for own in ("(cell b 6 bm)", "(cell b 6 bk)")
    )
    assert has(crowned, "(cell d 8 bk)")
    assert has(crowned, "(control white)")
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


# --- Known numbers of positions and lines of play
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("othello", [4, 12, 56, 244, 1396]),
        ("checkers", [7, 49, 302, 1469, 7361]),
        ("connectfour", [7, 49, 343, 2401, 16807]),
        ("breakthrough", [22, 484]),
        ("chess", [20, 400, 8902]),
        ("tictactoe", [9, 72, 504, 3024]),
        ("hex", [81, 81 * 80]),
        ("atarigo", [49, 49 * 48]),
        ("ninemensmorris", [24, 24 * 23, 24 * 23 * 22]),
        ("nim", [12]),
        ("chomp", [20]),
        ("kalah", [3 + 3]),  # three pits end the turn; the other moves again, from three full pits
    ],
)
def test_number_of_lines_of_play_after_each_turn_is_the_known_one(name: str, known: list[int]) -> None:
    state = prover(name).initial_state()
    assert [perft(state, turns) for turns in range(1, len(known) + 1)] == known


def test_queens_has_92_solutions_among_2057_positions() -> None:
    positions = reachable(prover("queens").initial_state())
    assert len(positions) == 2057
    assert sum(state.goals["player"] == 100 for state in positions) == 92


def test_amazons_has_60_first_moves_and_1232_with_their_arrows() -> None:
    """Counted on a drawing of the board, queen line by queen line."""
    amazons = {(3, 1), (6, 1), (1, 3), (8, 3), (3, 8), (6, 8), (1, 6), (8, 6)}
    first = [(a, to) for a in sorted(amazons) if a[1] <= 3 for to in _reach(a, amazons)]
    arrows = sum(len(_reach(to, amazons - {a} | {to})) for a, to in first)
    assert (len(first), arrows) == (60, 1232)
    state = prover("amazons").initial_state()
    assert (len(successors(state)), perft(state, 1)) == (len(first), arrows)


def _reach(start: tuple[int, int], taken: set[tuple[int, int]]) -> list[tuple[int, int]]:
    found = []
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            x, y = start[0] + dx, start[1] + dy
            while (dx or dy) and 1 <= x <= 8 and 1 <= y <= 8 and (x, y) not in taken:
                found.append((x, y))
                x, y = x + dx, y + dy
    return found


def test_chinese_checkers_marble_may_jump_on_and_may_stop() -> None:
    state = prover("chinesecheckers").initial_state().play("(jump g 1 e 3)", "noop", "noop")
    assert legal(state, "red") == ["(jump e 3 g 1)", "stop"]
    assert legal(state, "green") == ["noop"]
    assert legal(play(state, "stop"), "red") == ["noop"]


# --- Chess: published counts of positions that exercise every rule, and the rules one by one
def chess_position(fen: str) -> State:
    """A state from a position in Forsyth-Edwards notation."""
    board, side, castling, passing, *_ = fen.split()
    true = [f"(control {'white' if side == 'w' else 'black'})", "(tens 0)", "(units 0)"]
    for y, row in zip(range(8, 0, -1), board.split("/"), strict=True):
        column = iter("abcdefgh")
        for letter in row:
            if letter.isdigit():
                for _ in range(int(letter)):
                    next(column)
            else:
                colour = "w" if letter.isupper() else "b"
                true.append(f"(cell {next(column)} {y} {colour}{letter.lower()})")
    for letter in castling.replace("-", ""):
        role = "white" if letter.isupper() else "black"
        true.append(f"(right {role} {'kingside' if letter in 'Kk' else 'queenside'})")
    if passing != "-":
        true.append(f"(passing {passing[0]})")
    return state_of(prover("chess"), true)


@pytest.mark.parametrize(
    ("fen", "known"),
    [
        ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -", [48, 2039]),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -", [14, 191, 2812]),
        ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq -", [6, 264, 9467]),
        ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ -", [44, 1486]),
        ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - -", [46, 2079]),
    ],
)
def test_published_positions_have_their_published_counts(fen: str, known: list[int]) -> None:
    state = chess_position(fen)
    assert [perft(state, turns) for turns in range(1, len(known) + 1)] == known


def test_initial_state_is_the_usual_one() -> None:
    assert prover("chess").initial_state() == chess_position(
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
    )


def test_en_passant_castling_and_promotion_move_what_they_should() -> None:
    state = play(prover("chess").initial_state(), OPENINGS["chess"])
    assert state == chess_position("rnbr2k1/1p2ppb1/p4npp/8/8/5N2/PPPPBPPP/RNBQ1RK1 w - -")
    early = play(
        prover("chess").initial_state(), "(move e 2 e 4) (move a 7 a 6) (move e 4 e 5) (move d 7 d 5)"
    )
    assert has(early, "(passing d)")
    taken = play(early, "(move e 5 d 6)")
    assert has(taken, "(cell d 6 wp)")
    assert not any(has(taken, f"(cell d {y} bp)") for y in (5, 6, 7))


def test_fools_mate_wins_for_black() -> None:
    state = play(
        prover("chess").initial_state(), "(move f 2 f 3) (move e 7 e 5) (move g 2 g 4) (move d 8 h 4)"
    )
    assert state.terminal
    assert state.goals == {"white": 0, "black": 100}


@pytest.mark.parametrize(
    "fen",
    [
        "7k/5Q2/6K1/8/8/8/8/8 b - -",  # stalemate
        "8/8/4k3/8/8/4K3/8/8 w - -",  # only the kings are left
    ],
)
def test_stalemate_and_bare_kings_are_drawn(fen: str) -> None:
    state = chess_position(fen)
    assert state.terminal
    assert state.goals == {"white": 50, "black": 50}


def test_a_hundred_moves_without_progress_are_drawn_and_a_pawn_move_starts_anew() -> None:
    state = chess_position("4k3/8/8/8/8/8/P7/R3K3 w - -")
    shuffle = ["(move e 1 e 2)", "(move e 8 e 7)", "(move e 2 e 1)", "(move e 7 e 8)"]
    for i in range(99):
        state = state.play(shuffle[i % 4])
        assert not state.terminal
    assert has(state, "(tens 9)") and has(state, "(units 9)")
    drawn = state.play(shuffle[3])
    assert drawn.terminal and drawn.goals == {"white": 50, "black": 50}
    fresh = chess_position("4k3/8/8/8/8/8/P7/R3K3 w - -")
    for i in range(12):
        fresh = fresh.play(shuffle[i % 4])
    fresh = fresh.play("(move a 2 a 4)")
    assert has(fresh, "(tens 0)") and has(fresh, "(units 0)")


def test_en_passant_that_bares_the_king_along_the_row_is_illegal() -> None:
    bared = chess_position("8/8/8/KPp4r/8/8/8/7k w - c6")
    assert "(move b 5 c 6)" not in legal(bared, "white")
    sheltered = chess_position("8/8/8/KPp1P2r/8/8/8/7k w - c6")
    assert "(move b 5 c 6)" in legal(sheltered, "white")


@pytest.mark.parametrize(
    ("fen", "sides"),
    [
        ("4k3/8/8/8/8/8/8/R3K2R w KQ -", {"kingside", "queenside"}),
        ("4k3/8/8/8/8/8/8/R3K2R w Q -", {"queenside"}),
        ("4kr2/8/8/8/8/8/8/R3K2R w KQ -", {"queenside"}),  # the king would pass an attacked square
        ("1r2k3/8/8/8/8/8/8/R3K2R w KQ -", {"kingside", "queenside"}),  # the rook may
        ("4k3/8/8/8/4r3/8/8/R3K2R w KQ -", set()),  # in check
        ("4k3/8/8/8/8/8/8/RN2K1NR w KQ -", set()),  # knights in the way
    ],
)
def test_castling_needs_a_clear_and_safe_way(fen: str, sides: set[str]) -> None:
    moves = legal(chess_position(fen), "white")
    assert {side for side in ("kingside", "queenside") if f"(castle {side})" in moves} == sides


def test_capturing_a_rook_in_its_corner_forfeits_castling() -> None:
    state = chess_position("r3k2r/8/8/8/8/8/8/4K2R b Kkq -").play("(move h 8 h 1)")
    assert not has(state, "(right white kingside)")
    assert not has(state, "(right black kingside)")
    assert has(state, "(right black queenside)")


# --- The puzzles: their solutions solve them, and are as short or as many as their headers say
@pytest.mark.parametrize("name", SOLVED)
def test_known_solution_is_worth_100(name: str) -> None:
    state = play(prover(name).initial_state(), OPENINGS[name])
    assert state.terminal
    assert list(state.goals.values()) == [100]


@pytest.mark.parametrize(("name", "shortest"), [("small_sokoban", 13), ("hanoi", 31)])
def test_shortest_solution_is_as_long_as_we_say(name: str, shortest: int) -> None:
    small = small_sokoban().machine("prover")
    layer = [(small if name == "small_sokoban" else prover(name)).initial_state()]
    seen: set[frozenset[Term]] = set()
    for moves in range(shortest + 1):
        solved = any(100 in state.goals.values() for state in layer)
        assert solved == (moves == shortest)
        following: list[State] = []
        for state in layer:
            for after in successors(state):
                core = frozenset(p for p in after.propositions if p.name != "step")
                if core not in seen:
                    seen.add(core)
                    following.append(after)
        layer = following
    assert len(parse_terms(SOLUTION if name == "small_sokoban" else OPENINGS[name])) == shortest


def test_eight_puzzle_needs_18_moves() -> None:
    """Searched from both ends on tuples, row by row from the top, 0 for the hole."""
    start = tuple(_tile(prover("eightpuzzle").initial_state(), x, y) for y in (3, 2, 1) for x in "abc")
    near: set[tuple[int, ...]] = {start}
    far: set[tuple[int, ...]] = {(1, 2, 3, 4, 5, 6, 7, 8, 0)}
    moves = 0
    while not near & far:
        near = {after for position in near for after in _slides(position)}
        moves += 1
        if not near & far:
            far = {after for position in far for after in _slides(position)}
            moves += 1
    assert moves == len(parse_terms(OPENINGS["eightpuzzle"])) == 18


def _tile(state: State, x: str, y: int) -> int:
    found = [p.args[2].name for p in state.propositions if [a.name for a in p.args[:2]] == [x, str(y)]]
    return int(found[0]) if found else 0


def _slides(position: tuple[int, ...]) -> list[tuple[int, ...]]:
    hole = position.index(0)
    found = []
    for other in range(9):
        if abs(hole // 3 - other // 3) + abs(hole % 3 - other % 3) == 1:
            after = list(position)
            after[hole], after[other] = after[other], 0
            found.append(tuple(after))
    return found


def test_lights_out_needs_8_moves() -> None:
    """Presses commute and two of the same cancel: every set of up to four is tried from each end."""
    lamps = {(x, y): 1 << (5 * y + x) for x in range(5) for y in range(5)}
    presses = [
        sum(lamps.get((x + dx, y + dy), 0) for dx, dy in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)))
        for x, y in lamps
    ]
    corners = lamps[0, 0] | lamps[4, 0] | lamps[0, 4] | lamps[4, 4]
    changes: list[set[int]] = []
    for size in range(5):
        changed = set()
        for chosen in combinations(presses, size):
            change = 0
            for press in chosen:
                change ^= press
            changed.add(change)
        changes.append(changed)
    fewest = min(
        a + b
        for a in range(5)
        for b in range(5)
        if not changes[a].isdisjoint({corners ^ c for c in changes[b]})
    )
    assert fewest == len(parse_terms(OPENINGS["lightsout"])) == 8


def test_sudoku_has_one_solution_and_every_order_of_writing_it_wins() -> None:
    solutions: set[frozenset[Term]] = set()
    seen: set[State] = set()
    waiting = [prover("sudoku").initial_state()]
    while waiting:
        state = waiting.pop()
        if state.goals["player"] == 100:
            solutions.add(state.propositions)
            continue
        writes: dict[tuple[Term, ...], list[int]] = {}
        for move in options(state)[0]:
            writes.setdefault(state.machine.move(0, move).args[:2], []).append(move)
        empty = 81 - len(state.propositions)
        if len(writes) < empty:
            continue  # some cell can hold nothing
        for move in min(writes.values(), key=len):
            after = state.machine.next_state(state, [move])
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    assert len(solutions) == 1
    (solution,) = solutions
    state = prover("sudoku").initial_state()
    for cell in sorted(solution - state.propositions):
        assert not state.terminal
        state = state.play(Term("write", *cell.args))
    assert state.terminal and state.goals == {"player": 100}


def test_sudoku_that_is_stuck_is_over_and_worth_nothing() -> None:
    state = prover("sudoku").initial_state()
    while not state.terminal:
        state = state.machine.next_state(state, [options(state)[0][0]])
    assert state.goals == {"player": 0}


def test_sokoban_pays_part_for_a_box_on_a_goal() -> None:
    state = small_sokoban().machine("prover").initial_state()
    values = [state.goals["keeper"]]
    for move in parse_terms(SOLUTION):
        state = state.play(move)
        values.append(state.goals["keeper"])
    assert values[-1] == 100
    assert 50 in values
    assert values == sorted(values, key=lambda value: value or 0)
