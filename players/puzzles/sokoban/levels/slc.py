"""Level files in XML (.slc): ``Level`` elements with a row in each ``L``, as level collections have them.

Read with expat, which knows the line and column of every row. What makes XML dangerous, entities that a file
declares, is refused where they are declared; nothing external is ever opened.
"""

from __future__ import annotations

from xml.parsers import expat

from gdl.errors import GdlError, Place
from players.puzzles.sokoban.levels.drawn_map import CHARACTERS, DrawnMap, DrawnRow

_MOST_DEPTH = 50


def drawn_maps_of_slc(text: str, source: str) -> list[DrawnMap]:
    """The maps of a collection; the author is the collection's copyright where a level names none.

    Raises GdlError, with the place: it is no well-formed XML, it declares entities, a map has a character
    that no dialect has.
    """
    return _Reader(source).read(text)


class _Reader:
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
            raise self.fault(
                f"this is no well-formed XML: {expat.ErrorString(error.code)}",
                Place(error.lineno, error.offset + 1),
                "a collection in XML begins with <SokobanLevels> and closes what it opens",
            ) from None
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
                    raise self.fault(
                        f"{char!r} is no character of a Sokoban map",
                        Place(self.begun.line, column),
                        "# wall, $ box, . goal, * box on a goal, @ keeper, + keeper on a goal, blank floor",
                    )
                cells += CHARACTERS[char]
                columns.append(column)
            self.maps[-1].rows.append(DrawnRow(self.begun.line, cells, columns))
        self.words.clear()
        self.path.pop()

    def fault(self, message: str, place: Place, remedy: str) -> GdlError:
        return GdlError(message, place, remedy, self.source, "bad-level-file")
