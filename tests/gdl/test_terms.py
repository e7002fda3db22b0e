"""Terms: interned, ordered, spelled, weakly kept."""

from __future__ import annotations

import copy
import gc
import pickle
import random
import threading

from hypothesis import given
from hypothesis import strategies as st

from gdl import terms
from gdl.syntax.parser import parse_term
from gdl.terms import Term, sort_key

names = st.text("abcXYZ019_+-'", min_size=1, max_size=6)
variables = names.map(lambda name: f"?{name}")
leaves = (names | variables).map(Term)
trees = st.recursive(
    leaves,
    lambda inner: st.builds(
        lambda name, args: Term(name, *args), names, st.lists(inner, min_size=1, max_size=4)
    ),
    max_leaves=20,
)


def rebuilt(term: Term) -> Term:
    """An equal term, made from its parts in another case."""
    return Term(term.name.upper(), *map(rebuilt, term.args))


@given(trees)
def test_equal_terms_are_the_same_object_whatever_their_case(term: Term) -> None:
    assert rebuilt(term) is term
    assert parse_term(str(term).swapcase()) is term


@given(trees)
def test_text_pickle_and_copy_give_the_same_object_back(term: Term) -> None:
    assert parse_term(str(term)) is term
    assert pickle.loads(pickle.dumps(term)) is term
    assert copy.deepcopy(term) is term


@given(trees, trees)
def test_different_terms_have_different_texts_ids_and_sort_keys(left: Term, right: Term) -> None:
    same = left is right
    assert (str(left) == str(right)) is same
    assert (left.id == right.id) is same
    assert (sort_key(left) == sort_key(right)) is same


@given(st.lists(trees, max_size=8), st.randoms())
def test_the_order_does_not_depend_on_who_was_made_first(some: list[Term], rng: random.Random) -> None:
    shuffled = some[:]
    rng.shuffle(shuffled)
    assert sorted(shuffled) == sorted(some)


def test_numbers_sort_by_value_before_names() -> None:
    texts = ["b", "10", "9", "a", "007", "(a 10)", "(a 9)", "7", "0"]
    assert [str(t) for t in sorted(map(parse_term, texts))] == [
        "0", "007", "7", "9", "10", "a", "(a 9)", "(a 10)", "b",
    ]  # fmt: skip


def test_huge_numbers_sort_without_being_converted() -> None:
    huge = Term("9" * 10_000)
    assert sorted([huge, Term("1" + "0" * 10_000), Term("5")])[0] is Term("5")
    assert sorted([Term("1" + "0" * 10_000), huge])[0] is huge


@given(trees)
def test_ground_depth_and_variables_agree(term: Term) -> None:
    variables = list(term.variables())
    assert term.ground is not bool(variables)
    assert all(v.is_variable for v in variables)
    words = str(term).replace("(", " ").replace(")", " ").split()
    assert [str(v) for v in variables] == [w for w in words if w[0] == "?"]
    assert term.depth == max((1 + a.depth for a in term.args), default=0)


@given(trees, leaves)
def test_substitution_replaces_every_variable_and_nothing_else(term: Term, value: Term) -> None:
    binding = dict.fromkeys(term.variables(), Term("a"))
    result = term.substitute(binding)
    assert result.ground
    assert term.substitute({}) is term
    if term.ground:
        assert term.substitute({value: Term("z")}) is term


@given(trees)
def test_spelling_changes_names_only(term: Term) -> None:
    spelling = {"abc": "AbC", "x": "X"}
    assert term.spelled({}) == str(term)
    assert parse_term(term.spelled(spelling)) is term


def test_forgotten_terms_are_freed() -> None:
    gc.collect()
    before = len(terms._table)
    living = [Term("forgotten", Term(f"leaf{i}"), Term("?x")) for i in range(1000)]
    assert len(terms._table) >= before + 2000
    del living
    gc.collect()
    assert len(terms._table) <= before + 10


def test_threads_that_make_the_same_terms_get_the_same_objects() -> None:
    terms_of_threads: list[list[Term]] = [[] for _ in range(4)]
    ready = threading.Barrier(4)

    def make_terms(own: list[Term]) -> None:
        ready.wait()
        own.extend(Term("threaded", Term(str(i))) for i in range(2000))

    workers = [threading.Thread(target=make_terms, args=(own,)) for own in terms_of_threads]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(len({id(t) for t in same}) == 1 for same in zip(*terms_of_threads, strict=True))


def test_parentheses_around_a_single_name_change_nothing() -> None:
    assert parse_term("(terminal)") is parse_term("terminal")
