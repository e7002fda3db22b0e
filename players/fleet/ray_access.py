"""Whether Ray is here, and who may use its clusters: those who have the token, though it is open by default.

Ray has had tokens since 2.52: ``RAY_AUTH_MODE=token``, and the token in ``RAY_AUTH_TOKEN``, in the file
``RAY_AUTH_TOKEN_PATH``, or in ``~/.ray/auth_token``.
"""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
from functools import cache
from pathlib import Path

from gdl.errors import GdlError

LOCAL_RAY = re.compile(r"local-ray:([1-9]\d{0,2})")
"""The address of a cluster that is to be started on this computer."""


def installed() -> None:
    """Raises GdlError where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise GdlError("--cluster needs Ray, 2.52 or later", remedy="pip install 'kaskade-ggp[cluster]'")


def close_doors(own: bool) -> None:
    """Have Ray ask for a token; call it before Ray is imported. ``own``: the cluster is started by us, with a
    token of its own that nobody else knows. Raises GdlError where the token of a cluster is not given."""
    os.environ["RAY_AUTH_MODE"] = "token"
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if _given():
        return
    if not own:
        raise GdlError(
            "the token of the cluster is not given",
            remedy="set RAY_AUTH_TOKEN, or RAY_AUTH_TOKEN_PATH to a file with it",
        )
    os.environ["RAY_AUTH_TOKEN"] = _own_token()


@cache
def _own_token() -> str:
    """The token of clusters that this process starts. It is one and the same for all: Ray reads the token
    once in a process."""
    return secrets.token_hex(32)


def _given() -> bool:
    if os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH"):
        return True
    return (Path.home() / ".ray" / "auth_token").is_file()
