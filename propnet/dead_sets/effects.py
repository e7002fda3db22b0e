"""What each move of a one-player game reads and changes, from the cofactors of its network."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass

from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE
from propnet.substitute import Remake, value


@dataclass(frozen=True, slots=True)
class MoveEffect:
    """What is known of one move, wherever it is legal and the match goes on.

    Attributes:
        touched: base propositions that may be others after it than before.
        forced: literals of base propositions, each true wherever the move is made.
        reads: bit b says whether base proposition b matters to the move's legality, or to what becomes of
            the touched ones.
    """

    touched: frozenset[int]
    forced: tuple[int, ...]
    reads: int


def move_effects(network: Network, effort: int) -> Generator[None, None, list[MoveEffect | None]]:
    """Yields now and then; returns the effect of each move of a one-player game; None for those that are
    never legal. Raises EffortError where ``effort`` gate inputs are too few, or what a move does depends on
    positive recursion."""
    gates = Remake(network, effort)
    bases, first = len(network.bases), 1 + len(network.bases)
    legal, following = network.legal_literals.tolist(), network.next_literals.tolist()
    running = gates.implied(int(network.terminal_literal) ^ 1)
    outputs: dict[int, list[int]] = {}
    for base, x in enumerate(following):
        outputs.setdefault(x >> 1, []).append(base)
    step = gates.step()
    step.usual = dict.fromkeys(range(first, network.first_gate), FALSE)
    gates.evaluate(step, running)
    drifting = {b for b, x in enumerate(following) if value(step.usual, x) != 2 * (1 + b)}
    supports = _Supports(gates)
    effects: list[MoveEffect | None] = []
    for move, literal in enumerate(legal):
        yield
        known = running | gates.implied(literal)
        if literal == FALSE or any(x ^ 1 in known for x in known):
            effects.append(None)
            continue
        changed = gates.changed(step, {first + move: TRUE}, known)
        touched, reads = set(), supports.of(literal)
        for base in drifting.union(*(outputs.get(node, ()) for node in changed)):
            x = following[base]
            after = value(changed if x >> 1 in changed else step.usual, x, known)
            before = 2 * (1 + base)
            same = after == before or (after == TRUE and before in known)
            if not same and not (after == FALSE and before + 1 in known):
                touched.add(base)
                reads |= supports.of(after)
        forced = tuple(sorted(x for x in known if 1 <= x >> 1 <= bases))
        effects.append(MoveEffect(frozenset(touched), forced, reads))
    return effects


def conditions(network: Network, goals: Iterable[int], effort: int) -> list[int]:
    """What an end with one of these goals (literals) depends on, condition by condition: a mask of base
    propositions for each, bit b for base proposition b. All conditions of a goal must hold, and each
    depends on its own propositions alone. Raises EffortError as :func:`move_effects`."""
    gates = Remake(network, effort)
    supports = _Supports(gates)
    masks: dict[int, None] = {}
    waiting = [int(network.terminal_literal), *goals]
    seen: set[int] = set()
    while waiting:
        x = waiting.pop()
        if x in seen:
            continue
        seen.add(x)
        below = () if x & 1 else gates.inputs(x >> 1)
        gates.spend(1 + len(below))
        if below:
            waiting += below
        else:
            masks[supports.of(x)] = None
    return list(masks)


class _Supports:
    """The base propositions that gates read, directly or not: a bit each."""

    def __init__(self, gates: Remake) -> None:
        self.gates = gates
        network = gates.network
        bases = len(network.bases)
        self._looping = {
            network.first_gate + gate for low, high in network.loops.tolist() for gate in range(low, high)
        }
        self._masks = [0, *(1 << base for base in range(bases)), *([0] * network.move_count)]

    def of(self, literal: int) -> int:
        """Those of a literal over gates that need no move, and new ones."""
        masks, node = self._masks, literal >> 1
        while len(masks) <= node:
            below = self.gates.inputs(len(masks))
            self.gates.spend(len(below))
            mask = -1 if len(masks) in self._looping else 0
            for x in below if not mask else ():
                mask |= masks[x >> 1]
            masks.append(mask)
        return masks[node]
