"""Values of JSON against a schema: the part of JSON Schema (draft 2020-12) that our descriptions use.

>>> check_json({"n": 3}, {"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}})
>>> check_json({"n": 9}, {"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}}})
Traceback (most recent call last):
gdl.errors.GdlError: n is more than 5
"""

from __future__ import annotations

import re
from typing import Any

from gdl.errors import GdlError

Schema = dict[str, Any]
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_WORDS = {"object": "an object", "array": "a list", "integer": "a whole number", "null": "null"}


def check_json(value: object, schema: Schema, where: str = "") -> None:
    """Raise GdlError, with the place in the value and the fault, if the value does not follow the schema."""
    name = where or "the body"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        raise GdlError(f"{name} is not {' or '.join(_WORDS.get(kind, f'a {kind}') for kind in kinds)}")
    if "enum" in schema and value not in schema["enum"]:
        raise GdlError(f"{name} is none of {', '.join(map(str, schema['enum']))}")
    if isinstance(value, str | list):
        _check_length(value, schema, name)
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        raise GdlError(f"{name} is {value[:40]!r}, which cannot be")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if "minimum" in schema and not value >= schema["minimum"]:
            raise GdlError(f"{name} is less than {schema['minimum']:,}")
        if "maximum" in schema and not value <= schema["maximum"]:
            raise GdlError(f"{name} is more than {schema['maximum']:,}")
    if isinstance(value, list):
        first = schema.get("prefixItems", [])
        for number, part in enumerate(value):
            of = first[number] if number < len(first) else schema.get("items")
            if of is not None:
                check_json(part, of, f"{where}[{number}]")
    if isinstance(value, dict):
        _check_object(value, schema, where)


def _check_length(value: str | list[Any], schema: Schema, name: str) -> None:
    least, most = ("minLength", "maxLength") if isinstance(value, str) else ("minItems", "maxItems")
    what = "characters" if isinstance(value, str) else "parts"
    if len(value) < schema.get(least, 0):
        raise GdlError(f"{name} has less than {schema[least]:,} {what}")
    if most in schema and len(value) > schema[most]:
        raise GdlError(f"{name} has more than {schema[most]:,} {what}")


def _check_object(value: dict[str, Any], schema: Schema, where: str) -> None:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            raise GdlError(f"{where or 'the body'} has no {name}")
    rest = schema.get("additionalProperties", True)
    for name, part in value.items():
        inner = f"{where}.{name}" if where else name
        if name in properties:
            check_json(part, properties[name], inner)
        elif rest is False:
            raise GdlError(f"there is no {inner[:80]!r} here", remedy=f"there are {', '.join(properties)}")
        elif isinstance(rest, dict):
            check_json(part, rest, inner)


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def record(**properties: Schema) -> Schema:
    """The schema of an object that has all these properties and no others."""
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


def rows(items: Schema, least: int = 0, most: int = 1 << 24) -> Schema:
    """The schema of a list of ``least`` to ``most`` parts of one kind."""
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def row(*items: Schema) -> Schema:
    """The schema of a list with these parts, one after the other."""
    return {"type": "array", "prefixItems": list(items), "minItems": len(items), "maxItems": len(items)}


def whole(least: int = 0, most: int = (1 << 53) - 1) -> Schema:
    """The schema of a whole number."""
    return {"type": "integer", "minimum": least, "maximum": most}


def matching(pattern: str) -> Schema:
    """The schema of a text that a regular expression describes from its first to its last character."""
    return {"type": "string", "pattern": rf"\A(?:{pattern})\Z"}


FLAG: Schema = {"type": "boolean"}
TEXT: Schema = {"type": "string"}


def text(most: int, least: int = 0) -> Schema:
    """The schema of a text of ``least`` to ``most`` characters."""
    return {"type": "string", "minLength": least, "maxLength": most}


def number(least: float, most: float) -> Schema:
    """The schema of a number."""
    return {"type": "number", "minimum": least, "maximum": most}


def or_null(schema: Schema) -> Schema:
    """The schema of the same, or null."""
    return {**schema, "type": [schema["type"], "null"]}
