"""The reason why a match is over, in words for people.

The rules show which rule for ``terminal`` holds. Things are taken off the board, one by one, as long as that
rule still holds. If the remaining things stand in a line, this line has won. Otherwise hints of the rules
(``; ends: checkmate as checkmate``) give the reason, or the state shows it: a full board, a side without
moves or pieces, the step limit. Names of relations are no reasons.

>>> from ggp.boards.board import find_board
>>> from ggp.game import Game
>>> machine = Game.load("tictactoe").machine("prover")
>>> finder, state = EndFinder(machine, find_board(machine)), machine.initial_state()
>>> for move in ("(mark a 1)", "(mark a 2)", "(mark b 1)", "(mark b 2)", "(mark c 1)"):
...     state = state.play(move)
>>> finder.ending(state)
Ending(text='three in a row', squares=('0,0,0', '0,1,0', '0,2,0'))
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from gdl.machine import Machine, State
from gdl.phrases import phrases, said
from gdl.rules import Formula, Literal, Not, Rule, Rules, body_literals
from gdl.syntax.writer import OwnNotation
from gdl.terms import DOES, INIT, NEXT, TERMINAL, TRUE, Term
from ggp.boards.board import Grid
from ggp.boards.layers import Layer, Square, is_number
from ggp.boards.looks import owners_on
from ggp.boards.scene import TurnFinder
from ggp.boards.shapes import BoardShape
from ggp.boards.spoken.questions import Answer, Questions

_SECONDS = 0.6
"""CPU seconds for taking things off a board."""
_MOST_CHANGED = 3
"""Most squares of a last move that are ringed."""
_MOST_BESIDE = 3
"""Most neighbours of a square that are in the same chain."""
_NUMBERS = ("three", "four", "five", "six")


@dataclass(frozen=True, slots=True)
class Ending:
    """The reason why a match is over.

    Attributes:
        text: the reason; empty if neither hints nor the state show it.
        squares: squares to ring, each as in ``data-square`` of the drawing: the line that has won, or the
            things that the last move changed.
    """

    text: str
    squares: tuple[str, ...] = ()


class EndFinder:
    """Finds why matches of one game are over.

    Args:
        machine: machine of the game.
        board: its board; None for games without a board.
    """

    def __init__(self, machine: Machine, board: Grid | None) -> None:
        self._machine = machine
        self._board = board
        rules = machine.rules
        self._turns = TurnFinder(rules, machine.roles)
        self._own = OwnNotation(rules)
        self._causes = [rule for rule in rules if rule.head.name == TERMINAL]
        self._holding = Questions(rules, [rule.body for rule in self._causes])
        self._phrases = phrases(rules, "ends")
        self._hinted = Questions(rules, [phrase.conditions for phrase in self._phrases])

    def ending(self, state: State, before: State | None = None) -> Ending:
        """The reason why a terminal state is terminal.

        Args:
            before: the state before the last move, if there was one.
        """
        holding = self._holding.answers(state.propositions)
        line = self._line(state, holding)
        words = self._in_words(state)
        if line is not None:
            return Ending(words or line.text, line.squares)
        if words and len(self._machine.roles) == 1:
            return Ending(words)  # The last move of a puzzle beats no opponent.
        causes = [rule for rule, answers in zip(self._causes, holding, strict=True) if answers]
        return Ending(words or self._by_state(state, causes), self._changed(state, before))

    @cached_property
    def _first(self) -> frozenset[Term]:
        """What is true at first."""
        return self._machine.initial_state().propositions

    @cached_property
    def _blanks(self) -> dict[Layer, Term]:
        """For each layer a proposition that says that a square is empty."""
        assert self._board is not None
        layers = _standing(self._board, self._first)
        return {layer: term for term, layer in layers.items() if layer.thing(term) in self._board.blanks}

    def _in_words(self, state: State) -> str:
        """The words of the first hint whose conditions hold; empty if there is none."""
        rules = self._machine.rules
        found = zip(self._phrases, self._hinted.answers(state.propositions), strict=True)
        return next((said(phrase, answers[0], rules) for phrase, answers in found if answers), "")

    def _line(self, state: State, holding: Sequence[Sequence[Answer]]) -> Ending | None:
        """The line because of which a rule holds."""
        board = self._board
        if board is None or board.layers[0].strip or len(self._machine.roles) < 2 or not any(holding):
            return None  # A puzzle has no opponent to be in a row before.
        until = time.process_time() + _SECONDS
        standing = _standing(board, state.propositions)
        things = {layer.thing(term) for term, layer in standing.items()} - board.blanks
        things = {thing for thing in things if not is_number(thing)}
        for number, answers in enumerate(holding):
            if not answers or not any(map(self._asks, self._causes[number].body)):
                continue
            for thing in sorted(things):
                own = [term for term, layer in standing.items() if layer.thing(term) == thing]
                needed = self._needed(state, number, answers[0], own, standing, until)
                if needed is None:
                    return None
                squares = [standing[term].square(term) for term in needed]
                text = _line_text(board, squares)
                keys = [key for key in (board.key(square) for square in squares) if key]
                if text and len(keys) == len(squares):
                    return Ending(text, tuple(sorted(keys)))
        return None

    def _needed(
        self,
        state: State,
        number: int,
        answer: Answer,
        own: Sequence[Term],
        standing: dict[Term, Layer],
        until: float,
    ) -> list[Term] | None:
        """The propositions of one thing that a rule needs: the thing is taken off one square after the other.
        None if that takes too long; empty if the rule needs other things too."""
        now = set(state.propositions)
        needed: list[Term] = []

        def still(gone: Iterable[Term]) -> set[Term]:
            """What is left without some things; empty if the rule no longer holds then."""
            blanks = (self._blank(standing[term], term) for term in gone)
            without = now.difference(gone).union(blank for blank in blanks if blank is not None)
            return without if answer in self._holding.answers(without)[number] else set()

        for term in sorted(own):
            if time.process_time() > until:
                return None
            if without := still([term]):
                now = without
            else:
                needed.append(term)
        # A full board, say, needs the things of all.
        return needed if still(standing.keys() - set(own)) else []

    def _blank(self, layer: Layer, term: Term) -> Term | None:
        """The proposition that says that a square is empty; None if the rules have no such proposition."""
        blank = self._blanks.get(layer)
        if blank is None:
            return None
        contents = layer.contents
        return Term(term.name, *(blank.args[i] if i in contents else a for i, a in enumerate(term.args)))

    def _asks(self, part: Formula) -> bool:
        """Whether a part of a body is a positive condition on the state: facts explain nothing."""
        if not isinstance(part, Literal):
            return False
        if part.atom.name == TRUE:
            return True
        return any(rule.head.signature == part.atom.signature and rule.body for rule in self._machine.rules)

    def _by_state(self, state: State, causes: Sequence[Rule]) -> str:
        """The reason that the state itself shows; empty if it shows none.

        Args:
            causes: the rules for ``terminal`` that hold.
        """
        moved = _set_by_moves(self._machine.rules)
        limited = not any(_node(one.atom) in moved for rule in causes for one, _ in body_literals(rule))
        lacking = any(isinstance(part, Not) for rule in causes for part in rule.body)
        if (limited or lacking) and self._full(state.propositions) and not self._full(self._first):
            return "the board is full"
        if limited:
            return "the step limit" if causes else ""
        if taken := self._taken(state):
            return taken
        machine = self._machine
        turn = self._turns.role(state.propositions)
        roles = range(len(machine.roles)) if turn is None else (turn,)
        if all(not machine.legal_moves(state, role) for role in roles):
            name = "" if turn is None else f"{self._own.term(machine.roles[turn])} has "
            return f"{name}no moves left"
        return ""

    def _full(self, propositions: Iterable[Term]) -> bool:
        """Whether things of several kinds stand on all squares: lamps that are all lit fill no board."""
        board = self._board
        if board is None or not board.squares or board.layers[0].strip:
            return False
        on, _ = board.place(propositions)
        kinds = {thing for things in on.values() for thing in things}
        return len(kinds) > 1 and board.squares <= {square for square, things in on.items() if things}

    def _taken(self, state: State) -> str:
        """That the one role which has no pieces any longer lost them; empty if each has what it began
        with."""
        board, machine = self._board, self._machine
        if board is None:
            return ""
        owners = owners_on(board, machine.rules, machine.roles)
        had, has = (
            {owners.get(thing, -1) for things in board.place(facts)[0].values() for thing in things} - {-1}
            for facts in (self._first, state.propositions)
        )
        gone = had - has
        if len(gone) != 1 or not has:
            return ""
        (role,) = gone
        goals = [machine.goal(state, one) or 0 for one in range(len(machine.roles))]
        name = self._own.term(machine.roles[role])
        return f"all pieces of {name} are taken" if goals[role] < max(goals) else f"{name} has no pieces left"

    def _changed(self, state: State, before: State | None) -> tuple[str, ...]:
        """The squares with things that the last move changed; empty if they are many."""
        board = self._board
        if board is None or before is None or board.shape in (BoardShape.HEAPS, BoardShape.ROW):
            return ()
        old, _ = board.place(before.propositions)
        on, _ = board.place(state.propositions)
        # A miss alone ends nothing at sea: a ship lies below the shot.
        squares = [square for square, now in on.items() if old.get(square) != now and len(now) > board.seas]
        keys = [key for key in (board.key(square) for square in squares) if key]
        return tuple(sorted(keys)) if len(keys) <= _MOST_CHANGED else ()


_Node = tuple[str, str, int]


def _node(atom: Term) -> _Node:
    """A relation, or what a state says, by name and arity."""
    if atom.name in (TRUE, NEXT, INIT) and len(atom.args) == 1:
        return TRUE, *atom.args[0].signature
    return "", *atom.signature


def _set_by_moves(rules: Rules) -> set[_Node]:
    """What depends on moves. The rest, such as a count of steps, is the same in every match."""
    users: dict[_Node, list[_Node]] = defaultdict(list)
    for rule in rules:
        for literal, _ in body_literals(rule):
            users[_node(literal.atom)].append(_node(rule.head))
    found: set[_Node] = set()
    waiting: list[_Node] = [("", DOES, 2)]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += users[node]
    return found


def _standing(board: Grid, propositions: Iterable[Term]) -> dict[Term, Layer]:
    """The propositions about things on squares, each with its layer."""
    return {p: layer for p in sorted(propositions) if (layer := board.layer_of(p)) is not None}


def _line_text(board: Grid, squares: Sequence[Square]) -> str:
    """The name of a line of squares; empty if the squares are not a line."""
    spots = _spots(board, squares)
    if len(spots) < 3 or board.shape is BoardShape.RINGS:
        return ""
    steps = {(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(spots)}
    sloping = board.shape is not BoardShape.STRAIGHT
    if not sloping and len(steps) == 1 and len(spots) - 3 < len(_NUMBERS):
        return f"{_NUMBERS[len(spots) - 3]} in a row"
    return "connected from side to side" if len(board.panels) == 1 and _connects(spots, board) else ""


def _spots(board: Grid, squares: Sequence[Square]) -> list[tuple[int, int]]:
    """Column and row of each square, in order; empty for squares of several boards that are not parts of one
    board."""
    if len({panel for panel, _, _ in squares}) != 1 and not board.places:
        return []
    spots: list[tuple[int, int]] = []
    _, columns, rows = board.numbers
    for panel, x, y in squares:
        if x not in columns or y not in rows:
            return []
        column, row = board.places.get(panel, (0, 0))
        spots.append((column * len(columns) + columns[x], row * len(rows) + rows[y]))
    return sorted(spots)


def _connects(spots: Sequence[tuple[int, int]], board: Grid) -> bool:
    """Whether spots are a chain of neighbours from one side of the board to the opposite side."""
    open_ones, found = set(spots[1:]), [spots[0]]
    for at in found:
        near = set(_neighbours(at, open_ones))
        open_ones -= near
        found += sorted(near)
    ends = [
        {spot[axis] for spot in spots} >= {0, len(names) - 1}
        for axis, names in enumerate((board.columns, board.rows))
    ]
    sloping = board.shape is not BoardShape.STRAIGHT
    thin = sloping or all(len(_neighbours(at, spots)) <= _MOST_BESIDE for at in spots)
    return not open_ones and any(ends) and thin


def _neighbours(at: tuple[int, int], spots: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(x, y) for x, y in spots if max(abs(x - at[0]), abs(y - at[1])) == 1]
