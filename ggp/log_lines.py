"""The lines of the server's log, for people and programs: logfmt, or JSON."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from gdl.errors import GdlError
from gdl.visible import visible

logger = logging.getLogger("ggp.server")

_FORMATS = ("logfmt", "json")
_LONGEST = 300


def configure(level: str, form: str) -> None:
    """Write what is at least of this level to stderr, in one of FORMATS. Raises GdlError if it is none of
    them."""
    if form not in _FORMATS:
        raise GdlError(f"there is no log format {form!r}", remedy=f"choose {' or '.join(_FORMATS)}")
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter(form))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def say(level: str, event: str, **fields: object) -> None:
    """Log one line: the event and its fields."""
    number = getattr(logging, level.upper(), logging.INFO)
    if logger.isEnabledFor(number):
        given = {"event": event, **fields}
        logger.log(number, "%s", _logfmt(given), extra={"given": given})


class _Formatter(logging.Formatter):
    """``time`` (ISO 8601, UTC), ``level`` and the given fields. Other libraries' lines are events, too."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self._json = form == "json"

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields: dict[str, object] = {"time": time.replace("+00:00", "Z"), "level": record.levelname.lower()}
        fields |= getattr(record, "given", None) or {"event": record.getMessage(), "logger": record.name}
        if record.exc_info:
            # The last line names the error, the lines before it its place.
            fields["error"] = self.formatException(record.exc_info)[-_LONGEST:]
        if self._json:
            plain = {key: _plain(value) for key, value in fields.items()}
            return visible(json.dumps(plain, ensure_ascii=False))
        return _logfmt(fields)


def _plain(value: object) -> object:
    return value if isinstance(value, int | float | bool | None) else str(value)[:_LONGEST]


def _logfmt(fields: dict[str, object]) -> str:
    return " ".join(f"{key}={_quoted(value)}" for key, value in fields.items())


def _quoted(value: object) -> str:
    """A value, in quotation marks with escapes where it has blanks or anything that is not printable."""
    text = str(value)[:_LONGEST]
    plain = text.isprintable() and not any(c in text for c in ' "=\\')
    return text if plain and text else visible(json.dumps(text, ensure_ascii=False))


def one_line(text: str) -> str:
    """Text without line breaks, cut to 500 characters."""
    return " ".join(text.split())[:500]
