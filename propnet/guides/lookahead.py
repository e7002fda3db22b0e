"""What networks that look one move ahead are made from: the legality of moves, the end, and the best goals,
as literals over the state before a move."""

from __future__ import annotations

import numpy as np

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
        made: its gates, and the new ones.
        legal: per move of all roles, role by role, its legality.
        offsets: where each role's moves begin among these; at the end how many there are.
        over: whether the match is over.
        running: literals that are true where it is not.
        outputs: node -> the base propositions whose next values are the node's, or its negation's.
    """

    def __init__(self, network: Network, effort: int) -> None:
        self.network = network
        self.made = Remake(network, effort)
        self.legal: list[int] = network.legal_literals.tolist()
        self.offsets: list[int] = np.cumsum([0, *map(len, network.moves)]).tolist()
        self.over = int(network.terminal_literal)
        self.running = self.made.implied(self.over ^ 1)
        self.outputs: dict[int, list[int]] = {}
        for base, x in enumerate(network.next_literals.tolist()):
            self.outputs.setdefault(x >> 1, []).append(base)

    def best_goal(self, role: int) -> int:
        """Whether the role has the best of its goals; never, if it has none."""
        mine = [(worth, literal) for r, worth, literal in self.network.goals.tolist() if r == role]
        return max(mine)[1] if mine else FALSE
