"""Automorphisms of known games, state by state; searches over canonical states keep one of each orbit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.errors import StateError
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.pipeline import ground
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from propnet.analysis.cones import observed
from propnet.build import build
from propnet.expander import Expander
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.symmetries.canonical import Orbits, paying_orbits
from propnet.symmetries.group import Renaming, automorphisms, closure
from tests.examples import examples
from tests.places import GAME_FILES
from tests.propnet.circuits import random_network


@dataclass(frozen=True)
class Game:
    """A game, its network, and its automorphisms."""

    rules: Rules
    ground: GroundRules
    network: Network
    group: list[Renaming]


FOUR_BY_FOUR = (
    "(four_columns b c d e)",
    "(four_columns c d e f)",
    "(four_columns d e f g)",
    "(four_rows 2 3 4 5)",
    "(four_rows 3 4 5 6)",
    "(column e)",
    "(column f)",
    "(column g)",
    "(next_row 4 5)",
    "(next_row 5 6)",
)
"""What makes connect four larger than 4x4."""


@cache
def game_of(path: Path, without: tuple[str, ...] = ()) -> Game:
    """The game in a file, without some of its lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for line in without:
        lines.remove(line)
    return game_of_text("\n".join(lines))


def game_of_text(text: str) -> Game:
    """The game of these rules."""
    rules = parse_rules(text)
    grounded = ground(rules)
    network = build(grounded)
    return Game(rules, grounded, network, automorphisms(network, grounded))


# --- Automorphisms: the groups of known games, and what an automorphism is, state by state
GROUPS = {
    "tictactoe": 8,
    "connectfour": 2,
    "breakthrough": 2,
    "pegsolitaire": 8,
    "lightsout": 8,
    "queens": 2,
    "knightstour": 8,
    "eightpuzzle": 2,  # transposition of the board and of the tiles' names
    "hanoi": 2,
    "ninemensmorris": 16,  # the inner and the outer square may be exchanged
}
"""Elements of our games' groups."""

PUBLIC = {
    "queens06ug": 8,
    "queens12ug": 8,
    "peg": 8,
    "lightsOut": 8,
    "knightsTourLarge": 8,
    "pentago": 8,
    "asteroids": 8,
    "ticTacToe": 8,
    "conn4": 2,
    "breakthroughSmall": 2,
    "knightmove": 2,
    "maze": 1,
}
"""The same of public games."""


@pytest.mark.parametrize("name", GROUPS)
def test_groups_of_our_games(name: str) -> None:
    assert len(game_of(GAME_FILES[name]).group) == GROUPS[name]


@pytest.mark.parametrize("name", PUBLIC)
def test_groups_of_public_games(name: str, corpus: Path) -> None:
    assert len(game_of(corpus / "games" / f"{name}.kif").group) == PUBLIC[name]


@pytest.mark.parametrize(
    "name", ["tictactoe", "connectfour", "pegsolitaire", "eightpuzzle", "ninemensmorris"]
)
def test_automorphisms_are_seen_in_no_state(name: str) -> None:
    game = game_of(GAME_FILES[name])
    check_on_states(game, game.group)


def check_on_states(game: Game, group: list[Renaming], walks: int = 20) -> None:
    """Compare the states of random matches and their successors with their images."""
    network = game.network
    machine = PropnetMachine(Rules(()), network)
    rng = np.random.default_rng(3)
    counts = observed(network)
    # Half of the walks begin in the image of the initial state, which may be another state.
    starts = [image(network.initial[None, :], group[row % len(group)]) for row in range(walks)]
    records, seen = pack(np.concatenate(starts)), 0
    for _ in range(40):
        records = records[~machine.evaluate(records).terminal]
        if not len(records):
            break
        seen += len(records)
        bits, mine = unpack(records, len(network.bases)), machine.evaluate(records)
        following = [after(machine, record) for record in records]
        for g in group:
            renamed = pack(image(bits, g))
            theirs = machine.evaluate(renamed)
            assert np.array_equal(theirs.terminal, mine.terminal)
            assert np.array_equal(theirs.goals, mine.goals)
            for record, own in zip(renamed, following, strict=True):
                expected, found = image(own, g)[:, counts], after(machine, record)[:, counts]
                assert sorted(map(bytes, expected)) == sorted(map(bytes, found))
        records = pack(np.stack([rng.choice(rows) for rows in following]))
    assert seen >= 100


def after(machine: PropnetMachine, record: np.ndarray) -> np.ndarray:
    """The states after all joint moves."""
    states = [state for _, state in machine.expand(machine.states(record[None]))[0]]
    return unpack(machine.records(states), len(machine.network.bases))


def image(rows: np.ndarray, permutation: np.ndarray) -> np.ndarray:
    renamed = np.empty_like(rows)
    renamed[:, permutation] = rows
    return renamed


