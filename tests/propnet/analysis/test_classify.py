"""What is told of a game."""

from __future__ import annotations

import pytest

from gdl.errors import GdlError
from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from propnet.analysis.classify import ALTERNATING, SIMULTANEOUS, SINGLE, Classification, classify
from propnet.build import build
from tests.propnet.analysis.test_analysis import counters
from tests.propnet.circuits import tic_tac_toe

TURNS = """
(role a) (role b) (init (control a))
(<= (legal ?r (pick ?n)) (true (control ?r)) (number ?n)) (number 1) (number 2) (number 3)
(<= (legal a noop) (true (control b))) (<= (legal b noop) (true (control a)))
(<= (next (control b)) (true (control a))) (<= (next end) (true (control b)))
(<= terminal (true end)) (goal a 100) (goal b 0)
(<= (legal ?r noop) (role ?r) (true end))
"""

AT_ONCE = """
(role a) (role b) (init start) (legal ?r up) (legal ?r down) (<= (legal ?r up) (role ?r))
(<= (next end) (true start)) (<= (next same) (does a ?m) (does b ?m))
(<= terminal (true end)) (<= (goal ?r 100) (role ?r) (true same)) (<= (goal ?r 0) (role ?r) (not (true same)))
""".replace("(legal ?r up) (legal ?r down)", "(legal a up) (legal a down) (legal b up) (legal b down)")

ALONE = "(role a) (init (n 0)) (legal a go) (<= (next end) (true (n 0))) (<= terminal (true end)) (goal a 70)"


@pytest.mark.parametrize(
    ("rules", "turns", "total", "length"),
    [(TURNS, ALTERNATING, 100, 2), (AT_ONCE, SIMULTANEOUS, None, 1), (ALONE, SINGLE, 70, 1)],
)
def test_the_kind_of_game_is_told(rules: str, turns: str, total: int | None, length: int) -> None:
    kind = classify(build(ground(parse_rules(rules))))
    assert (kind.turns, kind.total, kind.length) == (turns, total, length)


def test_tic_tac_toe_is_described() -> None:
    kind = classify(tic_tac_toe())
    assert (kind.turns, kind.turns_proven, kind.both, kind.total) == (ALTERNATING, True, 0.0, 100)
    assert (kind.bases, kind.clocks, kind.latches) == (19, 1, 18)
    assert 5 <= kind.length <= 9
    assert str(kind).startswith("2 roles, alternating, sum 100, ")


def test_factors_are_told_and_a_classification_survives_the_way() -> None:
    kind = classify(counters(compound=False))
    assert kind.factors == (2, 2)
    assert "2 alternative factors (2, 2)" in str(kind)
    assert Classification.from_bytes(kind.to_bytes()) == kind


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"factors": []}', b"\xff"])
def test_other_bytes_are_not_a_classification(data: bytes) -> None:
    with pytest.raises(GdlError, match="not a classification"):
        Classification.from_bytes(data)
