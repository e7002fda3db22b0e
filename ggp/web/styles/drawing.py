"""What a stylesheet has made, written anew from what is allowed in it: a drawing that does and loads nothing.

The text is parsed as browsers do it (libxml2), and elements, attributes, addresses and properties that are
known to be harmless are written again. So nothing depends on how a tag or a word was spelled.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from ggp.web.styles.css import PROPERTIES, Resolve, clean_declarations, clean_rules, clean_value, words

if TYPE_CHECKING:
    from lxml import etree

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
