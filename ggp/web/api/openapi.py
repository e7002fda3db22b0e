"""The description of the JSON API (OpenAPI 3.1), made of what it checks requests against."""

from __future__ import annotations

from typing import Any

import ggp
from gdl.json_schema import Schema
from ggp.answers.operations import GAMES, OPERATIONS, PROGRESS, Operation

ERROR: Schema = {
    "type": "object",
    "required": ["error"],
    "additionalProperties": False,
    "properties": {"error": {"type": "string", "description": "one line: what is wrong, and what to do"}},
}
_JSON = "application/json"
_STREAM = "text/event-stream"
_EVENTS = (
    "Server-sent events: `progress` a few times a second (schema Progress), then `solved` (schema Solved), "
    "or `failed` with an error. Hanging up ends the search."
)


def describe_api() -> dict[str, Any]:
    """The whole description."""
    paths: dict[str, Any] = {
        "/api/games": {
            "get": {
                "operationId": "games",
                "summary": "The games and levels that come along",
                "responses": {"200": _content("Their names", _JSON, GAMES)},
            }
        },
        "/api/openapi.json": {
            "get": {
                "operationId": "openapi",
                "summary": "This description",
                "responses": {"200": _content("OpenAPI 3.1", _JSON, {"type": "object"})},
            }
        },
    }
    paths |= {f"/api/{name}": {"post": _described(name, one)} for name, one in OPERATIONS.items()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ggp web",
            "version": ggp.__version__,
            "summary": "Rules of games: checked, played, solved",
            "description": "Everything is worked out in processes with limits of time and memory. Errors are "
            "one line. No authentication: the server listens for this computer alone unless told otherwise; "
            "requests of browsers need the token of a page, requests of tools none.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR, "Progress": PROGRESS, "Solved": OPERATIONS["solve"].reply},
        },
    }


def _described(name: str, operation: Operation) -> dict[str, Any]:
    if operation.streams:
        good = _content(_EVENTS, _STREAM, {"type": "string"})
    else:
        good = _content("The answer", _JSON, operation.reply)
    error = {"$ref": "#/components/schemas/Error"}
    return {
        "operationId": name,
        "summary": operation.summary,
        "requestBody": {"required": True, "content": {_JSON: {"schema": operation.request}}},
        "responses": {
            "200": good,
            "400": _content("The question cannot be answered", _JSON, error),
            "403": _content("A page of another site, or one without its token, asked", _JSON, error),
            "503": _content("There is too much to do: ask again after Retry-After seconds", _JSON, error),
            "413": _content("The body is longer than 2 MiB", _JSON, error),
        },
    }


def _content(description: str, kind: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "content": {kind: {"schema": schema}}}
