"""Words for people, from the rules and the board alone: a short text for each move of a state, and why a
match is over.

``(move e 2 e 4)`` is ``e2-e4``, ``(drop d)`` is ``d``, ``(bid 3)`` is ``bid 3``. The clicks of
:mod:`ggp.boards.clicks` show which arguments are squares. A word that does not distinguish moves is left out.
In one state each move of a role has a text of its own; at worst it is the move as the rules write it.

>>> from ggp.game import Game
>>> machine = Game.load("tictactoe").machine("prover")
>>> words = MoveWords.of_machine(machine)
>>> state = machine.initial_state()
>>> sorted(words.texts(state, 0).values())[:3]
['a1', 'a2', 'a3']
>>> words.joint(state, [machine.legal_moves(state, role)[0] for role in (0, 1)])
['c3', None]

A match is over because of ``four in a row``, because ``the board is full`` or there are ``no moves left``, as
far as the rules show it. They show which rule for ``terminal`` holds. Things are then taken off the board,
one by one, as long as that rule still holds. If the remaining things stand in a line, this line has won.

>>> finder = EndFinder(machine, find_board(machine))
>>> for move in ("(mark a 1)", "(mark a 2)", "(mark b 1)", "(mark b 2)", "(mark c 1)"):
...     state = state.play(move)
>>> finder.ending(state)
Ending(text='three in a row', squares=('0,0,0', '0,1,0', '0,2,0'))
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Formula, Literal, Rule, Rules, body_literals
from gdl.syntax.writer import OwnNotation
from gdl.terms import DISTINCT, DOES, LEGAL, NEXT, TERMINAL, TRUE, Term
from ggp.boards.board import Grid, find_board
from ggp.boards.clicks import ClickFinder, SquarePlaces
from ggp.boards.layers import Layer, Square
from ggp.boards.scene import TurnFinder
from ggp.boards.shapes import BoardShape

NOOP = "noop"
"""The conventional name of a move that does nothing."""
_WHOLE = 3
"""The highest level of detail in a text: 0 is as short as possible, 1 has all arguments, 2 the move's name
too, 3 is the move as the rules write it."""
Signature = tuple[str, int]


class MoveWords:
    """Gives the moves of one game texts.

    Args:
        board: the board; None for games without a board.
        finder: finds the squares of moves on that board.
    """

    def __init__(
        self, rules: Rules, roles: tuple[Term, ...], board: Grid | None, finder: ClickFinder | None = None
    ) -> None:
        self._rules = rules
        self._board = board
        self._finder = ClickFinder(board, rules) if finder is None else finder
        self.turns = TurnFinder(rules, roles)
        self._own = OwnNotation(rules)
        heads = [rule.head.args[1] for rule in rules if rule.head.signature == (LEGAL, 2)]
        self._signatures = list(dict.fromkeys(head.signature for head in heads if not head.is_variable))
        self._used = {
            literal.atom.args[1]
            for rule in rules
            for literal, _ in body_literals(rule)
            if literal.atom.signature == (DOES, 2)
        }

    @classmethod
    def of_machine(cls, machine: Machine) -> MoveWords:
        """The words of a machine's game."""
        return cls(machine.rules, machine.roles, find_board(machine))

    def is_noop(self, state: State, role: int, move: int) -> bool:
        """Whether a legal move only means that the role waits for others. It has no arguments, and the role
        has no other move. In addition it is called ``noop``, or another role has the turn, or no rule uses it
        while another role has a choice."""
        machine = state.machine
        term = machine.move(role, move)
        if term.args or len(machine.roles) < 2 or len(machine.legal_moves(state, role)) > 1:
            return False
        turn = self.turns.role(state.propositions)
        if turn is not None:
            return turn != role
        others = (other for other in range(len(machine.roles)) if other != role)
        free = any(len(machine.legal_moves(state, other)) > 1 for other in others)
        return term.name == NOOP or (free and term not in self._used)

    def joint(self, state: State, joint: Sequence[int]) -> list[str | None]:
        """The text of each role's move in a state in which all of them are legal; None for moves that only
        wait."""
        return [
            None if self.is_noop(state, role, move) else self.texts(state, role)[move]
            for role, move in enumerate(joint)
        ]

    def texts(self, state: State, role: int) -> dict[int, str]:
        """A text for each legal move of a role, by the move's number; no two are the same."""
        machine = state.machine
        moves = machine.legal_moves(state, role)
        return dict(zip(moves, self.of_terms([machine.move(role, move) for move in moves]), strict=True))

    def of_terms(self, moves: Sequence[Term]) -> list[str]:
        """A text for each of some different moves of one role in one state."""
        self._finder.learn(moves)
        self._signatures += [
            s for s in dict.fromkeys(m.signature for m in moves) if s not in self._signatures
        ]
        says = [0] * len(moves)
        while True:
            texts = [self._text(move, much) for move, much in zip(moves, says, strict=True)]
            count = Counter(texts)
            again = [i for i, text in enumerate(texts) if count[text] > 1 and says[i] < _WHOLE]
            if not again:
                return texts
            for i in again:
                says[i] += 1

    def _text(self, move: Term, says: int) -> str:
        whole = self._own.term(move)
        if not move.args or says == _WHOLE:
            return whole
        squares: dict[int, str] = {}
        covered: set[int] = set()
        for places in self._finder.places(move.signature):
            where = [i for i in (*places.panel, places.x, places.y) if i >= 0]
            if where:
                squares[min(where)] = self._square(move, places)
                covered.update(where)
        if says == 0 and len(squares) > 1:
            # If a move names the square that a piece leaves, the piece's name adds nothing.
            covered |= self._finder.things(move.signature)
        words = self._words(move, squares, covered)
        name = self._own.name(move.name)
        named = (
            says >= 2 or (says == 1 and not squares) or self._needs_name(move.signature, len(squares), words)
        )
        return f"{name} {words}" if named else words

    def _words(self, move: Term, squares: dict[int, str], said: set[int]) -> str:
        """The arguments in their order: squares joined by hyphens, and other words separated by blanks."""
        parts: list[str] = []
        joined = False
        for i, argument in enumerate(move.args):
            if i in squares:
                if joined:
                    parts[-1] += f"-{squares[i]}"
                else:
                    parts.append(squares[i])
                joined = True
            elif i not in said:
                parts.append(self._own.term(argument))
                joined = False
        return " ".join(parts)

    def _square(self, move: Term, places: SquarePlaces) -> str:
        """A square: letter and number together, otherwise coordinates in their order with commas."""
        where = [i for i in dict.fromkeys((places.x, places.y)) if i >= 0]
        names = [self._own.term(move.args[i]) for i in sorted(where)]
        if len(names) == 2 and names[1].isalpha() and names[0].isdecimal():
            names.reverse()
        glued = len(names) == 2 and names[0].isalpha() and names[1].isdecimal()
        text = ("" if glued else ",").join(names)
        panel = ",".join(self._own.term(move.args[i]) for i in places.panel)
        return f"{panel}/{text}" if panel else text

    def _needs_name(self, signature: Signature, squares: int, words: str) -> bool:
        """Whether the text needs the move's name: other moves have as many squares, or the move has none."""
        with_arguments = [s for s in self._signatures if s[1]]
        if squares > 1 or len(with_arguments) == 1:
            # A number at the end is an amount, which needs its verb: take a 2.
            return not squares and signature[1] > 1 and words.rpartition(" ")[2].isdecimal()
        if not squares:
            return True
        alike = [s for s in with_arguments if len(self._finder.places(s)) == squares]
        return len(alike) > 1 and signature != alike[0]


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
        if board is None or before is None or board.shape in (BoardShape.HEAPS, BoardShape.ROW):
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
