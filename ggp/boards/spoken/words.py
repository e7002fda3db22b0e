"""Words for moves: a short text for each legal move of a state, from the rules and the board alone.

``(move e 2 e 4)`` is ``e2-e4``, ``(drop d)`` is ``d``, ``(bid 3)`` is ``bid 3``. The clicks of
:mod:`ggp.boards.clicks` show which arguments are squares. A word that does not distinguish moves is left out.
Hints of the rules come first: ``; say: (bid ?n ?face) as bid #n #face+s`` (:mod:`gdl.phrases`), and
``; notation: san`` (:mod:`ggp.boards.spoken.notations`).
In one state each move of a role has a text of its own; at worst it is the move as the rules write it.

>>> from ggp.game import Game
>>> machine = Game.load("tictactoe").machine("prover")
>>> words = MoveWords.of_machine(machine)
>>> state = machine.initial_state()
>>> sorted(words.texts(state, 0).values())[:3]
['a1', 'a2', 'a3']
>>> words.joint(state, [machine.legal_moves(state, role)[0] for role in (0, 1)])
['c3', None]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from gdl.machine import Machine, State
from gdl.phrases import phrases, said
from gdl.rules import Rules, Signature, body_literals
from gdl.syntax.writer import OwnNotation
from gdl.terms import DOES, LEGAL, RANDOM, Term
from ggp.boards.board import Grid, find_board
from ggp.boards.clicks import ClickFinder, SquarePlaces
from ggp.boards.scene import TurnFinder
from ggp.boards.spoken.notations import notation_of
from ggp.boards.spoken.questions import Answer, Questions

NOOP = "noop"
"""The conventional name of a move that does nothing."""
_WHOLE = 3
"""The highest level of detail in a text: 0 is as short as possible, 1 has all arguments, 2 the move's name
too, 3 is the move as the rules write it."""


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
        self._roles = roles
        self._board = board
        self._finder = ClickFinder(board, rules) if finder is None else finder
        self.turns = TurnFinder(rules, roles)
        self._own = OwnNotation(rules)
        self._notation = notation_of(rules, roles, board, self._finder)
        self._phrases = phrases(rules, "say")
        self._questions = Questions(rules, [phrase.conditions for phrase in self._phrases])
        self._latest: tuple[object, list[str]] = None, []
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
        wait. What chance does is said as hints say it, even if several moves have the same text."""
        texts: list[str | None] = []
        for role, move in enumerate(joint):
            if self.is_noop(state, role, move):
                texts.append(None)
            elif self._roles[role] == RANDOM:
                term = state.machine.move(role, move)
                texts.append(self.of_terms([term], role, state.propositions)[0])
            else:
                texts.append(self.texts(state, role)[move])
        return texts

    def texts(self, state: State, role: int) -> dict[int, str]:
        """A text for each legal move of a role, by the move's number; no two are the same."""
        machine = state.machine
        moves = machine.legal_moves(state, role)
        terms = [machine.move(role, move) for move in moves]
        return dict(zip(moves, self.of_terms(terms, role, state.propositions), strict=True))

    def of_terms(
        self, moves: Sequence[Term], role: int = 0, propositions: Collection[Term] | None = None
    ) -> list[str]:
        """A text for each of some different moves of one role in one state.

        Args:
            propositions: what is true in that state; None if it is unknown. Some hints need it.
        """
        key = role, tuple(moves), None if propositions is None else frozenset(propositions)
        if self._latest[0] != key:
            self._latest = key, self._of_terms(moves, role, propositions)
        return self._latest[1]

    def _of_terms(self, moves: Sequence[Term], role: int, propositions: Collection[Term] | None) -> list[str]:
        self._finder.learn(moves)
        self._signatures += [
            s for s in dict.fromkeys(m.signature for m in moves) if s not in self._signatures
        ]
        hinted = self._hinted(moves, role, propositions)
        says = [-1 if text else 0 for text in hinted]
        while True:
            texts = [
                self._text(move, much) if much >= 0 else text
                for move, much, text in zip(moves, says, hinted, strict=True)
            ]
            count = Counter(texts)
            again = [i for i, text in enumerate(texts) if count[text] > 1 and says[i] < _WHOLE]
            if not again:
                return texts
            for i in again:
                says[i] += 1

    def _hinted(self, moves: Sequence[Term], role: int, propositions: Collection[Term] | None) -> list[str]:
        """The text that hints give each move; empty where there is none."""
        texts = [""] * len(moves)
        answers: list[list[Answer]] = [[] for _ in self._phrases]
        if propositions is not None and any(phrase.conditions for phrase in self._phrases):
            answers = self._questions.answers(propositions)
        for phrase, found in zip(self._phrases, answers, strict=True):
            values = phrase.values(self._roles[role], moves, found)
            for i, move in enumerate(moves):
                if move in values and not texts[i]:
                    texts[i] = said(phrase, values[move], self._rules)
        if self._notation is not None and not all(texts):
            noted = self._notation.texts(moves, role, propositions)
            texts = [text or other for text, other in zip(texts, noted, strict=True)]
        return texts

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
