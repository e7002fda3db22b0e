"""A network says what the ground rules say."""

from __future__ import annotations

import numpy as np
import pytest
from tests.propnet.ground_cases import assignments, ground_answers, ground_rules, network_answers
from hypothesis import given, settings
from hypothesis import strategies as st

from gdl.errors import RulesError, TooLargeError
from gdl.ground_rules import GroundRules
from gdl.terms import Term
from propnet.build import BuildLimits, build


@settings(max_examples=400, deadline=None)
@given(ground_rules(), st.integers(0, 2**32))
def test_network_of_random_rules_agrees_with_them(ground: GroundRules, seed: int) -> None:
    network = build(ground)
    for turn in range(3):
        bases, does = assignments(ground, seed + turn)
        assert network_answers(network, bases, does) == ground_answers(ground, bases, does)


@settings(max_examples=50, deadline=None)
@given(ground_rules(), st.integers(0, 2**32))
def test_network_is_right_when_the_time_for_passes_is_over(ground: GroundRules, seed: int) -> None:
    network = build(ground, BuildLimits(seconds=0.0))
    bases, does = assignments(ground, seed)
    assert network_answers(network, bases, does) == ground_answers(ground, bases, does)
