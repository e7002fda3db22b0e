"""Pairs of duels of two tunings of the search (:mod:`players.uct.duel`), and what came of them.

Each opening of random moves is played twice, with seats changed: each of the two has one seat while the
other one has the rest, which is one seat in most games.
"""

from __future__ import annotations

import math

from gdl.machine import Machine, State
from ggp.tournament.schedule import Openings
from ggp.tournament.statistics.scores import Tally
from players.uct.duel import LONGEST, advantage, play, seated
from players.uct.tuning import Tuning

_SURE = 1.96
"""Standard errors of a 95 % interval."""
_TELLING = 0.5
"""An interval that is wider says next to nothing: 0 % to 66 % after two lost matches."""
__all__ = ["LONGEST", "interval", "opening", "play_pair", "points", "seat_of", "summary"]


def interval(score: Tally) -> tuple[float, float]:
    """Wilson's interval of 95 % of the first tuning's share."""
    games, share = max(1.0, score.games), 0.5 if score.score is None else score.score
    # Draws make it rather too wide than too narrow.
    middle = (share + _SURE**2 / games / 2) / (1 + _SURE**2 / games)
    width = _SURE * math.sqrt(share * (1 - share) / games + (_SURE / games / 2) ** 2) / (1 + _SURE**2 / games)
    return middle - width, middle + width


def points(score: Tally) -> str:
    """What the first tuning has got."""
    return f"{score.wins + score.draws / 2:g} of {score.games:g} points"


def summary(score: Tally) -> str:
    """What the first tuning has got, with the interval of its share if there are matches enough."""
    low, high = interval(score)
    sure = f"; 95 % interval {low:.0%} to {high:.0%}" if high - low <= _TELLING else ""
    counts = f"{score.wins:g} won, {score.draws:g} drawn, {score.losses:g} lost"
    return f"{points(score)} ({counts}{sure})"


def opening(openings: Openings, machine: Machine, number: int) -> State:
    """The state after the opening of a round, numbered from 1; the match goes on in it."""
    state = machine.initial_state()
    for joint in openings.of_round(number):
        state = machine.next_state(state, joint)
    return state


def seat_of(machine: Machine, pair: int) -> int:
    """The seat of the one that plays against all others in a pair of matches, counted from 0: by turns. With
    two roles both have each seat in every pair."""
    return pair % len(machine.roles) if len(machine.roles) > 2 else 0


def play_pair(
    machine: Machine,
    state: State,
    tunings: tuple[Tuning, Tuning],
    seconds: float,
    seed: int,
    longest: int,
    seat: int = 0,
) -> tuple[float, float]:
    """What the first tuning got in two matches from a state, on average against each of the others, 1 for
    more, 0.5 for as much: with this seat for itself, then with all others. The matches' seeds are ``seed``
    and the next."""
    scores = []
    for number in range(2):
        seats = seated(len(machine.roles), seat, *(tunings if number == 0 else tunings[::-1]))
        goals = play(machine, state, seats, seconds, seed + number, longest)
        assert goals is not None
        scores.append(abs(number - advantage(goals, seat)))
    return scores[0], scores[1]
