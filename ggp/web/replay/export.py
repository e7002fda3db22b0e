"""A match as one HTML file that needs nothing else: all drawings inside, one script that steps through."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import orjson

from ggp.boards.svg.stylesheet import stylesheet

_FOLDER = Path(__file__).parent
MOST_BYTES = 64 * 1024 * 1024


def html_file(about: dict[str, Any], drawings: Sequence[str]) -> str:
    """The file.

    Args:
        about: as :meth:`ggp.web.replay.scenes.Scenes.about` tells it.
        drawings: one ``<svg>`` for each step.
    """
    style = stylesheet() + (_FOLDER / "exported.css").read_text()
    script = (_FOLDER / "exported.js").read_text()
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"
    title = escape(f"{about['game'] or 'a match'}: {about['id']}")
    # Text in a <template> is neither run nor shown; drawings come alive when they are put onto the page.
    scenes = "".join(f"<template class=step>{drawing}</template>" for drawing in drawings)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body><main><h1>{title}</h1></main>"
        f"<template id=about>{escape(orjson.dumps(about).decode())}</template>{scenes}"
        f"<script>{script}</script></body></html>\n"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"
