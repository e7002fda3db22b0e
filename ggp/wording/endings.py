"""Finds why a match is over, as far as the rules show it: ``four in a row``, ``the board is full``, ``no
moves left``.

The rules show which rule for ``terminal`` holds. Things are then taken off the board, one by one, as long as
that rule still holds. If the remaining things stand in a line, this line has won.

>>> from ggp.boards.board import find_board
>>> from ggp.game import Game
>>> machine = Game.load("tictactoe").machine("prover")
>>> finder = EndFinder(machine, find_board(machine))
>>> moves = ("(mark a 1)", "(mark a 2)", "(mark b 1)", "(mark b 2)", "(mark c 1)")
>>> state = machine.initial_state()
>>> for move in moves:
...     state = state.play(move)
>>> finder.ending(state)
Ending(text='three in a row', squares=('0,0,0', '0,1,0', '0,2,0'))
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Formula, Literal, Rule, Rules
from gdl.syntax.writer import OwnNotation
from gdl.terms import DISTINCT, NEXT, TERMINAL, TRUE, Term
from ggp.boards.board import Grid
from ggp.boards.layers import Layer, Square
from ggp.boards.shapes import BoardShape
from ggp.boards.side_panel import TurnFinder

_SECONDS = 0.6
"""CPU seconds for taking things off a board."""
_MOST_CHANGED = 3
"""Most squares of a last move that are ringed."""
_MOST_WORDS = 60
_MOST_BESIDE = 3
"""Most neighbours of a square that are in the same chain."""
_NUMBERS = ("three", "four", "five", "six", "seven", "eight", "nine", "ten")
_GENERAL = re.compile(r"win|won|los[et]|defeat|victor|over|end|done|finish|terminal|game|result|goal")
"""Relations with such names say that a match is over, but not why."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The reason why a match is over.

    Attributes:
        text: the reason; empty if the rules have no words of their own for it.
        squares: squares to ring, each as in ``data-square`` of the drawing: the line that has won, or the
            changes of the last move.
    """

    text: str
    squares: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reason:
    """A rule for ``terminal``, or for a relation that such a rule requires.

    Attributes:
        name: name of the proposition that is derived if the body holds.
        variables: the arguments of that proposition.
        first: whether it is a rule for ``terminal``.
    """

    name: str
    variables: tuple[Term, ...]
    body: tuple[Formula, ...]
    first: bool


class EndFinder:
    """Finds why matches of one game are over.

    Args:
        machine: machine of the game.
        board: its board; None for games without a board.
    """

    def __init__(self, machine: Machine, board: Grid | None) -> None:
        self._machine = machine
        self._board = board
        self._turns = TurnFinder(machine.rules, machine.roles)
        self._own = OwnNotation(machine.rules)
        self._reasons: tuple[_Reason, ...] | None = None
        self._prover: ProverMachine | None = None
        self._blanks: dict[Layer, Term] | None = None

    def ending(self, state: State, before: State | None = None) -> Ending:
        """The reason why a terminal state is terminal.

        Args:
            before: the state before the last move, if there was one.
        """
        try:
            holding = self._holding(state.propositions)
        except GdlError:  # The rules are hostile or exceed the prover's limits.
            holding = []
        line = self._line(state, holding)
        if line is not None:
            return line
        words = next((text for reason, values in holding if (text := self._words(reason, values))), "")
        if words and len(self._machine.roles) == 1:
            return Ending(words)  # The last move of a puzzle beats no opponent.
        return Ending(words or self._without_words(state), self._changed(state, before))

    def _derived(self) -> tuple[ProverMachine, tuple[_Reason, ...]]:
        """The game extended by a proposition for each reason that holds, and the reasons."""
        if self._prover is None or self._reasons is None:
            rules = self._machine.rules
            self._reasons = tuple(_reasons(rules))
            added = tuple(
                Rule(Term(NEXT, Term(reason.name, *reason.variables)), reason.body)
                for reason in self._reasons
            )
            whole = Rules(rules.rules + added, rules.spelling, rules.name, rules.notation)
            self._prover = ProverMachine(whole)
        return self._prover, self._reasons

    def _holding(self, propositions: Iterable[Term]) -> list[tuple[_Reason, dict[Term, Term]]]:
        """The reasons that hold in a state, each with the values of its variables, in the order of the
        rules."""
        prover, reasons = self._derived()
        # No rule may depend on ``next``, so the successor of a state without moves consists of the reasons.
        successor = prover.next_state(prover.state_of(propositions), ())
        found: dict[str, list[Term]] = {}
        for proposition in sorted(successor.propositions):
            found.setdefault(proposition.name, []).append(proposition)
        return [
            (reason, dict(zip(reason.variables, proposition.args, strict=True)))
            for reason in reasons
            for proposition in found.get(reason.name, ())
        ]

    def _line(self, state: State, holding: Sequence[tuple[_Reason, dict[Term, Term]]]) -> Ending | None:
        """The line because of which a reason holds."""
        board = self._board
        if board is None or not holding:
            return None
        until = time.process_time() + _SECONDS
        standing = _standing(board, state.propositions)
        things = {layer.thing(term) for term, layer in standing.items()} - board.blanks
        things = {thing for thing in things if not all(term.name.isdecimal() for term in thing)}
        for reason, values in holding:
            if not reason.first or not any(map(self._asks, reason.body)):
                continue
            for thing in sorted(things):
                own = [term for term, layer in standing.items() if layer.thing(term) == thing]
                needed = self._needed(state, reason, values, own, standing, until)
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
        reason: _Reason,
        values: dict[Term, Term],
        own: Sequence[Term],
        standing: dict[Term, Layer],
        until: float,
    ) -> list[Term] | None:
        """The propositions of one thing that a reason needs: the thing is taken off one square after the
        other. None if that takes too long."""
        now = set(state.propositions)
        needed: list[Term] = []
        for term in sorted(own):
            if time.process_time() > until:
                return None
            without = now - {term}
            if (blank := self._blank(standing[term], term)) is not None:
                without.add(blank)
            try:
                if (reason, values) in self._holding(without):
                    now = without
                else:
                    needed.append(term)
            except GdlError:
                needed.append(term)
        return needed

    def _blank(self, layer: Layer, term: Term) -> Term | None:
        """The proposition that says that a square is empty; None if the rules have no such proposition."""
        assert self._board is not None
        if self._blanks is None:
            self._blanks = {}
            for proposition in self._machine.initial_state().propositions:
                found = next((each for each in self._board.layers if each.fits(proposition)), None)
                if found is not None and found.thing(proposition) in self._board.blanks:
                    self._blanks[found] = proposition
        blank = self._blanks.get(layer)
        if blank is None:
            return None
        contents = layer.contents
        return Term(term.name, *(blank.args[i] if i in contents else a for i, a in enumerate(term.args)))

    def _words(self, reason: _Reason, values: dict[Term, Term]) -> str:
        """A reason in the words of its rule; empty if these are too general."""
        phrases: list[str] = []
        for part in reason.body:
            if not isinstance(part, Literal) or not self._asks(part) or _GENERAL.search(part.atom.name):
                continue
            atom = part.atom.substitute(values)
            if atom.name == TRUE and len(atom.args) == 1:
                atom = atom.args[0]
                if self._turns.tells(atom) or (self._board and any(x.fits(atom) for x in self._board.layers)):
                    continue
            if phrase := self._phrase(atom):
                phrases.append(phrase)
        text = ", ".join(phrases)
        return text if len(text) <= _MOST_WORDS else ""

    def _asks(self, part: Formula) -> bool:
        """Whether a part of a body is a positive condition on the state: facts explain nothing."""
        if not isinstance(part, Literal):
            return False
        if part.atom.name == TRUE:
            return True
        return any(rule.head.signature == part.atom.signature and rule.body for rule in self._machine.rules)

    def _phrase(self, atom: Term) -> str:
        """The words for an atom.

        ``(captured red)`` becomes ``red: captured``, ``(step 30)`` becomes ``step 30, the last one``, and
        ``poisoned`` stays. Empty for an atom with other arguments, such as a square.
        """
        name = re.sub("(?<=[a-z])(?=[A-Z])|[-_]+", " ", self._own.name(atom.name)).strip().lower()
        who = atom.args[0] if atom.args and atom.args[0] in self._machine.roles else None
        rest = atom.args if who is None else atom.args[1:]
        if len(rest) > 1 or any(not argument.name.isdecimal() for argument in rest):
            return ""
        if not rest:
            return name if who is None else f"{self._own.term(who)}: {name}"
        number = self._own.term(rest[0])
        if who is not None:
            return f"{self._own.term(who)}: {name} {number}"
        return f"{name} {number}, the last one" if atom.signature[1] == 1 else ""

    def _without_words(self, state: State) -> str:
        """The reason that the state itself shows: a full board, or no moves left."""
        board = self._board
        if board is not None and board.squares and not board.layers[0].strip:
            on, _ = board.place(state.propositions)
            if board.squares <= {square for square, things in on.items() if things}:
                return "the board is full"
        machine = self._machine
        turn = self._turns.role(state.propositions)
        roles = range(len(machine.roles)) if turn is None else (turn,)
        if all(not machine.legal_moves(state, role) for role in roles):
            name = "" if turn is None else f"{self._own.term(machine.roles[turn])} has "
            return f"{name}no moves left"
        return ""

    def _changed(self, state: State, before: State | None) -> tuple[str, ...]:
        """The squares that the last move changed; empty if they are many."""
        board = self._board
        if board is None or before is None:
            return ()
        old, _ = board.place(before.propositions)
        on, _ = board.place(state.propositions)
        squares = [square for square in old.keys() | on.keys() if old.get(square) != on.get(square)]
        keys = [key for key in (board.key(square) for square in squares) if key]
        return tuple(sorted(keys)) if len(keys) <= _MOST_CHANGED else ()


def _reasons(rules: Rules) -> Iterable[_Reason]:
    """The rules for ``terminal``, and those of the relations with general names that these require."""
    names = {part.name for rule in rules for part in _symbols(rule.head)}
    prefix = "because"
    while any(name.startswith(prefix) for name in names):
        prefix += "_"
    number = 0
    waiting = [rule for rule in rules if rule.head.name == TERMINAL]
    asked: set[tuple[str, int]] = set()
    while waiting:
        rule = waiting.pop(0)
        parts = [part.atom for part in rule.body if isinstance(part, Literal) and part.atom.name != DISTINCT]
        variables = tuple(dict.fromkeys(v for atom in parts for v in atom.variables()))
        yield _Reason(f"{prefix}{number}", variables, rule.body, rule.head.name == TERMINAL)
        number += 1
        for atom in parts:
            if _GENERAL.search(atom.name) and atom.name != TRUE and atom.signature not in asked:
                asked.add(atom.signature)
                waiting += [other for other in rules if other.head.signature == atom.signature and other.body]


def _symbols(term: Term) -> Iterable[Term]:
    yield term
    for argument in term.args:
        yield from _symbols(argument)


def _standing(board: Grid, propositions: Iterable[Term]) -> dict[Term, Layer]:
    """The propositions about things on squares, each with its layer."""
    layers = {(layer.name, layer.arity): layer for layer in board.layers}
    return {p: layers[p.signature] for p in sorted(propositions) if p.signature in layers}


def _line_text(board: Grid, squares: Sequence[Square]) -> str:
    """The name of a line of squares; empty if the squares are not a line."""
    spots = _spots(board, squares)
    if len(spots) < 3 or board.shape is BoardShape.RINGS:
        return ""
    steps = {(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(spots)}
    sloping = board.shape not in (BoardShape.STRAIGHT, BoardShape.DOTS)
    if not sloping and len(steps) == 1 and len(spots) - 3 < len(_NUMBERS):
        return f"{_NUMBERS[len(spots) - 3]} in a row"
    return "connected from side to side" if len(board.panels) == 1 and _connects(spots, board) else ""


def _spots(board: Grid, squares: Sequence[Square]) -> list[tuple[int, int]]:
    """Column and row of each square, in order; empty for squares of several boards that are not parts of one
    board."""
    if len({panel for panel, _, _ in squares}) != 1 and not board.places:
        return []
    spots: list[tuple[int, int]] = []
    for panel, x, y in squares:
        if x not in board.columns or y not in board.rows:
            return []
        column, row = board.places.get(panel, (0, 0))
        i, j = board.columns.index(x), board.rows.index(y)
        spots.append((column * len(board.columns) + i, row * len(board.rows) + j))
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
