"""The matches of a tournament: every choice of players, in every order, from every opening.

Openings are random: the same for every order of players, a different one in each round. As in tests of chess
engines, a pair of matches from the same opening with the roles exchanged cancels the advantage that the
opening gives to one role.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from math import perm

from gdl.errors import GdlError
from gdl.machine import State
from gdl.terms import sort_key


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
    """All ways to assign players to the roles of a game, so that each player has each role equally often.

    With at least as many players as roles, these are all permutations of all choices of players. With fewer,
    they are all assignments with at least two different players. Raises GdlError if there is only one player
    in a game of several roles.
    """
    if roles == 1 or len(players) >= roles:
        return [order for chosen in combinations(players, roles) for order in permutations(chosen)]
    if len(players) < 2:
        raise GdlError("one player alone cannot be compared", remedy="give two or more --players")
    return [seats for seats in product(players, repeat=roles) if len(set(seats)) > 1]


def count_matches(games: Mapping[str, int], players: int, rounds: int) -> int:
    """The number of fixtures of :func:`plan` for ``players`` players; a single player has none in games of
    several roles."""
    return rounds * sum(
        perm(players, roles) if roles == 1 or players >= roles else players**roles - players
        for roles in games.values()
    )


def plan(games: Mapping[str, int], players: Sequence[str], rounds: int) -> Iterator[Fixture]:
    """All fixtures, round by round: a tournament that is cut short is balanced except for its last round.
    ``games`` has each game's number of roles, ``rounds`` is the number of openings of each game."""
    for number in range(1, rounds + 1):
        for game, roles in games.items():
            for seats in seatings(players, roles):
                yield Fixture(game, number, seats)


_WORD = re.compile(r"[^\s()]+")


def rules_from(state: State) -> str:
    """The rules of a state's game, as KIF, with this state as the initial one: for players over HTTP, which
    learn of a match's beginning only from its rules."""
    rules = state.machine.rules
    facts = [f"(init {p})" for p in sorted(state.propositions, key=sort_key)]
    rest = [str(rule) for rule in rules if rule.head.signature != ("init", 1)]
    return _WORD.sub(lambda word: rules.spelling.get(word.group(), word.group()), "\n".join(facts + rest))
