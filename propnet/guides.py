"""Guides: networks for playouts whose `legal` leaves out blunders, built of gates that look one move ahead.

In games with alternating turns: decisive and anti-decisive moves (F. Teytaud and O. Teytaud: On the huge
benefit of decisive moves in Monte-Carlo tree search algorithms, 2010). A role that can win at once must do
so. Otherwise it must not let another role win at once, if it can avoid that. A move wins at once if the state
after it is terminal and gives the role its best goal. This is a function of the state before the move: the
cofactor of terminal and goal by the move. "Another role can win at once" is a function of the state after,
and its cofactors show which moves are mistakes. All are built as gates, each gate once, for states that are
not terminal and in which the move is legal. The functions of two moves differ in few gates.

In games with simultaneous moves: moves by which a match surely ends badly. The moves of the others are
unknown, so each function of the state after a move becomes two: whether it must hold, and whether it may
hold, whatever they do (the two rails of ternary simulation: R. Bryant and C. Seger, 1995). Sure wins are not
preferred (see docs/measurements.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gdl.terms import RANDOM
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, Circuit, Shape, remove_dead
from propnet.passes.extract import extract
from propnet.passes.finish import finish
from propnet.passes.simplify import simplify
from propnet.substitute import Cone, EffortError, Literals, Remake, assume, value

PASSES = (simplify, extract, remove_dead)

_GROWTH = 4
"""Before the passes the allowed gate inputs may be exceeded by this factor (see docs/measurements.md)."""


class _Lookahead:
    """A network and new gates over its state before a move.

    Attributes:
        gates: the network's gates, and the new ones. At most ``effort`` of their inputs may be visited.
        legal: per move of all roles, role by role, its legality.
        offsets: the place of each role's first move among all moves; at the end the number of all moves.
        over: the literal that is true if the match is over.
        running: literals that are true if it is not over.
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
        """The places of the role's moves among those of all roles."""
        return range(self.offsets[role], self.offsets[role + 1])

    def best_goal(self, role: int) -> int:
        """The literal of the role's best goal; FALSE if it has no goals."""
        mine = [(value, literal) for r, value, literal in self.network.goals.tolist() if r == role]
        return max(mine)[1] if mine else FALSE

    def favoured(self, role: int, losses: list[int], wins: list[int] | None = None) -> list[int]:
        """Per move of a role a literal: the move is legal, and no better move is.

        ``losses`` and ``wins`` are literals per move of the role: a legal move is a mistake, or wins; by
        default none wins. The random role has no preferences: it keeps all its moves."""
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
        """The network in which the favoured moves (a literal per move of all roles) are legal; None if these
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
        """The circuit: the gates that need no move, then the new ones, then those that need moves."""
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
"""The most gate inputs that are visited (see docs/measurements.md)."""

_Pair = tuple[int, int]
"""Literals over the state before the move: the value must be true; it may be true."""


def sure_ends(network: Network, *, most_inputs: int, effort: int = EFFORT) -> Network | None:
    """The guide that leaves out moves by which the match surely ends without the role's best goal, if the
    role has other moves. In terminal states other moves may be legal. Otherwise, also in its arguments and
    None, it is like :func:`propnet.guides.decisive`."""
    try:
        ends = _SureEnds(network, effort)
        favoured = [x for role in range(len(network.roles)) for x in ends.favoured(role, ends.losses(role))]
        return ends.guide(favoured, most_inputs)
    except EffortError:
        return None


class _SureEnds(_Lookahead):
    """Finds the moves that surely end a match, as literals over ``gates``."""

    def losses(self, role: int) -> list[int]:
        """Per move of a role a literal: if legal, it surely ends the match without the best goal."""
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
            assumed = self.running | gates.implied(self.legal[move])
            rails = _rails(first_move + move)
            after = gates.changed(step, dict.fromkeys(rails, TRUE), assumed)
            bases: Literals = {}
            for node in {rail >> 1 for rail in after}:
                for base in self.outputs.get(node, ()):
                    bases.update(
                        zip(_rails(1 + base), _pair(step.usual, after, self.next_literals[base]), strict=True)
                    )
            bases = {rail: x for rail, x in bases.items() if end.usual.get(rail, x) != x}
            changed = gates.changed(end, bases, assumed)
            over, won = (_pair(end.usual, changed, x) for x in (self.over, best))
            losses.append(gates.conjunction([over[0], won[1] ^ 1], assumed))
        return losses


def _rails(node: int) -> _Pair:
    """The two nodes for "must be true" and "may be true" of a node."""
    return 2 * node, 2 * node + 1


def _two_rails(cone: Cone, inputs: dict[int, _Pair]) -> Cone:
    """The cone with two nodes (:func:`_rails`) for each node; inputs missing in ``inputs`` are known."""
    reads: dict[int, Sequence[int]] = {}
    for node, read in cone.reads.items():
        for may, rail in enumerate(_rails(node)):
            # A negated literal must be true if its node may not be true, and the other way round.
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
    """The pair of a literal of the network, given its rails in ``usual`` and those that have changed."""
    node, negated = literal >> 1, literal & 1
    must, may = (changed.get(rail, usual.get(rail, 2 * node)) for rail in _rails(node))
    return (may ^ 1, must ^ 1) if negated else (must, may)


def decisive(
    network: Network, forced: list[int], *, most_inputs: int, effort: int = EFFORT
) -> Network | None:
    """The guide by which a role that can win at once must do so, and otherwise must not lose at once if it
    can avoid that.

    A role loses at once if it ends the game with another role's best goal, or lets another role win at once.
    In terminal states the guide may call other moves legal; all else is as in the network.

    Args:
        network: a game in which roles move one at a time.
        forced: per role the move that it makes when it is not its turn, -1 for none (see
            :func:`propnet.analysis.random_play.forced_moves`). It never counts as a move that wins or loses.
        most_inputs, effort: the most gate inputs that the guide may have, and that may be visited.

    Returns None if no move can win or lose at once, if the limits are too tight, or if the effect of a move,
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

    assumed: set[int]
    """Literals of the state before the move that are assumed to be true."""
    bases: dict[int, int]
    """Node of a base proposition -> its value, if it differs from :attr:`_TurnEffects.bases`."""


