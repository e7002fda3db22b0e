"""What the server knows of a match from its processes, and of rules that were played before."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Generic, TypeVar

from ggp.match_process.match_state import fold
from ggp.processes.parent import JsonMessage
from ggp.protocol.messages import Start
from ggp.server.settings import MatchSettings
from ggp.server.turn import Turn

MOST = 1000
"""Texts; of more, those that were noted last."""

Fact = TypeVar("Fact")


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


class Remembered(Generic[Fact]):
    """A fact about each text."""

    def __init__(self) -> None:
        self._facts: OrderedDict[bytes, Fact] = OrderedDict()

    def note(self, text: str, fact: Fact) -> None:
        """Remember it, in place of what was known."""
        key = _key(text)
        self._facts[key] = fact
        self._facts.move_to_end(key)
        if len(self._facts) > MOST:
            self._facts.popitem(last=False)

    def recall(self, text: str, default: Fact) -> Fact:
        """What is known of it."""
        return self._facts.get(_key(text), default)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