def test_a_group_is_closed_and_bounded() -> None:
    game = game_of(GAME_FILES["tictactoe"])
    elements = {g.tobytes() for g in game.group}
    assert elements == {g[f].tobytes() for f in game.group for g in game.group}
    assert np.array_equal(game.group[0], np.arange(len(game.network.bases)))
    assert closure(game.group, 7) is None
    for most in (1, 2, 4):
        assert len(automorphisms(game.network, game.ground, most)) <= most
    assert len(automorphisms(game.network, game.ground, effort=0)) == 1


def test_rules_of_another_game_are_refused() -> None:
    with pytest.raises(ValueError, match="ground rules"):
        automorphisms(game_of(GAME_FILES["hanoi"]).network, game_of(GAME_FILES["tictactoe"]).ground)


def walk_in_a_circle(size: int, more: str = "") -> Game:
    """A token steps round a circle, or rests; which places are connected to it is a loop of rules."""
    steps = "\n".join(f"(after {place} {(place + 1) % size})" for place in range(size))
    return game_of_text(
        f"""(role r) (init (at 0)) {steps}
        (<= (legal r ?move) (move ?move)) (move left) (move right) (move rest)
        (<= (next (at ?p)) (true (at ?p)) (does r rest))
        (<= (next (at ?q)) (true (at ?p)) (after ?p ?q) (does r right))
        (<= (next (at ?p)) (true (at ?q)) (after ?p ?q) (does r left))
        (<= (reached ?p) (true (at ?p)))
        (<= (reached ?q) (reached ?p) (after ?p ?q))
        (<= (reached ?p) (reached ?q) (after ?p ?q))
        (<= left_out (after ?p ?q) (not (reached ?p)))
        (<= (goal r 100) (not left_out)) (<= (goal r 0) left_out) (<= terminal left_out) {more}"""
    )


@given(st.integers(3, 9))
@settings(max_examples=7, deadline=None)
def test_loops_are_mapped_to_loops(size: int) -> None:
    game = walk_in_a_circle(size)
    assert len(game.group) == 2 * size
    check_on_states(game, game.group)
    # A token stays at place 2, too; the mirror image that keeps this place is left.
    broken = walk_in_a_circle(size, "(<= (next (at 2)) (true (at 2)))")
    assert len(broken.group) == 2


@pytest.mark.parametrize(
    ("more", "elements"),
    [
        ("", 8),
        ("(<= (next (cell a 1 x)) (true (control o)))", 2),
        ("(<= (legal x (mark a 1)) (true (control o)))", 2),
        ("(<= terminal (true (cell a 1 x)))", 2),
        ("(<= (goal x 70) (true (cell a 1 x)))", 2),
    ],
)
def test_what_breaks_a_symmetry_is_seen(more: str, elements: int) -> None:
    """Another function, another goal, another legality: each leaves fewer automorphisms."""
    text = (GAME_FILES["tictactoe"]).read_text(encoding="utf-8")
    assert len(game_of_text(f"{text}\n{more}").group) == elements


def test_without_rules_the_identity_alone_is_found() -> None:
    assert len(automorphisms(game_of(GAME_FILES["tictactoe"]).network, None)) == 1


# --- Searches over canonical states keep one state of each orbit, and their lines are real lines
def layers(network: Network, depth: int = 1000) -> list[np.ndarray]:
    """The layers of a breadth-first search: records."""
    machine = PropnetMachine(Rules(()), network)
    expander = Expander(machine)
    found = [machine.records([machine.initial_state()])]
    seen = {found[0][0].tobytes()}
    while len(found[-1]) and len(found) <= depth:
        after = expander.expand(found[-1]).records
        new = {record.tobytes() for record in after} - seen
        seen |= new
        found.append(np.frombuffer(b"".join(sorted(new)), np.uint64).reshape(-1, machine.words))
    return found[:-1] if not len(found[-1]) else found


def canonical_rows(orbits: Orbits, records: np.ndarray) -> set[bytes]:
    return {record.tobytes() for record in orbits.canonical(records)}


@pytest.mark.parametrize(("name", "depth"), [("tictactoe", 100), ("pegsolitaire", 6), ("lightsout", 4)])
def test_a_search_keeps_one_state_of_each_orbit(name: str, depth: int) -> None:
    game = game_of(GAME_FILES[name])
    plain = layers(game.network, depth)
    kept = layers(Orbits(game.network, game.group).canonical_network(), depth)
    group = Orbits(game.network, game.group)
    assert len(plain) == len(kept)
    for before, after in zip(plain, kept, strict=True):
        assert canonical_rows(group, before) == {record.tobytes() for record in after}
    if name == "tictactoe":
        assert (sum(map(len, plain)), sum(map(len, kept))) == (5478, 765)
    if name == "pegsolitaire":  # OEIS A112737
        assert list(map(len, kept)) == [1, 1, 2, 8, 39, 171, 719]


