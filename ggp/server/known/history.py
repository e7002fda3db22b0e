"""The joint moves of a match, as the manager reports them and as its processes understand them."""

from __future__ import annotations

from ggp.processes.parent import JsonMessage
from ggp.protocol.messages import Start
from ggp.server.settings import MatchSettings
from ggp.server.turn import Turn


class History:
    """What was played. ``moves`` are the joint moves, by the number of the PLAY that reported them."""

    def __init__(self) -> None:
        self.moves: dict[int, tuple[str, ...]] = {}
        self._answers: dict[int, str | None] = {}
        self._followed_to = 0

    def begin(self, turn: Turn) -> None:
        """A PLAY has come."""
        self._answers[turn.id] = turn.told_before
        if turn.moves is not None:
            self.moves[turn.id] = turn.moves

    def followed(self, turn: int, joint: list[str] | None) -> list[tuple[str, ...]]:
        """A process says which joint move it has made of a PLAY; None if that was no new turn. All that were
        made up to the furthest process."""
        if joint is not None:
            self.moves[turn] = tuple(joint)
        else:
            self.moves.pop(turn, None)
        self._followed_to = max(self._followed_to, turn)  # the other process may be behind
        return [self.moves[id] for id in sorted(self.moves) if id <= self._followed_to]

    def briefing(self, turn: Turn | None) -> JsonMessage:
        """What a process that comes later is told: the joint moves up to the turn that is still to be asked,
        and the answers before each."""
        if turn is not None and turn.answered:
            # The process before may have ended before it could say what it made of this turn's moves.
            turn.advanced = True
        played = [id for id in self.moves if turn is None or id < turn.id or turn.advanced]
        return {
            "history": [self.moves[id] for id in played],
            "answers": [self._answers[id] for id in played],
        }


def begins(
    start: Start, settings: MatchSettings, fast: bool, share: JsonMessage, large: list[str]
) -> JsonMessage:
    """What a process of a match is told of it before the history: whether it may use more than the prover,
    what its search may use of the processors, which relations are known to be ``large``."""
    return {
        "match": start.match,
        "role": start.role,
        "rules": start.rules,
        "startclock": start.startclock,
        "player": settings.player,
        "fast": fast,
        "seed": settings.seed,
        "share": share,
        "large": large,
    }
