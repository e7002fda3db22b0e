"""The information that players get in a match: GDL-II, games of chance and of hidden information.

A role named ``random`` is chance: the game manager draws its moves, all legal ones alike.
``(sees ?r ?p)`` defines the percepts of a role for a joint move. In rules that define ``sees``, a role
learns its percepts and its own moves, and nothing else. In other rules every role sees every move.
(Thielscher: A General Game Description Language for Incomplete Information Games, AAAI 2010.)
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from enum import StrEnum

from gdl.machine import Machine, State
from gdl.rules import Rules
from gdl.terms import RANDOM, ROLE, SEES, Term


class Information(StrEnum):
    """The kinds of games by the information that players get."""

    PERFECT = "perfect information"
    CHANCE = "perfect information with chance"
    HIDDEN = "hidden information"


def information_of(rules: Rules) -> Information:
    """The kind of information in a game, from its rules."""
    if hides(rules):
        return Information.HIDDEN
    chance = any(rule.head.signature == (ROLE, 1) and rule.head.args[0] is RANDOM for rule in rules)
    return Information.CHANCE if chance else Information.PERFECT


def hides(rules: Rules) -> bool:
    """Whether the rules say what is seen, so that the rest is hidden."""
    return any(rule.head.signature == (SEES, 2) for rule in rules)


def chance_role(roles: Sequence[Term]) -> int | None:
    """The index of the role of chance, or None."""
    return roles.index(RANDOM) if RANDOM in roles else None


def playing(roles: Sequence[Term]) -> list[int]:
    """The indexes of the roles with players: all but chance."""
    return [index for index, role in enumerate(roles) if role is not RANDOM]


_Observation = Hashable
"""A role's information about a turn. Turns that a role cannot distinguish have equal observations."""


def observations(machine: Machine, state: State, joint_move: Sequence[int]) -> list[_Observation]:
    """The observation of each role for a joint move: its own move and its percepts; in games without
    ``sees`` the joint move."""
    if not hides(machine.rules):
        return [tuple(joint_move)] * len(machine.roles)
    return list(zip(joint_move, machine.percepts(state, joint_move), strict=True))
