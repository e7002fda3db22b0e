"""Decisive moves for playouts (F. Teytaud and O. Teytaud: On the huge benefit of decisive moves in
Monte-Carlo tree search algorithms, 2010): a network in which a role that can win at once must.

A move wins at once if the state after it is terminal and gives the role its best goal. That is a
function of the state before: terminal and goal of the next functions, these with the move put in for
the role's moves (its cofactor). The functions of all moves are built as gates, each gate once, with what
is known where it matters: the state is not terminal, and the move is legal. A move that never wins at
once costs nothing, and the functions of one move differ from those of others in few gates.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, Builder

EFFORT = 3_000_000
"""Gate inputs that are looked at, at most: about two seconds."""


class _TooMuchError(Exception):
    """More work or more gates than allowed."""


def decisive(
    network: Network, forced: list[int], *, most_inputs: int, effort: int = EFFORT
) -> Network | None:
    """The network in which only winning moves are legal where a role has such a move.

    In terminal states it may call other moves legal; all else is as in the network.

    Args:
        network: a game in which roles move one at a time.
        forced: per role the move that it makes when it is not its turn, -1 for none (see
            :func:`propnet.turns.forced_moves`). It never counts as one that wins.
        most_inputs: how many inputs the new gates may have.
        effort: how many gate inputs may be looked at.

    Returns:
        The network; None if no move can win at once, or if the limits do not allow for it, or where
        what a move does, or an end, depends on positive recursion.
    """
    try:
        return _Work(network, forced, effort).made(most_inputs)
    except _TooMuchError:
        return None


@dataclass
class _Part:
    """Some gates, and who reads them: what is worked through when inputs change.

    Attributes:
        gates: their nodes, ascending.
        readers: node -> those of the gates that read it.
        usual: node -> its literal if nothing changes.
    """

    gates: list[int]
    readers: dict[int, list[int]]
    usual: dict[int, int] = field(default_factory=dict)


class _Work:
    """The network's gates that need no move, and new ones. Literals of the latter count on from those
    of the former. ``known`` are literals that may be taken for true."""

    def __init__(self, network: Network, forced: list[int], effort: int) -> None:
        self.network = network
        self.forced = forced
        self.effort = effort
        self.start: list[int] = network.gate_start.tolist()
        self.inputs: list[int] = network.gate_inputs.tolist()
        self.first_move = 1 + len(network.bases)
        self.first = network.first_gate
        self.end = self.first + network.base_gates
        self.following: list[int] = network.next_literals.tolist()
        self.legal: list[int] = network.legal_literals.tolist()
        self.offsets: list[int] = np.cumsum([0, *map(len, network.moves)]).tolist()
        self.looping = {
            self.first + gate for low, high in network.loops.tolist() for gate in range(low, high)
        }
        self.builder = Builder(self.end)
        for node in range(self.first, self.end):
            self.builder.index.setdefault(tuple(sorted(self._read(node))), 2 * node)

    def made(self, most_inputs: int) -> Network | None:
        wins = [FALSE] * len(self.legal)
        for role in range(len(self.network.roles)):
            self._find_wins(role, wins)
        favoured = list(self.legal)
        for low, high in pairwise(self.offsets):
            some = self.builder.disjunction(wins[low:high])
            for move in range(low, high):
                passed_over = self.builder.conjunction([some, wins[move] ^ 1])
                favoured[move] = self.builder.conjunction([self.legal[move], passed_over ^ 1])
        if favoured == self.legal:
            return None
        return self._assembled(favoured, most_inputs)

    # --- what wins ---------------------------------------------------------------------------------
    def _find_wins(self, role: int, wins: list[int]) -> None:
        """Put into ``wins`` the literals by which the role's moves are legal and win at once."""
        mine = [(value, literal) for r, value, literal in self.network.goals.tolist() if r == role]
        if not mine:
            return
        goal = max(mine)[1]
        over = int(self.network.terminal_literal)
        known = self._implied(over ^ 1)
        step = self._part({x >> 1 for x in self.following}, self.end)
        ending = self._part({over >> 1, goal >> 1}, self.first)
        step.usual = dict.fromkeys(range(self.first_move, self.first), FALSE)
        for other, noop in enumerate(self.forced):
            if other != role and noop >= 0:
                step.usual[self.first_move + self.offsets[other] + noop] = TRUE
        self._evaluate(step, known)
        for base, x in enumerate(self.following):
            ending.usual[1 + base] = _value(step.usual, x, known)
        self._evaluate(ending, known)
        outputs: dict[int, list[int]] = {}
        for base, x in enumerate(self.following):
            outputs.setdefault(x >> 1, []).append(base)
        for move in range(self.offsets[role], self.offsets[role + 1]):
            if self.legal[move] == FALSE or move - self.offsets[role] == self.forced[role]:
                continue
            here = known | self._implied(self.legal[move])
            changed = self._changed(step, {self.first_move + move: TRUE}, here)
            after = {
                1 + base: _value(changed, self.following[base], here)
                for node in changed
                for base in outputs.get(node, ())
            }
            ends = {**ending.usual, **self._changed(ending, after, here)}
            won = self._gate([_value(ends, over, here), _value(ends, goal, here)], here)
            wins[move] = self.builder.conjunction([self.legal[move], won])

    def _changed(self, part: _Part, changed: dict[int, int], known: set[int]) -> dict[int, int]:
        """The literals of the nodes that are not as usual: these, and gates of the part."""
        found = dict(changed)
        waiting = sorted({reader for node in changed for reader in part.readers.get(node, ())})
        seen = set(waiting)
        usual = part.usual
        while waiting:
            node = heappop(waiting)
            read = self._read(node)
            self._spend(len(read))
            made = self._gate(
                [(found[x >> 1] if x >> 1 in found else usual.get(x >> 1, x & ~1)) ^ (x & 1) for x in read],
                known,
            )
            if made == usual[node]:
                continue
            found[node] = made
            for reader in part.readers.get(node, ()):
                if reader not in seen:
                    seen.add(reader)
                    heappush(waiting, reader)
        return found

    def _evaluate(self, part: _Part, known: set[int]) -> None:
        """Fill in the literals of the part's gates."""
        usual = part.usual
        for node in part.gates:
            read = self._read(node)
            self._spend(len(read))
            usual[node] = self._gate([usual.get(x >> 1, x & ~1) ^ (x & 1) for x in read], known)

    def _gate(self, literals: list[int], known: set[int]) -> int:
        """The AND of some literals."""
        some: list[int] = []
        for x in literals:
            if x ^ 1 in known:
                return FALSE
            if x not in known:
                some.append(x)
        return _known(self.builder.conjunction(some), known)

    def _implied(self, literal: int) -> set[int]:
        """What is true where a literal is: it, the inputs of its gate, and so on."""
        known: set[int] = set()
        waiting = [literal]
        while waiting:
            x = waiting.pop()
            if x in known or x <= FALSE:
                continue
            known.add(x)
            if not x & 1 and self.first <= x >> 1 < self.end:
                waiting += self._read(x >> 1)
        return known

    def _part(self, roots: set[int], lowest: int) -> _Part:
        """The gates from node ``lowest`` on that some nodes depend on."""
        found: set[int] = set()
        waiting = [node for node in roots if node >= lowest]
        while waiting:
            node = waiting.pop()
            if node in found:
                continue
            if node in self.looping:
                raise _TooMuchError
            found.add(node)
            waiting += [x >> 1 for x in self._read(node) if x >> 1 >= lowest]
        readers: dict[int, list[int]] = {}
        gates = sorted(found)
        for node in gates:
            for below in {x >> 1 for x in self._read(node)}:
                readers.setdefault(below, []).append(node)
        return _Part(gates, readers)

    def _read(self, node: int) -> list[int]:
        gate = node - self.first
        return self.inputs[self.start[gate] : self.start[gate + 1]]

    def _spend(self, inputs: int) -> None:
        self.effort -= inputs
        if self.effort < 0:
            raise _TooMuchError

    # --- the new network -------------------------------------------------------------------------------
    def _assembled(self, favoured: list[int], most_inputs: int) -> Network:
        """The network with these literals for the moves' legality, and with the gates they need."""
        network, gates = self.network, self.builder.gates
        needed = bytearray(len(gates))
        for literal in favoured:
            if literal >> 1 >= self.end:
                needed[(literal >> 1) - self.end] = 1
        for gate in range(len(gates) - 1, -1, -1):
            if needed[gate]:
                for x in gates[gate]:
                    if x >> 1 >= self.end:
                        needed[(x >> 1) - self.end] = 1
        kept = [gate for gate in range(len(gates)) if needed[gate]]
        if sum(len(gates[gate]) for gate in kept) > most_inputs:
            raise _TooMuchError
        place = {self.end + gate: self.end + at for at, gate in enumerate(kept)}

        def moved(x: int) -> int:
            return 2 * place.get(x >> 1, x >> 1) + (x & 1)

        def shifted(literals: NDArray[np.int32]) -> NDArray[np.int32]:
            return np.where(literals >= 2 * self.end, literals + 2 * len(kept), literals).astype(np.int32)

        edge = network.base_gates
        begin = int(network.gate_start[edge])
        widths = np.diff(network.gate_start)
        flat = np.array([moved(x) for gate in kept for x in gates[gate]], np.int32)
        new = np.array([len(gates[gate]) for gate in kept], np.int32)
        inputs = network.gate_inputs[:begin], flat, shifted(network.gate_inputs[begin:])
        loops, init = network.loops, network.loop_init
        return replace(
            network,
            gate_start=np.cumsum(np.concatenate(([0], widths[:edge], new, widths[edge:]))).astype(np.int32),
            gate_inputs=np.concatenate(inputs).astype(np.int32),
            base_gates=edge + len(kept),
            loops=np.where(loops >= edge, loops + len(kept), loops).astype(np.int32),
            loop_init=np.concatenate((init[:edge], np.zeros(len(kept), init.dtype), init[edge:])),
            next_literals=shifted(network.next_literals),
            legal_literals=np.array([moved(x) for x in favoured], np.int32),
        )


def _known(literal: int, known: set[int]) -> int:
    return TRUE if literal in known else FALSE if literal ^ 1 in known else literal


def _value(literals: dict[int, int], x: int, known: set[int]) -> int:
    """The literal for a literal, where these nodes have others than their own."""
    return _known(literals.get(x >> 1, x & ~1) ^ (x & 1), known)
