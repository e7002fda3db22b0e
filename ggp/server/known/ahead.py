"""What a process has found to be legal after joint moves that may come: an answer where it is late itself."""

from __future__ import annotations

from ggp.match_process.match_state import fold
from ggp.processes.parent import JsonMessage
from ggp.server.turn import Turn


class Ahead:
    """Replies to the joint moves that may be reported in the next turn."""

    def __init__(self) -> None:
        self._turn = 0
        self._replies: dict[tuple[str, ...] | None, str] = {}
        self._guess: str | None = None

    def take(self, message: JsonMessage) -> None:
        """A process says so, in one message or several for a turn; of turn 0, what is legal in the first
        PLAY, which reports nothing."""
        if message["id"] > self._turn:
            self._turn, self._replies = message["id"], {}
        if message["id"] == self._turn:
            self._replies |= {
                None if joint is None else tuple(map(fold, joint)): reply
                for joint, reply in message["replies"]
            }
            self._guess = message["guess"]

    def inform(self, turn: Turn) -> bool:
        """Tell a turn what is known of it; whether a move is known to be legal."""
        if self._turn == turn.id - 1:
            turn.checked, turn.guess = self._replies.get(turn.key), self._guess
        return turn.checked is not None
