"""What networks that look one move ahead are made from: the legality of moves, the end, and the best goals,
as literals over the state before a move."""

from __future__ import annotations

import numpy as np

from propnet.guides.with_legality import with_legality
from propnet.network import Network
from propnet.passes.circuit import FALSE
from propnet.substitute import Remake


class Lookahead:
    """A network and new gates over its state before a move.

    Args:
        network: a game.
        effort: how many gate inputs may be looked at.

    Attributes:
        network: the network.
        gates: its gates, and the new ones.
        legal: per move of all roles, role by role, its legality.
        offsets: where each role's moves begin among these; at the end how many there are.
        over: whether the match is over.
        running: literals that are true where it is not.
        outputs: node -> the base propositions whose next values are the node's, or its negation's.
    """

    def __init__(self, network: Network, effort: int) -> None:
        self.network = network
        self.gates = Remake(network, effort)
        self.legal: list[int] = network.legal_literals.tolist()
        self.offsets: list[int] = np.cumsum([0, *map(len, network.moves)]).tolist()
        self.over = int(network.terminal_literal)
        self.running = self.gates.implied(self.over ^ 1)
        self.next_literals: list[int] = network.next_literals.tolist()
        self.outputs: dict[int, list[int]] = {}
        for base, x in enumerate(self.next_literals):
            self.outputs.setdefault(x >> 1, []).append(base)

    def moves(self, role: int) -> range:
        """The role's moves among those of all roles."""
        return range(self.offsets[role], self.offsets[role + 1])

    def best_goal(self, role: int) -> int:
        """Whether the role has the best of its goals; never, if it has none."""
        mine = [(value, literal) for r, value, literal in self.network.goals.tolist() if r == role]
        return max(mine)[1] if mine else FALSE

    def favoured(self, role: int, losses: list[int], wins: list[int] | None = None) -> list[int]:
        """Per move of a role a literal: it is legal, and no better move is.

        Args:
            role: the role.
            losses: per move of the role a literal: where it is legal, it is a mistake.
            wins: per move a literal: it is legal and wins; none by default.
        """
        gates, legal = self.gates, [self.legal[move] for move in self.moves(role)]
        wins = wins or [FALSE] * len(legal)
        winnable = gates.disjunction(wins)
        tenable = gates.disjunction(
            [gates.conjunction([x, loss ^ 1]) for x, loss in zip(legal, losses, strict=True)]
        )
        favoured = []
        for x, loss, win in zip(legal, losses, wins, strict=True):
            worse = gates.conjunction([winnable, win ^ 1])
            mistake = gates.conjunction([tenable, loss, win ^ 1])
            favoured.append(gates.conjunction([x, worse ^ 1, mistake ^ 1]))
        return favoured

    def guide(self, favoured: list[int], most_inputs: int) -> Network | None:
        """The network in which the favoured moves are legal; None if these are all legal moves.

        Raises:
            EffortError: it would have more gate inputs than ``most_inputs``, or there is recursion.
        """
        return with_legality(self.gates, favoured, most_inputs) if favoured != self.legal else None
