"""Values and learning by n-tuples are those of plain numpy; tables are kept as they are."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gdl.scramble import scramble
from gdl.terms import Term
from ggp.game import Game
from players.knowledge.canonical_rules import CanonicalNames, canonical_names
from players.knowledge.derived_propositions import derived_of, find_derived
from players.knowledge.features import DERIVED, Features
from players.knowledge.knowledge import GameKnowledge, KnowledgeError
from players.knowledge.n_tuples import NTuples
from players.knowledge.state_values import StateValues, TupleTables, values_by
from players.knowledge.training import Training
from players.knowledge.tuple_finder import find_tuples
from players.knowledge.value_kernels import SCALE
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.recoding.samples import sample_states
from tests.examples import examples


def _machine(rules_of: str | object) -> PropnetMachine:
    from gdl.grounding.pipeline import ground
    from propnet.build import build

    rules = Game.load(rules_of).rules if isinstance(rules_of, str) else rules_of
    return PropnetMachine(rules, build(ground(rules)))  # type: ignore[arg-type]


def _logistic(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-logits))


def _random_tuples(rng: np.random.Generator, variables: int) -> tuple[NTuples, tuple[Term, ...]]:
    """Some tuples over variables of three values, the last one of two, of propositions in any order."""
    radix = [3] * (variables - 1) + [2]
    names = [[(f"v{v}c{c}", c) for c in range(1, radix[v])] for v in range(variables)]
    tuples, shapes, ordered = [], [], []
    for size in (2, 3, 4):
        for _ in range(int(rng.integers(1, 4))):
            members = rng.permutation(variables - 1)[: min(size, variables - 1)]
            tuples.append((*members.tolist(), variables - 1))
            shapes.append(min(size, variables - 1))
    numbers = {shape: number for number, shape in enumerate(dict.fromkeys(shapes))}
    ordered = [bool(rng.random() < 0.5) for _ in numbers]
    found = NTuples.of(names, radix, tuples, [numbers[shape] for shape in shapes], ordered)
    bases = [*(Term(name) for some in names for name, _ in some), *(Term(f"other{i}") for i in range(70))]
    return found, tuple(bases[i] for i in rng.permutation(len(bases)))


def _entries(tuples: NTuples, bases: tuple[Term, ...], bits: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The entry of each tuple in each state, by dictionaries."""
    where = {base.name: i for i, base in enumerate(bases)}
    found = np.zeros((len(bits), len(tuples.shape)), np.int64)
    for row, state in enumerate(bits):
        value = dict.fromkeys(range(len(tuples.radix)), 0)
        for name, variable, code in zip(tuples.names, tuples.variable, tuples.code, strict=True):
            if state[where[name]]:
                value[int(variable)] = max(value[int(variable)], int(code))
        for number in range(len(tuples.shape)):
            place, worth = 0, 1
            for member in tuples.members_of(number):
                place += worth * value[member]
                worth *= int(tuples.radix[member])
            found[row, number] = int(tuples.offset[number]) + place
    return found


NAMES = CanonicalNames("0" * 64, {})


