"""What was found out about rules that were played before, by their text."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Generic, TypeVar

MOST = 1000
"""Texts; of more, those that were noted last."""

Fact = TypeVar("Fact")


class Remembered(Generic[Fact]):
    """A fact about each text."""

    def __init__(self) -> None:
        self._facts: OrderedDict[bytes, Fact] = OrderedDict()

    def note(self, text: str, fact: Fact) -> None:
        """Remember it, in place of what was known."""
        key = _key(text)
        self._facts[key] = fact
        self._facts.move_to_end(key)
        if len(self._facts) > MOST:
            self._facts.popitem(last=False)

    def recall(self, text: str, default: Fact) -> Fact:
        """What is known of it."""
        return self._facts.get(_key(text), default)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
