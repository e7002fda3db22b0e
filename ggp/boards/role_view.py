"""Shows what one role knows in a game of hidden information: sure facts, and the likelihoods of the others.
It uses only the role's own moves and percepts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gdl.machine import Machine, State
from gdl.syntax.preface import Preface
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.layers import Square, Thing
from ggp.boards.scene import Onlooker, Past, Seen
from ggp.boards.svg.picture import SvgPainter
from players.belief.belief import SURE, Belief, likelihoods, observed, world_machine
from players.belief.worlds import StateWorlds

WORLDS, EFFORT = 20_000, 200_000
"""Worlds and effort of a belief on a machine with lanes: a turn takes tenths of a second."""
_SLOW_WORLDS, _SLOW_EFFORT = 2_000, 8_000
"""The same on other machines."""
LEAST = 0.005
"""Smallest likelihood that is shown."""
MOST_FACTS = 40


@dataclass(frozen=True, slots=True)
class RoleSight:
    """The knowledge of a role before a step.

    Attributes:
        sure: the propositions true in all states that the role considers possible.
        shown: the data sent to the page: the drawing ``svg`` of the sure propositions, or if likelihoods are
            ``quiet`` of those that the role was shown; ``beside`` as in
            :meth:`ggp.web.play.view.TableView.seen`; ``percepts`` of the last step in words; ``sees``, what
            the rules say of what the role sees; the number of possible states (``count``), and whether it is
            complete (``exact``); ``squares`` with the ``things`` that may be there, and further ``guesses``,
            each with its likelihood in percent; ``quiet``, whether these are shown on request only.
        past: the steps up to now, as the role knows them.
    """

    sure: frozenset[Term]
    shown: dict[str, Any]
    past: tuple[Seen, ...] = ()


def new_belief(machine: Machine, role: int, seed: int) -> Belief:
    """A belief for a table."""
    slow = isinstance(world_machine(machine, role), StateWorlds)
    worlds, effort = (_SLOW_WORLDS, _SLOW_EFFORT) if slow else (WORLDS, EFFORT)
    return Belief(machine, role, worlds=worlds, effort=effort, seed=seed)


def past_of(steps: Iterable[tuple[State, Sequence[int]]]) -> list[Seen]:
    """Steps with the moves and percepts of all roles."""
    seen = ((state, one) for state, joint in steps for one in observed(state, joint))
    return [(state.propositions, one.move, one.percepts) for state, one in seen]


class SightView:
    """Draws the knowledge of roles in one game, and says it in the words that its rules have for it."""

    def __init__(self, machine: Machine, board: Grid | None, painter: SvgPainter, said: Preface) -> None:
        self._machine, self._board, self._painter, self._said = machine, board, painter, said

    def sight(self, belief: Belief, before: RoleSight | None) -> RoleSight:
        """The knowledge of the belief's role. Changes since ``before`` are marked."""
        spell = self._machine.rules.spell
        likely = likelihoods(belief)
        sure = frozenset(term for term, share in likely.items() if share >= SURE)
        was = None if before is None else self._told(before.sure, belief.role)
        told = self._told(sure, belief.role)
        board = self._board
        if board is not None and self._painter.quiet and not board.seas:
            board = None  # Pegs have no square for each fact.
        unsure = sorted(t for t, share in likely.items() if LEAST <= share < SURE or t in sure - told)
        squares: dict[Square, list[tuple[float, Term, Thing]]] = {}
        guesses: list[tuple[float, str]] = []
        for term in unsure:
            square, thing = (board and board.where(term)) or (None, ())
            if square is None or board is None or board.key(square) is None:
                guesses.append((likely[term], self._said.words(spell(term))))
            elif thing not in board.blanks and not self._painter.hides(thing):
                squares.setdefault(square, []).append((likely[term], term, thing))
        guesses.sort(key=lambda one: (-one[0], one[1]))
        last = belief.history[-1] if belief.history else None
        learnt = () if last is None else last.percepts
        past: tuple[Seen, ...] = tuple(((), one.move, one.percepts) for one in belief.history)
        if before is not None and last is not None:
            past = (*before.past, (before.sure, last.move, learnt))
        shown = {
            "svg": self._painter.draw(told, was, facts=False, by=self._onlooker(belief, likely, past)),
            "quiet": self._painter.quiet,
            "beside": self._painter.describe(sure, was)["beside"],
            "percepts": self.percepts(learnt),
            "sees": self._said.sight,
            "count": len(belief),
            "exact": belief.exact,
            "squares": [
                {"square": self._key(square), "things": self._things(things)}
                for square, things in sorted(squares.items(), key=lambda one: self._key(one[0]))
            ],
            "guesses": [[text, _percent(share)] for share, text in guesses[:MOST_FACTS]],
        }
        return RoleSight(sure, shown, past)

    def _told(self, sure: frozenset[Term], role: int) -> frozenset[Term]:
        """The sure facts without those of a code, and of squares of the other's sea where no shot fell:
        people want to find them out themselves."""
        board = self._board
        if board is None or not self._painter.quiet:
            return sure
        placed = {term: place[0] for term in sure if (place := board.where(term)) is not None}
        shots = {placed[t] for t in placed if any(layer.across and layer.fits(t) for layer in board.layers)}
        own = (self._machine.roles[role],) if board.seas else None
        return frozenset(t for t in sure if t not in placed or placed[t][0] == own or placed[t] in shots)

    def _onlooker(self, belief: Belief, likely: dict[Term, float], past: Past) -> Onlooker:
        """The belief's role, with its own moves, the steps and what it does not know."""
        moves = [None] * belief.role + [one.move for one in belief.history[-1:]]
        unsure = {term: share for term, share in likely.items() if share < SURE}
        return Onlooker(belief.role, unsure, moves, past=past)

    def percepts(self, percepts: Iterable[Term]) -> list[str]:
        """Percepts in words."""
        return [self._said.words(self._machine.rules.spell(percept)) for percept in sorted(percepts)]

    def _things(self, things: list[tuple[float, Term, Thing]]) -> list[list[Any]]:
        """The things that may stand on one square, the likeliest first, each as words, percent and colour."""
        spell, colour = self._machine.rules.spell, self._painter.colour
        return [
            [" ".join(map(spell, thing)), _percent(share), colour(thing)]
            for share, _, thing in sorted(things, key=lambda one: (-one[0], one[1]))
        ]

    def _key(self, square: Square) -> str:
        assert self._board is not None
        return self._board.key(square) or ""


def _percent(share: float) -> int:
    """A likelihood in percent; only certain facts have 0 or 100."""
    return 100 if share >= SURE else min(99, max(1, round(100 * share)))
