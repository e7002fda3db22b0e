"""Texts that may be rules or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gdl.errors import ParseError

T = TypeVar("T")


def read_or_refused(read: Callable[[str], T], text: str) -> T | ParseError:
    """What was read, or how it was refused; any other exception passes and fails the test."""
    try:
        return read(text)
    except ParseError as error:
        return error
