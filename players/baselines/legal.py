"""The legal player: always the first legal move, in the order of the moves' text."""

from __future__ import annotations

from gdl.machine import State
from players.player import Choice, Player


class LegalPlayer(Player):
    """Plays the first legal move; the same one on every machine."""

    name = "legal"

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return Choice(self.in_order(options)[0])
