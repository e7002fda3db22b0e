"""What things were seen to do: moves, pushes, trails, towers."""

from __future__ import annotations

from gdl.syntax.parser import parse_terms
from gdl.terms import Term
from ggp.boards.layers import Layer, Thing
from ggp.boards.piece_behaviour import PieceBehaviour, behaviour_of

COLUMNS = tuple(map(Term, "abcd"))
ROWS = tuple(map(Term, "123"))
CELL = Layer("cell", 3, 0, 1)


def seen(*states: str) -> PieceBehaviour:
    """The behaviour of things in states, each the arguments of ``cell`` in a row."""
    terms = [
        frozenset(parse_terms(" ".join(f"(cell {' '.join(cell)})" for cell in state.split())))
        for state in states
    ]
    return behaviour_of([CELL], terms, COLUMNS, ROWS, frozenset())


def things(names: str) -> frozenset[Thing]:
    return frozenset((Term(name),) for name in names)


def test_what_moves_and_what_it_pushes() -> None:
    behaviour = seen("a1k b1c d3w", "b1k c1c d3w", "b2k c1c d3w")
    assert behaviour.moves == things("kc")
    assert behaviour.pushed == things("c") and behaviour.pushers == things("k")
    assert behaviour.stays == things("w")
    assert behaviour.comes == things("kc")


def test_a_piece_that_is_taken_was_not_pushed() -> None:
    behaviour = seen("a1k b1c d3c", "b1k d3c", "c1k d3c")
    assert not behaviour.pushed
    assert behaviour.least == {(Term("k"),): 1, (Term("c"),): 1}


def test_a_trail_comes_where_a_single_piece_went() -> None:
    assert seen("a1k", "a2k a1v", "a3k a1v a2v").trails == things("v")
    assert not seen("a1k", "a2k d1v", "a3k d1v a2v").trails


def test_a_new_match_is_no_step() -> None:
    behaviour = seen("a1k b1p", "a2k b1p", "a1k b1p", "a2k b1p")
    assert behaviour.stays == things("p") and behaviour.comes == things("k")


def test_nothing_is_known_of_one_state() -> None:
    behaviour = seen("a1k")
    assert not (behaviour.stays or behaviour.moves or behaviour.comes)
    assert behaviour.first == {(Term("k"),): 1}


def test_only_what_lies_above_leaves_a_peg() -> None:
    strip = Layer("on", 2, 0, -1)
    disks = tuple(map(Term, "123"))

    def towers(*states: str) -> int:
        terms = [
            frozenset(
                parse_terms(" ".join(f"(on {disk} {peg})" for disk, peg in zip("123", state, strict=True)))
            )
            for state in states
        ]
        return behaviour_of([strip], terms, disks, (Term(""),), frozenset()).towers

    assert towers("xxx", "yxx", "yzx", "zzx", "zzy", "xzy", "xyy", "yyy") == 1
    assert towers("xxx", "xxy", "xzy", "xzz", "yzz", "yzx", "yyx", "yyy") == -1
    assert towers("xxx", "xyx", "xyy", "zyy", "zzy", "zzz", "xzz", "xxz") == 0
    assert towers("xxx", "yxx", "zxx") == 0


def test_of_very_many_kinds_only_counts_are_taken() -> None:
    columns, rows = (tuple(Term(f"{side}{n}") for n in range(20)) for side in "xy")
    states = [
        frozenset(
            Term("cell", x, y, Term(f"t{20 * i + j + shift}"))
            for i, x in enumerate(columns)
            for j, y in enumerate(rows)
        )
        for shift in (0, 1)
    ]
    behaviour = behaviour_of([CELL], states, columns, rows, frozenset())
    assert len(behaviour.most) == 401
    assert not (behaviour.moves or behaviour.stays or behaviour.comes)
