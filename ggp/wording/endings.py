"""Why a match is over, as far as the rules say so: ``four in a row``, ``the board is full``, ``no moves
left``.

The rules are asked which rule for ``terminal`` holds. What stands on the board is then taken away, thing by
thing, for as long as that rule still holds. If what is left stands in a line, it is the line that has won.

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
from ggp.boards.beside import TurnFinder
from ggp.boards.board import Grid
from ggp.boards.layers import Layer, Square
from ggp.boards.shapes import BoardShape

_SECONDS = 0.6
"""CPU time to take things away from a board."""
_MOST_CHANGED = 3
"""Squares of a last move that are worth a ring."""
_MOST_WORDS = 60
_MOST_BESIDE = 3
"""Neighbours that a square of a chain has in it."""
_NUMBERS = ("three", "four", "five", "six", "seven", "eight", "nine", "ten")
_GENERAL = re.compile(r"win|won|los[et]|defeat|victor|over|end|done|finish|terminal|game|result|goal")
"""Relations called so say that a match is over, not why."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a match is over.

    Attributes:
        text: the reason; empty where the rules do not say it in words of their own.
        squares: what to ring, each as in ``data-square`` of the drawing: the line that has won, or what the
            last move changed.
    """

    text: str
    squares: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Reason:
    """A rule for ``terminal``, or for a relation that such a rule asks.

    Attributes:
        name: of the proposition that we derive where the body holds.
        variables: the arguments of that proposition.
        first: whether it is a rule for ``terminal``.
    """

    name: str
    variables: tuple[Term, ...]
    body: tuple[Formula, ...]
    first: bool


class EndFinder:
    """Says why matches of one game are over.

    Args:
        machine: of the game.
        board: its board; None for games without.
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
        """Why a terminal state is one.

        Args:
            before: the state before the last move, if there was one.
        """
        try:
            holding = self._holding(state.propositions)
        except GdlError:  # hostile rules, beyond the prover's limits
            holding = []
        line = self._line(state, holding)
        if line is not None:
            return line
        words = next((text for reason, values in holding if (text := self._words(reason, values))), "")
        if words and len(self._machine.roles) == 1:
            return Ending(words)  # the last move of a puzzle has beaten nobody
        return Ending(words or self._without_words(state), self._changed(state, before))

    def _derived(self) -> tuple[ProverMachine, tuple[_Reason, ...]]:
        """The game with a proposition that follows for each reason that holds, and the reasons."""
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
        # No rule may ask for what is next, so a state that nobody leaves has the reasons as its successor.
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
        """The line for which a reason holds."""
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
        """The propositions of one thing without which a reason does not hold: it is taken away from one
        square after the other. None where that takes too long."""
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
        """The proposition that says that nothing stands on a square; None for rules that do not say so."""
        assert self._board is not None
        if self._blanks is None:
            self._blanks = {}
            for said in self._machine.initial_state().propositions:
                found = next((each for each in self._board.layers if each.fits(said)), None)
                if found is not None and found.thing(said) in self._board.blanks:
                    self._blanks[found] = said
        blank = self._blanks.get(layer)
        if blank is None:
            return None
        contents = layer.contents
        return Term(term.name, *(blank.args[i] if i in contents else a for i, a in enumerate(term.args)))

    def _words(self, reason: _Reason, values: dict[Term, Term]) -> str:
        """A reason in the words of its rule; empty where these are too general."""
        said: list[str] = []
        for part in reason.body:
            if not isinstance(part, Literal) or not self._asks(part) or _GENERAL.search(part.atom.name):
                continue
            atom = part.atom.substitute(values)
            if atom.name == TRUE and len(atom.args) == 1:
                atom = atom.args[0]
                if self._turns.tells(atom) or (self._board and any(x.fits(atom) for x in self._board.layers)):
                    continue
            if phrase := self._phrase(atom):
                said.append(phrase)
        text = ", ".join(said)
        return text if len(text) <= _MOST_WORDS else ""

    def _asks(self, part: Formula) -> bool:
        """Whether a part of a body asks that something holds which depends on the state: facts explain
        nothing."""
        if not isinstance(part, Literal):
            return False
        if part.atom.name == TRUE:
            return True
        return any(rule.head.signature == part.atom.signature and rule.body for rule in self._machine.rules)

    def _phrase(self, atom: Term) -> str:
        """``(captured red)`` as ``red: captured``, ``(step 30)`` as ``step 30, the last one``, ``poisoned``
        as it is; nothing for an atom with other arguments, such as a square."""
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
        """What the state itself shows: a full board, or nobody who can move."""
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
        """The squares of the last move, where they are few."""
        board = self._board
        if board is None or before is None:
            return ()
        old, _ = board.place(before.propositions)
        on, _ = board.place(state.propositions)
        squares = [square for square in old.keys() | on.keys() if old.get(square) != on.get(square)]
        keys = [key for key in (board.key(square) for square in squares) if key]
        return tuple(sorted(keys)) if len(keys) <= _MOST_CHANGED else ()


def _reasons(rules: Rules) -> Iterable[_Reason]:
    """The rules for ``terminal``, and those of the relations that these ask for and whose names are
    general."""
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
    """The propositions that say what stands on squares, each with its layer."""
    layers = {(layer.name, layer.arity): layer for layer in board.layers}
    return {p: layers[p.signature] for p in sorted(propositions) if p.signature in layers}


def _line_text(board: Grid, squares: Sequence[Square]) -> str:
    """What a line of squares is called; empty where the squares are no line."""
    spots = _spots(board, squares)
    if len(spots) < 3 or board.shape is BoardShape.RINGS:
        return ""
    steps = {(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(spots)}
    sloping = board.shape not in (BoardShape.STRAIGHT, BoardShape.DOTS)
    if not sloping and len(steps) == 1 and len(spots) - 3 < len(_NUMBERS):
        return f"{_NUMBERS[len(spots) - 3]} in a row"
    return "connected from side to side" if len(board.panels) == 1 and _connects(spots, board) else ""


def _spots(board: Grid, squares: Sequence[Square]) -> list[tuple[int, int]]:
    """Column and row of each square, in order; none for squares of several boards that are no parts of
    one."""
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
    """Whether spots are a chain of neighbours from one side of the board to the opposite one."""
    open_ones, found = set(spots[1:]), [spots[0]]
    for at in found:
        beside = set(_beside(at, open_ones))
        open_ones -= beside
        found += sorted(beside)
    ends = [
        {spot[axis] for spot in spots} >= {0, len(names) - 1}
        for axis, names in enumerate((board.columns, board.rows))
    ]
    sloping = board.shape is not BoardShape.STRAIGHT
    thin = sloping or all(len(_beside(at, spots)) <= _MOST_BESIDE for at in spots)
    return not open_ones and any(ends) and thin


def _beside(at: tuple[int, int], spots: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(x, y) for x, y in spots if max(abs(x - at[0]), abs(y - at[1])) == 1]
