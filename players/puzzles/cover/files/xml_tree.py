"""A tree of XML elements from bytes that may be hostile.

Plain or packed by gzip; no document types, hence no entities; limits on size and depth.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from xml.parsers import expat

from gdl.errors import Place
from gdl.reading import text_of
from players.puzzles.cover.problem import CoverError

MOST_BYTES = 64 << 20
"""Most bytes after unpacking."""
DEEPEST = 64
_MOST_ELEMENTS = 500_000
_GZIP = b"\x1f\x8b"


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


def unpacked(data: bytes) -> bytes:
    """The bytes, unpacked if they are compressed by gzip. Raises CoverError if they are too many or
    damaged."""
    if data.startswith(_GZIP):
        packed, parts, size = data, [], 0
        while packed:
            machine = zlib.decompressobj(16 + zlib.MAX_WBITS)
            try:
                parts.append(machine.decompress(packed, MOST_BYTES + 1 - size))
            except zlib.error as error:
                raise CoverError(
                    "the file is damaged: gzip cannot unpack it", remedy="download it again"
                ) from error
            size += len(parts[-1])
            if size > MOST_BYTES:
                break
            if not machine.eof:
                raise CoverError("the file ends too early", remedy="download it again")
            packed = machine.unused_data if machine.unused_data.startswith(_GZIP) else b""
        data = b"".join(parts)
    if len(data) > MOST_BYTES:
        raise CoverError("the file is too large", remedy=f"at most {MOST_BYTES >> 20} MiB of XML")
    return data


def parsed(data: bytes, leave_out: frozenset[str] = frozenset()) -> Element:
    """The root element of XML, without the elements of some tags.

    Raises CoverError or FileError, with line and column, if the data is not XML, has a document type, or is
    too large or too deep.
    """
    text = text_of(unpacked(data))
    builder = _Builder(leave_out)
    parser = expat.ParserCreate()
    builder.parser = parser
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.characters
    parser.StartDoctypeDeclHandler = builder.doctype
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        place = Place(error.lineno, error.offset + 1)
        raise CoverError(f"this is not XML: {what}", place, "it should be a file of BurrTools") from error
    assert builder.root is not None
    return builder.root


class _Builder:
    """Builds the tree from the parser's events."""

    def __init__(self, leave_out: frozenset[str]) -> None:
        self.parser: expat.XMLParserType
        self.root: Element | None = None
        self.open: list[Element] = []
        self.texts: list[list[str]] = []
        self.leave_out = leave_out
        self.ignored = self.elements = 0

    def _refused(self, what: str, remedy: str) -> CoverError:
        return CoverError(what, self._place(), remedy)

    def _place(self) -> Place:
        return Place(self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)

    def doctype(self, *_: object) -> None:
        raise self._refused("a document type is not allowed", "remove it: puzzle files have none")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        if len(self.open) + self.ignored >= DEEPEST:
            raise self._refused("elements lie too deep", f"at most {DEEPEST} in each other")
        if self.elements > _MOST_ELEMENTS:
            raise self._refused("too many elements", f"at most {_MOST_ELEMENTS}")
        if self.ignored or tag in self.leave_out:
            self.ignored += 1
            return
        element = Element(tag, attributes, place=self._place())
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.texts.append([])

    def end(self, _: str) -> None:
        if self.ignored:
            self.ignored -= 1
            return
        self.open.pop().text = "".join(self.texts.pop())

    def characters(self, text: str) -> None:
        if not self.ignored and self.texts:
            self.texts[-1].append(text)
