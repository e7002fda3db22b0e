"""The stylesheet of boards, and the policy that lets a drawing carry it."""

from __future__ import annotations

import base64
import functools
from hashlib import sha256
from importlib.resources import files


@functools.cache
def stylesheet() -> str:
    """What colours boards, light and dark: pages link it as ``/static/board.css``, drawings that stand alone
    carry it."""
    return (files("ggp") / "web" / "static" / "board.css").read_text()


@functools.cache
def drawing_policy() -> str:
    """The Content-Security-Policy of a drawing that stands alone: nothing but its own stylesheet."""
    digest = base64.b64encode(sha256(stylesheet().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'"
