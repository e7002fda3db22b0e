"""A trial: does a search play better with what was learnt than with what it used before, or with nothing, at
equal CPU time?

For each share that knowledge may have in the value of a leaf, pairs of matches are played until a sequential
test has decided (:mod:`ggp.tournament.statistics.sprt`), or there is no more time. A share is used only where
the test says that it is better.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from gdl.machine import Machine
from ggp.tournament.openings import Openings
from ggp.tournament.statistics.scores import Tally
from ggp.tournament.statistics.sprt import Sprt
from ggp.training.duel import opening, play_pair
from players.knowledge.knowledge import GameKnowledge, Record
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


@dataclass(frozen=True)
class TrialTerms:
    """How a trial is held.

    Attributes:
        seconds: CPU seconds for each move.
        pairs: pairs of matches for each share, at most.
        deadline: time.monotonic() after which none begins.
        seed: of openings and matches.
        show: is told the share and the score after each pair.
    """

    seconds: float
    pairs: int
    deadline: float
    seed: int
    show: Callable[[float, Tally], None]


def try_share(
    machine: Machine, share: float, terms: TrialTerms, knowledge: str = "auto", usual: Tuning | None = None
) -> TrialVerdict:
    """Try a share of some knowledge, by default what is kept of the machine's game, against the ``usual``
    tuning, by default one without knowledge. The game has two roles."""
    usual = usual or Tuning(prove=False, knowledge="off")
    tunings = replace(usual, knowledge=knowledge, knowledge_share=share), usual
    openings = Openings(machine, _PLIES, terms.seed)
    tally, scores = Tally(), list[float]()
    while len(scores) < terms.pairs and time.monotonic() < terms.deadline and not TEST.verdict(scores):
        state = opening(openings, machine, len(scores) + 1)
        seed = terms.seed * 1009 + 2 * len(scores)
        result = play_pair(machine, state, tunings, terms.seconds, seed, _LONGEST)
        for one in result:
            tally.add(one, 1.0)
        scores.append(sum(result) / 2)
        terms.show(share, tally)
    verdict = TEST.verdict(scores)
    return TrialVerdict(share, tally, verdict == "H1", bool(verdict))


def hold_trial(
    machine: Machine, known: GameKnowledge, below: GameKnowledge | None, terms: TrialTerms
) -> tuple[list[TrialVerdict], GameKnowledge]:
    """Try all shares of some knowledge against the rung ``below``: knowledge with the share that it is used
    with, or none. Returns what it has shown, and the knowledge with its share and record; the share is 0
    where none is better."""
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        new, old = Path(folder, "new.knowledge"), Path(folder, "old.knowledge")
        new.write_bytes(known.to_bytes())
        usual = Tuning(prove=False, knowledge="off")
        if below is not None:
            old.write_bytes(below.to_bytes())
            usual = Tuning(prove=False, knowledge=str(old), knowledge_share=below.share)
        for number, share in enumerate(SHARES):
            # The first leaves the others their part of the time.
            now = time.monotonic()
            until = now + (terms.deadline - now) / (len(SHARES) - number)
            verdicts.append(try_share(machine, share, replace(terms, deadline=until), str(new), usual))
    best = best_of(verdicts)
    tally = best.score if best else max((v.score for v in verdicts), key=lambda score: score.score)
    record = Record(int(tally.wins), int(tally.draws), int(tally.losses), terms.seconds)
    return verdicts, replace(known, share=best.share if best else 0.0, record=record)


def best_of(verdicts: list[TrialVerdict]) -> TrialVerdict | None:
    """The better one of those that are better than no knowledge; None if none is."""
    return max((v for v in verdicts if v.better), key=lambda v: v.score.score, default=None)
