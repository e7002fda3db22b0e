"""The propositional network: n-ary ANDs over complemented edges in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term


@dataclass(frozen=True)
class Network:
    """A game as one flat circuit.

    *Nodes* are integers: node 0 is the constant true, node ``1 + b`` is base proposition b. Then comes one
    node per move, role by role, then the gates. A *literal* is ``2 * node + negated``, so literal 0 is true
    and literal 1 is false. Gate g (node ``first_gate + g``) is the AND of its literals; an OR is a negated
    AND of negated literals.

    Gates stand in evaluation order: a gate reads only nodes before it, except inside a *loop* (a strongly
    connected component of positive recursion). The gates of a loop stand together. A step function sets them
    to ``loop_init`` and evaluates them until nothing changes, which gives the least fixpoint.

    The first ``base_gates`` gates depend on base propositions alone (legal, terminal and goal are computed
    from them); the others need the moves as well.

    Attributes:
        bases, moves: base propositions, and per role its moves, in id order.
        gate_start: int32, shape (gates + 1,): gate g reads ``gate_inputs[gate_start[g]:gate_start[g + 1]]``.
        gate_inputs: int32: literals.
        base_gates: the number of gates at the start that need no move.
        loops: int32, shape (loops, 2): first and past-the-last *gate* of each loop, ascending; no loop
            straddles ``base_gates``.
        loop_init: uint8, shape (gates,): the value a gate inside a loop starts from.
        next_literals: int32, shape (bases,): the literal of each base proposition's next value.
        legal_literals: int32, shape (moves of all roles,).
        goals: int32, shape (goals, 3): rows (role, value, literal).
        terminal_literal: literal of ``terminal``.
        initial: bool, shape (bases,).
        stats: counts before and after each pass, and CPU seconds: name -> number.
        percepts: per role its possible percepts, sorted; empty for rules without ``sees``.
        percept_literals: int32, shape (percepts of all roles,): literal of each, in that order. Like those of
            next they may need the moves.
    """

    roles: tuple[Term, ...]
    bases: tuple[Term, ...]
    moves: tuple[tuple[Term, ...], ...]
    gate_start: NDArray[np.int32]
    gate_inputs: NDArray[np.int32]
    base_gates: int
    loops: NDArray[np.int32]
    loop_init: NDArray[np.uint8]
    next_literals: NDArray[np.int32]
    legal_literals: NDArray[np.int32]
    goals: NDArray[np.int32]
    terminal_literal: int
    initial: NDArray[np.bool_]
    stats: dict[str, float] = field(default_factory=dict)
    percepts: tuple[tuple[Term, ...], ...] = ()
    percept_literals: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def same_as(self, other: Network) -> bool:
        """Whether the other network is the same circuit over the same propositions and moves, apart from
        ``stats``."""
        if self is other:
            return True
        terms = ("roles", "bases", "moves", "percepts")
        arrays = [entry.name for entry in fields(self) if entry.name not in ("stats", *terms)]
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays) and all(
            getattr(self, name) == getattr(other, name) for name in terms
        )

    def renumbered(self, node: NDArray[np.int64]) -> Network:
        """The network in which every literal is one of ``node[n]`` in place of node n; gates stay in their
        places."""

        def moved(literals: NDArray[np.int32]) -> NDArray[np.int32]:
            new: NDArray[np.int32] = (2 * node[literals >> 1] + (literals & 1)).astype(np.int32)
            return new

        goals = self.goals.copy()
        goals[:, 2] = moved(goals[:, 2])
        return replace(
            self,
            gate_inputs=moved(self.gate_inputs),
            next_literals=moved(self.next_literals),
            legal_literals=moved(self.legal_literals),
            goals=goals,
            terminal_literal=int(moved(np.array([self.terminal_literal], np.int32))[0]),
            percept_literals=moved(self.percept_literals),
        )

    @property
    def gates(self) -> int:
        """Number of gates."""
        return len(self.gate_start) - 1

    @property
    def move_count(self) -> int:
        """Number of moves of all roles together."""
        return len(self.legal_literals)

    @property
    def first_gate(self) -> int:
        """The node of gate 0."""
        return 1 + len(self.bases) + self.move_count

    @property
    def nodes(self) -> int:
        """Number of nodes, the constant and the inputs included."""
        return self.first_gate + self.gates
