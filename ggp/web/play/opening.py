"""What a table is opened with, and the players that sit at it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ggp.game import Game
from players.kaskade.kaskade import Kaskade
from players.kaskade.player import KaskadePlayer
from players.player import Player


@dataclass(frozen=True, slots=True)
class TableRequest:
    """What table is wanted.

    Attributes:
        seats: for each role ``human``, a player's name or address; more than there are roles do no harm.
        others: who plays the roles left out.
        playclock: seconds that our players think about a move.
        patience: seconds that a person has for a move, after which a random one is made; 0 for no limit.
        seed: what chance and players draw from; 0 to have one drawn. A page cannot name it.
        workers: search processes of a player.
        allowed: the names and addresses of players that the operator has given; a page may choose these
            besides all public names (:func:`ggp.web.play.seats.check_seat`).
        title: of the game, for people; that of its rules where it is empty.
        card, next_card: names of the game, and of the level after it; empty for others.
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
    """A player that answers as soon as somebody wants something else."""

    def __init__(self, player: Player, kaskade: Kaskade, hurry: Callable[[], bool]) -> None:
        super().__init__(player, kaskade)
        self.hurry = hurry

    def _is_called(self) -> bool:
        return self.hurry() or super()._is_called()
