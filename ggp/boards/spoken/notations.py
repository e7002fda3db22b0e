"""Moves in the notations of chess (SAN, PGN standard of 1994), of draughts and of go, where a hint names one.

What a move does on the board decides, not what the rules call it: an own thing leaves a square and comes to
another, things of others disappear, another kind of thing arrives. So castling, promotion and captures en
passant are recognised in any rules of chess.

>>> from ggp.game import Game
>>> from gdl.syntax.parser import parse_term
>>> from ggp.boards.board import find_board
>>> machine = Game.load("chess").machine("prover")
>>> state, rules = machine.initial_state(), machine.rules
>>> writer = notation_of(rules, machine.roles, find_board(machine), ClickFinder(find_board(machine), rules))
>>> moves = [parse_term(text) for text in ("(move g 1 f 3)", "(move e 2 e 4)")]
>>> writer.texts(moves, 0, state.propositions)
['Nf3', 'e4']
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from gdl.errors import GdlError
from gdl.hints import WordHint
from gdl.machine import State
from gdl.phrases import phrases
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.board import Grid
from ggp.boards.clicks import ClickFinder
from ggp.boards.layers import Square, Thing
from ggp.boards.looks import PieceShape, looks_of, owners_on
from ggp.boards.scene import TurnFinder
from ggp.boards.spoken.questions import Questions

_GO_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
_FILES = "abcdefghijklmnopqrstuvwxyz"
_MOST_MOVES = 300
"""Most moves of a state that are played out to see what they do."""
_Spot = tuple[int, int]
"""Column from the left and row from the bottom, from 0."""


@dataclass(frozen=True, slots=True)
class _Effect:
    """What a move does on the board: the own things that leave and come, each with its spot, and whether
    fewer things of others are left."""

    left: tuple[tuple[_Spot, Thing], ...]
    came: tuple[tuple[_Spot, Thing], ...]
    takes: bool
    after: State


def notation_of(
    rules: Rules, roles: tuple[Term, ...], board: Grid | None, finder: ClickFinder
) -> NotationWriter | None:
    """The notation that the last such hint names; None if there is no hint, or no board."""
    hint = _hint_of(rules)
    return None if hint is None or board is None else NotationWriter(hint, rules, roles, board, finder)


def _hint_of(rules: Rules) -> WordHint | None:
    return next((hint for hint in reversed(rules.word_hints) if hint.kind == "notation"), None)


def square_numbers(board: Grid, rules: Rules, roles: tuple[Term, ...]) -> dict[Square, int]:
    """The number of each square of one colour, if a hint names the notation of draughts: row by row from the
    side of the role that the hint names, otherwise of the role that begins. For that side each row goes from
    its right to its left."""
    hint = _hint_of(rules)
    if hint is None or hint.what != "draughts" or len(board.panels) != 1:
        return {}
    try:
        first = ProverMachine(rules).initial_state().propositions
    except GdlError:  # The rules are hostile or exceed the limits.
        return {}
    named = Term(hint.where) if hint.where else None
    role = roles.index(named) if named in roles else TurnFinder(rules, roles).role(first) or 0
    (_, columns, rows), owners = board.numbers, owners_on(board, rules, roles)
    lying = [
        (columns[x], rows[y], owners.get(thing))
        for (_, x, y), things in board.place(first, board.squares)[0].items()
        for thing in things
    ]
    own = [row for _, row, owner in lying if owner == role]
    colours = {(column + row) % 2 for column, row, _ in lying}
    if not own or len(colours) != 1:
        return {}
    spots = [(x, y) for y in board.rows for x in reversed(board.columns)]
    spots = [(x, y) for x, y in spots if (columns[x] + rows[y]) % 2 in colours]
    below = 2 * sum(own) < len(own) * (len(rows) - 1)
    return {(board.panels[0], *at): n for n, at in enumerate(spots if below else reversed(spots), 1)}


class NotationWriter:
    """Writes moves of one game in the notation of a hint."""

    def __init__(
        self, hint: WordHint, rules: Rules, roles: tuple[Term, ...], board: Grid, finder: ClickFinder
    ) -> None:
        self._hint, self._rules, self._roles = hint, rules, roles
        self._board, self._finder = board, finder
        self._turns = TurnFinder(rules, roles)
        self._owners = owners_on(board, rules, roles)
        # Only the last hint counts, and only SAN with check asks something.
        asked = [phrase.conditions for phrase in phrases(rules, "notation")[-1:] if phrase.conditions]
        self._questions = Questions(rules, asked if hint.where else [])
        self._failed = False

    def texts(self, moves: Sequence[Term], role: int, propositions: Collection[Term] | None) -> list[str]:
        """The text of each move of a role in a state; empty where the notation has none.

        Args:
            moves: all legal moves of the role.
            propositions: all that is true in the state; None if that is unknown.
        """
        if self._hint.what == "go":
            return [self._go(move) for move in moves]
        if propositions is None or len(moves) > _MOST_MOVES or self._failed:
            return [""] * len(moves)
        try:
            effects = self._effects(moves, role, propositions)
            if self._hint.what == "draughts":
                return [self._draughts(effect) for effect in effects]
            return [self._san(effect, effects) for effect in effects]
        except GdlError:  # The rules are hostile or exceed the limits.
            self._failed = True
            return [""] * len(moves)

    def _go(self, move: Term) -> str:
        clicks = self._finder.squares(move)
        if len(clicks) != 1 or len(clicks[0]) != 1:
            return ""
        _, column, row = map(int, clicks[0][0].split(","))
        return f"{_GO_LETTERS[column]}{row + 1}" if column < len(_GO_LETTERS) else ""

    def _effects(
        self, moves: Sequence[Term], role: int, propositions: Collection[Term]
    ) -> list[_Effect | None]:
        """What each move does; None for all of them if other roles have a choice too."""
        prover = self._questions.machine
        state = prover.state_of(propositions)
        others = [
            prover.legal_moves(state, other) if other != role else [0] for other in range(len(self._roles))
        ]
        if any(len(legal) != 1 for legal in others):
            return [None] * len(moves)
        joint = [legal[0] for legal in others]
        before = self._standing(propositions)
        effects: list[_Effect | None] = []
        for move in moves:
            joint[role] = prover.move_id(role, move)
            after = prover.next_state(state, joint)
            now = self._standing(after.propositions)
            theirs = [sum(self._owners[t] not in (role, -1) for _, t in facts) for facts in (before, now)]
            left, came = (
                tuple(sorted(one for one in these - those if self._owners[one[1]] == role))
                for these, those in ((before, now), (now, before))
            )
            effects.append(_Effect(left, came, theirs[1] < theirs[0], after))
        return effects

    def _standing(self, propositions: Collection[Term]) -> set[tuple[_Spot, Thing]]:
        on, _ = self._board.place(propositions)
        return {(self._spot(at), t) for at, things in on.items() for t in things if t in self._owners}

    def _spot(self, square: Square) -> _Spot:
        _, columns, rows = self._board.numbers
        return columns.get(square[1], 0), rows.get(square[2], 0)

    # --- Draughts

    def _draughts(self, effect: _Effect | None) -> str:
        if effect is None or len(effect.left) != 1 or len(effect.came) != 1:
            return ""
        ends = [self._numbers.get(effect.left[0][0]), self._numbers.get(effect.came[0][0])]
        return ("x" if effect.takes else "-").join(map(str, ends)) if None not in ends else ""

    @cached_property
    def _numbers(self) -> dict[_Spot, int]:
        numbers = square_numbers(self._board, self._rules, self._roles)
        return {self._spot(square): number for square, number in numbers.items()}

    # --- Chess

    def _san(self, effect: _Effect | None, all_effects: Sequence[_Effect | None]) -> str:
        if effect is None or not 1 <= len(effect.left) == len(effect.came) <= 2:
            return ""
        text = self._piece_move(effect, all_effects) if len(effect.left) == 1 else self._castling(effect)
        return text and text + self._check(effect.after)

    @cached_property
    def _men(self) -> dict[Thing, str]:
        """The letter of each chess man, ``P`` for a pawn."""
        looks = looks_of(self._board, self._rules, self._roles).items()
        return {thing: look.sign.upper() for thing, look in looks if look.shape is PieceShape.MAN}

    def _piece_move(self, effect: _Effect, all_effects: Sequence[_Effect | None]) -> str:
        ((column, row), thing), (to, become) = effect.left[0], effect.came[0]
        kind, square = self._men.get(thing, ""), f"{_FILES[to[0]]}{to[1] + 1}"
        takes = "x" * effect.takes
        if kind == "P":
            promoted = f"={self._men.get(become, '')}" if become != thing else ""
            return f"{_FILES[column]}x{square}{promoted}" if takes else square + promoted
        spots = {
            other.left[0][0]
            for other in all_effects
            if other and len(other.left) == 1 and other.left[0][1] == thing and other.came[0][0] == to
        } - {(column, row)}
        in_row = any(spot[1] == row for spot in spots)
        in_column = any(spot[0] == column for spot in spots)
        file = _FILES[column] if spots and (in_row or not in_column) else ""
        rank = str(row + 1) if in_column else ""
        return f"{kind}{file}{rank}{takes}{square}" if kind else ""

    def _castling(self, effect: _Effect) -> str:
        """The king's and the rook's move at once; the rook goes farther on the queen's side."""
        left, came = ({self._men.get(t): spot for spot, t in side} for side in (effect.left, effect.came))
        if left.keys() != {"K", "R"} or came.keys() != left.keys():
            return ""
        return "O-O" if abs(left["R"][0] - came["R"][0]) < 3 else "O-O-O"

    def _check(self, after: State) -> str:
        """The sign for check or checkmate, if the hint names how check is seen."""
        if not any(self._questions.answers(after)):
            return ""
        turn = self._turns.role(after.propositions)
        return "#" if turn is not None and not after.machine.legal_moves(after, turn) else "+"
