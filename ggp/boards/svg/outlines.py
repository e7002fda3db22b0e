"""Figures drawn as outlines: hands that show a sign, a car and a goat.

Each is a list of paths around the middle of a square of side 40, the later ones over the earlier.
"""

from __future__ import annotations

_BODY, _DARK, _LIGHT = "gb-man", "gb-pip", "gb-shine"


def _pill(x: float, y: float, width: float, height: float, radius: float) -> str:
    """A rectangle with round corners."""
    r, w, h = radius, width - 2 * radius, height - 2 * radius
    return (
        f"M{x + r:g} {y:g}h{w:g}a{r:g} {r:g} 0 0 1 {r:g} {r:g}v{h:g}a{r:g} {r:g} 0 0 1-{r:g} {r:g}"
        f"h{-w:g}a{r:g} {r:g} 0 0 1-{r:g}-{r:g}v{-h:g}a{r:g} {r:g} 0 0 1 {r:g}-{r:g}z"
    )


def _oval(x: float, y: float, wide: float, high: float) -> str:
    arc = f"a{wide:g} {high:g} 0 1 0"
    return f"M{x - wide:g} {y:g}{arc} {2 * wide:g} 0{arc} {-2 * wide:g} 0z"


def _body(*paths: str) -> list[tuple[str, str]]:
    return [(_BODY, path) for path in paths]


OUTLINES: dict[str, list[tuple[str, str]]] = {
    "fist": _body(
        _pill(-7, 7, 15, 10, 2),
        _pill(-13, -3, 26, 15, 5),
        *(_pill(x, -12, 6.7, 14, 3.2) for x in (-13, -6.5, 0, 6.5)),
        _pill(-14, -1, 17, 7, 3.4),
    ),
    "palm": _body(
        "M6 10L15-1a2.7 2.7 0 0 1 4.4 3L11 15z",
        *(_pill(x, y, 5.2, 21, 2.6) for x, y in ((-11, -11), (-5.7, -15), (-0.4, -16), (4.9, -13))),
        "M-11 0h21.1v9a8 8 0 0 1-8 8h-5.1a8 8 0 0 1-8-8z",
    ),
    "scissors": _body(
        "M-8 2L-12-12a2.7 2.7 0 0 1 5.1-1.7L-1 2z",
        "M-2 2L5-14a2.7 2.7 0 0 1 5 2L5 4z",
        "M-9 0h16a3 3 0 0 1 3 3v6a8 8 0 0 1-8 8h-5a8 8 0 0 1-8-8z",
        _pill(1, -1, 5, 9, 2.5),
        _pill(5.5, 0, 4.8, 8, 2.4),
        _pill(-10, 3, 13, 5.6, 2.8),
    ),
    "thumbup": _body(
        _pill(-16, -3, 6, 17, 1.5),
        "M-10-2C-6-4-5-8-4-13a3 3 0 0 1 6 0c0 4-1 6-2 9v13h-10z",
        "M-10-3H0v17H-10z",
        *(_pill(-2, y, w, 5, 2.5) for y, w in ((-4.5, 15), (0.3, 16), (5.1, 15), (9.9, 12))),
    ),
    "car": [
        *_body(
            "M-18 7v-5q0-4 5-4.5l4-.8 5-6q1.2-1.7 3.5-1.7h5q2.3 0 3.6 1.7l4.4 6q6 .6 6 5V7z",
        ),
        (_LIGHT, "M-5-4l3.4-4h2.8v4zM3.5-4v-4h2.3q1 0 1.6.8l2.6 3.2z"),
        (_DARK, _oval(-10, 7, 4, 4) + _oval(10.5, 7, 4, 4)),
        (_LIGHT, _oval(-10, 7, 1.5, 1.5) + _oval(10.5, 7, 1.5, 1.5)),
    ],
    "goat": [
        *_body(
            "M-6 4h3v12h-3zM-1 4h3v12h-3zM7 4h3v12h-3zM11.5 4h3v12h-3z",
            "M14-3l4-4 1 4-3 3z",
            "M-8-10C-3-9-3-4 2-4h9q6 0 6 6t-6 6H-2q-6 0-8-7l-1-7z",
            "M-11-11q0-7 7-7-4 2-3 8zM-8-11q2-5 8-4-5 1-5 5z",
            "M-9-12q-4 0-5 3l-4 4q-1 3 2 3l6-1 4-3q0-5-3-6z",
            "M-14-3l-1 6 4-6z",
        ),
        (_DARK, _oval(-11.5, -8.5, 1.1, 1.1)),
    ],
}
OUTLINES["thumbdown"] = OUTLINES["thumbup"]
TURNED = frozenset({"thumbdown"})
"""Outlines that stand on their head."""
