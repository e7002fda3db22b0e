"""What each move does: the cofactors (G. Boole) of a network's next functions by one role's moves,
structurally hashed, so that equal literals are equal functions."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, Builder


@dataclass(frozen=True, slots=True)
class Cofactors:
    """The next functions when one role makes one certain move.

    Literals are those of the network up to its gates that need moves, and from there on those of
    ``gates``; the moves of other roles are open.

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
    first, begin = network.first_gate, network.base_gates
    if any(high > begin for _, high in network.loops.tolist()):
        return None
    low = 1 + len(network.bases) + sum(map(len, network.moves[:role]))
    moves = range(low, low + len(network.moves[role]))
    starts, inputs = network.gate_start.tolist(), network.gate_inputs.tolist()
    effort -= len(inputs) - starts[begin]
    if effort < 0:
        return None
    builder = Builder(first + begin)
    readers: dict[int, list[int]] = {}
    literal = list(range(0, 2 * (first + begin), 2))
    for node in moves:
        literal[node] = FALSE
    for gate in range(begin, network.gates):
        read = inputs[starts[gate] : starts[gate + 1]]
        literal.append(builder.conjunction([literal[x >> 1] ^ (x & 1) for x in read]))
        for node in {x >> 1 for x in read if x >> 1 in moves or x >> 1 >= first + begin}:
            readers.setdefault(node, []).append(gate)
    outputs: dict[int, list[int]] = {}
    following = network.next_literals.tolist()
    for base, x in enumerate(following):
        outputs.setdefault(x >> 1, []).append(base)
    usual = [literal[x >> 1] ^ (x & 1) for x in following]
    changed: list[dict[int, int]] = []
    for node in moves:
        other = {node: TRUE}
        waiting = list(readers.get(node, ()))  # ascending, so a heap
        known = set(waiting)
        while waiting:
            gate = heappop(waiting)
            read = inputs[starts[gate] : starts[gate + 1]]
            effort -= len(read)
            if effort < 0:
                return None
            made = builder.conjunction([other.get(x >> 1, literal[x >> 1]) ^ (x & 1) for x in read])
            if made != literal[first + gate]:
                other[first + gate] = made
                for reader in readers.get(first + gate, ()):
                    if reader not in known:
                        known.add(reader)
                        heappush(waiting, reader)
        found: dict[int, int] = {}
        for at, made in other.items():
            for base in outputs.get(at, ()):
                found[base] = made ^ (following[base] & 1)
        changed.append(found)
    return Cofactors(usual, changed), effort
