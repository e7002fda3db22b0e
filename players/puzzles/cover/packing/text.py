"""Packing puzzles as text, for people: drawings of the pieces and of the result.

The first line is `packing` and the grid; remarks begin with `;`. Then, in any order:

- `title` and words; `holes` and the most cells that may stay empty; `flat` if pieces may not be turned over;
- `allow` and two colours, of a piece and of the result, that may meet;
- `pentominoes`, `tetrominoes` or `soma` and letters, one for each piece of that family;
- `piece`, a name and the number of copies (`x2`, or `x0-3` for a range), then its drawing;
- `result`, then its drawing, or a size like `10 x 6` or `3 x 4 x 5`.

A drawing has a row of marks for each y, from 0 on, and layers (z) separated by lines of `-`: `.` is nothing,
`#` a cell, `+` a cell of the result that may stay empty; `1` to `9` are cells with colours, `a` to `i` the
same colours for cells that may stay empty.
"""

from __future__ import annotations

import io
import re
from collections import Counter

from gdl.errors import Place
from gdl.reading import plain
from gdl.words import counted
from players.puzzles.cover.packing.grids import grid
from players.puzzles.cover.packing.puzzle import MOST_CELLS, MOST_PIECES, CellShape, PackingPuzzle, Piece
from players.puzzles.cover.problem import CoverError

FAMILIES: dict[str, dict[str, list[list[str]]]] = {
    "tetrominoes": {
        "I": [["####"]],
        "L": [["###", "#.."]],
        "O": [["##", "##"]],
        "S": [[".##", "##."]],
        "T": [["###", ".#."]],
    },
    "pentominoes": {
        "F": [[".##", "##.", ".#."]],
        "I": [["#####"]],
        "L": [["####", "#..."]],
        "N": [["##..", ".###"]],
        "P": [["##", "##", "#."]],
        "T": [["###", ".#.", ".#."]],
        "U": [["#.#", "###"]],
        "V": [["#..", "#..", "###"]],
        "W": [["#..", "##.", ".##"]],
        "X": [[".#.", "###", ".#."]],
        "Y": [["####", ".#.."]],
        "Z": [["##.", ".#.", ".##"]],
    },
    "soma": {
        "V": [["##", "#."]],
        "L": [["###", "#.."]],
        "T": [["###", ".#."]],
        "Z": [["##.", ".##"]],
        "P": [["##", "#."], ["#.", ".."]],
        "A": [["##", "#."], [".#", ".."]],
        "B": [["##", "#."], ["..", "#."]],
    },
}
"""The drawings of each family by letter: layers of rows."""


_MOST_TEXT = 4 << 20
_FIXED = "#123456789"
_VARIABLE = "+abcdefghi"
_DRAWN = re.compile(rf"[.{_FIXED}{_VARIABLE}]+")
_NO_MARK = re.compile(rf"[^.{_FIXED}{_VARIABLE}]")
_WORDS = ("title", "holes", "flat", "allow", "piece", "result", *FAMILIES)
_LAYER = re.compile("-+")
_COPIES = re.compile(r"x(\d{1,5})(?:-(\d{1,5}))?")
_BOX = re.compile(r"(\d{1,5})\s*[x×]\s*(\d{1,5})(?:\s*[x×]\s*(\d{1,5}))?")
_NEITHER_TURNED_OVER = (0, 10, 16, 20)
"""The turns of cubes about z."""


def is_packing_text(text: str) -> bool:
    """Whether a text declares itself as a packing puzzle."""
    lines = (line.strip() for line in io.StringIO(plain(text)))
    first = next((line for line in lines if line and not line.startswith(";")), "")
    return bool(re.match(r"packing\b", first))


def packing_of_text(text: str) -> PackingPuzzle:
    """The puzzle that a text describes. Raises CoverError, with line and column, if the text is malformed."""
    if len(text) > _MOST_TEXT:
        raise CoverError("the puzzle's text is too long", remedy=f"at most {_MOST_TEXT >> 20} MiB")
    reader = _Reader(text)
    reader.read()
    puzzle = reader.puzzle()
    puzzle.check_pieces()
    try:
        puzzle.check_room()
    except CoverError as error:
        error.place = reader.result_place
        raise
    return puzzle


