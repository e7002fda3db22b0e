"""What both kinds of guides build on: gates that look one move ahead, and the network they are put into."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from propnet.network import Network
from propnet.passes.circuit import FALSE, Circuit, Shape
from propnet.passes.dead import remove_dead
from propnet.passes.extract import extract
from propnet.passes.finish import finish
from propnet.passes.overlap import share_overlaps
from propnet.passes.simplify import simplify
from propnet.substitute import EffortError, Remake

PASSES = (simplify, share_overlaps, extract, simplify, extract, remove_dead)

GROWTH = 4
"""Before the passes there may be so many times the allowed gate inputs (see docs/measurements.md)."""


class Lookahead:
    """A network and new gates over its state before a move.

    Attributes:
        gates: the network's gates, and the new ones; so many gate inputs as ``effort`` says may be looked at.
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
        """Per move of a role a literal: it is legal, and no better move is. ``losses`` and ``wins``, per move
        of the role, say of a legal move that it is a mistake, and that it wins; by default none wins."""
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
        """The network in which the favoured moves, a literal per move of all roles, are legal; None if these
        are all legal moves. Raises EffortError if it would have more than ``most_inputs`` gate inputs, or has
        positive recursion."""
        if favoured == self.legal:
            return None
        network = self.network
        if len(network.loops):
            raise EffortError("positive recursion")
        circuit = remove_dead(self._circuit(favoured))
        if circuit.gate_inputs > GROWTH * most_inputs:
            raise EffortError("too many gates")
        for rewrite in PASSES:
            circuit = rewrite(circuit)
        if circuit.gate_inputs > most_inputs:
            raise EffortError("too many gates")
        goals = [(role, value) for role, value, _ in network.goals.tolist()]
        return finish(circuit, network, goals, dict(network.stats))

    def _circuit(self, legal: list[int]) -> Circuit:
        """The gates that need no move, then the new ones, then those that need moves."""
        network, new, end = self.network, self.gates.new_gates, self.gates.end
        start, inputs = network.gate_start.tolist(), network.gate_inputs.tolist()

        def shifted(x: int) -> int:
            return x if x >> 1 < end else x + 2 * len(new)

        old = [tuple(inputs[a:b]) for a, b in pairwise(start)]
        edge = network.base_gates
        moved = [tuple(map(shifted, gate)) for gate in old[edge:]]
        outputs = [*map(shifted, self.next_literals), *legal, *network.goals[:, 2].tolist(), self.over]
        shape = Shape(len(network.bases), tuple(map(len, network.moves)), len(network.goals), 0)
        return Circuit(shape, [tuple(sorted(gate)) for gate in (*old[:edge], *new, *moved)], outputs)
