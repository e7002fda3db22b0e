"""`SearchedTraining`: weights learnt from self-play by searches."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from gdl.errors import GdlError
from players.knowledge.knowledge import GameKnowledge
from players.knowledge.net_training import LASTING
from players.knowledge.training import Training, TrainingProgress
from players.uct.training.play_processes import PlayProcesses
from players.uct.training.searched_play import STEPS, LearntStates, PlayTerms, SearchedPlay
from propnet.analysis.random_play import forced_moves
from propnet.machine import PropnetMachine

_ANEW = 20_000
"""Moves after which the step sizes of the weights are reset, again and again: otherwise the targets of
earlier searches, by worse weights, would hold the weights back."""
_LAST = 0.85
"""The share of the time after which step sizes are not reset, so that the weights settle."""


def searches_can_look(machine: PropnetMachine) -> bool:
    """Whether searches can look at all moves in a game: two roles choose in turn."""
    return len(machine.roles) == 2 and forced_moves(machine) is not None


class SearchedTraining:
    """Learns the weights of a game from self-play by searches.

    Attributes:
        values: values of states by the current weights.
        progress: the play that was learnt from so far.
    """

    def __init__(
        self, weights: Training, seed: int = 0, workers: int = 1, terms: PlayTerms = PlayTerms()
    ) -> None:
        """Goes on with the training of ``weights``, in ``workers`` processes, this one counted. Raises
        GdlError for games in which searches cannot look at all moves: those of more than two roles, in which
        roles choose at the same time, or whose goals do not add up to 100."""
        machine = weights.machine
        if weights.columns != (0,) or not searches_can_look(machine):
            raise GdlError(
                "searches play games in which two roles choose in turn, and one gets what the other does not"
            )
        weights.remember(LASTING)
        self._weights, self.values = weights, weights.values
        moves = weights.progress.moves
        rng = np.random.default_rng([seed, moves, 1])
        self._play = SearchedPlay(machine, self.values, terms, rng)
        self._processes = PlayProcesses(machine, terms, workers - 1, seed * 4099 + 1)
        self._gone = self._seconds = 0.0
        self._anew = moves + _ANEW
        self.progress = TrainingProgress(moves, 0, 0.0, 0.5, 0)

    def round(self, gone: float = 0.0) -> None:
        """Play some steps and learn from them, and from the play of other processes. ``gone``: the elapsed
        share of the time for this training, 0..1: towards its end the weights settle."""
        began = time.process_time()
        self._gone = gone
        if self.progress.moves >= self._anew and gone < _LAST:
            self._anew = self.progress.moves + _ANEW
            self._weights.begin_anew()
        self._processes.exchange(self.values, self._take)
        self._take(self._play.learnt(STEPS))
        self._seconds += time.process_time() - began

    def _take(self, played: LearntStates) -> None:
        """Learn from played states."""
        states = len(played.records)
        squares = self._weights.learn(played.records, played.targets, self._gone)
        self.progress = self.progress.after(
            played.moves, played.finished, played.won, squares / max(1, states), states
        )

    def add_net(self) -> None:
        """Let a net learn from now on, on top of the linear weights."""
        self._weights.add_net()

    def knowledge(self, game: str) -> GameKnowledge:
        """The learnt weights, not to be used yet: their share is 0."""
        learnt = self._weights.knowledge(game)
        return replace(learnt, moves=self.progress.moves, seconds=learnt.seconds + self._seconds)

    def close(self) -> None:
        """End the processes that play."""
        self._processes.close()
