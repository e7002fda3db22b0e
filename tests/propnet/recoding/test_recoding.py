"""A recoded machine and the one before say the same along random matches; broken codings are noticed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from propnet.build import build
from propnet.expander import Expander
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.recoding.coding import Coding, ExclusiveGroup
from propnet.recoding.find import find_coding
from propnet.recoding.recoded import Recoded
from propnet.recoding.samples import sample_states
from tests.places import GAMES


def is_broken(recoding: Recoded, coded: np.ndarray) -> bool:
    """Whether some of these records has the broken bit."""
    return bool(
        (coded[:, recoding.broken_bit >> 6] >> np.uint64(recoding.broken_bit & 63) & np.uint64(1)).any()
    )


def machine_of(text: str) -> PropnetMachine:
    rules = parse_rules(text)
    return PropnetMachine(rules, build(ground(rules)))


def assert_alike_along_matches(recoding: Recoded, matches: int = 60, steps: int = 25) -> None:
    """Play random matches in both machines, until the coding breaks."""
    old, new = recoding.original, recoding.machine
    assert not is_broken(recoding, recoding.encode(sample_states(old)))
    rng = np.random.default_rng(1)
    start = old.records([old.initial_state()])
    np.testing.assert_array_equal(recoding.encode(start), new.records([new.initial_state()]))
    records = np.repeat(start, matches, axis=0)
    coded = recoding.encode(records)
    for _ in range(steps):
        before, after = old.evaluate(records), new.evaluate(coded)
        np.testing.assert_array_equal(before.terminal, after.terminal)
        np.testing.assert_array_equal(before.goals, after.goals)
        np.testing.assert_array_equal(before.legal, after.legal)
        legal = unpack(before.legal, old.network.move_count)
        bounds = old.role_moves.tolist()
        keys = rng.random(legal.shape) * legal
        moves = np.column_stack([keys[:, low:high].argmax(axis=1) for low, high in pairwise(bounds)]).astype(
            np.int32
        )
        able = [legal[:, low:high].any(axis=1) for low, high in pairwise(bounds)]
        running = ~before.terminal & np.all(able, axis=0)
        records = old.successors(records[running], moves[running])
        coded = new.successors(coded[running], moves[running])
        np.testing.assert_array_equal(recoding.encode(records) == coded, True)
        whole = ~unpack(coded, recoding.coding.bits)[:, recoding.broken_bit]
        records, coded = records[whole], coded[whole]
        if not len(records):
            return
        np.testing.assert_array_equal(recoding.decode(coded), records)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["eightpuzzle", "hanoi", "tictactoe", "connectfour", "breakthrough", "sokoban"]
)
def test_games_are_the_same_recoded(name):
    recoding = Recoded.find(machine_of((GAMES / f"{name}.kif").read_text()))
    assert_alike_along_matches(recoding)


CORPUS = [
    "asteroids", "blocks", "buttons", "circlesolitaire", "coins", "eightPuzzle", "hanoi", "incredible",
    "lightsOut", "max_knights", "maze", "peg", "queens06ug", "racetrackcorridor",
    "untwistycomplex2", "ticTacToe", "blocker", "sheepAndWolf", "nim4", "ad_game_2x2",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPUS)
def test_games_of_the_corpus_are_the_same_recoded(name, corpus):
    path = corpus / "games" / f"{name}.kif"
    if not path.exists():
        pytest.skip(f"there is no {path.name}")
    assert_alike_along_matches(Recoded.find(machine_of(path.read_text())))


def test_the_eight_puzzle_is_one_word_and_its_clock_is_apart():
    recoding = Recoded.find(machine_of((GAMES / "eightpuzzle.kif").read_text()))
    assert recoding.original.words == 2 and recoding.machine.words == 1
    assert recoding.key_bits <= 36
    assert recoding.broken_bit == recoding.key_bits + 5
    assert int(recoding.key_mask[0]) == (1 << recoding.key_bits) - 1
    assert int(recoding.clock_mask[0]) == 31 << recoding.key_bits


SLIDING_TILES = """
(role player)
(<= (init (cell ?x ?y ?t)) (home ?x ?y ?t))
(<= (legal player (slide ?t)) (true (cell ?x ?y ?t)) (beside ?x ?y ?u ?v) (empty ?u ?v))
(<= (next (cell ?x ?y ?t)) (does player (slide ?t)) (empty ?x ?y))
(<= (next (cell ?x ?y ?t)) (true (cell ?x ?y ?t)) (not (does player (slide ?t))))
(<= (filled ?x ?y) (true (cell ?x ?y ?t)))
(<= (empty ?x ?y) (square ?x ?y) (not (filled ?x ?y)))
(<= misplaced (home ?x ?y ?t) (not (true (cell ?x ?y ?t))))
(<= (goal player 100) (not misplaced))
(<= (goal player 0) misplaced)
(<= terminal (not (role player)))
"""


def sliding_tiles(columns: int, rows: int) -> str:
    """The sliding tiles in order at first, the last square empty, without an end."""
    squares = [(x, y) for y in range(rows) for x in range(columns)]
    facts = [f"(square {x} {y})" for x, y in squares]
    facts += [f"(home {x} {y} {tile})" for tile, (x, y) in enumerate(squares[:-1], 1)]
    for x, y in squares:
        near = ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
        facts += [f"(beside {x} {y} {u} {v})" for u, v in near if (u, v) in squares]
    return SLIDING_TILES + "\n".join(facts)


@pytest.mark.parametrize(("columns", "rows", "bases", "bits"), [(3, 3, 72, 32), (3, 4, 132, 44)])
def test_sliding_tiles_are_four_bits_each_and_expand_alike(columns, rows, bases, bits):
    machine = machine_of(sliding_tiles(columns, rows))
    recoding = Recoded.find(machine)
    assert len(machine.network.bases) == bases
    assert (recoding.key_bits, recoding.broken_bit, recoding.machine.words) == (bits, bits, 1)
    layer = machine.records([machine.initial_state()])
    for _ in range(12):
        before = Expander(machine).expand(layer, judged=True)
        after = Expander(recoding.machine).expand(recoding.encode(layer), judged=True)
        for ours, theirs in zip(
            (before.parents, before.moves, recoding.encode(before.records), before.terminal, before.goals),
            (after.parents, after.moves, after.records, after.terminal, after.goals),
            strict=True,
        ):
            np.testing.assert_array_equal(ours, theirs)
        assert not is_broken(recoding, after.records)
        keys = after.records[:, 0]
        layer = before.records[np.sort(np.unique(keys, return_index=True)[1])]


def test_a_wrong_group_is_noticed_and_mended():
    machine = machine_of((GAMES / "lightsout.kif").read_text())
    samples = sample_states(machine)
    coding = find_coding(machine, samples)
    groups = sorted(coding.groups, key=lambda group: len(group.members))
    first, second = groups[:2]
    wrong = ExclusiveGroup(first.members + second.members)
    recoding = Recoded.of(machine, Coding(coding.bases, (wrong, *groups[2:]), coding.clocks, coding.left_out))
    layer = recoding.encode(machine.records([machine.initial_state()]))
    expander = Expander(recoding.machine)
    for _ in range(10):
        following = expander.expand(layer).records
        if is_broken(recoding, following):
            break
        layer = following[np.sort(np.unique(following[:, 0], return_index=True)[1])]
    else:
        pytest.fail("the wrong group was not noticed")
    found = recoding.mended(layer)
    assert len(found.counterexamples)
    known = Expander(machine).expand(recoding.decode(layer)).records
    assert is_broken(recoding, recoding.encode(known))
    assert not is_broken(found, found.encode(known))
