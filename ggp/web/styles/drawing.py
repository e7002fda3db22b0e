"""What a stylesheet has made, written anew from what is allowed in it: a drawing that does and loads nothing,
and style rules of strangers.

The text is parsed as browsers do it (libxml2), and elements, attributes, addresses and properties that are
known to be harmless are written again. So nothing depends on how a tag or a word was spelled.

Style rules are taken apart as CSS Syntax Level 3 has it (comments, strings, names, blocks). What goes on is a
selector of plain characters and declarations of known properties, whose values have known functions and
addresses only. Names with escapes are left out: so nobody can spell a word in a way that is not looked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree


Resolve = Callable[[str], str | None]
"""The address that may be asked for in place of one that was written; None for none."""

_NAME = r"(?:[-\w]|[^\x00-\x7f]|\\[^\n])+"
_TOKEN = re.compile(
    rf"""(?P<skip>/\*.*?(?:\*/|\Z)|<!--|-->)
    |(?P<space>\s+)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<url>url\(\s*(?:[^"'()\\\s]*)\s*\))
    |(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[a-zA-Z]+|%)?)
    |(?P<name>[#@]?{_NAME})
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_SELECTOR = re.compile(r"""[-\w#.,:>+~*\s()=\[\]"']+""", re.ASCII)
_WORD = re.compile(r"#?-?[a-z_][-\w]*|#[\da-f]{3,8}", re.ASCII | re.IGNORECASE)
_STRING = re.compile(r"""["'](?:[^<>\\]|\\[\da-fA-F]{1,6} ?)*["']""")
_MOST_RULES = 5000
_BOX = ("", "-top", "-right", "-bottom", "-left")


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


PROPERTIES = words("""align-content align-items align-self background background-color background-image
        background-position background-repeat background-size background-clip background-origin bottom
        border-collapse border-spacing border-image box-shadow box-sizing caption-side clear clip clip-path
        color column-count column-gap content cursor direction display empty-cells fill fill-opacity fill-rule
        filter flex flex-basis flex-direction flex-flow flex-grow flex-shrink flex-wrap float font font-family
        font-size font-stretch font-style font-variant font-weight gap grid grid-area grid-auto-columns
        grid-auto-flow grid-auto-rows grid-column grid-gap grid-row grid-template grid-template-areas
        grid-template-columns grid-template-rows height justify-content justify-items justify-self left
        letter-spacing line-height list-style list-style-image list-style-position list-style-type marker-end
        marker-mid marker-start mask max-height max-width min-height min-width object-fit object-position
        opacity order outline outline-color outline-offset outline-style outline-width overflow overflow-x
        overflow-y page-break-after page-break-before perspective position quotes resize right row-gap
        stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin
        stroke-miterlimit stroke-opacity stroke-width table-layout text-align text-anchor text-decoration
        text-indent text-overflow text-shadow text-transform dominant-baseline top transform transform-origin
        unicode-bidi user-select vertical-align visibility white-space width word-break word-spacing
        word-wrap overflow-wrap z-index zoom""") | frozenset(
    [
        *(f"{name}{side}" for name in ("margin", "padding", "border") for side in _BOX),
        *(f"border{side}-{part}" for side in _BOX for part in ("color", "style", "width", "radius")),
        *(f"border-{end}-{side}-radius" for end in ("top", "bottom") for side in ("left", "right")),
    ]
)
_FUNCTIONS = words(
    """blur brightness calc circle clamp contrast cubic-bezier drop-shadow ellipse fit-content
    grayscale hsl hsla hue-rotate inset invert linear-gradient matrix matrix3d max min minmax opacity
    perspective polygon radial-gradient rect repeat repeating-linear-gradient repeating-radial-gradient rgb
    rgba rotate rotate3d rotatex rotatey rotatez saturate scale scale3d scalex scaley scalez sepia skew skewx
    skewy steps translate translate3d translatex translatey translatez"""
)
_PREFIX = re.compile(r"-(?:webkit|moz|ms|o)-")
Token = tuple[str, str]


def clean_rules(text: str, resolve: Resolve) -> str:
    """The rules of a style element, anew."""
    return "".join(_rules(_tokens(text), resolve, True))


def clean_declarations(text: str, resolve: Resolve) -> str:
    """The declarations of a style attribute, anew."""
    return _declarations(_tokens(text), resolve)


def clean_value(text: str, resolve: Resolve) -> str | None:
    """One value, as of an attribute that gives a property to a part of a picture; None if it may not be."""
    return _value(_tokens(text), resolve)


def _tokens(text: str) -> list[Token]:
    found = ((str(each.lastgroup), each.group()) for each in _TOKEN.finditer(text.replace("\0", "\ufffd")))
    return [token for token in found if token[0] != "skip"]


def _rules(tokens: list[Token], resolve: Resolve, outermost: bool) -> Iterator[str]:
    for number, (head, block) in enumerate(_blocks(tokens)):
        if number >= _MOST_RULES:
            return
        selector = "".join(text for _, text in head).strip()
        if not _SELECTOR.fullmatch(selector.removeprefix("@")) or "/*" in selector:
            continue
        if not selector.startswith("@"):
            if declarations := _declarations(block, resolve):
                yield f"{selector}{{{declarations}}}\n"
        elif outermost and selector.lower().startswith("@media"):
            yield f"{selector}{{{''.join(_rules(block, resolve, False))}}}\n"


def _blocks(tokens: list[Token]) -> Iterator[tuple[list[Token], list[Token]]]:
    """What stands before each block, and in it. Rules that end at a semicolon are left out."""
    head: list[Token] = []
    block: list[Token] = []
    depth = 0
    for token in tokens:
        opens, closes = token == ("mark", "{"), token == ("mark", "}")
        depth += opens - closes
        if depth < 0 or (not depth and token == ("mark", ";")):
            head, depth = [], 0
        elif closes and not depth:
            yield head, block
            head, block = [], []
        elif depth and not (opens and depth == 1):
            block.append(token)
        elif not depth:
            head.append(token)
    if depth:  # what is not closed ends with the text
        yield head, block


def _declarations(tokens: list[Token], resolve: Resolve) -> str:
    made: list[str] = []
    for part in _split(tokens):
        words = [token for token in part if token[0] != "space"]
        if len(words) < 3 or words[0][0] != "name" or words[1] != ("mark", ":"):
            continue
        name = words[0][1].lower()
        value = _value(part[part.index(words[1]) + 1 :], resolve)
        if _PREFIX.sub("", name, count=1) in PROPERTIES and value:
            made.append(f"{name}:{value}")
    return ";".join(made)


def _split(tokens: list[Token]) -> Iterator[list[Token]]:
    """The parts between semicolons that stand in no parentheses or braces."""
    part: list[Token] = []
    depth = 0
    for token in tokens:
        depth += token[1] in ("(", "{", "[")
        depth -= token[1] in (")", "}", "]")
        if token == ("mark", ";") and depth <= 0:
            yield part
            part, depth = [], 0
        else:
            part.append(token)
    yield part


def _value(tokens: list[Token], resolve: Resolve) -> str | None:
    """A value anew; None if something in it is not allowed."""
    made: list[str] = []
    depth = at = 0
    while at < len(tokens):
        kind, text = tokens[at]
        at += 1
        following = tokens[at][1] if at < len(tokens) else ""
        if kind == "url":
            address = resolve(text[4:-1].strip())
        elif kind == "name" and text.lower() == "url" and following == "(":
            address, at = _quoted_address(tokens, at + 1, resolve)
        elif kind == "name" and following == "(" and _PREFIX.sub("", text.lower()) not in _FUNCTIONS:
            return None
        else:
            allowed = (
                kind in ("space", "number")
                or (kind == "name" and _WORD.fullmatch(text))
                or (kind == "string" and _STRING.fullmatch(text))
                or (kind == "mark" and text in ",/!()+-*%.")
            )
            depth += (text == "(") - (text == ")")
            if not allowed or depth < 0:
                return None
            made.append(" " if kind == "space" else text)
            continue
        if address is None:
            return None
        made.append(f'url("{address}")')
    return None if depth else "".join(made).strip() or None


def _quoted_address(tokens: list[Token], at: int, resolve: Resolve) -> tuple[str | None, int]:
    """The address of ``url("...")`` from behind its parenthesis on, and the place behind it."""
    inner = [token for token in tokens[at : at + 4] if token[0] != "space"]
    if len(inner) < 2 or inner[0][0] != "string" or inner[1] != ("mark", ")"):
        return None, at
    return resolve(inner[0][1][1:-1].strip()), tokens.index(inner[1], at) + 1


_EMPTY = words("br hr img col wbr")
_PICTURES = words(
    """svg g path rect circle ellipse line polyline polygon text tspan defs lineargradient radialgradient stop
    clippath mask pattern use symbol image marker"""
)
ELEMENTS = (
    _EMPTY
    | _PICTURES
    | words(
        """a abbr b big blockquote caption center cite code colgroup dd del div dl dt em fieldset figcaption
    figure font h1 h2 h3 h4 h5 h6 header footer i ins kbd label legend li main nav ol p pre q s samp section
    small span strike strong style sub sup table tbody td tfoot th thead tr tt u ul"""
    )
)
_WITH_CONTENT = words(
    """script noscript template iframe frame frameset noframes object embed applet noembed math textarea title
    xmp plaintext select button form audio video canvas map foreignobject animate animatemotion
    animatetransform set"""
)
"""Elements that go with all that is in them; of others that are not allowed the content stays."""
_PLAIN = words(
    """align alt bgcolor border cellpadding cellspacing class color cols colspan dir face frame halign height
    hspace id lang nowrap rows rowspan rules scope size span start summary title type valign value vspace
    width"""
)
_GEOMETRY = words(
    """clippathunits cx cy d dx dy fx fy gradienttransform gradientunits markerheight markerunits markerwidth
    maskunits offset orient patterntransform patternunits points preserveaspectratio r refx refy rotate rx ry
    spreadmethod textlength transform version viewbox x x1 x2 y y1 y2"""
)
_PROPERTIES = PROPERTIES - {"content", "cursor"}
_IMAGE = re.compile(
    r"data:image/(?:png|gif|jpeg|webp|svg\+xml)(?:;charset=[\w-]+)?(?:;base64)?,[\w%+/=.~!*:;,-]*", re.ASCII
)
_HERE = re.compile(r"#[\w.:-]*", re.ASCII)
_LONGEST = 100_000
"""Characters of an attribute that is not an image."""


def clean_drawing(text: str, image: Resolve) -> str:
    """HTML anew, for the body of a page.

    Args:
        text: HTML, as a stylesheet has made it.
        image: the ``data:`` address of an image of the stylesheet's folder; None for an address that names
            none.
    """
    from lxml import etree

    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )
    if not text.strip():
        return ""
    root = etree.fromstring(f"<div>{text}</div>".encode("utf-8", "replace"), parser)
    made: list[str] = []
    if root is not None:
        _write(root, _Addresses(image), made)
    return "".join(made)


class _Addresses:
    """Which addresses may stand in a drawing."""

    def __init__(self, image: Resolve) -> None:
        self._image = image

    def of_image(self, address: str) -> str | None:
        """An image of the folder, or one that the drawing carries."""
        found = self._image(address)
        address = address if found is None else found
        return address if _IMAGE.fullmatch(address) or address == "data:," else None

    def of_property(self, address: str) -> str | None:
        """An image, or a part of the drawing."""
        return address if _HERE.fullmatch(address) else self.of_image(address)


def _write(element: etree._Element, addresses: _Addresses, made: list[str]) -> None:
    """Append an element, without the text behind it."""
    tag = str(element.tag).lower()
    if tag in _WITH_CONTENT:
        return
    if tag == "style":
        made.append(f"<style>{clean_rules(_text(element), addresses.of_property)}</style>")
        return
    if tag in ELEMENTS:
        made.append(f"<{tag}{_attributes(tag, element, addresses)}>")
    if tag not in _EMPTY:
        made.append(escape(element.text or "", quote=False))
        for child in element:
            if isinstance(child.tag, str):
                _write(child, addresses, made)
            made.append(escape(child.tail or "", quote=False))
    if tag in ELEMENTS - _EMPTY:
        made.append(f"</{tag}>")


def _text(element: etree._Element) -> str:
    return "".join(element.itertext())


def _attributes(tag: str, element: etree._Element, addresses: _Addresses) -> str:
    made = ""
    for name, value in element.attrib.items():
        kept = _attribute(tag, str(name).lower(), str(value), addresses)
        if kept is not None:
            made += f' {str(name).lower()}="{escape(kept)}"'
    return made


def _attribute(tag: str, name: str, value: str, addresses: _Addresses) -> str | None:
    """What an attribute may say; None if it may not be there."""
    if name == "style":
        return clean_declarations(value, addresses.of_property) or None
    if name in ("href", "xlink:href"):
        if tag == "image":
            return addresses.of_image(value.strip())
        return value if tag in _PICTURES | {"a"} and _HERE.fullmatch(value) else None
    if name in ("src", "background"):
        return addresses.of_image(value.strip())
    if len(value) > _LONGEST:
        return None
    if name in _PLAIN or name in _GEOMETRY:
        return value
    return clean_value(value, addresses.of_property) if name in _PROPERTIES else None
