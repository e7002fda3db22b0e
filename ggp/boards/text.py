"""Draws a board as text: a letter for each kind of piece, colours where the terminal has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from string import ascii_lowercase, digits

from gdl.machine import State
from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.board import Grid, Square, Thing

Span = tuple[str, str]
"""Text and a rich style."""
Cell = tuple[list[Span], Span]
"""What stands on a square, and the sign behind it: of something fixed that it stands on."""
ROLE_STYLES = ("bold cyan", "bold yellow", "bold magenta", "bold green", "bold red", "bold blue")
_OTHER_STYLES = ("green", "magenta", "blue", "red", "white", "bright_cyan")
_FIXED_SIGNS = "#+=~%&$@"
_FIXED_STYLES = ("bright_black", "bold red", "blue", "green")
_EMPTY: Span = (".", "bright_black")
_GROUND: Span = (" ", "")
_GAP = 4


@dataclass(frozen=True, slots=True)
class DrawnState:
    """A state as text.

    Attributes:
        lines: rows from top to bottom, each in spans.
        beside: the true propositions that are not on the board.
    """

    lines: tuple[tuple[Span, ...], ...]
    beside: tuple[str, ...]

    def plain(self) -> str:
        """The lines without colours."""
        return "\n".join("".join(text for text, _ in line).rstrip() for line in self.lines)


class Painter:
    """Draws the states of one game.

    Attributes:
        board: the board, or None for games without: they are drawn as lists of propositions.
        legend: letter, meaning and style of each kind of piece.
    """

    def __init__(self, board: Grid | None, rules: Rules, roles: tuple[Term, ...]) -> None:
        self.board = board
        self.rules = rules
        self._glyphs: dict[Thing, Span] = {}
        self.legend: list[tuple[str, str, str]] = []
        if board is None:
            return
        self._glyphs = _glyphs(board, rules, roles)
        for thing, (glyph, style) in self._glyphs.items():
            meaning = " ".join(map(rules.spell, thing))
            if glyph != meaning:
                self.legend.append((glyph, meaning, style))

    def draw_state(self, state: State, width: int = 80) -> DrawnState:
        """A state's drawing; several boards stand side by side as ``width`` columns allow."""
        return self.draw(state.propositions, width)

    def draw(self, propositions: Iterable[Term], width: int = 80) -> DrawnState:
        """The same for the propositions that are true."""
        if self.board is None:
            return DrawnState((), tuple(map(self.rules.spell, sorted(propositions))))
        board = self.board
        on, beside = board.place(propositions)
        cells = {square: self._cell(square, on) for square in board.squares | on.keys()}
        wide = max((_length(cell) for cell, _ in cells.values()), default=1)
        blocks = [self._panel(panel, cells, wide) for panel in board.panels]
        across = max(1, (width + _GAP) // (_length(blocks[0][0]) + _GAP))
        if len(board.panels[0]) > 1:
            # Boards in two dimensions, such as 3 x 3: let the second be a line.
            across = min(across, len({panel[-1] for panel in board.panels}))
        lines = list(_side_by_side(blocks, across))
        return DrawnState(tuple(lines), tuple(map(self.rules.spell, beside)))

    def _cell(self, square: Square, on: dict[Square, list[Thing]]) -> Cell:
        assert self.board is not None
        here = [self._glyphs.get(thing, ("?", "red")) for thing in on.get(square, [])]
        fixed = [self._glyphs[thing] for thing in self.board.fixed.get(square, [])]
        if here and fixed:
            return here, fixed[0]
        return here or fixed or [_EMPTY], _GROUND

    def _panel(self, panel: tuple[Term, ...], cells: dict[Square, Cell], wide: int) -> list[list[Span]]:
        """One board with its axes; all lines of the same length."""
        assert self.board is not None
        spell = self.rules.spell
        columns = [(c, spell(c)) for c in self.board.columns]
        rows = [(r, spell(r)) for r in self.board.rows]
        margin = max(len(name) for _, name in rows)
        if max(len(name) for _, name in columns) > max(2, wide):
            # Long names of columns would stretch the board: number them.
            columns = [(c, str(i)) for i, (c, _) in enumerate(columns, 1)]
        wide = max(wide, *(len(name) for _, name in columns))
        lines: list[list[Span]] = []
        if panel:
            title = " ".join(map(spell, panel))
            lines.append([(" " * (margin + 2) + title, "bold")])
        for row, name in reversed(rows):
            line: list[Span] = [(f"{name:>{margin}}  ", "dim")]
            for column, _ in columns:
                cell, mark = cells.get((panel, column, row), ([("", "")], _GROUND))
                line.extend([*cell, (" " * (wide - _length(cell)), ""), mark])
            lines.append(line)
        axis = " ".join(f"{name:<{wide}}" for _, name in columns)
        lines.append([(" " * (margin + 2) + axis, "dim")])
        length = max(_length(line) for line in lines)
        for line in lines:
            line.append((" " * (length - _length(line)), ""))
        return lines


def _length(line: list[Span]) -> int:
    return sum(len(text) for text, _ in line)


def _side_by_side(blocks: list[list[list[Span]]], across: int) -> Iterator[tuple[Span, ...]]:
    for first in range(0, len(blocks), across):
        if first:
            yield ()
        for row in zip(*blocks[first : first + across], strict=True):
            line: list[Span] = []
            for spans in row:
                line += [*spans, (" " * _GAP, "")]
            yield tuple(line[:-1])


def _glyphs(board: Grid, rules: Rules, roles: tuple[Term, ...]) -> dict[Thing, Span]:
    """A letter and a style for each thing. Pieces of the first role are capitals, those of the
    second small letters; what never moves are signs."""
    fixed = Counter(thing for things in board.fixed.values() for thing in things)
    glyphs: dict[Thing, Span] = {}
    for i, (thing, _) in enumerate(fixed.most_common()):
        glyphs[thing] = _FIXED_SIGNS[i % len(_FIXED_SIGNS)], _FIXED_STYLES[i % len(_FIXED_STYLES)]
    used = {_EMPTY[0], *(sign for sign, _ in glyphs.values())}
    moving = [thing for thing in board.things if thing not in glyphs]
    owners = _owners(moving, rules, roles)
    shades = iter(_OTHER_STYLES * (len(moving) + 1))
    for thing in moving:
        owner, words = owners[thing]
        style = ROLE_STYLES[owner % len(ROLE_STYLES)] if owner >= 0 else next(shades)
        name = "".join(words)
        if name not in used and (len(name) == 1 or name.isdecimal()) and (owner < 0 or len(thing) == 1):
            letter = name
        else:
            letters = "".join(word[0] for word in words) + name + ascii_lowercase + digits
            letters = letters.lower() if owner == 1 else letters.upper()
            letter = next((c for c in letters if c.isalnum() and c not in used), "?")
        used.add(letter)
        glyphs[thing] = letter, style
    return glyphs


def _owners(things: list[Thing], rules: Rules, roles: tuple[Term, ...]) -> dict[Thing, tuple[int, list[str]]]:
    """Whose each thing is (role index, or -1) and what else its name says. A piece belongs to a role that it
    names, or with whose name (``whitepawn``) or, if all short names do, initial (``wp``) its own begins."""
    names = [role.name for role in roles]
    leaves = {thing: [leaf for term in thing for leaf in _leaves(term)] for thing in things}
    initials = _initials([words[0] for words in leaves.values() if len(words) == 1], names)
    owners: dict[Thing, tuple[int, list[str]]] = {}
    for thing, words in leaves.items():
        owner, rest = -1, [rules.spelling.get(word, word) for word in words]
        for i, word in enumerate(words):
            role = next((r for r, name in enumerate(names) if word == name), -1)
            cut = 0
            if role < 0:
                starts = [r for r, name in enumerate(names) if len(name) > 1 and word.startswith(name)]
                role = max(starts, key=lambda r: len(names[r]), default=-1)
                cut = len(names[role]) if role >= 0 else 0
            if role < 0 and word[0] in initials and len(words) == 1:
                role = initials[word[0]]
                cut = len(word) - 1
            if role >= 0:
                owner = role
                end = rest[i][cut or len(word) :].strip("-_")
                rest = rest[:i] + ([end] if end else []) + rest[i + 1 :] or [rest[i]]
                break
        owners[thing] = owner, rest
    return owners


def _initials(words: list[str], names: list[str]) -> dict[str, int]:
    """First letter -> role, where all things have names of two letters of which the first tells the
    sides apart; empty otherwise. A letter that begins no role's name is the role's that is left."""
    letters = sorted({word[0] for word in words})
    if len(names) < 2 or len(letters) != len(names) or any(len(word) != 2 for word in words):
        return {}
    known = {name[0]: role for role, name in enumerate(names) if name[0] in letters}
    roles = [role for role in range(len(names)) if role not in known.values()]
    return known | dict(zip((c for c in letters if c not in known), roles, strict=False))


def _leaves(term: Term) -> Iterator[str]:
    if not term.args:
        yield term.name
    for arg in term.args:
        yield from _leaves(arg)
