"""The errors of requests and replies that are not the HTTP of the protocol, or whose body is not a JSON
object."""

from __future__ import annotations

from typing import Any

import orjson

from gdl.errors import GdlError


class HttpError(GdlError):
    """A request or reply that is not the HTTP of the protocol; a server answers it with the HTTP
    ``status``."""

    def __init__(self, status: int, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.status = status


RETRY_SECONDS = 5
"""Seconds after which a rejected client may try again."""


class BusyError(HttpError):
    """The server is too busy: status 503."""

    def __init__(self, message: str, remedy: str = "try again in a moment") -> None:
        super().__init__(503, message, remedy)


def object_of(body: bytes | bytearray) -> dict[str, Any]:
    """The JSON object in a body. Raises GdlError if the body is not a JSON object."""
    try:
        value = orjson.loads(body)
    except ValueError as error:
        raise GdlError(f"the body is no JSON: {str(error)[:200]}") from None
    if not isinstance(value, dict):
        raise GdlError("the body is no JSON object")
    return value
