"""Nogoods as gates: a network for playouts in which no move leads into a state that is known to be dead
(constraint recording: R. Dechter, Enhancement schemes for constraint processing, 1990; here in gates).

A *dead set* is a set of literals of base propositions: from no state in which all of them hold the best goal
can be reached. Which sets are dead is found elsewhere. Here each move's cofactors tell which of its literals
may *become* true by the move, and only the sets that have one of these are looked up for it: their literals
after the move, as functions of the state before, factored into gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from propnet.guides import PASSES, Lookahead
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, Circuit, Shape, replaced
from propnet.substitute import EffortError, value

EFFORT = 3_000_000
"""Gate inputs that are looked at, at most."""

MOST_INPUTS = 200_000
"""Gate inputs of the guide, at most, unless told otherwise."""

Nogood = Sequence[int]
"""Literals of base propositions: base proposition b is true ``2 * (1 + b)``, or false ``2 * (1 + b) + 1``."""


def with_nogoods(
    machine: PropnetMachine,
    sets: Sequence[Nogood],
    *,
    most_inputs: int = MOST_INPUTS,
    effort: int = EFFORT,
) -> PropnetMachine:
    """A machine with the same states and moves whose `legal` leaves out moves into states that contain one
    of these sets (:func:`compile_nogoods`); it is interpreted, whatever the machine was.

    Where the limits do not allow for all sets it knows as many of the first ones as a halving of their number
    finds: put those first that matter most. The machine itself is returned if no move is left out.
    """
    known = list(sets)
    while known:
        try:
            network = compile_nogoods(machine.network, known, most_inputs=most_inputs, effort=effort)
            return PropnetMachine(machine.rules, network) if network is not None else machine
        except EffortError:
            known = known[: len(known) // 2]
    return machine


def compile_nogoods(
    network: Network,
    sets: Sequence[Nogood],
    *,
    most_inputs: int = MOST_INPUTS,
    effort: int = EFFORT,
) -> Network | None:
    """The network in which a move is legal only if the state after it contains none of the sets; all moves
    stay legal where all lead into dead states.

    A set that the state before contains already may be overlooked: that state is dead whatever is played. In
    terminal states the guide may call other moves legal; all else is as in the network.

    Args:
        network: a game of one role. Positive recursion is allowed among gates that need no moves.
        sets: each a :data:`Nogood`.
        most_inputs, effort: how many gate inputs the guide may have, and how many may be looked at.

    Returns None if no move can complete a set.

    Raises:
        EffortError: the limits are too tight, or what a move does depends on positive recursion.
        ValueError: the game has several roles, or a literal is of no base proposition.
    """
    if len(network.roles) != 1:
        raise ValueError(f"dead sets are for games of one role, and this one has {len(network.roles)}")
    last = 2 * (1 + len(network.bases))
    if any(not 2 <= literal < last for nogood in sets for literal in nogood):
        raise ValueError("a dead set has a literal of no base proposition")
    gates = _DeadAfter(network, effort)
    left = gates.favoured(0, gates.losses([tuple(sorted(set(nogood))) for nogood in sets]))
    if len(network.loops):
        return gates.spliced(left, most_inputs)
    return gates.guide(left, most_inputs)


class _DeadAfter(Lookahead):
    """Works out which moves complete a dead set, as literals over ``gates``."""

    def losses(self, sets: Sequence[Nogood]) -> list[int]:
        """Per move a literal: where it is legal, the state after it contains a set that the state before did
        not contain."""
        gates, first_move = self.gates, 1 + len(self.network.bases)
        step = gates.step()
        step.usual = dict.fromkeys(range(first_move, self.network.first_gate), FALSE)
        gates.evaluate(step, self.running)
        holding: dict[int, list[int]] = {}
        for number, nogood in enumerate(sets):
            for x in nogood:
                holding.setdefault(x, []).append(number)
        # What differs from the state before although no move was made: clocks.
        usual = {
            b for b, x in enumerate(self.next_literals) if value(step.usual, x, self.running) != 2 * (1 + b)
        }
        losses: list[int] = []
        for move, legal in enumerate(self.legal):
            if legal == FALSE:
                losses.append(FALSE)
                continue
            known = self.running | gates.implied(legal)
            changed = gates.changed(step, {first_move + move: TRUE}, known)
            touched = {base for node in changed for base in self.outputs.get(node, ())} | usual
            after: dict[int, int] = {}
            for base in touched:
                x = self.next_literals[base]
                node = value(changed, x, known) if x >> 1 in changed else value(step.usual, x, known)
                after[1 + base] = node
            made = [
                2 * node + negated
                for node, x in after.items()
                for negated in (0, 1)
                if self._may_become(2 * node + negated, x ^ negated, known)
            ]
            candidates = sorted({number for x in made for number in holding.get(x, ())})
            losses.append(self._any_of([sets[number] for number in candidates], after, known))
        return losses

    def _may_become(self, before: int, after: int, known: set[int]) -> bool:
        """Whether a literal that is ``after`` a move this function of the state before may be true then and
        false before."""
        return (
            after not in (FALSE, before) and before not in known and before not in self.gates.implied(after)
        )

    def _any_of(self, sets: list[Nogood], after: dict[int, int], known: set[int]) -> int:
        """Whether the state after a move contains one of the sets."""
        products: dict[tuple[int, ...], None] = {}
        for nogood in sets:
            product = {value(after, x, known) for x in nogood} - {TRUE}
            self.gates.spend(len(nogood))
            if FALSE not in product and not any(x ^ 1 in product for x in product):
                products[tuple(sorted(product))] = None
        return self.gates.sum_of_products(list(products))

    def spliced(self, legal: list[int], most_inputs: int) -> Network | None:
        """As :meth:`guide`, for a network with positive recursion: its gates stay as they are, the new ones
        are put behind those that need no move."""
        if legal == self.legal:
            return None
        network, end = self.network, self.gates.end
        # All that is there already counts as input while the new gates are made smaller.
        shape = Shape(end - 1, (len(legal),), 0, 0)
        shift = len(legal)
        new = [tuple(x if x >> 1 < end else x + 2 * shift for x in gate) for gate in self.gates.new_gates]
        wanted = [x if x >> 1 < end else x + 2 * shift for x in legal]
        circuit = Circuit(shape, new, [FALSE] * (end - 1) + wanted + [FALSE])
        for rewrite in PASSES:
            circuit = rewrite(circuit)
        if circuit.gate_inputs + len(network.gate_inputs) > most_inputs:
            raise EffortError("too many gates")
        place = [
            2 * (node if node < end else node - shift) for node in range(end + shift + len(circuit.gates))
        ]
        gates = [replaced(gate, place) for gate in circuit.gates]
        more = len(gates)
        at, base = int(network.gate_start[network.base_gates]), network.base_gates

        def moved(literals: NDArray[np.int32]) -> NDArray[np.int32]:
            return np.where(literals >> 1 >= end, literals + 2 * more, literals).astype(np.int32)

        widths = np.array([len(gate) for gate in gates], np.int32)
        starts = at + np.cumsum(widths, dtype=np.int32)
        # A loop that ends where the new gates begin ends there still.
        loops = network.loops + more * (network.loops[:, :1] >= base)
        return replace(
            network,
            gate_start=np.concatenate(
                [network.gate_start[: base + 1], starts, network.gate_start[base + 1 :] + widths.sum()]
            ).astype(np.int32),
            gate_inputs=np.concatenate(
                [
                    network.gate_inputs[:at],
                    np.array([x for gate in gates for x in gate], np.int32),
                    moved(network.gate_inputs[at:]),
                ]
            ).astype(np.int32),
            base_gates=base + more,
            loops=loops.astype(np.int32),
            loop_init=np.insert(network.loop_init, base, np.zeros(more, np.uint8)),
            next_literals=moved(network.next_literals),
            percept_literals=moved(network.percept_literals),
            legal_literals=np.array(replaced(circuit.outputs[end - 1 : -1], place), np.int32),
            stats=dict(network.stats),
        )
