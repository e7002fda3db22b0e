"""Recoded networks, with registers too, say the same as the original; broken codings are noticed."""

from __future__ import annotations

import pickle
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from players.kaskade.stages import build_native, load_native, load_propnet
from propnet.build import build
from propnet.expander import Expander
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.native.machine import NativeMachine, native_machine
from propnet.recoding.coding import Codec, CodeGates, Coding, ExclusiveGroup, products_of
from propnet.recoding.find import find_coding
from propnet.recoding.recoded import Recoded, recode
from propnet.recoding.registers import RegisterMachine, RegisterRecoding, register_coding, with_registers
from propnet.recoding.samples import sample_states
from propnet.storage.network_bytes import to_bytes
from tests.examples import examples
from tests.machines import network as machine_of
from tests.propnet.ground_cases import WIDTH, assignments, ground_rules, network_answers


def recoded(machine: PropnetMachine) -> Recoded:
    return Recoded.of(machine, find_coding(machine, sample_states(machine)))


def is_broken(recoding: Recoded, coded: np.ndarray) -> bool:
    """Whether some of these records has the broken bit."""
    return bool(
        (
            coded[:, recoding.coding.broken_bit >> 6] >> np.uint64(recoding.coding.broken_bit & 63)
            & np.uint64(1)
        ).any()
    )


def assert_alike_along_matches(old: PropnetMachine, matches: int = 60, steps: int = 25) -> None:
    """Play random matches in both machines, until the coding breaks."""
    recoding = recoded(old)
    new = recoding.machine
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
        whole = ~unpack(coded, recoding.coding.bits)[:, recoding.coding.broken_bit]
        records, coded = records[whole], coded[whole]
        if not len(records):
            return
        np.testing.assert_array_equal(recoding.decode(coded), records)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["eightpuzzle", "hanoi", "tictactoe", "connectfour", "breakthrough", "sokoban"]
)
def test_games_are_the_same_recoded(name):
    assert_alike_along_matches(machine_of(name))


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
    assert_alike_along_matches(machine_of(path.read_text()))


def test_the_eight_puzzle_is_one_word_and_its_clock_is_apart():
    machine = machine_of("eightpuzzle")
    recoding = recoded(machine)
    assert machine.words == 2 and recoding.machine.words == 1
    assert recoding.coding.key_bits <= 36
    assert recoding.coding.broken_bit == recoding.coding.key_bits + 5
    assert int(recoding.key_mask[0]) == (1 << recoding.coding.key_bits) - 1
    assert int(recoding.clock_mask[0]) == 31 << recoding.coding.key_bits


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
    recoding = recoded(machine)
    assert len(machine.network.bases) == bases
    assert (recoding.coding.key_bits, recoding.coding.broken_bit, recoding.machine.words) == (bits, bits, 1)
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


def test_a_wrong_group_is_noticed():
    machine = machine_of("lightsout")
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


# --- Random networks, with positive recursion among them, are the same functions after random recodings
def random_coding(bases: int, rng: random.Random) -> Coding:
    """Base propositions dealt out to groups of the key, to clocks, and to what is left out."""
    order = rng.sample(range(bases), bases)
    left_out = [order.pop() for _ in range(rng.choice((0, 0, 1))) if order]
    groups = []
    while order:
        size = rng.choice((1, 2, 3, 4, 5, 6))
        groups.append(ExclusiveGroup(tuple(order[:size]), rng.random() < 0.4))
        order = order[size:]
    clocks = rng.choice((0, 0, 1))
    return Coding(bases, tuple(groups[clocks:]), tuple(groups[:clocks]), tuple(left_out))


def fitting_states(coding: Coding, initial: np.ndarray, rng: random.Random) -> np.ndarray:
    """Random states that the coding fits, shape (WIDTH, bases)."""
    states = np.tile(initial, (WIDTH, 1))
    for group in coding.all_groups:
        states[:, list(group.members)] = False
        for row in range(WIDTH):
            options = [*group.members] if group.exact else [*group.members, None]
            if (chosen := rng.choice(options)) is not None:
                states[row, chosen] = True
    return states


def words_of(bits: np.ndarray) -> list[int]:
    """A word per column."""
    return [sum(int(bit) << row for row, bit in enumerate(column)) for column in bits.T.tolist()]


def columns_of(words: list[int]) -> np.ndarray:
    """Bits, shape (WIDTH, words)."""
    return np.array([[word >> row & 1 for word in words] for row in range(WIDTH)], np.bool_)


@examples(150)
@given(ground_rules(), st.integers(0, 2**32))
def test_random_networks_are_the_same_recoded(ground, seed):
    rng = random.Random(seed)
    network = build(ground)
    coding = random_coding(len(network.bases), rng)
    new = recode(network, coding)
    codec = Codec(coding, network.initial)
    states = fitting_states(coding, network.initial, rng)
    codes = codec.encode(states)
    assert not codes[:, -1].any()
    np.testing.assert_array_equal(codec.decode(codes), states)
    does = assignments(ground, seed)[1]
    before = network_answers(network, words_of(states), does)
    after = network_answers(new, words_of(codes), does)
    assert (after.legal, after.goals, after.terminal) == (before.legal, before.goals, before.terminal)
    np.testing.assert_array_equal(columns_of(after.next), codec.encode(columns_of(before.next)))
    np.testing.assert_array_equal(new.initial, codec.encode(network.initial[None, :])[0])


