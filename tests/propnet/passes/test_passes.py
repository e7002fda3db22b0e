"""Each pass keeps the function of every output."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.compile.stratify import components
from gdl.grounding.graph import order, spread
from propnet.build import PASSES, Rewrite
from propnet.passes.circuit import FALSE, TRUE, Circuit, CircuitBuilder, Shape, remove_dead
from propnet.passes.construct import cut_points
from propnet.passes.extract import extract
from propnet.passes.onehot import one_move_per_role, select_once
from propnet.passes.simplify import simplify, sum_of_products
from tests.examples import examples
from tests.propnet.ground_cases import circuit_inputs, circuit_words, circuits

DISTINCT = {row.rewrite.__name__: row.rewrite for row in PASSES}


@pytest.mark.parametrize("rewrite", DISTINCT.values(), ids=DISTINCT.keys())
@examples(150)
@given(circuit=circuits(), seed=st.integers(0, 2**32))
def test_pass_keeps_every_output(rewrite: Rewrite, circuit: Circuit, seed: int) -> None:
    words = circuit_inputs(circuit, seed)
    assert circuit_words(rewrite(circuit), words) == circuit_words(circuit, words)


@examples(150)
@given(circuits())
def test_extraction_never_adds_gate_inputs(circuit: Circuit) -> None:
    assert extract(circuit).gate_inputs <= circuit.gate_inputs


def _circuit(moves: tuple[int, ...], make: list[tuple[int, ...]], outputs: list[int]) -> Circuit:
    """A circuit with two base propositions (literals 2 and 4) whose first output is given."""
    shape = Shape(2, moves, 0, 0)
    return Circuit(shape, make, [*outputs, *[TRUE] * (shape.first_cut_output - len(outputs))])


def test_or_of_all_moves_of_a_role_is_true() -> None:
    first = 2 * Shape(2, (4,), 0, 0).first_gate
    circuit = _circuit((4,), [(7, 9, 11, 13)], [first + 1])
    assert one_move_per_role(circuit).outputs[0] == TRUE


def test_or_of_all_moves_but_one_is_the_denial_of_that_one() -> None:
    first = 2 * Shape(2, (4,), 0, 0).first_gate
    circuit = _circuit((4,), [(7, 9, 13)], [first + 1])
    assert one_move_per_role(circuit).outputs[0] == 11


def test_two_moves_of_one_role_exclude_each_other_but_not_those_of_two_roles() -> None:
    first = 2 * Shape(2, (2, 2), 0, 0).first_gate
    circuit = _circuit((2, 2), [(6, 8), (6, 10)], [first, first + 2])
    rewritten = one_move_per_role(circuit)
    assert rewritten.outputs[0] == FALSE
    assert rewritten.outputs[1] > 1


def test_a_shared_term_that_implies_another_one_is_absorbed() -> None:
    # x&y is an output of its own; x | (x & y) is x.
    shape = Shape(2, (1,), 0, 0)
    gate = 2 * shape.first_gate
    circuit = _circuit((1,), [(2, 4), (3, gate + 1)], [gate, gate + 3])
    rewritten = simplify(circuit)
    assert rewritten.outputs[:2] == [gate, 2]


def _pieces_move(
    squares: int, pieces: int, roles: int, both: bool, absent: frozenset[tuple[int, int]]
) -> Circuit:
    """Bases: is piece p on square s. Each role moves from any square to any other but for the
    absent ones; the piece there arrives, others stay unless they are moved or taken."""
    ways = [(s, t) for s in range(squares) for t in range(squares) if s != t and (s, t) not in absent]
    shape = Shape(squares * pieces, (len(ways) + 1,) * roles, 0, 0)
    builder = CircuitBuilder(shape.first_gate)

    def on(square: int, piece: int) -> int:
        return 2 * (1 + square * pieces + piece)

    def does(role: int, way: int) -> int:
        return 2 * (shape.first_move + role * (len(ways) + 1) + way)

    def does_way(way: int) -> list[int]:
        each = [does(role, way) for role in range(roles)]
        return [builder.disjunction(each)] if both else each

    outputs = []
    for square in range(squares):
        for piece in range(pieces):
            terms = []
            for way, (source, target) in enumerate(ways):
                if target == square:
                    terms += [builder.conjunction([on(source, piece), x]) for x in does_way(way)]
            away = [x for way, ends in enumerate(ways) if square not in ends for x in does_way(way)]
            terms.append(builder.conjunction([on(square, piece), builder.disjunction(away)]))
            outputs.append(builder.disjunction(terms))
    count = shape.first_cut_output
    return Circuit(shape, builder.gates, outputs + [FALSE] * (count - len(outputs)))


ways = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


@examples(100)
@given(st.integers(3, 6), st.integers(1, 4), st.integers(1, 2), st.booleans(), ways, st.integers(0, 2**32))
def test_what_moves_pick_is_picked_alike_when_it_is_picked_once(
    squares: int, pieces: int, roles: int, both: bool, absent: frozenset[tuple[int, int]], seed: int
) -> None:
    circuit = _pieces_move(squares, pieces, roles, both, absent)
    words = circuit_inputs(circuit, seed)
    rewritten = select_once(circuit)
    assert circuit_words(rewritten, words) == circuit_words(circuit, words)
    again = one_move_per_role(rewritten)
    assert circuit_words(again, words) == circuit_words(circuit, words)


def test_a_piece_is_read_off_once_where_its_move_comes_from() -> None:
    circuit = _pieces_move(12, 6, 2, True, frozenset())
    rewritten = one_move_per_role(select_once(circuit))
    assert rewritten.gate_inputs < 0.7 * one_move_per_role(circuit).gate_inputs


def test_an_or_over_moves_of_two_roles_is_complemented_role_by_role() -> None:
    # Eight of each role's nine moves, first joined in pairs.
    shape = Shape(2, (9, 9), 0, 0)
    builder = CircuitBuilder(shape.first_gate)
    first = 2 * shape.first_move
    pairs = [builder.disjunction([first + 2 * m, first + 2 * (9 + m)]) for m in range(8)]
    circuit = _circuit((9, 9), builder.gates, [builder.disjunction(pairs)])
    rewritten = remove_dead(one_move_per_role(circuit))
    assert rewritten.gates == [(first + 16, first + 34)]
    assert rewritten.outputs[0] == 2 * shape.first_gate + 1


@examples(200)
@given(st.lists(st.lists(st.integers(2, 13), max_size=5), max_size=14), st.integers(0, 2**32))
def test_factored_sum_of_products_is_their_or(terms: list[list[int]], seed: int) -> None:
    products = [tuple(sorted(set(term))) for term in terms]
    builder = CircuitBuilder(7)
    literal = sum_of_products(builder, products)
    rng = random.Random(seed)
    words = [rng.getrandbits(64) for _ in range(6)]
    full = (1 << 64) - 1
    shape = Shape(6, (), 0, 0)
    word_of_literal = circuit_words(Circuit(shape, builder.gates, [literal]), words)[0]
    expected = 0
    for product in products:
        word = full
        for x in product:
            word &= words[(x >> 1) - 1] ^ (full if x & 1 else 0)
        expected |= word
    assert word_of_literal == expected
    assert sum(map(len, builder.gates)) <= len(products) + sum(map(len, products))


edges = st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=4), max_size=10)


def as_lists(graph: dict[int, list[int]]) -> list[list[int]]:
    """The graph of ten nodes as :func:`components` takes it."""
    return [graph.get(v, []) for v in range(10)]


@given(edges)
def test_no_cycle_is_left_without_the_cut_points(graph: dict[int, list[int]]) -> None:
    cuts = set(cut_points(list(range(10)), as_lists(graph)))
    rest = {v: [w for w in reads if w not in cuts] for v, reads in graph.items() if v not in cuts}
    assert all(
        len(members) == 1 and members[0] not in rest.get(members[0], [])
        for members in components(as_lists(rest))
    )


@given(edges)
def test_order_has_what_is_behind_no_cycle_sources_first(graph: dict[int, list[int]]) -> None:
    pairs = sorted((w, v) for v, reads in graph.items() for w in reads)
    source = np.array([w for w, _ in pairs], np.int64)
    target = np.array([v for _, v in pairs], np.int64)
    sequence, behind = order(10, source, target)
    place = {int(v): i for i, v in enumerate(sequence)}
    assert all(place[w] < place[v] for w, v in pairs if v in place)
    looped = np.zeros(10, bool)
    for members in components(as_lists(graph)):
        if len(members) > 1 or members[0] in graph.get(members[0], []):
            looped[members] = True
    spread(looped, source, target)
    assert np.array_equal(looped, behind)
