"""Each pass keeps the function of every output; the network that they make says what the ground rules say."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.compile.stratify import components
from gdl.errors import RulesError, TooLargeError
from gdl.grounding.graph import order, spread
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.pipeline import ground
from gdl.grounding.simplify import RuleTable, join
from gdl.syntax.parser import parse_rules
from gdl.terms import Term
from propnet.build import PASSES, BuildLimits, Pass, Rewrite, build
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, Circuit, CircuitBuilder, Shape, remove_dead
from propnet.passes.construct import cut_points
from propnet.passes.extract import extract
from propnet.passes.onehot import one_move_per_role, select_once
from propnet.passes.simplify import simplify, sum_of_products
from tests.examples import examples
from tests.propnet.ground_cases import (
    assignments,
    circuit_inputs,
    circuit_words,
    circuits,
    ground_answers,
    ground_rules,
    network_answers,
    walks,
)

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


# --- Atoms that rules read alike become one, and nothing else changes
Rule = tuple[int, list[int]]


def _joined(game: GroundRules) -> GroundRules:
    """The game after :func:`join`, however little that gains."""
    lengths = np.diff(game.body_start)
    table = RuleTable(game.heads.copy(), np.repeat(np.arange(len(lengths)), lengths), game.bodies.copy())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gdl.grounding.simplify.JOINED", 1.0)
        join(table, _fixed(game))
    return _with_rules(
        game,
        [
            (head, table.literals[table.rule_of == rule].tolist())
            for rule, head in enumerate(table.heads.tolist())
        ],
    )


def _fixed(game: GroundRules) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Inputs and outputs."""
    fixed = np.arange(game.atom_count) < len(game.bases) + game.move_count
    goals = [atom for _, _, atom in game.goal_atoms]
    outputs = np.array([*game.next_atoms, *game.legal_atoms, *goals, game.terminal_atom])
    fixed[outputs[outputs >= 0]] = True
    return fixed


def _rules(game: GroundRules) -> list[Rule]:
    start = game.body_start.tolist()
    return [(int(head), game.bodies[start[i] : start[i + 1]].tolist()) for i, head in enumerate(game.heads)]


def _with_rules(game: GroundRules, rules: list[Rule]) -> GroundRules:
    return replace(
        game,
        heads=np.array([head for head, _ in rules], np.int32),
        body_start=np.cumsum([0, *[len(body) for _, body in rules]]),
        bodies=np.array([x for _, body in rules for x in body], np.int32),
    )


def _split(game: GroundRules, rng: random.Random, times: int) -> tuple[GroundRules, int]:
    """The game with some atoms that nothing denies in two: each of the two has some of the rules, and
    whatever reads one has a twin that reads the other. And how many atoms were split."""
    rules, atoms, fixed = _rules(game), game.atom_count, _fixed(game)
    free = set(np.flatnonzero(~fixed).tolist()) - {x >> 1 for _, body in rules for x in body if x & 1}
    done = 0
    for _ in range(times):
        read = sorted(free & {x >> 1 for _, body in rules for x in body})
        if not read:
            break
        atom, twin = rng.choice(read), atoms
        free.add(twin)
        rules = [(twin if head == atom and rng.random() < 0.5 else head, body) for head, body in rules]
        for head, body in rules.copy():
            if 2 * atom in body:
                rules.append((head, [2 * twin if x == 2 * atom else x for x in body]))
        atoms += 1
        done += 1
    rng.shuffle(rules)
    return replace(_with_rules(game, rules), atom_count=atoms), done


@examples(300)
@given(ground_rules(), st.integers(0, 4), st.integers(0, 2**32))
def test_joined_atoms_keep_every_output_in_every_state(game: GroundRules, times: int, seed: int) -> None:
    split, _ = _split(game, random.Random(seed), times)
    joined = _joined(split)
    assert len(joined.bodies) <= len(split.bodies)
    bases, does = assignments(game, seed)
    assert ground_answers(joined, bases, does) == ground_answers(split, bases, does)


@examples(100)
@given(ground_rules(recursion=False), st.integers(1, 6), st.integers(0, 2**32))
def test_what_is_split_is_joined_again(game: GroundRules, times: int, seed: int) -> None:
    # Repeated literals, and rules that are there twice, would tell atoms apart.
    plain = _with_rules(
        game,
        list(
            {
                (head, tuple(sorted(set(body)))): (head, sorted(set(body))) for head, body in _rules(game)
            }.values()
        ),
    )
    split, done = _split(plain, random.Random(seed), times)
    read, read_before = ({x >> 1 for x in some.bodies.tolist()} for some in (_joined(split), plain))
    assert len(read) <= len(read_before)
    assert done == 0 or len(read) < len({x >> 1 for x in split.bodies.tolist()})


