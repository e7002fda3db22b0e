"""Moves by which a match surely ends badly, in games whose roles move at the same time: a network for
playouts in which a role does not surely end the match without its best goal, if it can help it.

What the others do is not known: each function of the state after a move becomes two, what must be and what
may be, whatever they do (the two rails of ternary simulation: R. Bryant and C. Seger, 1995). Else it works
as :mod:`propnet.guides.decisive`, where roles take turns. Sure wins are not preferred as they are there:
playouts that did so won 7 of 40 games of connectFourSimultaneous against uniform ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from propnet.guides.lookahead import Lookahead
from propnet.guides.with_legality import with_legality
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE
from propnet.substitute import Cone, EffortError, Literals

EFFORT = 3_000_000
"""Gate inputs that are looked at, at most."""

Pair = tuple[int, int]
"""Literals over the state before: what must be, what may be."""


def sure_ends(network: Network, *, most_inputs: int, effort: int = EFFORT) -> Network | None:
    """The network in which those moves alone are legal by which the match does not surely end without the
    role's best goal, if there are any.

    In terminal states it may call other moves legal; all else is as in the network.

    Args:
        network: a game.
        most_inputs: how many inputs the new gates may have.
        effort: how many gate inputs may be looked at.

    Returns:
        The network; None if no move surely ends a match so, or if the limits do not allow for it, or where
        what a move does, or an end, depends on positive recursion.
    """
    try:
        work = _Work(network, effort)
        favoured = work.favoured()
        return with_legality(work.made, favoured, most_inputs) if favoured != work.legal else None
    except EffortError:
        return None


class _Work(Lookahead):
    """Works out which moves surely end a match, as literals over the gates of ``made``."""

    def favoured(self) -> list[int]:
        """Per move of all roles a literal: it is legal, and does not end the match badly if others do not."""
        made, found = self.made, list(self.legal)
        for role, low in enumerate(self.offsets[:-1]):
            losses = self._losses(role)
            good = [made.conjunction([self.legal[m], loss ^ 1]) for m, loss in enumerate(losses, low)]
            tenable = made.disjunction(good)
            for move, loss in enumerate(losses, low):
                found[move] = made.conjunction([self.legal[move], made.conjunction([tenable, loss]) ^ 1])
        return found

    def _losses(self, role: int) -> list[int]:
        """Per move of a role a literal: where it is legal, it surely ends the match without the best goal."""
        made, first_move = self.made, 1 + len(self.network.bases)
        best = self.best_goal(role)
        own = range(self.offsets[role], self.offsets[role + 1])
        moves = {
            first_move + move: (FALSE, FALSE if move in own else self.legal[move])
            for move in range(len(self.legal))
        }
        step = _two_rails(made.step(), moves)
        made.evaluate(step, self.running)
        following = self.network.next_literals.tolist()
        usual = {1 + base: _pair(step.usual, {}, x) for base, x in enumerate(following)}
        end = _two_rails(made.above_bases([self.over, best]), usual)
        made.evaluate(end, self.running)
        found: list[int] = []
        for move in own:
            if self.legal[move] == FALSE:
                found.append(FALSE)
                continue
            known = self.running | made.implied(self.legal[move])
            rails = _rails(first_move + move)
            after = made.changed(step, dict.fromkeys(rails, TRUE), known)
            bases: Literals = {}
            for node in {rail >> 1 for rail in after}:
                for base in self.outputs.get(node, ()):
                    bases.update(
                        zip(_rails(1 + base), _pair(step.usual, after, following[base]), strict=True)
                    )
            bases = {rail: x for rail, x in bases.items() if end.usual.get(rail, x) != x}
            changed = made.changed(end, bases, known)
            over, won = (_pair(end.usual, changed, x) for x in (self.over, best))
            found.append(made.conjunction([over[0], won[1] ^ 1], known))
        return found


def _rails(node: int) -> Pair:
    """The nodes that stand for what must be and what may be of a node."""
    return 2 * node, 2 * node + 1


def _two_rails(cone: Cone, inputs: dict[int, Pair]) -> Cone:
    """The cone in which each node is two, as :func:`_rails` numbers them; ``inputs`` are what its inputs must
    and may be, those that are not there are known."""
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
