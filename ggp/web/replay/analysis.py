"""What roles may expect at each step of a recorded match, and the moves after which that fell most.

The states in which a role has a choice are searched in their order, with equal shares of some seconds, on one
tree that goes along with the match. Nothing is hidden from the search: in games of hidden information
no move is called worse than another, because roles did not know what it knows.
"""

from __future__ import annotations

import time
from typing import Any

from gdl.errors import GdlError
from gdl.information import hides, playing
from gdl.machine import JointMove, Machine, State
from ggp.boards.board import Grid
from ggp.boards.spoken.words import MoveWords
from ggp.game import Game
from ggp.web.random_ends import RandomEnds
from ggp.web.replay.recorded import RecordedMatch
from players.uct.root_statistics import Ranking, rank
from players.uct.search import Search
from players.uct.tuning import Tuning

_SECONDS = 8.0
"""For all searches of a match together."""
_LEAST, _MOST = 0.05, 1.0
"""Seconds for one state. Of longer matches every second state is searched, or every third, and so on."""
_READY_SECONDS = 60.0
"""For the first results, which may wait for kernels."""
FALL, MOST_FALLS = 15.0, 6
"""The least fall of an expected result that is marked, and how many are."""
_SURE = 30
"""Visits from which on the mean result of a move counts."""


def analysed(match: RecordedMatch, game: Game, board: Grid | None) -> dict[str, Any]:
    """The analysis of a match. Raises GdlError if rules cannot be played.

    Returns:
        ``values``: for each state the result that each role expects, None if unknown; at the end the goals.
        ``falls``: as :meth:`_SearchedMatch.falls` finds them; none if the rules hide something.
        ``constant``: whether two roles share 100 at the end. ``hidden``: whether the rules hide something.
        ``every``: 2 if every second state was searched, and so on.
    """
    machine = game.machine()
    found, hidden = _SearchedMatch(match, machine), hides(game.rules)
    every = found.search()
    falls = [] if hidden else found.falls(MoveWords(machine.rules, machine.roles, board))
    told = {"values": found.values, "constant": found.constant}
    return {**told, "falls": falls, "hidden": hidden, "every": every}


class _SearchedMatch:
    """A match up to where its record contradicts the rules, and what searches expect of its states."""

    def __init__(self, match: RecordedMatch, machine: Machine) -> None:
        self._machine, self._roles = machine, playing(machine.roles)
        self._states, self._joints = list[State](), list[JointMove]()
        try:
            for number, found in enumerate(match.states):
                self._states.append(machine.state_of(found))
                for joint in match.moves[number : number + 1]:
                    self._joints.append(tuple(machine.move_id(role, move) for role, move in enumerate(joint)))
        except GdlError:
            pass
        self.constant = bool(RandomEnds.of(machine).ends)
        self.values: list[list[float | None]] = [[None] * len(machine.roles) for _ in match.states]
        self._options, self._choosers = list[tuple[tuple[int, ...], ...]](), list[list[int]]()
        for number, state in enumerate(self._states):
            over = machine.is_terminal(state)
            self._options.append(() if over else machine.options(state))
            self._choosers.append([role for role, moves in enumerate(self._options[-1]) if len(moves) > 1])
            if over:
                self.values[number] = [machine.goal(state, role) for role in range(len(machine.roles))]
        self._rankings: dict[tuple[int, int], Ranking] = {}

    def search(self) -> int:
        """Search the states; 2 if every second one, and so on."""
        asked = [
            i for i, ones in enumerate(self._choosers) if {*ones} & {*self._roles} and all(self._options[i])
        ]
        every = 1 + int(len(asked) * _LEAST / _SECONDS)
        asked = asked[::every]
        search = Search(0, 0, Tuning())
        search.set_machine(self._machine)
        for done, number in enumerate(asked):
            search.set_root(self._states[number])
            ready = time.monotonic() + _READY_SECONDS
            while not done and not search.playouts and not search.step(ready):
                pass
            until = time.monotonic() + min(_MOST, _SECONDS / len(asked))
            while not search.step(until):
                pass
            self._take(number, search)
        return every

    def _take(self, number: int, search: Search) -> None:
        statistics, values = search.statistics(), self.values[number]
        if self.constant and len(values) == 2 and statistics.value >= 0:
            values[:] = float(statistics.value), 100.0 - statistics.value
        for role in {*self._choosers[number]} & {*self._roles}:
            ranking = rank(statistics, role)
            if _is_sure(ranking, ranking.best):
                self._rankings[number, role] = ranking
                values[role] = worth = round(ranking.worth, 1)
                if self.constant and self._choosers[number] == [role]:
                    values[sum(self._roles) - role] = round(100 - worth, 1)

    def falls(self, words: MoveWords) -> list[dict[str, Any]]:
        """The moves after which what their role expects fell most, in their order: the ``step`` that they led
        to, the ``role``, its values ``before`` and ``after``, the ``better`` move in words."""
        found = list[dict[str, Any]]()
        for (number, role), ranking in self._rankings.items():
            moves = self._machine.in_order(role, self._options[number][role])
            if number >= len(self._joints) or self._joints[number][role] not in moves:
                continue
            played = moves.index(self._joints[number][role])
            after = ranking.values[played] if _is_sure(ranking, played) else None
            if self.constant and self._choosers[number] == [role] and number + 1 < len(self._states):
                follows = self.values[number + 1][role]  # a search of its own saw more of it
                after = after if follows is None else follows
            if after is not None and played != ranking.best and ranking.worth - after >= FALL:
                better = words.texts(self._states[number], role)[moves[ranking.best]]
                told = {"before": round(ranking.worth), "after": round(after), "better": better}
                found.append({"step": number + 1, "role": role, **told})
        found.sort(key=lambda fall: fall["after"] - fall["before"])
        return sorted(found[:MOST_FALLS], key=lambda fall: fall["step"])


def _is_sure(ranking: Ranking, place: int) -> bool:
    """Whether a move's result is proven, or the move was visited often."""
    return ranking.is_known[place] and not 0 < ranking.visits[place] < _SURE