def test_connect_four_keeps_about_half() -> None:
    """Positions of connect four on 4x4: 161,029 (J. Tromp); those that are their own mirror image stay."""
    game = game_of(GAME_FILES["connectfour"], FOUR_BY_FOUR)
    group = Orbits(game.network, game.group)
    assert len(game.group) == 2
    plain = np.concatenate(layers(game.network, 8))
    kept = np.concatenate(layers(Orbits(game.network, game.group).canonical_network(), 8))
    own = int((pack(unpack(plain, group.bases)[:, group.sources[0]]) == plain).all(axis=1).sum())
    assert 2 * len(kept) == len(plain) + own


def test_positions_whose_start_is_moved_keep_their_depth() -> None:
    """Hanoi: an automorphism exchanges two pegs, and does not map the initial state to itself."""
    game = game_of(GAME_FILES["hanoi"])
    machine = PropnetMachine(Rules(()), game.network)
    assert len(game.group) == 2
    depths = []
    for network in (game.network, Orbits(game.network, game.group).canonical_network()):
        found = layers(network)
        best = [int(machine.evaluate(layer).goals.max()) for layer in found]
        depths.append((best.index(max(best)), max(best)))
        assert len(found) > 10
    assert depths[0] == depths[1]


@pytest.mark.parametrize("name", ["tictactoe", "hanoi", "pegsolitaire"])
def test_unfolded_lines_replay_on_the_prover(name: str) -> None:
    game = game_of(GAME_FILES[name])
    rng = np.random.default_rng(5)
    orbits = Orbits(game.network, game.group)
    kept = PropnetMachine(Rules(()), orbits.canonical_network())
    now, line = kept.initial_state(), []
    for _ in range(12):
        options = kept.expand([now])[0]
        if not options:
            break
        now = options[rng.integers(len(options))][1]
        line.append(now)
    states = kept.records(line)
    machine = PropnetMachine(game.rules, game.network)
    joints = orbits.unfold(machine, machine.initial_state(), states)
    prover = ProverMachine(game.rules)
    state = prover.initial_state()
    for joint, record in zip(joints, states, strict=True):
        moves = [machine.move(role, index) for role, index in enumerate(joint)]
        state = prover.next_state(state, [prover.move_id(role, move) for role, move in enumerate(moves)])
        there = machine.records([machine.state_of(prover.true_propositions(state.key))])
        assert (orbits.canonical(there) == record).all()
    assert prover.is_terminal(state) == kept.is_terminal(line[-1])


def test_a_line_that_does_not_exist_is_refused() -> None:
    game = game_of(GAME_FILES["tictactoe"])
    machine = PropnetMachine(game.rules, game.network)
    start = machine.initial_state()
    with pytest.raises(StateError):
        Orbits(game.network, game.group).unfold(machine, start, machine.records([start]))


@given(st.integers(0, 2**32), st.integers(2, 80), st.integers(1, 6))
@examples(30)
def test_gates_choose_what_canonical_chooses(seed: int, bases: int, elements: int) -> None:
    """For any permutations, a group or not."""
    rng = np.random.default_rng(seed)
    network = random_network(rng, bases, [4], 60)
    permutations = [rng.permutation(bases).astype(np.int32) for _ in range(elements)]
    identity = np.arange(bases, dtype=np.int32)
    group = [identity, *(one for one in permutations if (one != identity).any())]
    orbits = Orbits(network, group)
    records = pack(rng.random((40, bases)) < 0.5)
    moves = rng.integers(0, 4, (40, 1)).astype(np.int32)
    after = PropnetMachine(Rules(()), network).successors(records, moves)
    kept = PropnetMachine(Rules(()), orbits.canonical_network()).successors(records, moves)
    assert np.array_equal(orbits.canonical(after), kept)
    brute = unpack(after, bases)
    unseen = ~observed(network)
    brute[:, unseen] = network.initial[unseen]
    images = [brute[:, np.argsort(g)] for g in group]
    keys = [[tuple(row.tolist()) for row in image] for image in images]
    mine = [tuple(row.tolist()) for row in unpack(kept, bases)]
    assert mine == [min(row) for row in zip(*keys, strict=True)]


def test_states_of_an_orbit_become_one() -> None:
    game = game_of(GAME_FILES["tictactoe"])
    orbits = Orbits(game.network, game.group)
    plain = np.concatenate(layers(game.network))
    bits = unpack(plain, orbits.bases)
    for left, right in pairwise(automorphisms(game.network, game.ground)):
        first, second = (pack(bits[:, np.argsort(bases)]) for bases in (left, right))
        assert np.array_equal(orbits.canonical(first), orbits.canonical(second))


def test_what_saves_nothing_is_left_out() -> None:
    """Where the only states are their own images."""
    game = game_of(GAME_FILES["tictactoe"])
    found = paying_orbits(game.network, game.ground)
    assert found is not None
    assert len(found[1].initial) == len(game.network.bases)
    frozen = replace(game.network, legal_literals=game.network.legal_literals * 0 + 1)
    assert len(automorphisms(frozen, game.ground)) > 1
    assert paying_orbits(frozen, game.ground) is None
    plain = game_of(GAME_FILES["rockpaperscissors"])
    assert len(plain.group) == 1
    assert paying_orbits(plain.network, plain.ground) is None
