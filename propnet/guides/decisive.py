"""Decisive and anti-decisive moves for playouts (F. Teytaud and O. Teytaud: On the huge benefit of decisive
moves in Monte-Carlo tree search algorithms, 2010): a network in which a role that can win at once must, and
one that cannot must not let another role win at once, if it can help it.

A move wins at once if the state after it is terminal and gives the role its best goal. That is a
function of the state before: terminal and goal of the next functions with the move put in (their cofactor).
All these functions are built as gates, each gate once, for states that are not terminal and in which the
move is legal. A move that never wins at once costs nothing, and the functions of two moves differ in few
gates. "Another role can win at once" is such a function of the state after the move; its cofactors tell
which moves are mistakes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from propnet.guides.lookahead import Lookahead
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE
from propnet.substitute import Cone, EffortError, assume, value

EFFORT = 3_000_000
"""Gate inputs that are looked at, at most (see docs/measurements.md)."""


def decisive(
    network: Network,
    forced: list[int],
    *,
    most_inputs: int,
    effort: int = EFFORT,
    safe: bool = True,
) -> Network | None:
    """The guide in which only moves that win at once are legal where a role has some, and else only moves
    by which it does not lose at once, if there are any.

    To lose at once is to end the game with another role's best goal, or to let another role win at once.
    In terminal states the guide may call other moves legal; all else is as in the network.

    Args:
        network: a game in which roles move one at a time.
        forced: per role the move that it makes when it is not its turn, -1 for none (see
            :func:`propnet.analysis.turns.forced_moves`). It never counts as one that wins or loses.
        most_inputs: how many inputs the new gates may have.
        effort: how many gate inputs may be looked at.
        safe: whether moves by which a role loses at once count; else only those that win do.

    Returns:
        None if no move can win or lose at once, if the limits are too tight, or where what a move does, or
        an end, depends on positive recursion.
    """
    try:
        outcomes = _OutcomesAtOnce(network, forced, effort)
        wins = outcomes.wins()
        losses = outcomes.losses(wins) if safe else [FALSE] * len(wins)
        roles = enumerate(pairwise(outcomes.offsets))
        favoured = [x for role, (a, b) in roles for x in outcomes.favoured(role, losses[a:b], wins[a:b])]
        return outcomes.guide(favoured, most_inputs)
    except EffortError:
        return None


@dataclass(frozen=True, slots=True)
class _After:
    """The state after a move, as functions of the state before.

    Attributes:
        known: literals of the state before that are true where this matters.
        bases: node of a base proposition -> its value, where it differs from :attr:`_TurnEffects.bases`.
    """

    known: set[int]
    bases: dict[int, int]


@dataclass(frozen=True, slots=True)
class _TurnEffects:
    """What the moves of one role do if the others make those that they are forced to.

    Attributes:
        bases: node of a base proposition -> its value if the role made no move.
        after: per move of the role; None for those that do not count.
    """

    bases: dict[int, int]
    after: list[_After | None]


class _OutcomesAtOnce(Lookahead):
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
            asked = [self.over, self.best[role]]
            usual = self._usual_after(asked, turn)
            for move, after in enumerate(turn.after, self.offsets[role]):
                if after is not None:
                    won = self.gates.conjunction(self._values(usual, after, asked), after.known)
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
            asked = [self.over, threat, beaten]
            usual = self._usual_after(asked, turn)
            for move, after in enumerate(turn.after, self.offsets[role]):
                if after is not None:
                    over, danger, lost = self._values(usual, after, asked)
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
