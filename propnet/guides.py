"""Guides: networks for playouts whose `legal` leaves out blunders, built of gates that look one move ahead.

Where roles take turns: decisive and anti-decisive moves (F. Teytaud and O. Teytaud: On the huge benefit of
decisive moves in Monte-Carlo tree search algorithms, 2010). A role that can win at once must, and one that
cannot must not let another role win at once, if it can help it. A move wins at once if the state after it is
terminal and gives the role its best goal: a function of the state before, the cofactor of terminal and goal
by the move. "Another role can win at once" is a function of the state after, and its cofactors tell which
moves are mistakes. All are built as gates, each gate once, for states that are not terminal and in which the
move is legal; the functions of two moves differ in few gates.

Where roles move at the same time: moves by which a match surely ends badly. What the others do is not known:
each function of the state after a move becomes two, what must be and what may be, whatever they do (the two
rails of ternary simulation: R. Bryant and C. Seger, 1995). Sure wins are not preferred (see
docs/measurements.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gdl.terms import RANDOM
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, Circuit, Shape, remove_dead
from propnet.passes.extract import extract, share_overlaps
from propnet.passes.finish import finish
from propnet.passes.simplify import simplify
from propnet.substitute import Cone, EffortError, Literals, Remake, assume, value

PASSES = (simplify, share_overlaps, extract, simplify, extract, remove_dead)

_GROWTH = 4
"""Before the passes there may be so many times the allowed gate inputs (see docs/measurements.md)."""


class _Lookahead:
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
        of the role, say of a legal move that it is a mistake, and that it wins; by default none wins. Chance
        wants nothing: it keeps all its moves."""
        gates, legal = self.gates, [self.legal[move] for move in self.moves(role)]
        if self.network.roles[role] is RANDOM:
            return legal
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
        if circuit.gate_inputs > _GROWTH * most_inputs:
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


EFFORT = 3_000_000
"""Gate inputs that are looked at, at most (see docs/measurements.md)."""

_Pair = tuple[int, int]
"""Literals over the state before: what must be, what may be."""


def sure_ends(network: Network, *, most_inputs: int, effort: int = EFFORT) -> Network | None:
    """The guide in which only those moves are legal by which the match does not surely end without the
    role's best goal, if there are any. In terminal states it may call other moves legal; all else, arguments
    and None, is as with :func:`propnet.guides.decisive`."""
    try:
        ends = _SureEnds(network, effort)
        favoured = [x for role in range(len(network.roles)) for x in ends.favoured(role, ends.losses(role))]
        return ends.guide(favoured, most_inputs)
    except EffortError:
        return None


class _SureEnds(_Lookahead):
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


def _rails(node: int) -> _Pair:
    """The nodes that stand for what must be and what may be of a node."""
    return 2 * node, 2 * node + 1


def _two_rails(cone: Cone, inputs: dict[int, _Pair]) -> Cone:
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


def _pair(usual: Literals, changed: Literals, literal: int) -> _Pair:
    """What a literal of the network must and may be, by what its rails usually are and have become."""
    node, negated = literal >> 1, literal & 1
    must, may = (changed.get(rail, usual.get(rail, 2 * node)) for rail in _rails(node))
    return (may ^ 1, must ^ 1) if negated else (must, may)


def decisive(
    network: Network, forced: list[int], *, most_inputs: int, effort: int = EFFORT
) -> Network | None:
    """The guide in which only moves that win at once are legal where a role has some, and else only moves
    by which it does not lose at once, if there are any.

    To lose at once is to end the game with another role's best goal, or to let another role win at once.
    In terminal states the guide may call other moves legal; all else is as in the network.

    Args:
        network: a game in which roles move one at a time.
        forced: per role the move that it makes when it is not its turn, -1 for none (see
            :func:`propnet.analysis.classify.forced_moves`). It never counts as one that wins or loses.
        most_inputs, effort: how many gate inputs the guide may have, and how many may be looked at.

    Returns None if no move can win or lose at once, if the limits are too tight, or where what a move does,
    or an end, depends on positive recursion.
    """
    try:
        outcomes = _OutcomesAtOnce(network, forced, effort)
        wins = outcomes.wins()
        losses = outcomes.losses(wins)
        roles = enumerate(pairwise(outcomes.offsets))
        favoured = [x for role, (a, b) in roles for x in outcomes.favoured(role, losses[a:b], wins[a:b])]
        return outcomes.guide(favoured, most_inputs)
    except EffortError:
        return None


