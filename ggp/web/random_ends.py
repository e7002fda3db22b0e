"""The ends of random matches show whether two roles are opponents, the result of a role that gives up, and
whether there is a draw to agree on."""

from __future__ import annotations

from dataclasses import dataclass

from gdl.information import playing
from gdl.machine import Machine
from propnet.analysis.random_play import final_goals, is_constant_sum
from propnet.capabilities import lane_machine

_MATCHES = 256


@dataclass(frozen=True, slots=True)
class RandomEnds:
    """Attributes:
    ends: the goal values of all roles at the end of random matches, if there are two roles besides chance
        and each time one got what the other missed, now this one and now that one; empty otherwise.
    """

    ends: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(cls, machine: Machine) -> RandomEnds:
        """Play at random. The prover is too slow for that."""
        roles, lanes = playing(machine.roles), lane_machine(machine)
        if lanes is None or len(roles) != 2:
            return cls()
        goals = final_goals(lanes, _MATCHES)
        goals[:, [role for role in range(len(machine.roles)) if role not in roles]] = 0  # chance
        opposed = is_constant_sum(goals) and all((goals[:, role] * 2 > 100).any() for role in roles)
        return cls(tuple(sorted(map(tuple, goals.tolist()))) if opposed else ())

    def given_up(self, role: int) -> tuple[int, ...]:
        """The worst end for a role."""
        return min(self.ends, key=lambda end: end[role])

    @property
    def draw(self) -> tuple[int, ...]:
        """An end in which both have the same; empty if none was reached."""
        return next((end for end in self.ends if max(end) * 2 == sum(end)), ())
