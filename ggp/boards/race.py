"""Races such as backgammon: points that hold several pieces each, a bar, trays and dice, and moves as clicks.

Their places have keys as squares have: ``0,5,0`` is the sixth point, ``bar,1`` and ``tray,1`` are those of
the role with number 1, ``die,4`` is a die that shows 4. A move seldom names the point where it ends, so its
clicks come from what it changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from gdl.hints import board_hint
from gdl.information import playing
from gdl.rules import Rules
from gdl.terms import ROLE, Term
from ggp.boards.board import Grid
from ggp.boards.layers import Square, Thing, amount
from ggp.boards.looks import fact_hint, owners_on
from ggp.boards.shapes import BoardShape

_FEWEST_POINTS = 8
"""Fewest columns that are points without a hint."""
_MOST_DICE = 8
_PLACES, _DICE = ("bar", "tray"), ("die", "dice", "doubles")
Held = Mapping[tuple[str, int], int]
"""The number of pieces by the key of their place and the number of their role."""


class Race:
    """The pieces and dice in states of one race.

    Attributes:
        players: the numbers of the two roles that race.
        owners: the role of each thing that has one.
        points: the columns in order, from the first role's home on.
        has_trays: whether rules say what is drawn as trays.
    """

    def __init__(self, board: Grid, rules: Rules) -> None:
        self.board, self._rules = board, rules
        heads = (rule.head for rule in rules if rule.head.signature == (ROLE, 1))
        self.roles = tuple(dict.fromkeys(head.args[0] for head in heads))
        self.players = playing(self.roles)[:2]
        owners = owners_on(board, rules, self.roles)
        self.owners = {thing: owner for thing, owner in owners.items() if owner in self.players}
        first = [thing for thing, owner in self.owners.items() if owner == self.players[0]]
        ascends = sum(board.behaviour.drift.get(thing, 0) for thing in first) > 0
        self.points = board.columns[::-1] if ascends else board.columns
        self.has_trays = any(hint.look == "tray" for hint in rules.hints)

    @classmethod
    def of_board(cls, board: Grid | None, rules: Rules) -> Race | None:
        """The race on a board: with the hint ``race``, or if each of many columns is a pile of one side's
        pieces, which move. None for other boards."""
        if board is None or board.shape is not BoardShape.STRAIGHT or board.panels != ((),):
            return None
        wide, hint, behaviour = len(board.columns), board_hint(rules.hints), board.behaviour
        if hint not in ("", "race") or wide < 4 or wide % 2:
            return None
        high = max(behaviour.most.values(), default=0) > wide // 4
        if not hint and not (behaviour.piles and high and behaviour.moves and wide >= _FEWEST_POINTS):
            return None
        race = cls(board, rules)
        sides = sorted(race.owners.values())
        return race if sides and len(race.players) == 2 and (hint or sides == race.players) else None

    def key(self, x: Term) -> str:
        """The key of a point."""
        return f"0,{self.board.columns.index(x)},0"

    def look(self, fact: Term) -> str:
        """``bar``, ``tray`` or a look of dice, if a hint says that a fact off the board is drawn so."""
        hint = fact_hint(fact, self._rules)
        return hint.look if hint is not None and hint.look in (*_PLACES, *_DICE) else ""

    def held(self, on: Mapping[Square, list[Thing]], beside: Iterable[Term]) -> Held:
        """The pieces of each role on points, bars and trays, given what :meth:`ggp.boards.board.Grid.place`
        returns. A thing is one piece if things pile up, else as many as its row says."""
        found, piles = Counter[tuple[str, int]](), self.board.behaviour.piles
        for (_, x, y), things in on.items():
            for thing in things:
                if thing in self.owners and x in self.board.columns:
                    found[self.key(x), self.owners[thing]] += 1 if piles else amount(y, 0)
        for fact in beside:
            owners = [role for role in self.players if self.roles[role] in fact.args]
            if (look := self.look(fact)) in _PLACES and owners:
                found[f"{look},{owners[0]}", owners[0]] += (_numbers(fact) or [1])[-1]
        return +found

    def dice(self, beside: Iterable[Term]) -> list[int]:
        """The numbers on the dice among the propositions off the board."""
        found: list[int] = []
        for fact in beside:
            numbers = _numbers(fact)
            match self.look(fact):
                case "doubles" if len(numbers) == 2:
                    found += numbers[:1] * min(numbers[1], _MOST_DICE)
                case "dice":
                    found += numbers
                case "die":
                    found += numbers[-1:]
        return found[:_MOST_DICE]

    def clicks(self, role: int, before: Iterable[Term], after: Iterable[Term]) -> tuple[tuple[str, ...], ...]:
        """The clicks of a role's move, given the states before and after it: the place that loses a piece,
        then the one that gains it, or the die that is used. Empty if the move changes something else."""
        was, now = (self.board.place(propositions) for propositions in (before, after))
        old, new = Counter(self.held(*was)), Counter(self.held(*now))
        gone, came = ([key for key, owner in change if owner == role] for change in (old - new, new - old))
        used = Counter(self.dice(was[1])) - Counter(self.dice(now[1]))
        dice = [f"die,{n}" for n in used if gone and len(used) == 1]
        single = len(gone) < 2 and len(came) < 2
        return tuple(keys for keys in (tuple(gone), (*came, *dice)) if keys) if single else ()


def _numbers(fact: Term) -> list[int]:
    return [amount(arg, 0) for arg in fact.args if arg.name.isdecimal()]