@examples(150)
@given(st.integers(0, 2**32))
def test_gates_over_members_say_what_their_literals_say(seed):
    rng = random.Random(seed)
    widths = [rng.randint(1, 7) for _ in range(rng.randint(1, 2))]
    builder = CodeGates(1 + sum(widths))
    groups, first = [], 1
    for width in widths:
        none = rng.random() < 0.5
        most = (1 << width) - none
        least = max(1, (1 << width) // 2 + 1 - none) if width > 1 else most
        codes = list(range(none, none + rng.randint(least, most)))
        bits = [2 * (first + bit) for bit in range(width)]
        decoded = dict(zip(builder.add_group(bits, codes, none), codes, strict=True))
        groups.append((first, codes + [0] * none, decoded))
        first += width
    members = [x for _, _, known in groups for x in known]
    cases = [{start: rng.choice(codes) for start, codes, _ in groups} for _ in range(40)]

    def value(literal: int, case: dict[int, int]) -> bool:
        node = literal >> 1
        if node == 0:
            true = True
        elif node < builder.first_gate:
            start = max(start for start in case if start <= node)
            true = bool(case[start] >> (node - start) & 1)
        else:
            true = all(value(x, case) for x in builder.gates[node - builder.first_gate])
        return true != bool(literal & 1)

    for _ in range(6):
        chosen = rng.sample(members, rng.randint(1, len(members)))
        literals = [x ^ (rng.random() < 0.9) for x in chosen]
        gate = builder.conjunction(literals)
        for case in cases:
            said = [
                (case[start] == code) != negated
                for x, negated in [(y ^ 1, True) if y ^ 1 in chosen else (y, False) for y in literals]
                for start, _, known in groups
                if (code := known.get(x)) is not None
            ]
            assert value(gate, case) == all(said)
            for literal in (gate, gate ^ 1):
                products = products_of(builder, literal)
                assert value(literal, case) == any(all(value(x, case) for x in p) for p in products)


def test_a_coding_names_each_proposition_once():
    with pytest.raises(ValueError, match="each base proposition once"):
        Coding(3, (ExclusiveGroup((0, 1)),))
    with pytest.raises(ValueError, match="each base proposition once"):
        Coding(3, (ExclusiveGroup((0, 1)), ExclusiveGroup((1, 2))))
    with pytest.raises(ValueError, match="without members"):
        Coding(2, (ExclusiveGroup((0, 1)), ExclusiveGroup(())))


# --- Playouts on networks with registers are those of the original network, and wrong codings do no harm
PIECES, SQUARES = "abcde", range(1, 13)

# A piece that moves to a square with others sends them to its own square. The match ends in time, or when
# a piece reaches the last square.
GAME = f"""
(role white) (role black) (init (control white)) (init (time 1))
{" ".join(f"(piece {p}) (init (at {p} {i}))" for i, p in enumerate(PIECES, 1))}
{" ".join(f"(square {i}) (follows {i} {i + 1})" for i in SQUARES)}
(<= (legal ?r (move ?p ?x)) (true (control ?r)) (piece ?p) (square ?x) (not (true (at ?p ?x))))
(<= (legal white wait) (true (control black))) (<= (legal black wait) (true (control white)))
(<= (next (control white)) (true (control black))) (<= (next (control black)) (true (control white)))
(<= (next (time ?n)) (true (time ?t)) (follows ?t ?n))
(<= (moved ?p ?x) (does ?r (move ?p ?x)))
(<= (goes ?p) (moved ?p ?x)) (<= (goes ?q) (moved ?p ?x) (true (at ?q ?x)))
(<= (next (at ?p ?x)) (moved ?p ?x))
(<= (next (at ?q ?y)) (moved ?p ?x) (true (at ?p ?y)) (true (at ?q ?x)))
(<= (next (at ?p ?x)) (true (at ?p ?x)) (not (goes ?p)))
(<= terminal (true (at ?p 12)) (true (time ?t)) (distinct ?t 1)) (<= terminal (true (time 13)))
(<= (goal white 100) (true (at a 12))) (<= (goal white 30) (not (true (at a 12))))
(<= (goal black 100) (true (at e 12))) (<= (goal black 60) (not (true (at e 12))))
"""


@pytest.fixture(autouse=True)
def small_registers(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    for name, value in (("FEWEST", 12), ("SAVED", 30), ("FASTER", 0.0)):
        monkeypatch.setattr(f"propnet.recoding.registers.{name}", value)


@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ground_rules(), st.integers(0, 2**32))
def test_random_networks_are_the_same_with_registers(ground, seed):
    rng = random.Random(seed)
    network = build(ground)
    order = rng.sample(range(len(network.bases)), len(network.bases))
    groups = []
    while order:
        size = rng.choice((1, 2, 3, 4, 6))
        groups.append(ExclusiveGroup(tuple(order[:size])))
        order = order[size:]
    coding = Coding(len(network.bases), tuple(groups))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("propnet.recoding.registers.FEWEST", 2)
        new = RegisterRecoding(network, coding).recoded()
    codec = Codec(coding, network.initial)
    states = fitting_states(coding, network.initial, rng)
    codes = codec.encode(states)
    does = assignments(ground, seed)[1]
    before = network_answers(network, words_of(states), does)
    after = network_answers(new, words_of(codes), does)
    assert (after.legal, after.goals, after.terminal) == (before.legal, before.goals, before.terminal)
    wanted, got = codec.encode(columns_of(before.next)), columns_of(after.next)
    # What is said of a state that is not broken is true. Some are called broken that are not: where a member
    # of a register stays, and is made true besides.
    kept = ~got[:, -1]
    np.testing.assert_array_equal(got[kept], wanted[kept])
    codes[:, -1] = True
    ended = network_answers(new, words_of(codes), does)
    assert not any(ended.goals)
    assert columns_of([ended.terminal]).all()


def _plain() -> NativeMachine:
    rules = parse_rules(GAME)
    return native_machine(rules, build(ground(rules)))


def _made(plain: NativeMachine, coding: Coding) -> RegisterMachine:
    network = RegisterRecoding(plain.network, coding).recoded()
    code = native_machine(plain.rules, network).code
    return RegisterMachine(plain.rules, plain.network, plain.code, network, code, coding)


def _same_playouts(plain: NativeMachine, other: NativeMachine) -> None:
    start = plain.records([plain.initial_state()])
    legal = unpack(plain.evaluate(start).legal, plain.network.move_count)[0]
    white, black = (np.flatnonzero(part) for part in np.split(legal, [len(plain.network.moves[0])]))
    moves = np.array([[move, black[0]] for move in white], np.int32)
    deep = np.concatenate([start, plain.successors(np.repeat(start, len(moves), axis=0), moves)])
    for records, each in ((start, 1500), (deep, 70), (deep[1:3], 1)):
        tallies = [np.zeros((plain.network.move_count, 2), np.int32) for _ in range(2)]
        ours, theirs = (
            machine.playouts_from(records, 7, each=each, tallies=tally)
            for machine, tally in zip((plain, other), tallies, strict=True)
        )
        np.testing.assert_array_equal(ours.goals, theirs.goals)
        np.testing.assert_array_equal(ours.lengths, theirs.lengths)
        np.testing.assert_array_equal(*tallies)
        row = len(ours.lengths) - 1
        length = int(ours.lengths[row])
        traces = [m.playout_moves(records, row, length, 7, each=each) for m in (plain, other)]
        np.testing.assert_array_equal(*traces)


@pytest.mark.slow
def test_playouts_on_registers_are_the_same_playouts():
    plain = _plain()
    coding = register_coding(plain)
    assert coding is not None
    assert sum(len(group.members) > 1 for group in coding.groups) == len(PIECES) + 1
    machine = _made(plain, coding)
    _same_playouts(plain, machine)
    _same_playouts(plain, pickle.loads(pickle.dumps(machine)))
    assert machine.fits
    records = plain.records([plain.initial_state()])
    bits = unpack(machine.encoded(records), coding.bits)
    np.testing.assert_array_equal(
        bits, Codec(coding, plain.network.initial).encode(unpack(records, coding.bases))
    )
    assert machine.encoded(pack(np.ones((1, coding.bases), np.bool_))) is None


@pytest.mark.slow
def test_a_coding_that_does_not_fit_is_dropped():
    plain = _plain()
    names = [str(name) for name in plain.network.bases]
    # Piece a on one half of the board does not exclude piece b on the other.
    both = [f"(at a {i})" if i < 7 else f"(at b {i})" for i in SQUARES]
    single = [ExclusiveGroup((i,)) for i, name in enumerate(names) if name not in both]
    machine = _made(plain, Coding(len(names), (ExclusiveGroup(tuple(map(names.index, both))), *single)))
    _same_playouts(plain, machine)
    assert not machine.fits


@pytest.mark.slow
def test_the_builder_delivers_native_code_first_and_then_registers(monkeypatch):
    monkeypatch.setattr("players.kaskade.guided_machine.compiled_guide", lambda *_: None)
    rules = parse_rules(GAME)
    network = to_bytes(build(ground(rules)))
    before = load_propnet(rules, network, None)
    for _ in range(2):  # the second time from the network that is stored
        machines = [load_native(rules, product, before) for product in build_native(GAME, network)]
        assert {type(machine) for machine in machines[:-1]} == {NativeMachine}
        assert isinstance(machines[-1], RegisterMachine)
        _same_playouts(machines[0], machines[-1])
        assert machines[-1].fits


def test_small_games_get_no_registers(monkeypatch):
    monkeypatch.setattr("propnet.recoding.registers.SAVED", 2_000)
    plain = _plain()
    assert with_registers(plain) is plain
