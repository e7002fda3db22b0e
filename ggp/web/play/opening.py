"""The settings of a new table, and the wrapper of its players."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ggp.game import Game
from players.kaskade.kaskade import Kaskade
from players.kaskade.player import KaskadePlayer
from players.player import Player


@dataclass(frozen=True, slots=True)
class TableRequest:
    """The settings of a new table.

    Attributes:
        seats: for each role ``human``, or a player's name or address. Seats beyond the roles are ignored.
        others: the player of the roles without a seat.
        playclock: seconds per move of our players.
        patience: seconds per move of a person, after which a random move is made; 0 for no limit.
        seed: the seed of chance and players; 0 to draw one. A page cannot choose it.
        workers: search processes of a player.
        allowed: the players' names and addresses given by the operator. A page may choose these and all
            public names (:func:`ggp.web.play.seats.check_seat`).
        title: the displayed title of the game; empty for the title in its rules.
        card, next_card: the catalogue names of the game and of the level after it; empty if there is none.
    """

    game: Game
    seats: Sequence[str] = ()
    others: str = "uct"
    playclock: float = 2.0
    patience: float = 0.0
    seed: int = 0
    workers: int = 0
    allowed: Sequence[str] = ()
    title: str = ""
    card: str = ""
    next_card: str = ""


class AttentiveSeat(KaskadePlayer):
    """A player that answers at once when an urgent request waits at the table."""

    def __init__(self, player: Player, kaskade: Kaskade, hurry: Callable[[], bool]) -> None:
        super().__init__(player, kaskade)
        self.hurry = hurry

    def _is_called(self) -> bool:
        return self.hurry() or super()._is_called()