@examples(40)
@given(
    variables=st.integers(3, 9), columns=st.integers(1, 3), n=st.integers(1, 200), seed=st.integers(0, 2**32)
)
def test_values_are_those_of_plain_numpy(variables: int, columns: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tuples, bases = _random_tuples(rng, variables)
    tuples.check()
    bits = rng.random((n, len(bases))) < rng.random()
    weights = rng.normal(size=(tuples.entries, columns)).astype(np.float32)
    linear = rng.normal(size=(len(bases), columns)).astype(np.float32) / 10
    tables = TupleTables(tuples, bases, NAMES, columns)
    tables.set_weights(weights)
    values = StateValues(len(bases), columns, tuple(range(columns)), tables)
    values.set_weights(linear, np.zeros(columns, np.float32))
    own = _entries(tuples, bases, bits)
    logits = (weights[own] + weights[tuples.shared[own]]).sum(axis=1) + bits @ linear.astype(np.float64)
    rounded = (len(bases) + len(tuples.shape)) / SCALE
    assert np.allclose(values.of(pack(bits)), _logistic(logits), rtol=0, atol=2e-6 + rounded)


@examples(30)
@given(seed=st.integers(0, 2**32), columns=st.integers(1, 2))
def test_a_step_of_learning_is_that_of_plain_numpy(seed: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    tuples, bases = _random_tuples(rng, 6)
    tables = TupleTables(tuples, bases, NAMES, columns)
    features = Features.of(bases, NAMES)
    linear = len(features.names)
    rows = linear + tuples.entries
    weights, sums = (rng.normal(size=(rows, columns)).astype(np.float32) / 10 for _ in range(2))
    sizes = (np.abs(sums) + rng.random(sums.shape)).astype(np.float32)
    bits = rng.random((1, len(bases))) < 0.4
    target = rng.random((1, columns)).astype(np.float32)
    times = np.zeros(rows)
    times[0] = 1
    for base in np.flatnonzero(bits[0]):
        np.add.at(times, features.feature[features.start[base] : features.start[base + 1]], 1)
    own = _entries(tuples, bases, bits)[0]
    np.add.at(times, linear + own, 1)
    np.add.at(times, linear + tuples.shared[own], 1)
    error = target[0] - _logistic(times @ weights)
    first_shared = linear + int(tuples.offset[-1])
    lengths = np.empty(rows)
    for low, high in ((0, linear), (linear, first_shared), (first_shared, rows)):
        lengths[low:high] = 3 * times[low:high] @ times[low:high]
    step = 0.7 * np.outer(times / lengths, error) * np.abs(sums) / sizes
    moved = weights.copy(), sums.copy(), sizes.copy()
    squares = tables.learn(pack(bits), target, features, moved, 0.7)
    assert squares == pytest.approx(float((error**2).sum()), rel=1e-4)
    seen = (times > 0)[:, None]
    assert np.allclose(moved[0], weights + step, atol=1e-5)
    assert np.allclose(moved[1], sums + error * seen, atol=1e-5)
    assert np.allclose(moved[2], sizes + np.abs(error) * seen, atol=1e-5)


def test_lines_of_four_are_found_in_connect_four() -> None:
    machine = _machine("connectfour")
    names = canonical_names(machine.rules)
    tuples = find_tuples(machine, names)
    assert tuples is not None
    tuples.check()
    new = names.new
    sets = [set(tuples.members_of(number)) for number in range(len(tuples.shape))]
    variable = dict(zip(tuples.names, tuples.variable.tolist(), strict=True))

    def square(column: int, row: int) -> int:
        letter, number = "abcdefg"[column], str(row + 1)
        return variable[f"({new['cell']} {new[letter]} {new.get(number, number)} {new['red']})"]

    turns = [f"({new['control']} {new[role]})" for role in ("red", "yellow")]
    turn = next(variable[name] for name in turns if name in variable)
    assert all(turn in members for members in sets)
    lines = 0
    for column in range(7):
        for row in range(6):
            for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                if 0 <= column + 3 * right < 7 and 0 <= row + 3 * up < 6:
                    line = {square(column + i * right, row + i * up) for i in range(4)}
                    assert any(line <= members for members in sets)
                    lines += 1
    assert lines == 69


def test_squares_on_which_a_disc_would_land_are_further_values_of_tuples() -> None:
    machine = _machine("connectfour")
    names = canonical_names(machine.rules)
    derived = find_derived(machine, names)
    assert derived is not None
    plain, wide = find_tuples(machine, names), find_tuples(machine, names, derived=derived)
    assert plain is not None and wide is not None
    wide.check()
    lands = [name for name in wide.names if name.startswith(DERIVED)]
    assert sorted(lands) == sorted(DERIVED + names.key(term) for term in derived.terms) and len(lands) == 42
    assert plain.radix.max() == 3 and wide.radix.max() == 4 and not any("derived" in n for n in plain.names)
    assert np.array_equal(plain.member, wide.member) and np.array_equal(plain.shape, wide.shape)


def test_tables_that_would_be_too_large_are_not_widened(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = _machine("connectfour")
    names = canonical_names(machine.rules)
    monkeypatch.setattr("players.knowledge.n_tuples.MOST_ENTRIES", 3**6 * 2)
    tuples = find_tuples(machine, names, derived=find_derived(machine, names))
    assert tuples is not None and tuples.radix.max() == 3


@pytest.mark.slow
def test_values_with_derived_propositions_in_tuples_are_those_of_plain_numpy() -> None:
    machine = _machine("connectfour")
    names = canonical_names(machine.rules)
    training = Training(machine, names, model="tuples")
    for _ in range(2):
        training.round()
    known = GameKnowledge.from_bytes(training.knowledge("connectfour").to_bytes())
    assert known.model == "tuples" and len(known.derived) == 1 and known.tables is not None
    derived = derived_of(machine, names, known.derived)
    records = sample_states(machine, 300, 0)
    bits = unpack(derived.long(records), 64 * derived.words)
    bases = tuple(
        Term(("" if bit < derived.first else DERIVED) + names.key(term)) if term else Term(f"none {bit}")
        for bit, term in enumerate(derived.propositions)
    )
    tuples, weights = known.tables.tuples, known.tables.weights[:, 0]
    own = _entries(tuples, bases, bits)
    logits = (weights[own] + weights[tuples.shared[own]]).sum(axis=1)
    features = Features.of(machine.network.bases, names)
    linear = features.weights_of_bases(features.arranged(known)[0])[:, 0]
    place = features.names.index("1")
    logits += bits[:, : len(linear)] @ linear + features.arranged(known)[0][place, 0]
    found = values_by(known, names, machine).columns_of(records)[:, 0]
    assert np.allclose(found, _logistic(logits), atol=1e-3)
    assert np.allclose(found, training.values.columns_of(records)[:, 0], atol=1e-6)
    # Training goes on with the same.
    again = Training(machine, names, known, model="tuples")
    assert np.array_equal(again.weights, training.weights)
    again.round()


def test_a_shape_that_is_shared_is_the_same_elsewhere_on_the_board() -> None:
    machine = _machine("tictactoe")
    tuples = find_tuples(machine, canonical_names(machine.rules))
    assert tuples is not None
    own = int(tuples.offset[-1])
    assert tuples.shared.min() == own and tuples.shared.max() < tuples.entries
    for number, shape in enumerate(tuples.shape.tolist()):
        others = np.flatnonzero(tuples.shape == shape)
        low, high = tuples.offset[number], tuples.offset[number + 1]
        first = tuples.offset[others[0]]
        assert np.array_equal(tuples.shared[low:high], tuples.shared[first : first + high - low])


def test_a_game_without_variables_that_meet_has_no_tuples() -> None:
    machine = _machine("rockpaperscissors")
    tuples = find_tuples(machine, canonical_names(machine.rules))
    assert tuples is None or len(tuples.shape) > 0


def _learnt(rounds: int = 2) -> tuple[PropnetMachine, Training, GameKnowledge]:
    machine = _machine("tictactoe")
    training = Training(machine, canonical_names(machine.rules), model="tuples")
    for _ in range(rounds):
        training.round()
    return machine, training, training.knowledge("tictactoe")


def test_tables_are_kept_as_they_are_and_gone_on_with() -> None:
    machine, training, known = _learnt()
    back = GameKnowledge.from_bytes(known.to_bytes())
    assert back.model == "tuples" and back.tables is not None and known.tables is not None
    for mine, theirs in zip(known.tables.arrays(), back.tables.arrays(), strict=True):
        assert np.array_equal(mine, theirs)
    for mine, theirs in zip(known.tables.tuples.arrays(), back.tables.tuples.arrays(), strict=True):
        assert np.array_equal(mine, theirs)
    again = Training(machine, canonical_names(machine.rules), back, model="tuples")
    assert np.array_equal(again.weights, training.weights)
    records = machine.records([machine.initial_state()])
    assert np.array_equal(again.values.of(records), training.values.of(records))


def test_the_weights_of_another_rung_are_not_begun_with() -> None:
    machine = _machine("tictactoe")
    names = canonical_names(machine.rules)
    linear = Training(machine, names)
    linear.round()
    above = Training(machine, names, linear.knowledge("tictactoe"), model="tuples")
    assert linear.weights.any() and not above.weights.any()
    above.round()
    assert above.knowledge("tictactoe").moves == above.progress.moves
    assert not Training(machine, names, above.knowledge("tictactoe")).weights.any()


@pytest.mark.parametrize("array", ["radix", "start", "member", "shape", "code", "variable", "ordered"])
def test_tuples_that_do_not_fit_together_are_refused(array: str) -> None:
    from dataclasses import replace

    _, _, known = _learnt(1)
    assert known.tables is not None
    tuples = known.tables.tuples
    for wrong in (-1, 1 << 20):
        broken = getattr(tuples, array).copy()
        broken[-1] = wrong
        tables = replace(known.tables, tuples=replace(tuples, **{array: broken}))
        with pytest.raises(KnowledgeError, match=r"tuples|tables|parts"):
            GameKnowledge.from_bytes(replace(known, tables=tables).to_bytes())


def test_tables_mean_the_same_in_a_scrambled_copy() -> None:
    machine, training, known = _learnt()
    copy, mapping = scramble(machine.rules, 5)
    other = _machine(copy)
    back = {new: old for old, new in mapping.items()}
    values = values_by(known, canonical_names(copy), other)
    records = training._play.play(training.values, 10).records.reshape(-1, machine.words)[::5]
    bits = unpack(records, len(machine.network.bases))
    place = {str(base): i for i, base in enumerate(machine.network.bases)}

    def old(term: Term) -> Term:
        return Term(back.get(term.name, term.name), *map(old, term.args))

    moved = np.array([place[str(old(base))] for base in other.network.bases])
    first, second = training.values.of(records), values.of(pack(bits[:, moved]))
    roles = [str(role) for role in machine.roles]
    order = [roles.index(str(old(role))) for role in other.roles]
    assert np.allclose(first[:, order], second, atol=1e-5)


def test_tables_of_other_propositions_are_refused() -> None:
    _, _, known = _learnt(1)
    assert known.tables is not None
    with pytest.raises(KnowledgeError, match="other propositions"):
        TupleTables(known.tables.tuples, (Term("p"),), NAMES, 1)


@examples(150)
@given(data=st.data())
def test_bytes_that_were_meddled_with_are_refused_or_read(data: st.DataObject) -> None:
    """Also those whose checksum was made to fit."""
    body = bytearray(_WRITTEN[:-32])
    for _ in range(data.draw(st.integers(1, 3))):
        # The header and the integers are at the front and in the middle: most of the rest is floats.
        at = data.draw(st.integers(0, len(body) - 1) | st.integers(0, 600) | st.integers(*_INTEGERS))
        body[at] = data.draw(st.integers(0, 255))
    try:
        known = GameKnowledge.from_bytes(bytes(body) + hashlib.sha256(bytes(body)).digest())
    except KnowledgeError:
        return
    if known.tables is not None:
        assert known.tables.tuples.shared.max() < known.tables.tuples.entries


def _written() -> tuple[bytes, tuple[int, int]]:
    """A file's bytes, and where its integers lie."""
    known = _learnt(1)[2]
    assert known.tables is not None
    integers = b"".join(array.astype("<i4").tobytes() for array in known.tables.tuples.arrays())
    written = known.to_bytes()
    at = written.index(integers)
    return written, (at, at + len(integers) - 1)


_WRITTEN, _INTEGERS = _written()


def test_tuples_whose_bounds_wrap_around_are_refused() -> None:
    """Differences of 32 bits overflow to what looks like tuples of some members."""
    variables, zeros = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    start = np.array([0, 2**31 - 1, -(2**31), -1, 4], np.int32)
    names = tuple(f"#{number}" for number in range(4))
    ones, two = np.ones(4, np.int32), np.full(4, 2, np.int32)
    with pytest.raises(ValueError, match="do not fit together"):
        NTuples(names, variables, ones, two, start, variables, zeros, ones[:1]).check()
