"""Is one player stronger than the other? The generalised sequential probability ratio test (GSPRT).

It looks at the scores of openings that were played in all orders: three values (trinomial) for single
matches, five (pentanomial) for pairs of matches with the roles exchanged, whose scores are not independent.
M. Van den Bergh, "The Generalized Sequential Probability
Ratio Test for Chess Engine Testing" (2019) and "A Practical Introduction to the GSPRT" (2020), as used by
Stockfish's testing framework; boundaries by A. Wald, "Sequential Tests of Statistical Hypotheses" (1945).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_UNSEEN = 1e-3
"""What a score that never came up counts, as in Stockfish's tests: no likelihood is infinite."""
SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The scores of a pair of matches; others (more roles) are added as they come up."""


@dataclass(frozen=True, slots=True)
class Sprt:
    """A test of H0 "the first player is elo0 stronger" against H1 "elo1 stronger".

    Attributes:
        elo0, elo1: in logistic Elo, of the score: 100 points are 64 %.
        alpha: how often H1 may be accepted though H0 is true; ``beta`` the other way round.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def bounds(self) -> tuple[float, float]:
        """H0 is accepted at or below the first, H1 at or above the second."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, scores: Sequence[float]) -> float:
        """The log likelihood ratio of H1 to H0, given the scores (0..1) of finished openings."""
        counts = Counter(scores)
        if not counts:
            return 0.0
        values = sorted(set(SCORES) | set(counts))
        weights = [counts.get(value, 0) or _UNSEEN for value in values]
        total = sum(weights)
        chances = [weight / total for weight in weights]
        h0 = _tilted(values, chances, expected(self.elo0))
        h1 = _tilted(values, chances, expected(self.elo1))
        return total * sum(chance * math.log(b / a) for chance, a, b in zip(chances, h0, h1, strict=True))

    def verdict(self, scores: Sequence[float]) -> str:
        """``H0``, ``H1``, or ``""`` while nothing is known."""
        low, high = self.bounds
        value = self.llr(scores)
        return "H1" if value >= high else "H0" if value <= low else ""

    def history(self, scores: Sequence[float]) -> list[float]:
        """The log likelihood ratio after each opening."""
        return [self.llr(scores[: n + 1]) for n in range(len(scores))]


def expected(elo: float) -> float:
    """The expected score, 0..1, of a player that is so much stronger."""
    return 1 / (1 + 10 ** (-elo / 400))


def _tilted(values: Sequence[float], chances: Sequence[float], mean: float) -> list[float]:
    """The likeliest distribution with a given mean: p_i / (1 + x (a_i - mean)), with x such that it
    adds up (Van den Bergh 2019, proposition 1.1)."""
    pairs = [(value - mean, chance) for value, chance in zip(values, chances, strict=True)]
    low, high = -1 / pairs[-1][0] + 1e-9, -1 / pairs[0][0] - 1e-9
    for _ in range(60):
        x = (low + high) / 2
        if sum(p * gap / (1 + x * gap) for gap, p in pairs) > 0:
            low = x
        else:
            high = x
    return [p / (1 + x * gap) for gap, p in pairs]
