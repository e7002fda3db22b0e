"""SVG elements as text, every name from the rules escaped and never markup; the stylesheet of boards, and the
policy that lets a drawing carry it."""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from importlib.resources import files

_UNWRITABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may contain, not even escaped (XML 1.0, production 2)."""


@functools.cache
def figures() -> dict[str, str]:
    """Figures around the middle of a square of side 40, by name."""
    text = (files("ggp") / "web" / "static" / "figures.svg").read_text(encoding="utf-8")
    return dict(re.findall(r'<g id="(\w+)">(.*)</g>', text))


def text_of(text: str) -> str:
    """Any text, escaped for XML."""
    return escape(_UNWRITABLE.sub("\ufffd", text))


def element(name: str, *inside: str, **attributes: str | float) -> str:
    """An element around markup that is already written. ``cls`` is ``class``; underscores in names of
    attributes become hyphens; numbers are rounded to hundredths."""
    parts = [name]
    for key, value in attributes.items():
        shown = number(value) if isinstance(value, (int, float)) else text_of(value)
        parts.append(f'{"class" if key == "cls" else key.replace("_", "-")}="{shown}"')
    return f"<{' '.join(parts)}>{''.join(inside)}</{name}>" if inside else f"<{' '.join(parts)}/>"


def box(cls: str, x: float, y: float, wide: float, high: float, rx: float = 0.0) -> str:
    """A rectangle around a point."""
    rounded = {"rx": rx} if rx else {}
    return element("rect", cls=cls, x=x - wide / 2, y=y - high / 2, width=wide, height=high, **rounded)


def circle(cls: str, x: float, y: float, radius: float) -> str:
    """A circle around a point."""
    return element("circle", cls=cls, cx=x, cy=y, r=radius)


def oval(cls: str, x: float, y: float, wide: float, high: float) -> str:
    """An ellipse around a point."""
    return element("ellipse", cls=cls, cx=x, cy=y, rx=wide, ry=high)


def line(cls: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """A line between two points."""
    return element("line", cls=cls, x1=x1, y1=y1, x2=x2, y2=y2)


def words(cls: str, text: str, x: float, y: float, **more: str | float) -> str:
    """A line of text, escaped; nothing for no text."""
    return text and element("text", text_of(text), cls=cls, x=x, y=y, **more)


def title(text: str) -> str:
    """The name of the element that it stands in, for people who point at it or cannot see it."""
    return element("title", text_of(text))


def number(value: float) -> str:
    """A length without needless digits."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def points(corners: Iterable[tuple[float, float]]) -> str:
    """Corners in the notation of a polygon."""
    return " ".join(f"{number(x)},{number(y)}" for x, y in corners)


def clipped(text: str, most: int) -> str:
    """Text of at most ``most`` characters; an ellipsis marks the omission."""
    return text if len(text) <= most else text[: most - 1] + "…"


@functools.cache
def stylesheet() -> str:
    """The stylesheet of boards, light and dark. Pages link it as ``/static/board.css``; standalone drawings
    include it."""
    return (files("ggp") / "web" / "static" / "board.css").read_text(encoding="utf-8")


@functools.cache
def drawing_policy() -> str:
    """The Content-Security-Policy of a standalone drawing: nothing but its own stylesheet."""
    return f"default-src 'none'; style-src {source_hash(stylesheet())}"


def source_hash(text: str) -> str:
    """A script or stylesheet as a source that a Content-Security-Policy allows."""
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"
