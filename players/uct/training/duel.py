"""Duels of tunings of the search in one process, at equal CPU time for each move: matches, pairs, series.

All search with the same machine, one after the other. In games of more than two roles one tuning has one
seat, and the other tuning has all other seats. Chance has no seat: its moves are drawn.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence

from gdl.information import playing
from gdl.machine import Machine, State
from players.match import Match, Openings
from players.player import Choice
from players.uct.root_statistics import rank, strategy
from players.uct.search import Search
from players.uct.tuning import Tuning

LONGEST = 500
"""Joint moves after which a match is drawn."""
PLIES = 4
"""Random joint moves of an opening."""
_LEAST = 0.02
"""Least seconds for which a batch is planned: CPU time may be left although the clock has run out."""


def choose(search: Search, state: State, role: int, seconds: float, rng: random.Random) -> int:
    """The move that a search of ``seconds`` CPU seconds finds best."""
    machine = search.machine
    # Options are in the order of text, as are the search's moves.
    options = machine.in_order(role, machine.legal_moves(state, role))
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
    tunings: Sequence[Tuning],
    seconds: float,
    seed: int,
    longest: int,
    draws: int = 0,
) -> list[int]:
    """The results of all roles in a match from a state, each with its tuning.

    All results are 0 if the match has no end after ``longest`` joint moves, as in games in which roles may
    wait for ever, or if a role has no legal move. ``draws`` is the seed of the moves of chance."""
    rng = random.Random(seed)
    match = Match(machine, random.Random(draws), state=state, max_steps=longest)
    searches = []
    for role, tuning in enumerate(tunings):
        searches.append(Search(role, 2 * seed + role, tuning))
        searches[role].set_machine(machine)
    while not (match.over or match.why):
        for role in match.waiting:
            drawn = role == match.chance
            move = match.draw(role) if drawn else choose(searches[role], match.state, role, seconds, rng)
            match.answer(role, Choice(move))
        match.make()
    return match.results if match.over else [0] * len(searches)


def chance(wins: int, losses: int) -> float:
    """Probability that fair coins show at least this many heads: a sign test of matches won and lost."""
    tosses = wins + losses
    return float(sum(math.comb(tosses, heads) for heads in range(wins, tosses + 1)) / 2.0**tosses)


def play_pair(
    machine: Machine,
    state: State,
    tunings: tuple[Tuning, Tuning],
    seconds: float,
    seed: int,
    longest: int,
    seat: int = 0,
) -> tuple[float, float]:
    """The scores of the first tuning in two matches from a state, on average against each other role, 1 for
    more, 0.5 for as much.

    It has this seat alone in the first match, and all other seats in the second. The matches' seeds are
    ``seed`` and the next; chance draws the same moves in both as long as they go alike."""
    scores, players = [], playing(machine.roles)
    for number in range(2):
        alone, rest = tunings if number == 0 else tunings[::-1]
        seats = [alone if role == seat else rest for role in range(len(machine.roles))]
        goals = play(machine, state, seats, seconds, seed + number, longest, seed)
        scores.append(abs(number - advantage([goals[role] for role in players], players.index(seat))))
    return scores[0], scores[1]


def advantage(goals: Sequence[int], seat: int) -> float:
    """Score of the role of a seat against the others on average: 1 if it got more, 0.5 as much, 0 less."""
    others = [goal for role, goal in enumerate(goals) if role != seat]
    return sum(0.5 if goals[seat] == goal else float(goals[seat] > goal) for goal in others) / len(others)


class Series:
    """Pairs of matches of the first tuning against the second. Each pair begins with an opening of its own.
    The seat that one tuning has alone changes in turn if there are more than two roles.

    Attributes:
        scores: the scores of the first tuning in the matches so far.
    """

    def __init__(
        self,
        machine: Machine,
        tunings: tuple[Tuning, Tuning],
        seed: int,
        longest: int = LONGEST,
        plies: int = PLIES,
    ) -> None:
        self._machine, self._tunings, self._longest = machine, tunings, longest
        self._openings = Openings(machine, plies, seed)
        self._rng = random.Random(seed)
        self.scores: list[float] = []

    def play(self, seconds: float) -> tuple[float, float]:
        """Play the next pair, with these CPU seconds for each move, and return its scores."""
        seats, number = playing(self._machine.roles), len(self.scores) // 2
        seat = seats[number % len(seats)] if len(seats) > 2 else seats[0]
        opening, seed = self._openings.state(number + 1), self._rng.getrandbits(16)
        pair = play_pair(self._machine, opening, self._tunings, seconds, seed, self._longest, seat)
        self.scores += pair
        return pair

    @property
    def wins(self) -> int:
        """The matches in which the first tuning got more."""
        return sum(score > 0.5 for score in self.scores)

    @property
    def losses(self) -> int:
        """The matches in which it got less."""
        return sum(score < 0.5 for score in self.scores)

    def is_won(self, most: float) -> bool:
        """Whether chance alone brings so many wins with this probability at most."""
        return chance(self.wins, self.losses) <= most

    def is_lost(self, most: float) -> bool:
        """Whether chance alone brings so many losses with this probability at most."""
        return chance(self.losses, self.wins) <= most
