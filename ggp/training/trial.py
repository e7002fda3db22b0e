"""A trial: decides whether a search plays better with new knowledge than with its previous knowledge, or with
none, at equal CPU time.

For each use of the knowledge, pairs of matches (:mod:`players.uct.training.duel`) are played until a sign
test is clear, or time is up. A use is kept only if chance alone brings so many wins once in a hundred trials.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gdl.machine import Machine
from gdl.words import counted
from ggp.tournament.statistics.scores import Tally
from players.knowledge.knowledge import GameKnowledge, Record, use
from players.uct.leaf_values import can_look
from players.uct.training.duel import Series
from players.uct.tuning import Tuning

_SURE = 1.96
"""Standard errors of a 95 % interval."""
_TELLING = 0.5
"""An interval that is wider shows almost nothing: 0 % to 66 % after two lost matches."""


def interval(score: Tally) -> tuple[float, float]:
    """The Wilson interval (95 %) of the first tuning's share."""
    games, share = max(1.0, score.games), 0.5 if score.score is None else score.score
    # Draws make it too wide rather than too narrow.
    middle = (share + _SURE**2 / games / 2) / (1 + _SURE**2 / games)
    width = _SURE * math.sqrt(share * (1 - share) / games + (_SURE / games / 2) ** 2) / (1 + _SURE**2 / games)
    return middle - width, middle + width


def points(score: Tally) -> str:
    """The points of the first tuning."""
    return f"{score.wins + score.draws / 2:g} of {score.games:g} points"


def summary(score: Tally) -> str:
    """The points of the first tuning, with the interval of its share if there are enough matches."""
    low, high = interval(score)
    sure = f"; 95 % interval {low:.0%} to {high:.0%}" if high - low <= _TELLING else ""
    counts = f"{score.wins:g} won, {score.draws:g} drawn, {score.losses:g} lost"
    return f"{points(score)} ({counts}{sure})"


USES = (1.0, True), (1.0, False), (0.5, False)
"""The uses to try, each a share and whether to evaluate all moves of new states: values alone with evaluation
of moves, which has won most where knowledge wins, values alone, and values mixed with playouts."""
CHANCE, SURE = 0.01, 0.001
"""Probabilities that chance alone brings the wins of a trial. Below the first it is won at its end, below the
second at once."""
HOPELESS = 0.05
"""Probability that chance alone brings the losses of a trial. Below it the trial ends early: its time goes to
other uses."""
_LONGEST = 300


@dataclass(frozen=True)
class TrialVerdict:
    """The result of a trial of one use of knowledge.

    Attributes:
        model: the kind of the values; ``against``: that of the opponent, or no knowledge.
        share: the weight of values in leaves.
        looks: whether all moves of new states were evaluated.
        score: the score of the search with knowledge.
        better: whether the use is better.
        decided: whether it is clear that it is, or is not.
    """

    model: str
    against: str
    share: float
    looks: bool
    score: Tally
    better: bool = False
    decided: bool = False

    def __str__(self) -> str:
        return f"{self.model}, share {use(self.share, self.looks)} against {self.against}"

    @property
    def word(self) -> str:
        """The result in a word or two."""
        return "better" if self.better else "not better" if self.decided else "undecided"


@dataclass(frozen=True)
class TrialTerms:
    """The conditions of a trial.

    Attributes:
        seconds: CPU seconds for each move.
        pairs: the most pairs of matches for each use.
        deadline: time.monotonic() after which no pair begins.
        seed: seed of openings and matches.
        show: called with a line about the score after each pair.
    """

    seconds: float
    pairs: int
    deadline: float
    seed: int
    show: Callable[[str], None]


def _try_use(
    machine: Machine, verdict: TrialVerdict, tunings: tuple[Tuning, Tuning], terms: TrialTerms, until: float
) -> TrialVerdict:
    """The verdict after matches of the first tuning against the second until about ``until``, or the deadline
    if it is ahead."""
    series, score = Series(machine, tunings, terms.seed, _LONGEST), verdict.score
    clear = False
    while not clear and len(series.scores) < 2 * terms.pairs:
        ahead = series.wins >= series.losses + 2
        if time.monotonic() >= (terms.deadline if ahead else until):
            break
        for points_of_match in series.play(terms.seconds):
            score.add(points_of_match, 1.0)
        terms.show(f"{verdict}: {points(score)}")
        clear = series.is_won(SURE) or series.is_lost(HOPELESS)
    better = series.is_won(CHANCE)
    return replace(verdict, better=better, decided=better or clear)


def hold_trial(
    machine: Machine, knowledge: GameKnowledge, below: GameKnowledge | None, terms: TrialTerms
) -> tuple[list[TrialVerdict], GameKnowledge]:
    """Try all uses of some knowledge against ``below``: knowledge with the share that it is used with, or
    none. Returns the verdicts, and the knowledge with its use and record; the share is 0 if no use is
    better."""
    verdicts, against = [], below.model if below else "no knowledge"
    with tempfile.TemporaryDirectory() as folder:
        new, old = Path(folder, "new.knowledge"), Path(folder, "old.knowledge")
        new.write_bytes(knowledge.to_bytes())
        usual = Tuning(knowledge="off")
        if below is not None:
            old.write_bytes(below.to_bytes())
            usual = Tuning(knowledge=str(old), knowledge_share=below.share, looks=below.looks)
        looking = len(knowledge.columns) == 1 and can_look(machine.roles)
        uses = [(share, looks) for share, looks in USES if looking or not looks]
        for number, (share, looks) in enumerate(uses):
            # Each use leaves the others their part of the time, unless it is ahead.
            now = time.monotonic()
            until = now + (terms.deadline - now) / (len(uses) - number)
            tuning = replace(usual, knowledge=str(new), knowledge_share=share, looks=looks)
            verdict = TrialVerdict(knowledge.model, against, share, looks, Tally())
            verdicts.append(_try_use(machine, verdict, (tuning, usual), terms, until))
    best = max(verdicts, key=lambda verdict: (verdict.better, _share(verdict.score)))
    tally = best.score
    record = Record(int(tally.wins), int(tally.draws), int(tally.losses), terms.seconds)
    share, looks = (best.share, best.looks) if best.better else (0.0, False)
    return verdicts, replace(knowledge, share=share, looks=looks, record=record)


def worth(knowledge: GameKnowledge, trials: Sequence[TrialVerdict]) -> str:
    """Whether training was worth it, in one sentence, with the available evidence. ``knowledge`` is that
    which searches use now, or the latest if they use none."""
    held = [verdict for verdict in trials if verdict.score.games]
    if not held:
        return "Whether training was worth it is not known: there was no trial."
    best = max(held, key=lambda verdict: (verdict.better, _share(verdict.score)))
    evidence = f"{summary(best.score)} against {best.against}"
    if best.better:
        return f"Training was worth it: {best.model} got {evidence}."
    matches = counted(int(sum(verdict.score.games for verdict in held)), "match", "matches")
    before = "; what was learnt before is used as before" if knowledge.share else ""
    rest = f"{best.model} did best, {evidence}{before}."
    if all(verdict.decided for verdict in held):
        return f"Training was not worth it yet: none of the trials ({matches}) was won; {rest}"
    return f"The trials ({matches}) were too few to say whether training was worth it; {rest}"


def _share(score: Tally) -> float:
    """The share of points, for comparison: no matches are worth less than lost ones."""
    return -1.0 if score.score is None else score.score
