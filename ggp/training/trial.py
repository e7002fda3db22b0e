"""A trial: decides whether a search plays better with new knowledge than with its previous knowledge, or with
none, at equal CPU time.

For each share that knowledge may have in the value of a leaf, pairs of matches
(:mod:`players.uct.training.duel`) are played until a sequential test has decided
(:mod:`ggp.tournament.statistics.ratings`), or time is up. Each opening of random moves is played twice, with
seats changed. A share is used only if the test finds it better, or if a sign test of the matches does when
the time is up.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gdl.information import chance_role, playing
from gdl.machine import Machine
from gdl.words import counted
from ggp.tournament.schedule import Openings
from ggp.tournament.statistics.ratings import Sprt
from ggp.tournament.statistics.scores import Tally
from players.knowledge.knowledge import GameKnowledge, Record, use
from players.uct.training.duel import chance, play_pair
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


def seat_of(machine: Machine, pair: int) -> int:
    """The seat, from 0, of the tuning that plays against all others in a pair of matches, in turn. With two
    roles both tunings have each seat in every pair."""
    seats = playing(machine.roles)
    return seats[pair % len(seats) if len(seats) > 2 else 0]


USES = (1.0, True), (0.5, False), (1.0, False)
"""The uses to try, each a share and whether to evaluate all moves of new states: values alone with evaluation
of moves, which has won most where knowledge wins, values mixed with playouts, and values alone."""
TEST = Sprt(0.0, 100.0)
CHANCE, SURE = 0.01, 0.001
"""Probabilities that chance alone brings the wins of a trial. Below the first a trial that ran out of time
counts as won. Below the second it ends early: the sequential test alone takes long to accept series of
wins."""
HOPELESS = 0.05
"""Probability that chance alone brings the losses of a trial. Below it the trial ends early: its time goes to
other uses."""
_PLIES = 4
_LONGEST = 300


@dataclass(frozen=True)
class TrialVerdict:
    """The result of a trial of one use of knowledge.

    Attributes:
        score: the score of the search with knowledge.
        better: whether the test finds it better.
        decided: whether the test has come to an end, or the result is clear without it.
        looks: whether all moves of new states were evaluated.
    """

    share: float
    score: Tally
    better: bool
    decided: bool
    looks: bool = False

    @property
    def use(self) -> str:
        """The use that was tried, for people to read."""
        return use(self.share, self.looks)


@dataclass(frozen=True)
class TrialTerms:
    """The conditions of a trial.

    Attributes:
        seconds: CPU seconds for each move.
        pairs: the most pairs of matches for each use.
        deadline: time.monotonic() after which no pair begins, unless the use is ahead.
        seed: seed of openings and matches.
        show: called with the use and the score after each pair.
        latest: the deadline of a use that is ahead.
    """

    seconds: float
    pairs: int
    deadline: float
    seed: int
    show: Callable[[str, Tally], None]
    latest: float = 0.0

    def has_time(self, score: Tally) -> bool:
        """Whether another pair may begin."""
        now = time.monotonic()
        return now < self.deadline or (now < self.latest and score.wins >= score.losses + 2)


def try_share(
    machine: Machine,
    share: float,
    terms: TrialTerms,
    knowledge: str = "auto",
    usual: Tuning | None = None,
    looks: bool = False,
) -> TrialVerdict:
    """Try a share of some knowledge, by default the stored knowledge of the machine's game, with ``looks`` at
    all moves of new states or without. The opponent has the ``usual`` tuning, by default one without
    knowledge. The game has several roles; they take turns at being the one that plays against all others."""
    usual = usual or Tuning(knowledge="off")
    tunings = replace(usual, knowledge=knowledge, knowledge_share=share, looks=looks), usual
    openings = Openings(machine, _PLIES, terms.seed)
    tally, scores = Tally(), list[float]()
    while not _is_clear(tally, scores) and len(scores) < terms.pairs and terms.has_time(tally):
        state = openings.state(len(scores) + 1)
        seed = terms.seed * 1009 + 2 * len(scores)
        seat = seat_of(machine, len(scores))
        result = play_pair(machine, state, tunings, terms.seconds, seed, _LONGEST, seat)
        for one in result:
            tally.add(one, 1.0)
        scores.append(sum(result) / 2)
        terms.show(use(share, looks), tally)
    verdict = TEST.verdict(scores)
    ahead = not verdict and chance(int(tally.wins), int(tally.losses)) <= CHANCE
    return TrialVerdict(share, tally, verdict == "H1" or ahead, ahead or _is_clear(tally, scores), looks)


def _is_clear(tally: Tally, scores: list[float]) -> bool:
    """Whether a trial with these matches, pair by pair, can end early."""
    wins, losses = int(tally.wins), int(tally.losses)
    return bool(TEST.verdict(scores)) or chance(wins, losses) <= SURE or chance(losses, wins) <= HOPELESS


def hold_trial(
    machine: Machine, knowledge: GameKnowledge, below: GameKnowledge | None, terms: TrialTerms
) -> tuple[list[TrialVerdict], GameKnowledge]:
    """Try all uses of some knowledge against the rung ``below``: knowledge with the share that it is used
    with, or none. Returns the verdicts, and the knowledge with its use and record; the share is 0 if no use
    is better."""
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        new, old = Path(folder, "new.knowledge"), Path(folder, "old.knowledge")
        new.write_bytes(knowledge.to_bytes())
        usual = Tuning(knowledge="off")
        if below is not None:
            old.write_bytes(below.to_bytes())
            usual = Tuning(knowledge=str(old), knowledge_share=below.share, looks=below.looks)
        looking = len(knowledge.columns) == 1 and chance_role(machine.roles) is None
        uses = [(share, looks) for share, looks in USES if looking or not looks]
        for number, (share, looks) in enumerate(uses):
            # The first use leaves the others their part of the time, unless it is ahead.
            now = time.monotonic()
            until = now + (terms.deadline - now) / (len(uses) - number)
            own = replace(terms, deadline=until, latest=terms.deadline)
            verdicts.append(try_share(machine, share, own, str(new), usual, looks))
    best = best_of(verdicts)
    tally = best.score if best else max((v.score for v in verdicts), key=_share)
    record = Record(int(tally.wins), int(tally.draws), int(tally.losses), terms.seconds)
    share, looks = (best.share, best.looks) if best else (0.0, False)
    return verdicts, replace(knowledge, share=share, looks=looks, record=record)


def best_of(verdicts: list[TrialVerdict]) -> TrialVerdict | None:
    """The best of the verdicts that are better than no knowledge; None if there is none."""
    return max((v for v in verdicts if v.better), key=lambda v: _share(v.score), default=None)


def worth(knowledge: GameKnowledge, trials: Sequence[tuple[str, str, TrialVerdict]]) -> str:
    """Whether training was worth it, in one sentence, with the available evidence.

    Args:
        knowledge: the knowledge that searches use now, or the latest if they use none.
        trials: the rung, its opponent, and the result.
    """
    held = [trial for trial in trials if trial[2].score.games]
    better = [trial for trial in held if trial[2].better]
    if better:
        rung, against, verdict = max(better, key=lambda trial: _share(trial[2].score))
        return f"Training was worth it: {rung} got {summary(verdict.score)} against {against}."
    if not held:
        return "Whether training was worth it is not known: there was no trial."
    matches = counted(int(sum(verdict.score.games for *_, verdict in held)), "match", "matches")
    before = "; what was learnt before is used as before" if knowledge.share else ""
    rung, against, verdict = max(held, key=lambda trial: _share(trial[2].score))
    best = f"{rung} did best, {summary(verdict.score)} against {against}"
    if all(verdict.decided for *_, verdict in held):
        return f"Training was not worth it yet: none of the trials ({matches}) was won; {best}{before}."
    return f"The trials ({matches}) were too few to say whether training was worth it; {best}{before}."


def _share(score: Tally) -> float:
    """The share of points, for comparison: no matches are worth less than lost ones."""
    return -1.0 if score.score is None else score.score
