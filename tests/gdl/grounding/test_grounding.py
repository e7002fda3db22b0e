"""The grounder by plain definitions and by gringo: ground rules mean what the game means, however made."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gdl.compile.normalize import Clause, normalize
from gdl.compile.program import FlatAtom, FlatClause, TermTable
from gdl.errors import Place, TooLargeError
from gdl.grounding import instantiate, keys, pipeline, reachability, simplify
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.join import Body, Joiner
from gdl.grounding.keys import first_rows
from gdl.grounding.limits import Budget, GroundLimits
from gdl.grounding.pipeline import ground
from gdl.grounding.relation import Index, Relation
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from gdl.terms import DOES, INIT, LEGAL, NEXT, ROLE, TRUE, Term, sort_key
from tests.examples import examples
from tests.gdl.grounding.ground_evaluator import GroundEvaluator
from tests.gdl.naive import model
from tests.places import GAME_FILES

# --- The parts of the grounder against plain definitions
tables = st.integers(0, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.sampled_from((0, 1, 2, 5, 70, 3000))] * width), max_size=60)
)


def columns(rows: list[tuple[int, ...]]) -> list[NDArray[np.int32]]:
    width = len(rows[0]) if rows else 0
    return [np.array([r[c] for r in rows], np.int32) for c in range(width)]


@pytest.mark.slow
@pytest.mark.parametrize("dense_bits", [0, 22])
@pytest.mark.parametrize("max_bits", [3, 56])
@given(rows=tables, cut=st.integers(0, 60), queries=tables)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_relation_is_a_set_that_numbers_its_rows(
    dense_bits: int, max_bits: int, rows: list[tuple[int, ...]], cut: int, queries: list[tuple[int, ...]]
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(keys, "DENSE_BITS", dense_bits)
        patched.setattr(keys, "MAX_BITS", max_bits)
        width = len(rows[0]) if rows else 2
        table = Relation(width)
        for part in (rows[:cut], rows[cut:]):
            table.add(columns(part), len(part))
        expected = list(dict.fromkeys(rows))
        assert table.n == len(expected)
        assert [table.row(i) for i in range(table.n)] == expected
        queries = [r for r in queries if len(r) == width] + rows
        ids = table.find(columns(queries), len(queries)) if queries else []
        assert list(ids) == [expected.index(r) if r in expected else -1 for r in queries]


@given(rows=tables)
def test_first_rows_are_the_first_of_their_kind(rows: list[tuple[int, ...]]) -> None:
    expected = [i for i, row in enumerate(rows) if row not in rows[:i]]
    assert first_rows(columns(rows), len(rows)).tolist() == expected


@given(rows=tables, queries=tables)
def test_an_index_gives_the_rows_of_a_group(
    rows: list[tuple[int, ...]], queries: list[tuple[int, ...]]
) -> None:
    width = len(rows[0]) if rows else 0
    queries = [r for r in queries if len(r) == width] + rows
    if not queries:
        return
    index = Index(columns(rows), 0, len(rows))
    starts, counts = index.ranges(columns(queries), len(queries))
    for key, start, count in zip(queries, starts, counts, strict=True):
        assert index.order[start : start + count].tolist() == [i for i, r in enumerate(rows) if r == key]


@given(parts=st.lists(st.lists(st.tuples(*[st.integers(0, 3)] * 2), max_size=20), max_size=8))
def test_the_index_of_a_growing_view_has_every_row_once(parts: list[list[tuple[int, int]]]) -> None:
    table = Relation(2)
    for part in parts:
        table.add(columns(part), len(part))
        view = table.view((-1, -2))
        indexes = view.index((0,))
        assert sorted(r for i in indexes for r in i.order.tolist()) == list(range(table.n))
        for value in range(4):
            rows = []
            for index in indexes:
                starts, counts = index.ranges([np.array([value], np.int32)], 1)
                rows += index.order[starts[0] : starts[0] + counts[0]].tolist()
            assert sorted(rows) == [i for i in range(table.n) if table.row(i)[0] == value]


atoms = st.tuples(st.integers(0, 2), st.integers(-4, 2), st.integers(-4, 2)).map(
    lambda t: FlatAtom(t[0], (t[1], t[2]))
)
relations_of_three = st.lists(st.sets(st.tuples(*[st.integers(0, 2)] * 2)), min_size=3, max_size=3)


@given(
    contents=relations_of_three,
    positives=st.lists(atoms, min_size=1, max_size=4),
    negative=atoms,
    pair=st.tuples(st.integers(-4, 2), st.integers(-4, 2)),
    keep=st.sets(st.integers(-4, -1)),
)
@examples(300)
def test_a_join_finds_the_bindings_that_trying_all_finds(
    contents: list[set[tuple[int, int]]],
    positives: list[FlatAtom],
    negative: FlatAtom,
    pair: tuple[int, int],
    keep: set[int],
) -> None:
    bound = {a for p in positives for a in p.args if a < 0}
    negatives = [negative] if all(a in bound for a in negative.args if a < 0) else []
    distincts = (((pair[0],), (pair[1],)),) if all(a in bound for a in pair if a < 0) else ()
    clause = FlatClause(FlatAtom(0, ()), tuple(positives), tuple(negatives), distincts, (), 4, Place())
    relations = []
    for rows in contents:
        relations.append(Relation(2))
        relations[-1].add(columns(sorted(rows)), len(rows))
    wanted = sorted(keep & bound)
    joiner = Joiner(relations, TermTable(), Budget(GroundLimits()))
    body = Body(clause, negatives)
    expected = set()
    for values in product(range(3), repeat=len(bound)):
        env = dict(zip(sorted(bound), values, strict=True))

        def row(atom: FlatAtom, env: dict[int, int] = env) -> tuple[int, ...]:
            return tuple(env.get(a, a) for a in atom.args)

        if (
            all(row(p) in contents[p.predicate] for p in positives)
            and not any(row(n) in contents[n.predicate] for n in negatives)
            and not any(env.get(a, a) == env.get(b, b) for (a,), (b,) in distincts)
        ):
            expected.add(tuple(env[v] for v in wanted))

    def joined(first: int = -1, window: tuple[int, int] | None = None) -> set[tuple[int, ...]]:
        found = joiner.join(body, wanted, first, window)
        return {tuple(int(found.env[v][i]) for v in wanted) for i in range(found.n)}

    assert joined() == expected
    first = positives.index(positives[-1])
    assert joined(first, (0, 1)) | joined(first, (1, 9)) == expected


def test_atoms_with_the_same_rules_become_one() -> None:
    # 0 and 1 are inputs, 6 is an output; 2 and 3 say the same, so then do 4 and 5, but not 7.
    rules = [(2, [0]), (3, [0]), (4, [4, 3]), (5, [6, 3]), (6, [8]), (6, [10]), (7, [4, 2]), (6, [14])]
    table = simplify.RuleTable(
        np.array([h for h, _ in rules], np.int64),
        np.array([i for i, (_, body) in enumerate(rules) for _ in body], np.int64),
        np.array([x for _, body in rules for x in body], np.int64),
    )
    simplify.merge(table, np.array([True, True, False, False, False, False, True, False]), lambda: None)
    simplify.unique(table)
    bodies: list[list[int]] = [[] for _ in table.heads]
    for rule, literal in zip(table.rule_of.tolist(), table.literals.tolist(), strict=True):
        bodies[rule].append(literal)
    assert sorted(zip(table.heads.tolist(), bodies, strict=True)) == [
        (2, [0]), (4, [4, 3]), (6, [8]), (6, [14]), (7, [4, 2]),
    ]  # fmt: skip


# --- whole games, made at random ------------------------------------------------------------
CONSTANTS = "abc"
VARIABLES = ("?x", "?y", "?z", "?w")
STATIC = (("e", 2), ("u", 1))
STATE = (("(true (p {}))", 1), ("(true (q {} {}))", 2))
MOVES = (("(does r1 (m {}))", 1), ("(does r2 (k {} {}))", 2))
DERIVED = (("(d0 {} {})", 2), ("(d1 {})", 1), ("(d2 {} {})", 2))
"""Each may read static relations, the state, and those before it; d2 also itself."""

OUTPUTS = (("(legal r1 (m {}))", 1), ("(legal r2 (k {} {}))", 2), ("(goal r1 1)", 0), ("terminal", 0))


@st.composite
def bodies(draw: st.DrawFn, readable: list[tuple[str, int]], recursive: tuple[str, int] | None) -> list[str]:
    parts, bound = [], set()
    for _ in range(draw(st.integers(1, 4))):
        negative = draw(st.integers(0, 3)) == 0
        pattern, arity = draw(st.sampled_from(readable + ([recursive] if recursive and not negative else [])))
        args = draw(
            st.lists(st.sampled_from((*VARIABLES, *VARIABLES, *CONSTANTS)), min_size=arity, max_size=arity)
        )
        parts.append((negative, pattern.format(*args), {a for a in args if a[0] == "?"}))
        bound |= set() if negative else parts[-1][2]
    lines = [text if not negative else f"(not {text})" for negative, text, _ in parts]
    lines += [f"(u2 {v})" for v in sorted(set().union(*[p[2] for p in parts]) - bound)]
    variables = sorted(set().union(*[p[2] for p in parts]))
    if len(variables) > 1 and draw(st.booleans()):
        lines.append(f"(distinct {variables[0]} {variables[-1]})")
    return lines


@st.composite
def games(draw: st.DrawFn) -> list[str]:
    lines = ["(role r1) (role r2)", *(f"(u2 {c})" for c in CONSTANTS), "(u a)"]
    lines += [
        f"(e {a} {b})" for a, b in draw(st.sets(st.tuples(*[st.sampled_from(CONSTANTS)] * 2), max_size=6))
    ]
    lines += [f"(init (p {c}))" for c in draw(st.sets(st.sampled_from(CONSTANTS)))]
    lines += ["(init (q a b))"]
    readable = [(f"({n}{' {}' * k})", k) for n, k in STATIC] + list(STATE)

    def rule(pattern: str, arity: int, body: list[str]) -> None:
        variables = sorted({w.strip("()") for part in body for w in part.split() if w.strip("()")[0] == "?"})
        args = [draw(st.sampled_from([*variables, *variables, "a"])) for _ in range(arity)]
        lines.append(f"(<= {pattern.format(*args)} {' '.join(body)})")

    for number, (pattern, arity) in enumerate(DERIVED):
        for _ in range(draw(st.integers(1, 2))):
            rule(pattern, arity, draw(bodies(readable, (pattern, arity) if number == 2 else None)))
        readable.append((pattern, arity))
    for pattern, arity in (
        ("(legal r1 (m {}))", 1),
        ("(legal r2 (k {} {}))", 2),
        ("(goal r1 1{})", 0),
        ("terminal", 0),
    ):
        rule(pattern.replace("1{}", "1"), arity, draw(bodies(readable, None)))
    for pattern, arity in (("(next (p {}))", 1), ("(next (q {} {}))", 2)):
        for _ in range(draw(st.integers(1, 2))):
            rule(pattern, arity, draw(bodies(readable + list(MOVES), None)))
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("way", ["plain", "all rules split", "relations on demand", "unfolded", "merged"])
@given(lines=games(), data=st.data())
@examples(60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_ground_rules_of_random_games_mean_what_the_rules_mean(
    way: str, lines: list[str], data: st.DataObject
) -> None:
    rules = parse_rules("\n".join(lines))
    with pytest.MonkeyPatch.context() as patched:
        if way == "relations on demand":
            patched.setattr(reachability, "LARGE_RELATION", 0)
        if way == "unfolded":
            unfold_everything(patched)
        if way == "merged":
            patched.setattr(pipeline, "MERGE_FROM", -1)
        if way == "all rules split":
            patched.setattr(instantiate, "SPLIT_FROM", 0)
            patched.setattr(instantiate, "SPLIT_GAIN", 1e9)
            patched.setattr(instantiate, "MIN_RULES", 1)
            patched.setattr(instantiate, "GAIN", 1e9)
        g = ground(rules)
    atoms = [Term(TRUE, b) for b in g.bases]
    atoms += [Term(DOES, role, m) for role, own in zip(g.roles, g.moves, strict=True) for m in own]
    evaluator = GroundEvaluator(g)
    for _ in range(3):
        chosen = data.draw(st.sets(st.integers(0, len(atoms) - 1))) if atoms else set()
        answers = evaluator.answers(chosen)
        true = model(rules, [atoms[i] for i in chosen])
        assert {Term(NEXT, g.bases[i]) for i in answers["next"]} == {t for t in true if t.name == NEXT}
        legal = {Term(LEGAL, *atoms[len(g.bases) + i].args) for i in answers["legal"]}
        assert legal == {t for t in true if t.name == LEGAL}
        assert answers["terminal"] == (Term("terminal") in true)
        assert bool(answers["goal"]) == (Term("goal", Term("r1"), Term("1")) in true)


# --- Ground rules mean what the game means, whatever the grounder splits, drops and reorders
def load_rules(path: Path) -> Rules:
    return parse_rules(path.read_text(encoding="utf-8", errors="replace"))


def rules_of(*lines: str) -> Rules:
    return parse_rules("\n".join(lines))


def names(terms: tuple[Term, ...]) -> list[str]:
    return [str(t) for t in terms]


def split_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instantiate, "SPLIT_FROM", 0)
    monkeypatch.setattr(instantiate, "SPLIT_GAIN", 1e9)
    monkeypatch.setattr(instantiate, "MIN_RULES", 1)
    monkeypatch.setattr(instantiate, "GAIN", 1e9)


@pytest.mark.parametrize("game", ["atarigo", "checkers", "hex", "kalah", "ninemensmorris", "tron"])
def test_splitting_rules_changes_nothing_in_any_state(monkeypatch: pytest.MonkeyPatch, game: str) -> None:
    rules = load_rules(GAME_FILES[game])
    with monkeypatch.context() as patched:
        patched.setattr(instantiate, "SPLIT_FROM", 1 << 60)
        patched.setattr(instantiate, "MIN_RULES", 1 << 60)
        plain = ground(rules)
    with monkeypatch.context() as patched:
        split_everything(patched)
        parts = ground(rules)
    assert plain.bases == parts.bases
    assert plain.moves == parts.moves
    assert parts.stats["auxiliary_atoms"] > 0 or parts.atom_count > plain.atom_count
    whole, decomposed = GroundEvaluator(plain), GroundEvaluator(parts)
    generator = random.Random(1)
    inputs = len(plain.bases) + plain.move_count
    for _ in range(4):
        share = generator.choice((0.05, 0.3, 0.6))
        chosen = {a for a in range(inputs) if generator.random() < share}
        assert whole.answers(chosen) == decomposed.answers(chosen)


def test_a_relation_too_large_to_be_solved_is_solved_where_it_is_read() -> None:
    digits = " ".join(f"(next_digit {i} {i + 1})" for i in range(60))
    g = ground(
        rules_of(
            "(role a) (init (at 0 0 0 0)) (legal a go)",
            digits,
            "(<= (digit ?x) (next_digit ?x ?y))",
            "(<= (digit ?y) (next_digit ?x ?y))",
            "(<= (after ?a ?b ?c ?d ?a ?b ?c ?e) (digit ?a) (digit ?b) (digit ?c) (next_digit ?d ?e))",
            "(<= (next (at ?e ?f ?g ?h)) (true (at ?a ?b ?c ?d)) (after ?a ?b ?c ?d ?e ?f ?g ?h))",
        ),
        GroundLimits(max_atoms=100_000),
    )
    assert len(g.bases) == 61


def unfold_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachability, "LARGE_RELATION", 0)
    monkeypatch.setattr(reachability, "restrict", lambda p, *_: reachability.Restriction(p, {}, frozenset()))


LATIN = """
(role a) (index 1) (index 2) (index 3) (index 4) (odd 1) (odd 3) (succ 1 2) (succ 2 3) (succ 3 4)
(<= (first ?z ?z ?a ?b ?c) (index ?a) (index ?b) (index ?c) (index ?z)
    (distinct ?z ?a) (distinct ?z ?b) (not (same ?z ?c)))
