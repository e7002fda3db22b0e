"""What each move does: the cofactors (G. Boole) of a network's next functions by one role's moves.

They are structurally hashed, so that equal literals are equal functions.
"""

from __future__ import annotations

from dataclasses import dataclass

from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE
from propnet.substitute import Remake, value


@dataclass(frozen=True, slots=True)
class Cofactors:
    """The next functions when one role makes one certain move.

    Literals are those of the network up to its gates that need moves, and from there on new gates
    (:mod:`propnet.substitute`); the moves of other roles are open.

    Attributes:
        usual: per base proposition its next function if none of the moves were made.
        changed: per move the base propositions whose next function differs from the usual one, with it.
    """

    usual: list[int]
    changed: list[dict[int, int]]


def cofactors(network: Network, role: int, effort: int) -> tuple[Cofactors, int]:
    """The cofactors by the moves of a role, and how much effort is left.

    Args:
        network: the network.
        role: whose moves.
        effort: how many gate inputs may be looked at.

    Raises:
        EffortError: that was not enough, or there are loops among the gates that need moves.
    """
    low = 1 + len(network.bases) + sum(map(len, network.moves[:role]))
    moves = range(low, low + len(network.moves[role]))
    next_literals = network.next_literals.tolist()
    outputs: dict[int, list[int]] = {}
    for base, x in enumerate(next_literals):
        outputs.setdefault(x >> 1, []).append(base)
    gates = Remake(network, effort)
    step = gates.step()
    step.usual = dict.fromkeys(moves, FALSE)
    gates.evaluate(step)
    changed = [
        {
            base: literal ^ (next_literals[base] & 1)
            for node, literal in gates.changed(step, {move: TRUE}).items()
            for base in outputs.get(node, ())
        }
        for move in moves
    ]
    return Cofactors([value(step.usual, x) for x in next_literals], changed), gates.effort
