"""Moves by which a match surely ends badly, in games whose roles move at the same time: a network for
playouts in which a role does not surely end the match without its best goal, if it can help it.

What the others do is not known: each function of the state after a move becomes two, what must be and what
may be, whatever they do (the two rails of ternary simulation: R. Bryant and C. Seger, 1995). Else it works
as :mod:`propnet.guides.decisive`, but does not prefer sure wins (see docs/measurements.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from propnet.guides.lookahead import Lookahead
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE
from propnet.substitute import Cone, EffortError, Literals

EFFORT = 3_000_000
"""Gate inputs that are looked at, at most."""

Pair = tuple[int, int]
"""Literals over the state before: what must be, what may be."""


def sure_ends(network: Network, *, most_inputs: int, effort: int = EFFORT) -> Network | None:
    """The guide in which only those moves are legal by which the match does not surely end without the
    role's best goal, if there are any. In terminal states it may call other moves legal; all else, arguments
    and None, is as with :func:`propnet.guides.decisive.decisive`."""
    try:
        ends = _SureEnds(network, effort)
        favoured = [x for role in range(len(network.roles)) for x in ends.favoured(role, ends.losses(role))]
        return ends.guide(favoured, most_inputs)
    except EffortError:
        return None


class _SureEnds(Lookahead):
    """Works out which moves surely end a match, as literals over ``gates``."""

    def losses(self, role: int) -> list[int]:
        """Per move of a role a literal: where it is legal, it surely ends the match without the best goal."""
        gates, first_move = self.gates, 1 + len(self.network.bases)
        best = self.best_goal(role)
        own = self.moves(role)
        moves = {
            first_move + move: (FALSE, FALSE if move in own else self.legal[move])
            for move in range(len(self.legal))
        }
        step = _two_rails(gates.step(), moves)
        gates.evaluate(step, self.running)
        usual = {1 + base: _pair(step.usual, {}, x) for base, x in enumerate(self.next_literals)}
        end = _two_rails(gates.above_bases([self.over, best]), usual)
        gates.evaluate(end, self.running)
        losses: list[int] = []
        for move in own:
            if self.legal[move] == FALSE:
                losses.append(FALSE)
                continue
            known = self.running | gates.implied(self.legal[move])
            rails = _rails(first_move + move)
            after = gates.changed(step, dict.fromkeys(rails, TRUE), known)
            bases: Literals = {}
            for node in {rail >> 1 for rail in after}:
                for base in self.outputs.get(node, ()):
                    bases.update(
                        zip(_rails(1 + base), _pair(step.usual, after, self.next_literals[base]), strict=True)
                    )
            bases = {rail: x for rail, x in bases.items() if end.usual.get(rail, x) != x}
            changed = gates.changed(end, bases, known)
            over, won = (_pair(end.usual, changed, x) for x in (self.over, best))
            losses.append(gates.conjunction([over[0], won[1] ^ 1], known))
        return losses


def _rails(node: int) -> Pair:
    """The nodes that stand for what must be and what may be of a node."""
    return 2 * node, 2 * node + 1


def _two_rails(cone: Cone, inputs: dict[int, Pair]) -> Cone:
    """The cone in which each node is two (:func:`_rails`); inputs that ``inputs`` does not hold are known."""
    reads: dict[int, Sequence[int]] = {}
    for node, read in cone.reads.items():
        for may, rail in enumerate(_rails(node)):
            # What must not be is what may be, negated.
            reads[rail] = [2 * _rails(x >> 1)[may ^ (x & 1)] + (x & 1) for x in read]
    readers: dict[int, list[int]] = {}
    for rail, read in reads.items():
        for below in {x >> 1 for x in read}:
            readers.setdefault(below, []).append(rail)
    usual: Literals = {}
    for node in ({rail >> 1 for rail in readers} | inputs.keys()) - cone.reads.keys():
        usual.update(zip(_rails(node), inputs.get(node, (2 * node, 2 * node)), strict=True))
    return Cone(reads, readers, usual)


def _pair(usual: Literals, changed: Literals, literal: int) -> Pair:
    """What a literal of the network must and may be, by what its rails usually are and have become."""
    node, negated = literal >> 1, literal & 1
    must, may = (changed.get(rail, usual.get(rail, 2 * node)) for rail in _rails(node))
    return (may ^ 1, must ^ 1) if negated else (must, may)
