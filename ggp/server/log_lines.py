"""The lines of the server's log: ``event=... key=value ...``."""

from __future__ import annotations

import logging

logger = logging.getLogger("ggp.server")


def say(level: str, event: str, **fields: object) -> None:
    """Log one line ``event=... key=value ...``; values that have blanks are quoted."""
    number = getattr(logging, level.upper(), logging.INFO)
    if logger.isEnabledFor(number):
        words = [f"event={_quoted(event)}", *(f"{k}={_quoted(v)}" for k, v in fields.items())]
        logger.log(number, "%s", " ".join(words))


def _quoted(value: object) -> str:
    text = str(value)
    plain = text.isprintable() and not any(c in text for c in ' "=')
    return text[:300] if plain and text else repr(text[:300])


def one_line(text: str) -> str:
    """Text without line breaks, cut to 500 characters."""
    return " ".join(text.split())[:500]
