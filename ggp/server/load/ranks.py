"""Who of a match goes first on the processors: nice values of the sessions that its processes lead."""

from __future__ import annotations

from ggp.server.supervised_process import SupervisedProcess
from ggp.server.turn import Turn
from players.processes.priority import USUAL, WAITS


class Ranks:
    """Ranks the process that thinks and the keeper of one match.

    A keeper that is asked for a move goes before one that plays random games, and before the thinking of
    matches that share processors with others, unless that is all there is to follow the match.
    """

    def __init__(self, main: SupervisedProcess, keeper: SupervisedProcess) -> None:
        self._main, self._keeper = main, keeper
        self._practises = False

    def practises(self, goes_on: bool, turn: Turn | None) -> None:
        """The keeper says whether it plays random games between turns."""
        self._practises = goes_on
        self.asked(turn)

    def asked(self, turn: Turn | None) -> None:
        """There is a new turn, or the keeper has named a move in this one."""
        waits = self._practises and (turn is None or turn.answered or self._keeper.heard >= turn.id)
        self._keeper.rank(WAITS if waits else USUAL)

    def thinks(self, turn: Turn | None, behind: bool) -> None:
        """Rank the process that thinks, ``behind`` others if the keeper knows the turn. To be called now and
        then."""
        known = turn is None or (self._keeper.alive and self._keeper.heard >= turn.id)
        self._main.rank(WAITS if known and behind else USUAL)