class _Reader:
    """Reads the lines of a text."""

    def __init__(self, text: str) -> None:
        self.lines = [
            (Place(number, len(line) - len(line.lstrip()) + 1), line.strip())
            for number, whole in enumerate(plain(text).split("\n"), 1)
            if (line := whole.partition(";")[0]).strip()
        ]
        self.at = 0
        self.result_place: Place | None = None
        self.grid = grid("cubes")
        self.name = ""
        self.holes: int | None = None
        self.flat = False
        self.allowed: set[tuple[int, int]] = set()
        self.pieces: list[tuple[CellShape, int, int]] = []
        self.result: CellShape | None = None

    def puzzle(self) -> PackingPuzzle:
        if self.result is None:
            place = self.lines[-1][0] if self.lines else Place(1, 1)
            raise CoverError("the puzzle has no result", place, "add `result` and a drawing")
        ways = None
        if self.flat:
            if self.grid.name != "cubes":
                raise CoverError("flat pieces are known on cubes only", remedy="leave `flat` out")
            ways = _NEITHER_TURNED_OVER
        pieces = tuple(Piece(shape, low, high, ways=ways) for shape, low, high in self.pieces)
        return PackingPuzzle(self.grid, pieces, self.result, frozenset(self.allowed), self.holes, self.name)

    def read(self) -> None:
        if not self.lines or self.lines[0][1].split()[0] != "packing":
            place = self.lines[0][0] if self.lines else Place(1, 1)
            raise CoverError("no packing puzzle", place, "begin with `packing` and the name of a grid")
        while self.at < len(self.lines):
            place, line = self.lines[self.at]
            self.at += 1
            word, _, rest = line.partition(" ")
            try:
                if self.at == 1:
                    self.grid = grid(rest.strip() or "cubes")
                else:
                    if word == "result" and self.result_place is not None:
                        raise CoverError(
                            f"a second result, after that in line {self.result_place.line}", remedy="keep one"
                        )
                    self.result_place = place if word == "result" else self.result_place
                    self._line(word, rest.strip())
            except CoverError as error:
                error.place = error.place or place
                raise

    def _line(self, word: str, rest: str) -> None:
        match word:
            case "title":
                self.name = rest
            case "flat":
                self.flat = True
            case "holes":
                (self.holes,) = self._numbers(rest, 1)
            case "allow":
                ours, theirs = self._numbers(rest, 2)
                self.allowed.add((ours, theirs))
            case "piece":
                self._piece(rest)
            case "result":
                self.result = self._box(rest) if rest else self._drawn("result")
            case _ if word in FAMILIES:
                self._family(word, rest)
            case _:
                raise CoverError(f"{word[:20]!r} means nothing here", remedy=f"known are {', '.join(_WORDS)}")

    def _numbers(self, text: str, count: int) -> list[int]:
        words = text.split()
        if len(words) != count or not all(re.fullmatch(r"\d{1,8}", word) for word in words):
            expected = counted(count, "number")
            raise CoverError(f"expected {expected}, found {text[:20]!r}", remedy="write them after the word")
        return [int(word) for word in words]

    def _piece(self, rest: str) -> None:
        words = rest.split()
        low = high = 1
        if len(words) == 2 and (match := _COPIES.fullmatch(words[1])):
            low = int(match[1])
            high = int(match[2]) if match[2] else low
        elif len(words) != 1:
            message = f"expected a name and how often, found {rest[:20]!r}"
            raise CoverError(message, remedy="write a name, and copies like x2 or x0-3")
        if not low <= high <= MOST_PIECES:
            raise CoverError(
                f"{low} to {high} copies of {words[0]!r:.40}", remedy=f"0 to {MOST_PIECES:,} are possible"
            )
        if len(self.pieces) >= MOST_PIECES:
            raise CoverError("too many pieces", remedy=f"at most {MOST_PIECES}")
        self.pieces.append((self._drawn(words[0]), low, high))

    def _family(self, word: str, rest: str) -> None:
        for letter, copies in Counter("".join(rest.split())).items():
            drawing = FAMILIES[word].get(letter)
            if drawing is None:
                raise CoverError(f"no {letter!r} among {word}", remedy=f"there are {''.join(FAMILIES[word])}")
            self.pieces.append((CellShape.of(drawing, letter), copies, copies))

    def _box(self, rest: str) -> CellShape:
        match = _BOX.fullmatch(rest)
        if match is None:
            raise CoverError(
                f"result {rest[:20]!r} is not a size", remedy="write 10 x 6, 3 x 4 x 5, or draw it"
            )
        x, y, z = (int(number) if number else 1 for number in match.groups())
        if not 0 < x * y * z <= MOST_CELLS:
            raise CoverError(
                f"the result {rest!r} is too large or empty", remedy=f"1 to {MOST_CELLS:,} cells"
            )
        cells = [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
        here = self.grid.valid(CellShape.at(cells).cells)
        return CellShape.at([cell for cell, valid in zip(cells, here, strict=True) if valid])

    def _drawn(self, name: str) -> CellShape:
        """The drawing that begins at the current line."""
        cells, fixed, colours = [], [], []
        y = z = 0
        while self.at < len(self.lines):
            place, line = self.lines[self.at]
            if _LAYER.fullmatch(line):
                y, z = 0, z + 1
            elif _DRAWN.fullmatch(line):
                for x, mark in enumerate(line):
                    if mark != ".":
                        cells.append((x, y, z))
                        fixed.append(mark in _FIXED)
                        colours.append((_FIXED if mark in _FIXED else _VARIABLE).index(mark))
                y += 1
            elif (wrong := _NO_MARK.search(line)) and set(line) & set("#+") and line.split()[0] not in _WORDS:
                at = Place(place.line, place.column + wrong.start())
                raise CoverError(
                    f"{wrong[0]!r} is not a mark of a drawing", at, "write # + . 1 to 9 or a to i"
                )
            else:
                break
            self.at += 1
        if not cells:
            raise CoverError(f"{name[:20]!r} has no drawing", remedy="draw it on the lines below")
        return CellShape.at(cells, fixed, colours, name if name != "result" else "")
