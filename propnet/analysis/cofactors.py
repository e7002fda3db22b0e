"""What each move does: the cofactors (G. Boole) of a network's next functions by one role's moves,
structurally hashed, so that equal literals are equal functions."""

from __future__ import annotations

from dataclasses import dataclass

from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE
from propnet.substitute import EffortError, Remake, value


@dataclass(frozen=True, slots=True)
class Cofactors:
    """The next functions when one role makes one certain move.

    Literals are those of the network up to its gates that need moves, and from there on new gates
    (:mod:`propnet.substitute`); the moves of other roles are open.

    Attributes:
        usual: per base proposition its next function if none of the moves were made.
        changed: per move the base propositions whose next function is another one then, and which.
    """

    usual: list[int]
    changed: list[dict[int, int]]


def cofactors(network: Network, role: int, effort: int) -> tuple[Cofactors, int] | None:
    """The cofactors by the moves of a role, and how much effort is left; None if it was not enough.

    Args:
        network: one without loops among the gates that need moves.
        effort: how many gate inputs may be looked at.
    """
    low = 1 + len(network.bases) + sum(map(len, network.moves[:role]))
    moves = range(low, low + len(network.moves[role]))
    following = network.next_literals.tolist()
    outputs: dict[int, list[int]] = {}
    for base, x in enumerate(following):
        outputs.setdefault(x >> 1, []).append(base)
    changed: list[dict[int, int]] = []
    made = Remake(network, effort)
    try:
        step = made.step()
        step.usual = dict.fromkeys(moves, FALSE)
        made.evaluate(step)
        for move in moves:
            found = made.changed(step, {move: TRUE})
            changed.append(
                {
                    base: literal ^ (following[base] & 1)
                    for node, literal in found.items()
                    for base in outputs.get(node, ())
                }
            )
    except EffortError:
        return None
    return Cofactors([value(step.usual, x) for x in following], changed), made.effort
