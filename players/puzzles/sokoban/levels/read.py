"""Read level files in all their forms: text with or without run lengths, and XML.

XML (.slc) has ``Level`` elements with a row in each ``L``. Expat reports the line and column of every row.
Entities that a file declares would be dangerous: their declaration is an error. Nothing external is ever
opened."""

from __future__ import annotations

import os
from pathlib import Path
from xml.parsers import expat

from gdl.errors import GdlError, Place, or_error, sound
from gdl.reading import plain, text_of_file
from players.puzzles.level_name import read_level_name
from players.puzzles.snakes.level import MOST_BYTES, looks_like_snakes
from players.puzzles.sokoban.levels.level import CHARACTERS, DrawnMap, DrawnRow, Level
from players.puzzles.sokoban.levels.listing import is_page
from players.puzzles.sokoban.levels.xsb import drawn_maps

SUFFIXES = (".xsb", ".sok", ".slc", ".txt", ".html", ".htm")
"""The suffixes of level files."""


def levels_in(text: str, source: str = "") -> list[Level | GdlError]:
    """Return each level of a file, in order, or the error that says, with the place, why it cannot be played
    (see :meth:`~players.puzzles.sokoban.levels.level.DrawnMap.checked`).

    Args:
        text: the contents of the file.
        source: the name of the file, for messages.

    Raises GdlError if there is no level at all.
    """
    return [or_error(drawn.checked) for drawn in _drawn(text, source)]


def read_levels(text: str, source: str = "") -> list[Level]:
    """Return all levels of a text. Raises the first error of :func:`levels_in`."""
    return list(map(sound, levels_in(text, source)))


def levels_of_file(path: str | Path) -> list[Level | GdlError]:
    """Return each level of a file, or its error. Raises GdlError as :func:`levels_in` does, and if the file
    cannot be read."""
    return levels_in(_text(Path(path)), str(path))


def find_level(name: str) -> Level:
    """Return the level that ``FILE:N`` names, counted from 1; ``FILE`` alone is its first.

    Only this level is checked: other levels of the file may be invalid. Raises GdlError if the file or the
    level does not exist, or the level is invalid.
    """
    path, number = split_name(name)
    drawn = _drawn(_text(path), str(path))
    if not 1 <= number <= len(drawn):
        has = "one level" if len(drawn) == 1 else f"{len(drawn)} levels"
        remedy = f"write {path.name}:1" if len(drawn) == 1 else f"write a number from 1 to {len(drawn)}"
        raise GdlError(f"there is no level {number}: the file has {has}", remedy=remedy, source=str(path))
    return drawn[number - 1].checked()


def split_name(name: str) -> tuple[Path, int]:
    """Return ``FILE:N`` as path and number. The number is 1 if there is none, or if a file has the whole
    name."""
    path, number = read_level_name(name)
    return path, 1 if number is None else number


def names_level_file(name: str) -> bool:
    """Return whether ``FILE`` or ``FILE:N`` names a level file: by its suffix or, for ``.txt``, by its
    contents."""
    path = split_name(name)[0]
    suffix = path.suffix.lower()
    if suffix != ".txt":
        return suffix in SUFFIXES
    if not os.path.isfile(path):
        return False
    text = _text(path)
    return "(role" not in text.lower().replace("( ", "(") and not looks_like_snakes(text)


def _drawn(text: str, source: str) -> list[DrawnMap]:
    text = plain(text)
    collection = text.lstrip().startswith("<") and not is_page(text)
    maps = (_drawn_maps_of_slc if collection else drawn_maps)(text, source)
    if not maps:
        raise GdlError(
            "there is no level in this file",
            Place(1, 1),
            "a map has walls of #; also read: run lengths (3#|#@$.#), XML (.slc), <pre> of pages",
            source,
        )
    return maps


def _text(path: Path) -> str:
    return text_of_file(path, MOST_BYTES, "name a file of levels")


_MOST_DEPTH = 50


def _drawn_maps_of_slc(text: str, source: str) -> list[DrawnMap]:
    """Return the maps of a collection. If a level names no author, the author is the collection's copyright.
    If the XML is not well-formed, the last map has the fault.

    Raises GdlError, with the place, if the file declares entities or nests too deeply.
    """
    return _XmlReader(source).read(text)


class _XmlReader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.maps: list[DrawnMap] = []
        self.path: list[str] = []
        self.words: list[str] = []
        self.author = ""
        self.begun = Place()
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.words.append
        self.parser.EntityDeclHandler = self.entity
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def read(self, text: str) -> list[DrawnMap]:
        try:
            self.parser.Parse(text, True)
        except expat.ExpatError as error:
            if "level" not in self.path:
                self.maps.append(DrawnMap(self.source, []))
            self.maps[-1].fault = self.fault(
                f"the XML is not well-formed: {expat.ErrorString(error.code)}",
                Place(error.lineno, error.offset + 1),
                "a collection in XML begins with <SokobanLevels> and closes what it opens",
            )
        return self.maps

    def here(self) -> Place:
        return Place(self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)

    def entity(self, name: str, *_: object) -> None:
        raise self.fault(
            f"the file declares the entity {name!r}", self.here(), "levels need none: take it out"
        )

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.path.append(name.lower())
        if len(self.path) > _MOST_DEPTH:
            raise self.fault("elements are nested too deeply", self.here(), f"at most {_MOST_DEPTH} deep")
        given = {key.lower(): value for key, value in attributes.items()}
        match self.path[-1]:
            case "levelcollection":
                self.author = given.get("copyright", self.author)
            case "level":
                author = given.get("copyright") or self.author
                self.maps.append(DrawnMap(self.source, [], given.get("id", ""), author))
        self.words.clear()
        place = self.here()
        self.begun = Place(place.line, place.column + len(name) + 2) if not attributes else place

    def end(self, name: str) -> None:
        if name.lower() == "l" and "level" in self.path:
            cells, columns = "", list[int]()
            for column, char in enumerate("".join(self.words), self.begun.column):
                if char not in CHARACTERS:
                    self.maps[-1].fault = self.maps[-1].fault or self.fault(
                        f"{char!r} does not belong in a Sokoban map",
                        Place(self.begun.line, column),
                        "# wall, $ box, . goal, * box on a goal, @ keeper, + keeper on a goal, blank floor",
                    )
                    break
                cells += CHARACTERS[char]
                columns.append(column)
            self.maps[-1].rows.append(DrawnRow(self.begun.line, cells, columns))
        self.words.clear()
        self.path.pop()

    def fault(self, message: str, place: Place, remedy: str) -> GdlError:
        return GdlError(message, place, remedy, self.source, "bad-level-file")
