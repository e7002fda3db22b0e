"""What one role knows of a match of hidden information, as the page shows it: what is sure, and how likely
the rest is. All of it comes from what the role did and perceived.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gdl.machine import JointMove, Machine, State
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.layers import Square
from ggp.boards.svg.picture import SvgPainter
from players.belief.belief import Belief, Observed, world_machine
from players.belief.likelihood import SURE, likelihoods
from players.belief.worlds import StateWorlds

WORLDS, EFFORT = 20_000, 200_000
"""Of a belief on a machine with lanes: so that a turn takes tenths of a second."""
SLOW_WORLDS, SLOW_EFFORT = 2_000, 8_000
"""The same on other machines."""
LEAST = 0.005
"""What is less likely is not shown."""
MOST_FACTS = 40


@dataclass(frozen=True, slots=True)
class RoleSight:
    """What a role knows before a step.

    Attributes:
        sure: what is true in all states that it holds for possible.
        shown: what the page is told: the drawing ``svg`` of what is sure, ``beside`` as
            :meth:`ggp.web.play.view.TableView.seen` has them; ``percepts`` of the last step; how many states
            are possible (``count``), and whether these are all (``exact``); ``squares`` with the ``things``
            that may be there, and further ``guesses``, each with its likelihood in percent.
    """

    sure: frozenset[Term]
    shown: dict[str, Any]


def new_belief(machine: Machine, role: int, seed: int) -> Belief:
    """A belief for a table."""
    slow = isinstance(world_machine(machine, role), StateWorlds)
    worlds, effort = (SLOW_WORLDS, SLOW_EFFORT) if slow else (WORLDS, EFFORT)
    return Belief(machine, role, worlds=worlds, effort=effort, seed=seed)


def observed(state: State, joint: JointMove) -> list[Observed]:
    """What each role learns as a joint move is made."""
    machine = state.machine
    seen = machine.percepts(state, joint)
    return [Observed(machine.move(role, move), seen[role]) for role, move in enumerate(joint)]


class SightView:
    """Draws what roles know in one game."""

    def __init__(self, machine: Machine, board: Grid | None, painter: SvgPainter) -> None:
        self._machine, self._board, self._painter = machine, board, painter

    def sight(self, belief: Belief, before: RoleSight | None) -> RoleSight:
        """What the role of a belief knows; what has changed since ``before`` is marked."""
        spell = self._machine.rules.spell
        likely = likelihoods(belief)
        sure = frozenset(term for term, share in likely.items() if share >= SURE)
        was = None if before is None else before.sure
        unsure = sorted(term for term, share in likely.items() if LEAST <= share < SURE)
        squares: dict[Square, list[tuple[float, Term]]] = {}
        guesses: list[tuple[float, str]] = []
        for term in unsure:
            layer = self._board and next((one for one in self._board.layers if one.fits(term)), None)
            square = layer.square(term) if layer else None
            if not layer or square is None or self._board is None or self._board.key(square) is None:
                guesses.append((likely[term], _words(spell(term))))
            elif layer.thing(term) not in self._board.blanks:
                squares.setdefault(square, []).append((likely[term], term))
        guesses.sort(key=lambda one: (-one[0], one[1]))
        learnt = belief.history[-1].percepts if belief.history else ()
        shown = {
            "svg": self._painter.draw(sure, was, facts=False),
            "beside": self._painter.describe(sure, was)["beside"],
            "percepts": self.percepts(learnt),
            "count": len(belief),
            "exact": belief.exact,
            "squares": [
                {"square": self._key(square), "things": self._things(things)}
                for square, things in sorted(squares.items(), key=lambda one: self._key(one[0]))
            ],
            "guesses": [[text, _percent(share)] for share, text in guesses[:MOST_FACTS]],
        }
        return RoleSight(sure, shown)

    def percepts(self, percepts: Iterable[Term]) -> list[str]:
        """Percepts in words."""
        return [_words(self._machine.rules.spell(percept)) for percept in sorted(percepts)]

    def _things(self, things: list[tuple[float, Term]]) -> list[list[Any]]:
        """What may stand on one square, the likeliest first: in words, in percent, and in which colour."""
        assert self._board is not None
        told = []
        for share, term in sorted(things, key=lambda one: (-one[0], one[1])):
            layer = next(one for one in self._board.layers if one.fits(term))
            thing = layer.thing(term)
            words = " ".join(map(self._machine.rules.spell, thing))
            told.append([words, _percent(share), self._painter.colour(thing)])
        return told

    def _key(self, square: Square) -> str:
        assert self._board is not None
        return self._board.key(square) or ""


def _percent(share: float) -> int:
    """A likelihood in percent; 0 and 100 are for what is sure."""
    return min(99, max(1, round(100 * share)))


def _words(text: str) -> str:
    """KIF without its outermost parentheses: people read ``card king``."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text
