"""Races such as backgammon: points that hold several pieces each, a bar, trays and dice, and the clicks of
moves.

The places of a race have keys as squares have: ``0,5,0`` is the sixth point, ``bar,1`` and ``tray,1`` are
those of the second player, ``die,4`` is a die that shows 4. A move seldom names the point where it ends, so
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
from ggp.boards.layers import Square, Thing
from ggp.boards.looks import hint_for, owners_of
from ggp.boards.shapes import BoardShape

_FEWEST_POINTS = 8
"""Fewest columns that are points without a hint."""
_MOST_DICE = 8
_PLACES = ("bar", "tray")
_DICE = ("die", "dice", "doubles")
Held = Mapping[tuple[str, int], int]
"""The number of pieces by the key of their place and the number of their role."""


class Race:
    """The pieces and dice in states of one race.

    Attributes:
        board, roles: of the game.
        players: the numbers of the two roles that race.
        owners: the role of each thing that has one.
    """

    def __init__(self, board: Grid, rules: Rules) -> None:
        self.board, self._rules = board, rules
        heads = (rule.head for rule in rules if rule.head.signature == (ROLE, 1))
        self.roles = tuple(dict.fromkeys(head.args[0] for head in heads))
        self.players = playing(self.roles)[:2]
        owners = owners_of([thing for thing in board.things if thing not in board.blanks], rules, self.roles)
        self.owners = {thing: owner for thing, (owner, _) in owners.items() if owner in self.players}

    @classmethod
    def of_board(cls, board: Grid | None, rules: Rules) -> Race | None:
        """The race on a board: with the hint ``race``, or if each of many columns is a pile of one side's
        pieces, which move. None for other boards."""
        if board is None or board.shape is not BoardShape.STRAIGHT or board.panels != ((),):
            return None
        wide, hint = len(board.columns), board_hint(rules.hints)
        if wide < 4 or wide % 2 or not (hint == "race" or (not hint and _is_race(board))):
            return None
        race = cls(board, rules)
        sides = set(race.owners.values())
        return race if len(race.players) == 2 and (hint or len(sides) == len(race.owners) == 2) else None

    def point(self, x: Term) -> str:
        """The key of a column."""
        return f"0,{self.board.columns.index(x)},0"

    def look(self, fact: Term) -> str:
        """How the race shows a fact off the board: ``bar``, ``tray`` or a look of dice; empty if it does
        not."""
        hint = hint_for((Term(fact.name), *fact.args), self._rules)
        return hint.look if hint is not None and hint.look in (*_PLACES, *_DICE) else ""

    def held(self, on: Mapping[Square, list[Thing]], beside: Iterable[Term]) -> Held:
        """The pieces of each role on points, bars and trays.

        Args:
            on: the things on squares, as :meth:`ggp.boards.board.Grid.place` returns them. A thing counts one
                if pieces pile up, else as many as its row says.
            beside: the propositions off the board.
        """
        found = Counter[tuple[str, int]]()
        for (_, x, y), things in on.items():
            for thing in things:
                if (owner := self.owners.get(thing, -1)) >= 0 and x in self.board.columns:
                    found[self.point(x), owner] += 1 if self.board.behaviour.piles else _number(y)
        for fact in beside:
            if (look := self.look(fact)) in _PLACES:
                numbers = [_number(arg) for arg in fact.args if arg.name.isdecimal()]
                owner = next((r for r in self.players if self.roles[r] in fact.args), -1)
                found[f"{look},{owner}", owner] += numbers[-1] if numbers else 1
        return {place: n for place, n in found.items() if n > 0 and place[1] >= 0}

    def dice(self, beside: Iterable[Term]) -> list[int]:
        """The numbers on the dice among the propositions off the board, in order."""
        found: list[int] = []
        for fact in beside:
            numbers = [_number(arg) for arg in fact.args if arg.name.isdecimal()]
            match self.look(fact):
                case "doubles" if len(numbers) == 2:
                    found += numbers[:1] * min(numbers[1], _MOST_DICE)
                case "die" | "dice" if numbers:
                    found += numbers if self.look(fact) == "dice" else numbers[-1:]
        return sorted(found[:_MOST_DICE], reverse=True)

    def clicks(self, role: int, before: Iterable[Term], after: Iterable[Term]) -> tuple[tuple[str, ...], ...]:
        """The clicks of a role's move, given the state before and after it: the place that loses a piece,
        then the one that gains it, or the die that the move uses. Empty if the move changes something
        else."""
        was, now = (self.board.place(propositions) for propositions in (before, after))
        old, new = self.held(*was), self.held(*now)
        gone = [
            place for place, owner in old if owner == role and old[place, role] > new.get((place, role), 0)
        ]
        came = [
            place for place, owner in new if owner == role and new[place, role] > old.get((place, role), 0)
        ]
        used = {f"die,{n}" for n in (Counter(self.dice(was[1])) - Counter(self.dice(now[1])))}
        if len(gone) > 1 or len(came) > 1 or not (gone or came):
            return ()
        second = (*came, *(used if gone and len(used) == 1 else ()))
        return tuple(keys for keys in (tuple(gone), second) if keys)


def _is_race(board: Grid) -> bool:
    behaviour = board.behaviour
    high = max(behaviour.most.values(), default=0) > len(board.columns) // 4
    return behaviour.piles and high and bool(behaviour.moves) and len(board.columns) >= _FEWEST_POINTS


def _number(term: Term) -> int:
    """A number of at most three digits; 0 for other terms."""
    return int(term.name) if term.name.isdecimal() and len(term.name) < 4 else 0