def _count_rules(cells: int) -> str:
    """Two players mark cells; who has marked more in the end wins. The rules count both players' cells."""
    text = ["(role x) (role o) (init (step 0))"]
    for i in range(cells):
        text += [f"(cell {i}) (next_cell {i} {i + 1}) (number {i})"]
    return (
        "\n".join(text)
        + f"""
(number {cells}) (<= (plus ?n ?m) (next_cell ?n ?m))
(<= (base (mark ?c ?r)) (cell ?c) (role ?r)) (<= (input ?r (mark ?c)) (role ?r) (cell ?c))
(<= (legal ?r (mark ?c)) (role ?r) (cell ?c) (not (true (mark ?c x))) (not (true (mark ?c o))))
(<= (next (mark ?c x)) (does x (mark ?c)))
(<= (next (mark ?c o)) (does o (mark ?c)) (not (does x (mark ?c))))
(<= (next (mark ?c ?r)) (true (mark ?c ?r)))
(<= open (cell ?c) (not (true (mark ?c x))) (not (true (mark ?c o))))
(<= terminal (not open))
(count {cells} 0 0)
(<= (count ?c ?m ?n) (next_cell ?c ?d) (count ?d ?k ?n) (true (mark ?c x)) (plus ?k ?m))
(<= (count ?c ?m ?n) (next_cell ?c ?d) (count ?d ?m ?k) (true (mark ?c o)) (plus ?k ?n))
(<= (count ?c ?m ?n) (next_cell ?c ?d) (count ?d ?m ?n) (not (true (mark ?c x))) (not (true (mark ?c o))))
(<= (less ?m ?n) (plus ?m ?n)) (<= (less ?m ?n) (plus ?m ?k) (less ?k ?n))
(<= (goal x 100) (count 0 ?m ?n) (less ?n ?m)) (<= (goal o 0) (count 0 ?m ?n) (less ?n ?m))
(<= (goal o 100) (count 0 ?m ?n) (less ?m ?n)) (<= (goal x 0) (count 0 ?m ?n) (less ?m ?n))
(<= (goal ?r 50) (role ?r) (count 0 ?m ?m))
"""
    )


def test_two_counts_that_are_only_compared_become_their_difference() -> None:
    # The counts at a cell are pairs of numbers, their difference is one number: it grows with the square.
    gates = {cells: len(build(ground(parse_rules(_count_rules(cells)))).gate_inputs) for cells in (8, 16, 32)}
    assert gates[32] < 5 * gates[16] < 25 * gates[8]
    game = ground(parse_rules(_count_rules(16)))
    bases, does = assignments(game, 1)
    assert ground_answers(_joined(game), bases, does) == ground_answers(game, bases, does)


# --- A network says what the ground rules say
def assert_alike_in_play(network: Network, ground: GroundRules, seed: int, steps: int) -> None:
    for bases, does, going in walks(ground, seed, steps):
        ours, theirs = network_answers(network, bases, does), ground_answers(ground, bases, does)
        for answers in (ours, theirs):
            answers.next = [word & going for word in answers.next]
        assert ours == theirs


@examples(300)
@given(ground_rules(), st.integers(0, 2**32))
def test_network_of_random_rules_agrees_with_them_along_legal_play(ground: GroundRules, seed: int) -> None:
    assert_alike_in_play(build(ground), ground, seed, 4)


