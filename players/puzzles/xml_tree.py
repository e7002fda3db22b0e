"""A tree of XML elements from text that may be hostile: no entities, limits on number and depth."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from gdl.errors import GdlError, Place

_DEEPEST = 64
_MOST_ELEMENTS = 500_000


@dataclass(eq=False, slots=True)
class Element:
    """One element: its tag, attributes, children, the text directly inside it, and its place."""

    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    text: str = ""
    place: Place = Place()

    def child(self, tag: str) -> Element | None:
        """The first child with this tag."""
        return next(iter(self.all(tag)), None)

    def all(self, tag: str) -> list[Element]:
        """All children with this tag."""
        return [child for child in self.children if child.tag == tag]


class BrokenXmlError(GdlError):
    """The text is not XML. ``root`` has the elements that were read before, and ``inside`` those that were
    open."""

    def __init__(self, message: str, place: Place, source: str, open_elements: list[Element]) -> None:
        super().__init__(message, place, "close what it opens", source)
        self.root, *self.inside = open_elements


def xml_tree(text: str, source: str = "", leave_out: frozenset[str] = frozenset()) -> Element:
    """The root element of XML, without the elements of some tags.

    Raises GdlError, with line and column, if the text is not XML (BrokenXmlError), declares an entity, or is
    too large or too deep. Nothing external is ever opened.
    """
    builder = _Builder(source, leave_out)
    parser = builder.parser
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        what, place = expat.ErrorString(error.code), Place(error.lineno, error.offset + 1)
        raise BrokenXmlError(f"this is not XML: {what}", place, source, builder.open) from error
    return builder.root.children[0]


class _Builder:
    """Builds the tree from the parser's events."""

    def __init__(self, source: str, leave_out: frozenset[str]) -> None:
        self.source, self.leave_out = source, leave_out
        self.root = Element("", {})
        self.open = [self.root]
        self.ignored = self.elements = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.entity
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def _refused(self, what: str, remedy: str) -> GdlError:
        return GdlError(what, self._place(), remedy, self.source)

    def _place(self) -> Place:
        return Place(self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)

    def entity(self, name: str, *_: object) -> None:
        raise self._refused(f"the file declares the entity {name[:40]!r}", "puzzles need none: take it out")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        if len(self.open) + self.ignored > _DEEPEST:
            raise self._refused("elements lie too deep", f"at most {_DEEPEST} in each other")
        if self.elements > _MOST_ELEMENTS:
            raise self._refused("too many elements", f"at most {_MOST_ELEMENTS}")
        if self.ignored or tag in self.leave_out:
            self.ignored += 1
            return
        element = Element(tag, attributes, place=self._place())
        self.open[-1].children.append(element)
        self.open.append(element)

    def end(self, _: str) -> None:
        if self.ignored:
            self.ignored -= 1
        else:
            self.open.pop()

    def characters(self, text: str) -> None:
        if not self.ignored:
            self.open[-1].text += text
