"""pyspiel, or what to install."""

from __future__ import annotations

from typing import Any

from gdl.errors import GdlError


class MissingOpenSpielError(GdlError, ImportError):
    """OpenSpiel is not installed."""


def pyspiel_module() -> Any:
    """OpenSpiel's module. Raises MissingOpenSpielError where it is not installed."""
    try:
        import pyspiel
    except ImportError:
        raise MissingOpenSpielError(
            "games and bots of OpenSpiel need the package open_spiel", remedy="pip install 'kaskade-ggp[rl]'"
        ) from None
    return pyspiel