@examples(300)
@given(ground_rules(), st.integers(0, 2**32))
def test_passes_that_know_no_states_agree_with_the_rules_in_every_state(
    ground: GroundRules, seed: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("propnet.build.constant_latches", lambda circuit, initial: circuit)
        network = build(ground)
    for turn in range(3):
        bases, does = assignments(ground, seed + turn)
        assert network_answers(network, bases, does) == ground_answers(ground, bases, does)


@examples(50)
@given(ground_rules(), st.integers(0, 2**32))
def test_network_is_right_when_the_time_for_passes_is_over(ground: GroundRules, seed: int) -> None:
    assert_alike_in_play(build(ground, BuildLimits(seconds=0.0)), ground, seed, 3)


def _game(
    rules: list[Rule], atoms: int, next_atom: int = -1, legal: int = -1, terminal: int = -1, moves: int = 2
) -> GroundRules:
    """One role, one base proposition (atom 0), and moves (from atom 1)."""
    return GroundRules(
        roles=(Term("r"),),
        bases=(Term("p"),),
        moves=(tuple(Term("m", Term(str(i))) for i in range(moves)),),
        atom_count=atoms,
        heads=np.array([head for head, _ in rules], np.int32),
        body_start=np.cumsum([0, *[len(body) for _, body in rules]]),
        bodies=np.array([x for _, body in rules for x in body], np.int32),
        next_atoms=np.array([next_atom], np.int32),
        legal_atoms=np.array([legal] * moves, np.int32),
        goal_atoms=(),
        terminal_atom=terminal,
        initial=np.zeros(1, bool),
    )


def test_legal_and_terminal_that_read_moves_see_none_made() -> None:
    # a3 :- does m0.   a4 :- not a3.   next and legal are a4, terminal is a3.
    network = build(_game([(3, [2]), (4, [7])], 5, next_atom=4, legal=4, terminal=3))
    assert network.legal_literals.tolist() == [0, 0]
    assert network.terminal_literal == 1
    assert network.next_literals.tolist() == [2 * 2 + 1]


def test_recursion_without_a_base_case_is_false() -> None:
    network = build(_game([(3, [8]), (4, [6])], 5, next_atom=3))
    assert network.next_literals.tolist() == [1]
    assert network.gates == 0


def test_recursion_that_is_acyclic_once_ground_makes_no_loop() -> None:
    # A cycle of rules in which every rule but one needs another atom still has a loop ...
    ring: list[Rule] = [(3, [8, 0]), (4, [6, 2]), (3, [2])]
    assert len(build(_game(ring, 5, next_atom=4)).loops) <= 1
    # ... a chain has none.
    assert len(build(_game([(3, [8, 0]), (4, [0, 2])], 5, next_atom=3)).loops) == 0


def test_atom_that_depends_on_its_negation_is_refused() -> None:
    with pytest.raises(RulesError, match="own negation"):
        build(_game([(3, [9]), (4, [6]), (3, [4])], 5, next_atom=3))


def test_what_never_changes_is_a_constant() -> None:
    # Next of p is p unless move 1 is made; legal are the moves while p does not hold, and it holds at first.
    rules: list[Rule] = [(3, [0, 5]), (4, [1])]
    ground = replace(_game(rules, 5, next_atom=3, legal=4), initial=np.array([True]))
    network = build(ground)
    assert network.next_literals.tolist() == [0]
    assert network.legal_literals.tolist() == [1, 1]
    # With p false at first, they are legal, and p stays false.
    network = build(replace(ground, initial=np.array([False])))
    assert network.next_literals.tolist() == [1]
    assert network.legal_literals.tolist() == [0, 0]


def test_too_many_literals_are_refused() -> None:
    with pytest.raises(TooLargeError):
        build(_game([(3, [0, 2])], 4, next_atom=3), BuildLimits(literals=1))


def test_deep_rules_need_no_deep_stack() -> None:
    depth = 5_000
    rules: list[Rule] = [(3, [0])]
    for atom in range(4, 3 + depth):
        rules += [(atom, [2 * (atom - 1) + 1, 2 * (atom % 2)])]
    network = build(_game(rules, 3 + depth, next_atom=2 + depth))
    assert network.gates < depth


def test_nested_products_stay_within_the_effort_for_factoring() -> None:
    moves = 120
    rules: list[Rule] = [(1 + moves, [2 * m + 3 for m in range(k)] + [2 * k + 2]) for k in range(moves)]
    rules.append((2 + moves, []))
    network = build(_game(rules, 3 + moves, next_atom=1 + moves, legal=2 + moves, moves=moves))
    assert network.gates == 0
    assert network.next_literals.tolist() == [0]


def test_stats_follow_the_passes() -> None:
    network = build(_game([(3, [0, 2]), (3, [1, 4])], 4, next_atom=3))
    assert network.stats["finish.gates"] == network.gates
    assert network.stats["finish.inputs"] == len(network.gate_inputs)
    assert "extract.cpu_s" in network.stats


def test_a_row_adds_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    gate_inputs: list[int] = []

    def watch(circuit: Circuit) -> Circuit:
        gate_inputs.append(circuit.gate_inputs)
        return circuit

    monkeypatch.setattr("propnet.build.PASSES", (*PASSES[:4], Pass("watch", watch, 0.0), *PASSES[4:]))
    game = _game([(3, [0, 2]), (3, [1, 4]), (4, [])], 5, next_atom=3, legal=4)
    stats = build(game).stats
    names = list(dict.fromkeys(key.split(".")[0] for key in stats))
    rows = [row.name for row in PASSES]
    assert names == [
        "prune",
        "construct",
        "constant_latches",
        *rows[:4],
        "watch",
        *rows[4:],
        "finish",
        "build",
    ]
    assert [stats["watch.inputs"]] == gate_inputs == [stats["extract.inputs"]]
