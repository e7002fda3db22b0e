"""Decisive and anti-decisive moves for playouts (F. Teytaud and O. Teytaud: On the huge benefit of decisive
moves in Monte-Carlo tree search algorithms, 2010): a network in which a role that can win at once must, and
one that cannot must not let another role win at once, if it can help it.

A move wins at once if the state after it is terminal and gives the role its best goal. That is a
function of the state before: terminal and goal of the next functions, these with the move put in for
the role's moves (its cofactor). The functions of all moves are built as gates, each gate once, with what
is known where it matters: the state is not terminal, and the move is legal. A move that never wins at
once costs nothing, and the functions of one move differ from those of others in few gates.

"Another role can win at once" is such a function too, of the state after the move: its cofactors by the
move, made in the same way, tell which moves are mistakes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from propnet.guides.lookahead import Lookahead
from propnet.guides.with_legality import with_legality
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE
from propnet.substitute import Cone, EffortError, assume, value

EFFORT = 3_000_000
"""Gate inputs that are looked at, at most: about two seconds."""


def decisive(
    network: Network,
    forced: list[int],
    *,
    most_inputs: int,
    effort: int = EFFORT,
    safe: bool = True,
) -> Network | None:
    """The network in which, where a role has moves that win at once, these alone are legal, and else
    those alone by which it does not lose at once, if there are any.

    To lose at once is to end the game with another role's best goal, or to let another role win at once.
    In terminal states it may call other moves legal; all else is as in the network.

    Args:
        network: a game in which roles move one at a time.
        forced: per role the move that it makes when it is not its turn, -1 for none (see
            :func:`propnet.analysis.turns.forced_moves`). It never counts as one that wins or loses.
        most_inputs: how many inputs the new gates may have.
        effort: how many gate inputs may be looked at.
        safe: whether moves by which a role loses at once count; else only those that win do.

    Returns:
        The network; None if no move can win or lose at once, or if the limits do not allow for it, or where
        what a move does, or an end, depends on positive recursion.
    """
    try:
        work = _Work(network, forced, effort)
        wins = work.wins()
        losses = work.losses(wins) if safe else [FALSE] * len(wins)
        favoured = work.favoured(wins, losses)
        return with_legality(work.made, favoured, most_inputs) if favoured != work.legal else None
    except EffortError:
        return None


@dataclass(frozen=True, slots=True)
class _After:
    """The state after a move, as functions of the state before.

    Attributes:
        known: literals of the state before that are true where this matters.
        bases: node of a base proposition -> its value, for those that are not as :attr:`_Turn.bases` says.
    """

    known: set[int]
    bases: dict[int, int]


@dataclass(frozen=True, slots=True)
class _Turn:
    """What the moves of one role do if the others make those that they are forced to.

    Attributes:
        bases: node of a base proposition -> its value if the role made no move.
        after: per move of the role; None for those that do not count.
    """

    bases: dict[int, int]
    after: list[_After | None]


class _Work(Lookahead):
    """Works out which moves win and lose at once, as literals over the gates of ``made``."""

    def __init__(self, network: Network, forced: list[int], effort: int) -> None:
        super().__init__(network, effort)
        self.best = [self.best_goal(role) for role in range(len(network.roles))]
        self.turns = [self._turn(role, forced) for role in range(len(network.roles))]

    def wins(self) -> list[int]:
        """Per move of all roles a literal: it is legal and wins at once."""
        found = [FALSE] * len(self.legal)
        for role, turn in enumerate(self.turns):
            if self.best[role] == FALSE:
                continue
            ending = self._usually([self.over, self.best[role]], turn)
            for move, after in enumerate(turn.after, self.offsets[role]):
                if after is not None:
                    over, won = self._values(ending, after, [self.over, self.best[role]])
                    won = self.made.conjunction([over, won], after.known)
                    found[move] = self.made.conjunction([self.legal[move], won])
        return found

    def losses(self, wins: list[int]) -> list[int]:
        """Per move of all roles a literal: where it is legal, the role loses at once by it."""
        found = [FALSE] * len(self.legal)
        some = [self.made.disjunction(wins[low:high]) for low, high in pairwise(self.offsets)]
        for role, turn in enumerate(self.turns):
            others = [other for other in range(len(self.turns)) if other != role]
            threat = self.made.disjunction([some[other] for other in others])
            beaten = self.made.disjunction([self.best[other] for other in others])
            asked = [self.over, threat, beaten]
            following = self._usually(asked, turn)
            for move, after in enumerate(turn.after, self.offsets[role]):
                if after is not None:
                    over, danger, lost = self._values(following, after, asked)
                    ended = self.made.conjunction([over, lost], after.known)
                    beatable = self.made.conjunction([over ^ 1, danger], after.known)
                    found[move] = self.made.disjunction([ended, beatable])
        return found

    def favoured(self, wins: list[int], losses: list[int]) -> list[int]:
        """Per move of all roles a literal: it is legal, and none that is better is."""
        made, found = self.made, list(self.legal)
        for low, high in pairwise(self.offsets):
            winnable = made.disjunction(wins[low:high])
            good = [made.conjunction([self.legal[m], losses[m] ^ 1]) for m in range(low, high)]
            tenable = made.disjunction(good)
            for move in range(low, high):
                beside = made.conjunction([winnable, wins[move] ^ 1])
                mistake = made.conjunction([tenable, losses[move], wins[move] ^ 1])
                found[move] = made.conjunction([self.legal[move], beside ^ 1, mistake ^ 1])
        return found

    def _turn(self, role: int, forced: list[int]) -> _Turn:
        made, first_move = self.made, 1 + len(self.network.bases)
        step = made.step()
        step.usual = dict.fromkeys(range(first_move, self.network.first_gate), FALSE)
        for other, noop in enumerate(forced):
            if other != role and noop >= 0:
                step.usual[first_move + self.offsets[other] + noop] = TRUE
        made.evaluate(step, self.running)
        next_literals = self.network.next_literals.tolist()
        usual = {1 + base: value(step.usual, x, self.running) for base, x in enumerate(next_literals)}
        after: list[_After | None] = []
        for move in range(self.offsets[role], self.offsets[role + 1]):
            if self.legal[move] == FALSE or move - self.offsets[role] == forced[role]:
                after.append(None)
                continue
            known = self.running | made.implied(self.legal[move])
            changed = made.changed(step, {first_move + move: TRUE}, known)
            bases = {
                1 + base: value(changed, next_literals[base], known)
                for node in changed
                for base in self.outputs.get(node, ())
            }
            after.append(_After(known, {node: x for node, x in bases.items() if x != usual[node]}))
        return _Turn(usual, after)

    def _usually(self, literals: list[int], turn: _Turn) -> Cone:
        """Functions of the state after the turn, if the role made no move."""
        cone = self.made.above_bases(literals)
        cone.usual = dict(turn.bases)
        self.made.evaluate(cone, self.running)
        return cone

    def _values(self, cone: Cone, after: _After, literals: list[int]) -> list[int]:
        """The same after a move."""
        changed = self.made.changed(cone, after.bases, after.known)
        return [
            assume(changed.get(x >> 1, value(cone.usual, x & ~1)) ^ (x & 1), after.known) for x in literals
        ]