(same 1 1) (same 2 2) (same 3 3) (same 4 4)
(<= (one ?z ?a ?b ?c ?d) (first ?z ?a ?b ?c ?d))
(<= (one ?z ?a ?b ?c ?d) (first ?z ?b ?a ?c ?d))
(<= (one ?z ?a ?b ?c ?d) (first ?z ?c ?a ?b ?d))
(<= (one ?z ?a ?b ?c ?d) (first ?z ?d ?a ?b ?c))
(<= (one 5 ?a ?a ?b ?b) (odd ?a) (odd ?b))
(<= (legal a (play ?i ?j ?m)) (index ?i) (index ?j) (index ?m))
(<= (next (mark ?i ?j ?m)) (does a (play ?i ?j ?m)))
(<= (next (mark ?i ?j ?m)) (true (mark ?i ?j ?m)))
(<= (row ?i) (true (mark ?i 1 ?a)) (true (mark ?i 2 ?b)) (true (mark ?i 3 ?c)) (true (mark ?i 4 ?d))
    (one 1 ?a ?b ?c ?d) (one 2 ?a ?b ?c ?d) (one 3 ?a ?b ?c ?d) (not (true (mark 1 1 ?d))))
(<= (row ?i) (true (mark 1 ?i ?a)) (true (mark 2 ?i ?b)) (one 5 ?a ?a ?b ?b))
(<= (square ?i ?j) (succ ?i ?k) (succ ?j ?l) (true (mark ?i ?j ?a)) (true (mark ?i ?l ?b))
    (true (mark ?k ?j ?c)) (true (mark ?k ?l ?d)) (one ?i ?a ?b ?c ?d) (one ?d ?a ?b ?c ?d) (distinct ?a ?d))
