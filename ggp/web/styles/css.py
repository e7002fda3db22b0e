"""Style rules of strangers, written anew from what is allowed in them.

The text is taken apart as CSS Syntax Level 3 has it (comments, strings, names, blocks). What goes on is a
selector of plain characters and declarations of known properties, whose values have known functions and
addresses only. Names with escapes are left out: so nobody can spell a word in a way that is not looked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

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
