"""Ratings with confidence intervals: Bradley-Terry with draws after Davidson (1970).

R. R. Davidson, "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison
Experiments", JASA 65. With strengths s = exp(theta), a beats b with probability s_a / n and draws with
v sqrt(s_a s_b) / n, where n = s_a + s_b + v sqrt(s_a s_b). The likelihood is concave in theta and log v;
Newton's method with step halving finds its maximum. A weak normal prior (as in BayesElo, R. Coulom)
keeps players that won or lost everything finite. Intervals come from the inverse of the Hessian at the
maximum (Laplace). They are rather too wide than too narrow, for matches of one opening with the roles
exchanged tend to end in opposite ways.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp.tournament.statistics.scores import Comparison

ELO = 400 / math.log(10)
"""Elo points per unit of theta: 400 points are odds of 10 to 1 (draws apart)."""
_PRIOR_ELO = 1000.0
"""Standard deviation of the prior of a rating, around 0; of log v it is 2."""

_Z95 = 1.959964
"""Standard errors of a 95 % interval."""
_PRIOR_LOG_DRAWS = (math.log(0.5), 2.0)
_STEPS = 100
_PRECISION = 1e-10

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rating:
    """One player's rating.

    Attributes:
        elo: points, with 0 as the mean of all players.
        low, high: the 95 % interval.
    """

    label: str
    elo: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Ratings:
    """All players' ratings.

    Attributes:
        table: the strongest first.
        covariance: of the points, players x players, in the order of ``labels``.
        draws: Davidson's v: 0 no draws; at 1 equals draw a third of their games.
    """

    table: tuple[Rating, ...]
    labels: tuple[str, ...]
    covariance: Array
    draws: float

    def __getitem__(self, label: str) -> Rating:
        return next(rating for rating in self.table if rating.label == label)

    def superiority(self, first: str, second: str) -> float:
        """The probability that the first player is stronger than the second."""
        a, b = self.labels.index(first), self.labels.index(second)
        cov = self.covariance
        spread = math.sqrt(max(cov[a, a] + cov[b, b] - 2 * cov[a, b], 1e-12))
        return 0.5 * (1 + math.erf((self[first].elo - self[second].elo) / spread / math.sqrt(2)))


def rate(compared: Iterable[Comparison], labels: Sequence[str]) -> Ratings:
    """Ratings of the players ``labels``, from all comparisons among them."""
    count = len(labels)
    index = {label: i for i, label in enumerate(labels)}
    outcomes = np.zeros((3, count, count))
    for c in compared:
        if c.first in index and c.second in index:
            outcomes[round(2 * c.score), index[c.first], index[c.second]] += c.weight
    wins = outcomes[2] + outcomes[0].T
    draws = outcomes[1] + outcomes[1].T
    theta = np.zeros(count + 1)
    theta[count] = _PRIOR_LOG_DRAWS[0]
    value, gradient, hessian = _posterior(theta, wins, draws)
    for _ in range(_STEPS):
        step = np.linalg.solve(hessian, gradient)
        if np.abs(step).max() < _PRECISION:
            break
        while True:
            after = _posterior(theta - step, wins, draws)
            if after[0] >= value or np.abs(step).max() < _PRECISION:
                break
            step /= 2
        theta = theta - step
        value, gradient, hessian = after
    centre = np.eye(count) - 1 / count
    covariance = centre @ np.linalg.inv(-hessian)[:count, :count] @ centre * ELO**2
    points = (centre @ theta[:count]) * ELO
    reach = _Z95 * np.sqrt(covariance.diagonal())
    limits = np.stack([points, points - reach, points + reach], axis=1).tolist()
    table = [Rating(label, *limits[i]) for label, i in index.items()]
    table.sort(key=lambda rating: -rating.elo)
    return Ratings(tuple(table), tuple(labels), covariance, float(np.exp(theta[count])))


def _posterior(theta: Array, wins: Array, draws: Array) -> tuple[float, Array, Array]:
    """Log posterior, gradient and Hessian at (theta per player, log v). For each ordered pair (a, b) ``wins``
    counts a's wins, ``draws`` (symmetric) the draws."""
    count = len(wins)
    strength, log_draws = theta[:count], theta[count]
    gap = strength[:, None] - strength[None, :]
    # Logits of win, draw and loss of a against b, with (s_a s_b)^(1/2) taken out.
    logits = np.stack([gap / 2, np.full_like(gap, log_draws), -gap / 2])
    top = logits.max(axis=0)
    chance = np.exp(logits - top)
    total = chance.sum(axis=0)
    chance /= total
    log_chance = logits - top - np.log(total)
    games = wins + wins.T + draws
    # Each pair appears twice in the sums over a and b: wins once, draws and games halved.
    value = float((wins * log_chance[0]).sum() + (draws * log_chance[1]).sum() / 2)
    # d/d theta_a of log chances: 1/2, 0, -1/2 minus their mean m.
    mean = (chance[0] - chance[2]) / 2
    gradient = np.empty(count + 1)
    gradient[:count] = ((wins - wins.T) / 2 - games * mean).sum(axis=1)
    gradient[count] = (draws - games * chance[1]).sum() / 2
    spread = games * ((chance[0] + chance[2]) / 4 - mean**2)
    mixed = (games * mean * chance[1]).sum(axis=1)
    hessian = np.zeros((count + 1, count + 1))
    hessian[:count, :count] = spread
    hessian[np.diag_indices(count)] = -spread.sum(axis=1)
    hessian[:count, count] = hessian[count, :count] = mixed
    hessian[count, count] = -(games * chance[1] * (1 - chance[1])).sum() / 2
    precision = np.full(count + 1, (ELO / _PRIOR_ELO) ** 2)
    precision[count] = _PRIOR_LOG_DRAWS[1] ** -2
    off = theta.copy()
    off[count] -= _PRIOR_LOG_DRAWS[0]
    value -= float((precision * off**2).sum() / 2)
    gradient -= precision * off
    hessian[np.diag_indices(count + 1)] -= precision
    return value, gradient, hessian


_UNSEEN = 1e-3
"""The count of a score that never occurred, as in Stockfish's tests: no likelihood is infinite."""
_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The scores of a pair of matches; others (more roles) are added as they occur."""


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
        values = sorted(set(_SCORES) | set(counts))
        weights = [counts.get(value, 0) or _UNSEEN for value in values]
        total = sum(weights)
        chances = [weight / total for weight in weights]
        h0 = _tilted(values, chances, expected(self.elo0))
        h1 = _tilted(values, chances, expected(self.elo1))
        return total * sum(chance * math.log(b / a) for chance, a, b in zip(chances, h0, h1, strict=True))

    def verdict(self, scores: Sequence[float]) -> str:
        """``H0``, ``H1``, or ``""`` while the test is undecided."""
        low, high = self.bounds
        value = self.llr(scores)
        return "H1" if value >= high else "H0" if value <= low else ""

    def history(self, scores: Sequence[float]) -> list[float]:
        """The log likelihood ratio after each opening."""
        return [self.llr(scores[: n + 1]) for n in range(len(scores))]


def expected(elo: float) -> float:
    """The expected score, 0..1, of a player that is stronger by ``elo`` points."""
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
