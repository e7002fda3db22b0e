"""A trial: does a search play better with what was learnt than without, at equal CPU time?

For each share that knowledge may have in the value of a leaf, pairs of matches are played until a sequential
test has decided (:mod:`ggp.tournament.statistics.sprt`), or there is no more time. A share is used only where
the test says that it is better.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from gdl.machine import Machine
from ggp.tournament.openings import Openings
from ggp.tournament.statistics.scores import Tally
from ggp.tournament.statistics.sprt import Sprt
from ggp.training.duel import opening, play_pair
from players.uct.tuning import Tuning

SHARES = 0.5, 1.0
"""What is tried: values mixed with playouts, and values alone."""
TEST = Sprt(0.0, 100.0)
_PLIES = 4
_LONGEST = 300


@dataclass(frozen=True)
class TrialVerdict:
    """What a trial of one share has shown.

    Attributes:
        score: of the search with knowledge.
        better: whether the test says that it is better.
        decided: whether the test has come to an end.
    """

    share: float
    score: Tally
    better: bool
    decided: bool


def try_share(
    machine: Machine,
    share: float,
    seconds: float,
    pairs: int,
    deadline: float,
    seed: int,
    show: Callable[[float, Tally], None],
) -> TrialVerdict:
    """Try a share of the knowledge that is kept of the machine's game, with so many CPU ``seconds`` for each
    move, in so many ``pairs`` of matches at most, and none that would begin after the deadline
    (time.monotonic()). The game has two roles."""
    usual = Tuning(prove=False, knowledge="off")
    tunings = Tuning(prove=False, knowledge="auto", knowledge_share=share), usual
    openings = Openings(machine, _PLIES, seed)
    tally, scores = Tally(), list[float]()
    while len(scores) < pairs and time.monotonic() < deadline and not TEST.verdict(scores):
        state = opening(openings, machine, len(scores) + 1)
        result = play_pair(machine, state, tunings, seconds, seed * 1009 + 2 * len(scores), _LONGEST)
        for one in result:
            tally.add(one, 1.0)
        scores.append(sum(result) / 2)
        show(share, tally)
    verdict = TEST.verdict(scores)
    return TrialVerdict(share, tally, verdict == "H1", bool(verdict))


def best_of(verdicts: list[TrialVerdict]) -> TrialVerdict | None:
    """The better one of those that are better than no knowledge; None if none is."""
    return max((v for v in verdicts if v.better), key=lambda v: v.score.score, default=None)