@dataclass(frozen=True, slots=True)
class _TurnEffects:
    """The effects of one role's moves if the other roles make their forced moves."""

    bases: dict[int, int]
    """Node of a base proposition -> its value if the role made no move."""
    after: list[_After | None]
    """Per move of the role; None for moves that do not count."""


class _OutcomesAtOnce(_Lookahead):
    """Finds the moves that win and lose at once, as literals over ``gates``."""

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
                    won = self.gates.conjunction(self._values(usual, after, outputs), after.assumed)
                    wins[move] = self.gates.conjunction([self.legal[move], won])
        return wins

    def losses(self, wins: list[int]) -> list[int]:
        """Per move of all roles a literal: if legal, the role loses at once by it."""
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
                    ended = gates.conjunction([over, lost], after.assumed)
                    beatable = gates.conjunction([over ^ 1, danger], after.assumed)
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
            assumed = self.running | gates.implied(self.legal[move])
            changed = gates.changed(step, {first_move + move: TRUE}, assumed)
            bases = {
                1 + base: value(changed, self.next_literals[base], assumed)
                for node in changed
                for base in self.outputs.get(node, ())
            }
            after.append(_After(assumed, {node: x for node, x in bases.items() if x != usual[node]}))
        return _TurnEffects(usual, after)

    def _usual_after(self, literals: list[int], turn: _TurnEffects) -> Cone:
        """Functions of the state after the turn if the role made no move."""
        cone = self.gates.above_bases(literals)
        cone.usual = dict(turn.bases)
        self.gates.evaluate(cone, self.running)
        return cone

    def _values(self, cone: Cone, after: _After, literals: list[int]) -> list[int]:
        """The values of the same functions after a move."""
        changed = self.gates.changed(cone, after.bases, after.assumed)
        return [
            assume(changed.get(x >> 1, value(cone.usual, x & ~1)) ^ (x & 1), after.assumed) for x in literals
        ]
