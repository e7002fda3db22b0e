"""The matches of a tournament: every choice of players, in every order, from every opening."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from math import perm

from gdl.errors import GdlError


@dataclass(frozen=True, slots=True)
class Fixture:
    """One match to be played.

    Attributes:
        game: the game's name.
        round: from 1. Fixtures of the same game and round share an opening.
        seats: the label of each role's player, in role order.
    """

    game: str
    round: int
    seats: tuple[str, ...]


def seatings(players: Sequence[str], roles: int) -> list[tuple[str, ...]]:
    """Every way to give the roles of a game to players, so that each player has each role equally often.

    Where there are at least as many players as roles, all permutations of all choices of players; where there
    are fewer, all assignments in which at least two differ. Raises GdlError if one player is alone in a game
    of several roles.
    """
    if roles == 1 or len(players) >= roles:
        return [order for chosen in combinations(players, roles) for order in permutations(chosen)]
    if len(players) < 2:
        raise GdlError("one player alone cannot be compared", remedy="give two or more --players")
    return [seats for seats in product(players, repeat=roles) if len(set(seats)) > 1]


def count_matches(games: Mapping[str, int], players: int, rounds: int) -> int:
    """How many fixtures :func:`plan` has, for so many players; none where one is alone in a game of several
    roles."""
    return rounds * sum(
        perm(players, roles) if roles == 1 or players >= roles else players**roles - players
        for roles in games.values()
    )


def plan(games: Mapping[str, int], players: Sequence[str], rounds: int) -> Iterator[Fixture]:
    """All fixtures, round by round: a tournament that is cut short is balanced but for its last round.
    ``games`` has each game's number of roles, ``rounds`` is the number of openings of each game."""
    for number in range(1, rounds + 1):
        for game, roles in games.items():
            for seats in seatings(players, roles):
                yield Fixture(game, number, seats)