(<= (goal a 100) (row ?i) (square ?i ?j))
(<= (goal a 1) (true (mark ?a ?b ?c)) (one 5 ?b ?b ?c ?c))
(<= (goal a 2) (true (mark 1 1 ?a)) (true (mark 2 2 ?b)) (between ?x ?a ?b) (one 5 ?a ?a ?b ?b))
(between 1 1 3) (between 2 3 1) (between 4 3 1)
(<= terminal (row 2))
(<= (legal a stop) (square 2 2))
"""


def test_a_relation_too_large_even_where_it_is_read_becomes_conditions_that_mean_the_same() -> None:
    rules = parse_rules(LATIN)
    plain = ground(rules)
    with pytest.MonkeyPatch.context() as patched:
        unfold_everything(patched)
        unfolded = ground(rules)
    check_form(unfolded)
    assert plain.bases == unfolded.bases
    assert plain.moves == unfolded.moves
    assert unfolded.stats["auxiliary_atoms"] > 0
    whole, parts = GroundEvaluator(plain), GroundEvaluator(unfolded)
    generator = random.Random(1)
    inputs, seen = len(plain.bases) + plain.move_count, set()
    for _ in range(300):
        share = generator.choice((0.2, 0.3, 0.4, 0.6))
        chosen = {a for a in range(inputs) if generator.random() < share}
        answers = whole.answers(chosen)
        assert answers == parts.answers(chosen)
        seen.add((frozenset(answers["goal"]), answers["terminal"], len(answers["legal"])))
    assert len(seen) >= 8


@st.composite
def games_with_conditions(draw: st.DrawFn) -> list[str]:
    """Rules of ``big`` have no variables but those of the head; whatever reads it binds its variables."""
    symbols = st.sampled_from(("?x", "?y", "?z", *CONSTANTS))
    literals = st.one_of(
        st.builds("(e {} {})".format, symbols, symbols),
        st.builds("(u {})".format, symbols),
        st.builds("(not (e {} {}))".format, symbols, symbols),
        st.builds("(distinct {} {})".format, symbols, symbols),
    )
    pairs = draw(st.sets(st.tuples(*[st.sampled_from(CONSTANTS)] * 2), min_size=1, max_size=6))
    lines = [
        "(role r1) (init (p a)) (init (q a b)) (u a) (u c) (t a b c) (t b c a)",
        *(f"(u2 {c})" for c in CONSTANTS),
    ]
    lines += [f"(e {a} {b})" for a, b in sorted(pairs)]
    lines += ["(<= (next (p ?x)) (u2 ?x))", "(<= (next (q ?x ?y)) (u2 ?x) (u2 ?y))", "(legal r1 go)"]
    for _ in range(draw(st.integers(1, 3))):
        head = " ".join(draw(st.tuples(symbols, symbols, symbols)))
        body = draw(st.lists(literals, max_size=3))
        bound = {f"(u2 {v})" for text in (head, *body) for v in ("?x", "?y", "?z") if v in text}
        body = [text for text in body if all(v in head for v in ("?x", "?y", "?z") if v in text)]
        lines.append(
            f"(<= (big {head}) {' '.join(sorted(b for b in bound if b[4:6] in head) + body)} (u2 a))"
        )
    lines.append("(<= (rest ?x ?y) (big ?x ?y ?x))")
    for output in ("(goal r1 1)", "terminal", "(legal r1 (m ?x))", "(legal r1 (k ?x ?y))"):
        args = st.sampled_from(("?x", "?y", "?z", "?w", *CONSTANTS))
        body = [f"(big {' '.join(draw(st.tuples(args, args, args)))})", "(true (p ?x))", "(true (q ?y ?z))"]
        body += draw(
            st.lists(
                st.sampled_from(
                    ("(e ?v ?x)", "(t ?v ?x ?w)", "(rest ?z ?w)", "(e ?y ?w)", "(not (true (q ?w ?x)))")
                ),
                max_size=2,
            )
        )
        body += draw(
            st.lists(st.sampled_from(("(distinct ?x ?y)", "(not (e ?x ?w))", "(true (q ?w ?w))")), max_size=2)
        )
        lines.append(f"(<= {output} {' '.join(body)} (true (p ?w)))")
    third = draw(st.sampled_from(("?x", *CONSTANTS)))
    body = [f"(big ?x ?w {third})", f"(true (p {third}))", "(true (p ?x)) (true (p ?w)) (t ?v ?x ?w)"]
    lines.append(f"(<= (legal r1 (l {third})) {' '.join(body)})")
    return lines


@given(lines=games_with_conditions(), data=st.data())
@examples(150, suppress_health_check=[HealthCheck.too_slow])
def test_conditions_of_random_games_mean_what_the_rules_mean(lines: list[str], data: st.DataObject) -> None:
    rules = parse_rules("\n".join(lines))
    with pytest.MonkeyPatch.context() as patched:
        unfold_everything(patched)
        g = ground(rules)
    check_form(g)
    evaluator = GroundEvaluator(g)
    for _ in range(4):
        chosen = data.draw(st.sets(st.integers(0, len(g.bases) - 1)))
        answers = evaluator.answers(chosen)
        true = model(rules, [Term(TRUE, g.bases[i]) for i in chosen])
        legal = {Term(LEGAL, g.roles[0], g.moves[0][i]) for i in answers["legal"]}
        assert legal == {t for t in true if t.name == LEGAL}
        assert answers["terminal"] == (Term("terminal") in true)
        assert bool(answers["goal"]) == (Term("goal", Term("r1"), Term("1")) in true)


def test_a_sudoku_whose_rows_are_thousands_of_millions_is_grounded_and_knows_a_right_grid(
    corpus: Path,
) -> None:
    g = ground(load_rules(corpus / "games" / "sudoku.kif"))
    evaluator, number = GroundEvaluator(g), {str(b): i for i, b in enumerate(g.bases)}

    def goals(grid: list[list[int]]) -> set[tuple[int, int]]:
        marks = {f"(mark {i + 1} {j + 1} {m})" for i, row in enumerate(grid) for j, m in enumerate(row)}
        goal: set[tuple[int, int]] = evaluator.answers({number[mark] for mark in marks})["goal"]
        return goal

    grid = [[(3 * i + i // 3 + j) % 9 + 1 for j in range(9)] for i in range(9)]
    assert goals(grid) == {(0, 100)}
    assert goals([*grid[:8], grid[0]]) == {(0, 0)}  # columns are wrong
    assert goals([*grid[:2], *grid[3:6], grid[2], *grid[6:]]) == {(0, 0)}  # squares are wrong
    assert goals([*grid[:8], [grid[8][0], *grid[8][:8]]]) == {(0, 0)}  # a row is wrong
    assert goals(grid[:8]) == {(0, 0)}


def check_form(g: GroundRules) -> None:
    """What GroundRules promises about its arrays."""
    assert list(g.bases) == sorted(g.bases, key=sort_key)
    for own in g.moves:
        assert list(own) == sorted(own, key=sort_key)
    assert g.heads.dtype == np.int32
    assert g.bodies.dtype == np.int32
    assert g.body_start.dtype == np.int64
    assert len(g.body_start) == len(g.heads) + 1
    inputs = len(g.bases) + g.move_count
    defined = set(g.heads.tolist())
    assert all(head >= inputs for head in defined)
    assert {x >> 1 for x in g.bodies.tolist()} <= defined | set(range(inputs))
    assert {a for a in g.next_atoms.tolist() if a >= 0} <= defined
    assert set(g.legal_atoms.tolist()) <= defined
    assert len(g.legal_atoms) == g.move_count
    rules = [
        (head, tuple(sorted(g.bodies[g.body_start[i] : g.body_start[i + 1]].tolist())))
        for i, head in enumerate(g.heads.tolist())
    ]
    assert len(set(rules)) == len(rules)
    facts = {head for head, body in rules if not body}
    assert not any(x >> 1 in facts for _, body in rules for x in body)
    assert all(len(set(body)) == len(body) for _, body in rules)


@pytest.mark.parametrize(
    "path",
    [GAME_FILES[g] for g in ["connectfour", "hex", "kalah", "nim", "sokoban", "tron"]],
    ids=lambda p: p.stem,
)
def test_arrays_keep_their_promises_and_no_rule_comes_twice(path: Path) -> None:
    check_form(ground(load_rules(path)))


SWITCH = (
    "(role a) (role b)",
    "(init (light off)) (init (clock 0)) (init (ghost here))",
    "(succ 0 1) (succ 1 2) (succ 2 3)",
    "(<= (legal a flip) (true (light ?x)))",
    "(legal b noop) (legal nobody cheat)",
    "(<= (next (light on)) (does a flip) (true (light off)))",
    "(<= (next (light off)) (does a flip) (true (light on)))",
    "(<= (next (clock ?n)) (true (clock ?m)) (succ ?m ?n))",
    "(<= (next (cheated ?p)) (does ?p cheat))",
    "(<= terminal (true (clock 3)))",
    "(<= terminal (true (clock 7)))",
    "(<= (goal ?r 100) (role ?r) (true (light on)))",
    "(<= (goal ?r 0) (role ?r) (not (true (light on))))",
    "(<= (goal ?r high) (role ?r))",
)


def test_only_what_can_happen_becomes_an_atom() -> None:
    g = ground(rules_of(*SWITCH))
    check_form(g)
    clocks = [f"(clock {number})" for number in range(4)]
    assert names(g.bases) == [*clocks, "(ghost here)", "(light off)", "(light on)"]
    assert [names(m) for m in g.moves] == [["flip"], ["noop"]]
    assert sorted({(r, v) for r, v, _ in g.goal_atoms}) == [(0, 0), (0, 100), (1, 0), (1, 100)]


def test_a_proposition_that_only_holds_at_first_stays_a_base_without_next() -> None:
    g = ground(rules_of(*SWITCH))
    ghost = names(g.bases).index("(ghost here)")
    assert g.initial[ghost]
    assert g.next_atoms[ghost] == -1


def test_a_legal_move_that_always_holds_is_a_rule_without_a_body() -> None:
    g = ground(rules_of(*SWITCH))
    noop = int(g.legal_atoms[1])
    (rule,) = np.flatnonzero(g.heads == noop)
    assert g.body_start[rule] == g.body_start[rule + 1]


def test_a_role_without_moves_has_none() -> None:
    g = ground(
        rules_of("(role a) (role z)", "(init p)", "(legal a go)", "(<= (next p) (does a go))", "(goal a 1)")
    )
    assert [names(m) for m in g.moves] == [["go"], []]
    assert g.terminal_atom == -1


def test_the_initial_state_is_evaluated_with_real_negation() -> None:
    g = ground(
        rules_of(
            "(role a) (cell 1) (cell 2) (blocked 2) (legal a go)",
            "(<= (init (free ?c)) (cell ?c) (not (blocked ?c)))",
            "(<= (init quiet) (not busy))",
            "(<= (init loud) busy)",
            "(<= busy (true (free 1)))",
            "(<= (next (free 2)) (does a go))",
            "(<= (next ?x) (true ?x))",
        )
    )
    assert {str(b) for b, holds in zip(g.bases, g.initial, strict=True) if holds} == {"(free 1)", "quiet"}
    assert set(names(g.bases)) == {"(free 1)", "(free 2)", "quiet"}


def test_negations_of_what_cannot_hold_vanish_and_those_of_facts_kill_the_rule() -> None:
    g = ground(
        rules_of(
            "(role a) (init p) (legal a go)",
            "(<= always (role ?r))",
            "(<= (next p) (true p) (not never))",
            "(<= (next q) (true p) (not (sure a)))",
            "(<= never (true (no such)))",
            "(<= (sure ?r) (legal ?r ?m) (not never))",
            "(<= (next r) (true q))",
        )
    )
    check_form(g)
    assert names(g.bases) == ["p"]
    assert len(g.bodies) == 1


def test_positive_recursion_that_stays_cyclic_is_grounded() -> None:
    g = ground(
        rules_of(
            "(role a) (edge 1 2) (edge 2 3) (edge 3 1) (init (on 1))",
            "(<= (legal a (put ?x)) (edge ?x ?y))",
            "(<= (next (on ?x)) (does a (put ?x)))",
            "(<= (next (on ?x)) (true (on ?x)))",
            "(<= (linked ?x ?x) (true (on ?x)))",
            "(<= (linked ?x ?z) (linked ?x ?y) (edge ?y ?z) (true (on ?z)))",
            "(<= terminal (linked 1 3) (linked 3 2))",
        )
    )
    check_form(g)
    evaluator = GroundEvaluator(g)
    on = {str(b): i for i, b in enumerate(g.bases)}
    assert evaluator.answers({on["(on 1)"], on["(on 2)"], on["(on 3)"]})["terminal"]
    assert not evaluator.answers({on["(on 1)"], on["(on 3)"]})["terminal"]


def test_deep_function_terms_are_built_and_taken_apart() -> None:
    rules = rules_of(
        "(role a) (init (stack nil)) (item x) (item y)",
        "(longer 0 1) (longer 1 2) (longer 2 3) (longer 3 4) (longer 4 5) (longer 5 6) (longer 6 7)",
        "(<= (length nil 0))",
        "(<= (length (cons ?i ?s) ?n) (true (stack (cons ?i ?s))) (size (cons ?i ?s) ?n))",
        "(<= (size (cons ?i ?s) ?n) (item ?i) (size ?s ?m) (longer ?m ?n))",
        "(size nil 0)",
        "(<= (legal a (push ?i)) (item ?i) (true (stack ?s)) (size ?s ?n) (longer ?n ?more))",
        "(<= (legal a pop) (true (stack (cons ?i ?s))))",
        "(<= (next (stack (cons ?i ?s))) (does a (push ?i)) (true (stack ?s)) (size (cons ?i ?s) ?n))",
        "(<= (next (stack ?s)) (does a pop) (true (stack (cons ?i ?s))))",
        "(<= terminal (true (stack (cons x (cons y (cons x (cons y (cons x nil))))))))",
    )
    g = ground(rules)
    check_form(g)
    assert len(g.bases) == 2**8 - 1
    assert names(g.moves[0]) == ["pop", "(push x)", "(push y)"]
    evaluator = GroundEvaluator(g)
    number = {str(b): i for i, b in enumerate(g.bases)}
    answers = evaluator.answers({number["(stack (cons x nil))"], g.does_atom(0, 2)})
    assert answers["next"] == {number["(stack (cons y (cons x nil)))"]}


def test_wide_relations_beyond_any_key_are_grounded() -> None:
    width = 70
    variables = " ".join(f"?v{i}" for i in range(width))
    constants = " ".join("ab"[i % 2] for i in range(width))
    swapped = " ".join("ba"[i % 2] for i in range(width))
    g = ground(
        rules_of(
            f"(role r) (init (w {constants})) (legal r go) (swap a b) (swap b a)",
            f"(<= (next (w {variables})) (does r go) (true (w {' '.join(f'?u{i}' for i in range(width))}))",
            " ".join(f"(swap ?u{i} ?v{i})" for i in range(width)) + ")",
        )
    )
    assert names(g.bases) == [f"(w {constants})", f"(w {swapped})"]


BOMB = (
    "(role a) (legal a go) (init (n 0))",
    " ".join(f"(digit {i})" for i in range(40)),
    f"(<= (next (big {' '.join(f'?x{i}' for i in range(8))})) (true (n 0))",
    " ".join(f"(digit ?x{i})" for i in range(8)) + ")",
)


def test_a_product_beyond_memory_is_refused_with_its_place() -> None:
    with pytest.raises(TooLargeError) as caught:
        ground(rules_of(*BOMB), GroundLimits(memory_bytes=200_000_000))
    assert caught.value.place is not None
    assert caught.value.place.line == 3
    assert caught.value.remedy


def test_terms_that_grow_for_ever_are_refused() -> None:
    rules = rules_of("(role a) (legal a go) (init (n z))", "(<= (next (n (s ?x))) (true (n ?x)))")
    with pytest.raises(TooLargeError):
        ground(rules)


@pytest.mark.parametrize(
    "limits", [GroundLimits(max_rules=100), GroundLimits(max_atoms=100), GroundLimits(cpu_seconds=0.0)]
)
def test_every_limit_is_kept(limits: GroundLimits) -> None:
    with pytest.raises(TooLargeError):
        ground(load_rules(GAME_FILES["connectfour"]), limits)


# --- Gringo (clingo) as oracle: the same base propositions and moves can be reached
LARGE = {"amazons", "chess", "checkers", "sudoku"}
"""Games that take gringo seconds, or all memory."""

CORPUS_GAMES = [
    "aipsrovers01", "blocker", "blocks", "bomberman2p", "breakthrough", "buttons", "chomp",
    "circlesolitaire", "coins", "connectFour", "eightPuzzle", "hanoi",
    "knightThrough", "lightsOut", "nim4", "pancakes6", "peg", "pentago", "reversi", "speedChess",
    "ticTacToe", "tron_10x10",
]  # fmt: skip


@dataclass(frozen=True)
class Translation:
    """An answer set program, and the way back.

    Attributes:
        text: the program.
        names: the ASP names of symbols, functors and relations -> those of the rules.
        true: ASP name and arity of ``true``.
        does: ASP name and arity of ``does``.
    """

    text: str
    names: dict[str, str]
    true: tuple[str, int]
    does: tuple[str, int]

    def term(self, symbol: Any) -> Term:
        """The GDL term of a clingo Symbol."""
        return Term(self.names[symbol.name], *map(self.term, symbol.arguments))


def translate(clauses: list[Clause]) -> Translation:
    """Translate clauses in normal form: one choice rule each for ``true`` and ``does``, and no solver runs.

    Symbols become ``s0``, ``s1``, ..., functors and relations ``f0``, ..., so that no spelling means anything
    in ASP. The atoms that gringo calls possible are those that can hold if negations of changing facts are
    ignored: the same over-approximation as our reachability.
    """
    names: dict[tuple[str, bool], str] = {}

    def name(word: str, applied: bool) -> str:
        return names.setdefault((word, applied), f"{'f' if applied else 's'}{len(names)}")

    def write(term: Term) -> str:
        if term.is_variable:
            return f"V{variables.setdefault(term, len(variables))}"
        if not term.args:
            return name(term.name, False)
        return f"{name(term.name, True)}({','.join(map(write, term.args))})"

    true, does, initial, following, legal, role = (
        name(word, True) for word in (TRUE, DOES, INIT, NEXT, LEGAL, ROLE)
    )
    lines = [
        f"{{{true}(X)}} :- {initial}(X).",
        f"{{{true}(X)}} :- {following}(X).",
        f"{{{does}(R,X)}} :- {legal}(R,X), {role}(R).",
    ]
    for clause in clauses:
        variables: dict[Term, int] = {}
        body = [write(p) for p in clause.positives]
        body += [f"not {write(n)}" for n in clause.negatives]
        body += [f"{write(left)}!={write(right)}" for left, right in clause.distincts]
        lines.append(f"{write(clause.head)} :- {', '.join(body)}." if body else f"{write(clause.head)}.")
    back = {short: word for (word, _), short in names.items()}
    return Translation("\n".join(lines), back, (true, 1), (does, 2))


class Heads:
    """Collects the atoms that rules can derive. (Gringo also lists atoms that it met in
    negations only, before it knew that nothing derives them.)"""

    def __init__(self) -> None:
        self.atoms: set[int] = set()

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        self.atoms.update(head)


def gringo(rules: Rules) -> tuple[set[Term], set[Term]]:
    """The base propositions and the ``does`` atoms that gringo holds for possible."""
    clingo = pytest.importorskip("clingo", reason="gringo is the oracle: pip install clingo")
    translation = translate(normalize(rules))
    control = clingo.Control(["--warn=none"])
    heads = Heads()
    control.register_observer(heads)
    control.add("base", [], translation.text)
    control.ground([("base", [])])
    true, does = (
        {
            translation.term(a.symbol)
            for a in control.symbolic_atoms.by_signature(*s)
            if a.literal in heads.atoms
        }
        for s in (translation.true, translation.does)
    )
    return {t.args[0] for t in true}, does


def ours(rules: Rules) -> tuple[set[Term], set[Term]]:
    """The same of our grounder."""
    grounded = ground(rules)
    moves = {
        Term(DOES, role, move)
        for role, own in zip(grounded.roles, grounded.moves, strict=True)
        for move in own
    }
    return set(grounded.bases), moves


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [path for name, path in GAME_FILES.items() if name not in LARGE], ids=lambda p: p.stem
)
def test_our_games_reach_what_gringo_reaches(path: Path) -> None:
    rules = load_rules(path)
    assert ours(rules) == gringo(rules)


@pytest.mark.slow
@pytest.mark.parametrize("game", CORPUS_GAMES)
def test_public_games_reach_what_gringo_reaches(corpus: Path, game: str) -> None:
    rules = load_rules(corpus / "games" / f"{game}.kif")
    assert ours(rules) == gringo(rules)
