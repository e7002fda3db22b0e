"""The matches of a tournament: every choice of players, in every order, from every opening.

Openings are random: the same for every order of players, a different one in each round. As in tests of chess
engines, a pair of matches from the same opening with the roles exchanged cancels the advantage that the
opening gives to one role.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from math import perm

from gdl.errors import GdlError
from gdl.machine import JointMove, Machine, State
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

TRIES = 50
"""The number of openings tried if they end the match or are not new."""
_FORCED = 64
"""Joint moves without a choice after which an opening stops: rules may let all roles wait for ever."""


class Openings:
    """The openings of one game, one per round; they depend only on the rules, the seed and the plies.

    Args:
        machine: any machine of the game.
        plies: joint moves in which some role had a choice; none in one-player games, where a random move may
            spoil a puzzle.
        seed: of the random moves.
    """

    def __init__(self, machine: Machine, plies: int, seed: int) -> None:
        self._machine = machine
        self._plies = plies if len(machine.roles) > 1 else 0
        self._seed = seed
        self._known: list[tuple[JointMove, ...]] = []
        self._reached: set[State] = set()

    def of_round(self, number: int) -> tuple[JointMove, ...]:
        """The joint moves of a round's opening; rounds count from 1. They lead to a new position as long as
        random play finds one."""
        while len(self._known) < number:
            self._known.append(self._next())
        return self._known[number - 1]

    def state(self, number: int) -> State:
        """The state after the opening of a round."""
        state = self._machine.initial_state()
        for joint in self.of_round(number):
            state = self._machine.next_state(state, joint)
        return state

    def _next(self) -> tuple[JointMove, ...]:
        rng = random.Random(f"{self._seed} {len(self._known)}")
        best: tuple[JointMove, ...] = ()
        for _ in range(TRIES if self._plies else 0):
            moves, end = self._walk(rng)
            if len(moves) > len(best) or not best:
                best = moves
            if end is not None and end not in self._reached:
                self._reached.add(end)
                return moves
        return best

    def _walk(self, rng: random.Random) -> tuple[tuple[JointMove, ...], State | None]:
        """A random walk that stops before the match would end, and the state it leads to; None if it had to
        stop early."""
        machine = self._machine
        state = machine.initial_state()
        walk: list[JointMove] = []
        plies = forced = 0
        while plies < self._plies:
            if forced == _FORCED:
                return tuple(walk[:-forced]), None
            options = machine.options(state)
            if not all(options):
                return tuple(walk), None
            joint = tuple(rng.choice(machine.in_order(role, moves)) for role, moves in enumerate(options))
            after = machine.next_state(state, joint)
            if machine.is_terminal(after):
                return tuple(walk), None
            chosen = any(len(moves) > 1 for moves in options)
            plies, forced = plies + chosen, 0 if chosen else forced + 1
            walk.append(joint)
            state = after
        return tuple(walk), state


def rules_from(state: State) -> str:
    """The rules of a state's game, as KIF, with this state as the initial one: for players over HTTP, which
    learn of a match's beginning only from its rules."""
    rules = state.machine.rules
    facts = [f"(init {p})" for p in sorted(state.propositions, key=sort_key)]
    rest = [str(rule) for rule in rules if rule.head.signature != ("init", 1)]
    return _WORD.sub(lambda word: rules.spelling.get(word.group(), word.group()), "\n".join(facts + rest))