@dataclass(frozen=True, slots=True)
class _After:
    """The state after a move, as functions of the state before."""

    known: set[int]
    """Literals of the state before that are true where this matters."""
    bases: dict[int, int]
    """Node of a base proposition -> its value, where it differs from :attr:`_TurnEffects.bases`."""


@dataclass(frozen=True, slots=True)
class _TurnEffects:
    """What the moves of one role do if the others make those that they are forced to."""

    bases: dict[int, int]
    """Node of a base proposition -> its value if the role made no move."""
    after: list[_After | None]
    """Per move of the role; None for those that do not count."""


class _OutcomesAtOnce(_Lookahead):
    """Works out which moves win and lose at once, as literals over ``gates``."""

    def __init__(self, network: Network, forced: list[int], effort: int) -> None:
        super().__init__(network, effort)
        self.best = [self.best_goal(role) for role in range(len(network.roles))]
        self.turns = [self._effects(role, forced) for role in range(len(network.roles))]

    def wins(self) -> list[int]:
        """Per move of all roles a literal: it is legal and wins at once."""
        wins = [FALSE] * len(self.legal)
        for role, turn in enumerate(self.turns):
            if self.best[role] == FALSE:
                continue
            outputs = [self.over, self.best[role]]
            usual = self._usual_after(outputs, turn)
            for move, after in enumerate(turn.after, self.offsets[role]):
                if after is not None:
                    won = self.gates.conjunction(self._values(usual, after, outputs), after.known)
                    wins[move] = self.gates.conjunction([self.legal[move], won])
        return wins

    def losses(self, wins: list[int]) -> list[int]:
        """Per move of all roles a literal: where it is legal, the role loses at once by it."""
        gates, losses = self.gates, [FALSE] * len(self.legal)
        winnable = [gates.disjunction(wins[low:high]) for low, high in pairwise(self.offsets)]
        for role, turn in enumerate(self.turns):
            rivals = [rival for rival in range(len(self.turns)) if rival != role]
            threat = gates.disjunction([winnable[rival] for rival in rivals])
            beaten = gates.disjunction([self.best[rival] for rival in rivals])
            outputs = [self.over, threat, beaten]
            usual = self._usual_after(outputs, turn)
            for move, after in enumerate(turn.after, self.offsets[role]):
                if after is not None:
                    over, danger, lost = self._values(usual, after, outputs)
                    ended = gates.conjunction([over, lost], after.known)
                    beatable = gates.conjunction([over ^ 1, danger], after.known)
                    losses[move] = gates.disjunction([ended, beatable])
        return losses

    def _effects(self, role: int, forced: list[int]) -> _TurnEffects:
        gates, first_move = self.gates, 1 + len(self.network.bases)
        step = gates.step()
        step.usual = dict.fromkeys(range(first_move, self.network.first_gate), FALSE)
        for rival, noop in enumerate(forced):
            if rival != role and noop >= 0:
                step.usual[first_move + self.offsets[rival] + noop] = TRUE
        gates.evaluate(step, self.running)
        usual = {1 + base: value(step.usual, x, self.running) for base, x in enumerate(self.next_literals)}
        after: list[_After | None] = []
        for move in self.moves(role):
            if self.legal[move] == FALSE or move - self.offsets[role] == forced[role]:
                after.append(None)
                continue
            known = self.running | gates.implied(self.legal[move])
            changed = gates.changed(step, {first_move + move: TRUE}, known)
            bases = {
                1 + base: value(changed, self.next_literals[base], known)
                for node in changed
                for base in self.outputs.get(node, ())
            }
            after.append(_After(known, {node: x for node, x in bases.items() if x != usual[node]}))
        return _TurnEffects(usual, after)

    def _usual_after(self, literals: list[int], turn: _TurnEffects) -> Cone:
        """Functions of the state after the turn, if the role made no move."""
        cone = self.gates.above_bases(literals)
        cone.usual = dict(turn.bases)
        self.gates.evaluate(cone, self.running)
        return cone

    def _values(self, cone: Cone, after: _After, literals: list[int]) -> list[int]:
        """The same functions after a move."""
        changed = self.gates.changed(cone, after.bases, after.known)
        return [
            assume(changed.get(x >> 1, value(cone.usual, x & ~1)) ^ (x & 1), after.known) for x in literals
        ]
