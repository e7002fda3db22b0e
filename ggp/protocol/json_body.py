"""The JSON object that the body of a request has to be."""

from __future__ import annotations

from typing import Any

import orjson

from gdl.errors import GdlError


def object_of(body: bytes) -> dict[str, Any]:
    """The object. Raises GdlError where the body is no JSON, or something else."""
    try:
        told = orjson.loads(body)
    except ValueError as error:
        raise GdlError(f"the body is no JSON: {str(error)[:200]}") from None
    if not isinstance(told, dict):
        raise GdlError("the body is no JSON object")
    return told
