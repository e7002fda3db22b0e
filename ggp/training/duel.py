"""Duels of two tunings of the search in one process, at equal CPU time for each move.

Both search with the same machine, one after the other. Each opening of random moves is played twice, with
seats changed.
"""

from __future__ import annotations

import math
import random
import time

from gdl.machine import Machine, State
from ggp.tournament.openings import Openings, in_order
from ggp.tournament.statistics.scores import Tally, compare
from players.uct.root_statistics import rank, strategy
from players.uct.search import Search
from players.uct.tuning import Tuning

_SURE = 1.96
"""Standard errors of a 95 % interval."""
LONGEST = 500
"""Joint moves after which a match is drawn."""
_LEAST = 0.02
"""Seconds for which a batch is planned at least: CPU time may be left where the clock has gone on."""


def summary(score: Tally) -> str:
    """What the first tuning has got, with Wilson's interval of its share."""
    games, share = max(1.0, score.games), score.score
    # Draws make it rather too wide than too narrow.
    middle = (share + _SURE**2 / games / 2) / (1 + _SURE**2 / games)
    width = _SURE * math.sqrt(share * (1 - share) / games + (_SURE / games / 2) ** 2) / (1 + _SURE**2 / games)
    return (
        f"{share * score.games:g} of {score.games:g} ({score.wins:g} won, {score.draws:g} drawn,"
        f" {score.losses:g} lost; 95 % interval {middle - width:.0%} to {middle + width:.0%})"
    )


def opening(openings: Openings, machine: Machine, number: int) -> State:
    """The state after the opening of a round, numbered from 1; the match goes on in it."""
    state = machine.initial_state()
    for joint in openings.of_round(number):
        state = machine.next_state(state, joint)
    return state


def choose(search: Search, state: State, role: int, seconds: float, rng: random.Random) -> int:
    """The move that a search of so many CPU seconds finds best."""
    machine = search.machine
    options = in_order(machine, role, machine.legal_moves(state, role))
    if len(options) == 1:
        return options[0]
    search.set_root(state)
    end = time.process_time() + seconds
    while (left := end - time.process_time()) > 0.0 and not search.finished:
        search.step(time.monotonic() + max(left, _LEAST))
    statistics = search.statistics()
    if statistics.mixed and statistics.value < 0:
        return rng.choices(options, strategy(statistics, role).tolist())[0]
    return options[rank(statistics, role).best]


def play(
    machine: Machine,
    state: State,
    tunings: tuple[Tuning, Tuning],
    seconds: float,
    seed: int,
    longest: int = LONGEST,
) -> list[int]:
    """The results of both roles in a match from a state; role 0 has the first tuning. Without an end after
    ``longest`` joint moves both have got the same: there are games in which roles may wait for ever."""
    rng = random.Random(seed)
    searches = []
    for role, tuning in enumerate(tunings):
        searches.append(Search(role, 2 * seed + role, tuning))
        searches[role].set_machine(machine)
    for _ in range(longest):
        if machine.is_terminal(state):
            break
        joint = [choose(search, state, role, seconds, rng) for role, search in enumerate(searches)]
        state = machine.next_state(state, joint)
    if not machine.is_terminal(state):
        return [0, 0]
    return [machine.result(state, role) or 0 for role in range(2)]


def play_pair(
    machine: Machine, state: State, tunings: tuple[Tuning, Tuning], seconds: float, seed: int, longest: int
) -> tuple[float, float]:
    """What the first tuning got in two matches from a state, 1 for a win, 0.5 for a draw: as role 0, then as
    role 1. The matches' seeds are ``seed`` and the next."""
    scores = []
    for seat in (0, 1):
        goals = play(machine, state, tunings if seat == 0 else tunings[::-1], seconds, seed + seat, longest)
        scores.append(compare(goals[seat], goals[1 - seat]))
    return scores[0], scores[1]
