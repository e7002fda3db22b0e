"""Whether training was worth it, in one sentence that claims no more than the matches show."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ggp.tournament.statistics.scores import Tally
from ggp.training.trial import TrialVerdict, interval, summary, worth
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.training import Training
from tests.machines import network

MACHINE = network("tictactoe")
KNOWN = Training(MACHINE, canonical_names(MACHINE.rules)).knowledge("tictactoe")
UNUSED = replace(KNOWN, share=0.0)
tallies = st.builds(Tally, *[st.integers(0, 40).map(float)] * 3)


def test_two_lost_matches_have_no_interval_and_many_have_one() -> None:
    assert summary(Tally(0, 0, 2)) == "0 of 2 points (0 won, 0 drawn, 2 lost)"
    assert summary(Tally(30, 4, 10)).endswith("10 lost; 95 % interval 58% to 84%)")


@given(tallies)
def test_an_interval_that_is_told_says_something(score: Tally) -> None:
    low, high = interval(score)
    assert ("95 % interval" in summary(score)) == (high - low <= 0.5)


def test_without_a_trial_nothing_is_known() -> None:
    none = "Whether training was worth it is not known: there was no trial."
    assert worth(UNUSED, []) == none
    assert worth(UNUSED, [TrialVerdict("linear", "no knowledge", 1.0, False, Tally(), False, False)]) == none


def test_a_few_matches_are_too_few() -> None:
    trials = [TrialVerdict("linear", "no knowledge", 1.0, False, Tally(0, 0, 2), False, False)] * 5
    text = worth(UNUSED, trials)
    assert text == (
        "The trials (10 matches) were too few to say whether training was worth it;"
        " linear did best, 0 of 2 points (0 won, 0 drawn, 2 lost) against no knowledge."
    )


@given(st.lists(st.tuples(tallies, st.booleans(), st.booleans()), max_size=5))
def test_it_is_worth_it_exactly_where_a_trial_was_better(found: list[tuple[Tally, bool, bool]]) -> None:
    trials = [
        TrialVerdict("net", "linear", 1.0, False, score, better and score.games > 0, decided or better)
        for score, better, decided in found
    ]
    text = worth(UNUSED, trials)
    held = [verdict for verdict in trials if verdict.score.games]
    assert text.startswith("Training was worth it") == any(verdict.better for verdict in held)
    assert text.startswith("Training was not worth it") == (
        bool(held) and all(verdict.decided and not verdict.better for verdict in held)
    )
    assert text.count(".") == text.count(".5 of") + 1
    assert text.endswith(".")
