"""A replay as one HTML file that needs nothing else and loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import orjson

from gdl.errors import GdlError
from gdl.visible import visible

LARGEST = 48 * 1024 * 1024
"""Characters of the file."""
_STATIC = Path(__file__).parent.parent / "static"


def as_page(story: dict[str, Any], doubts: Mapping[int, str], frames: Sequence[str]) -> str:
    """The file: story, doubts and drawings as data, the viewer's script and styles. Raises GdlError if it is
    too long."""
    # In a script element only its end tag and a comment mean anything.
    told = {"story": story, "doubts": {str(step): text for step, text in doubts.items()}, "frames": frames}
    data = orjson.dumps(told).decode().replace("<", "\\u003c")
    viewer = (_STATIC / "viewer.js").read_text("utf-8").replace("export function", "function")
    script = (
        f"{viewer}\nconst data = JSON.parse(document.getElementById('data').textContent);\n"
        "view(document.querySelector('main'), data.story, async (step) => data.frames[step])\n"
        ".doubt(data.doubts);\n"
    )
    style = "".join((_STATIC / name).read_text("utf-8") for name in ("style.css", "board.css", "replay.css"))
    policy = f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'"
    title = escape(visible(f"{story['game'] or 'match'}: {', '.join(story['players'])}"))
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body><main><h1>{title}</h1></main>"
        f'<script type="application/json" id="data">{data}</script>'
        f'<script type="module">{script}</script></body></html>\n'
    )
    if len(page) > LARGEST:
        raise GdlError(f"the file would have {len(page):,} characters", remedy="replay it here instead")
    return page


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
