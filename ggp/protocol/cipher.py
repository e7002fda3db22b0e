"""The cipher of a scrambled match: the words of a game on one side, made-up ones on the other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from gdl.rules import Rules
from gdl.scramble import scramble

_WORD = re.compile(r"[^\s();]+")


class Cipher(Protocol):
    """Changes the words of a game into others and back."""

    def scramble(self, text: str) -> str:
        """KIF in the words that players see."""

    def unscramble(self, text: str) -> str:
        """KIF in the words of the game."""


class Plain:
    """The cipher that changes nothing."""

    def scramble(self, text: str) -> str:
        """The same text."""
        return text

    def unscramble(self, text: str) -> str:
        """The same text."""
        return text


class Scrambled:
    """Replaces words of KIF text, one by one, whatever their case."""

    def __init__(self, mapping: Mapping[str, str]) -> None:
        self._there = dict(mapping)
        self._back = {new: old for old, new in mapping.items()}

    def scramble(self, text: str) -> str:
        """The text in made-up words."""
        return _replaced(text, self._there)

    def unscramble(self, text: str) -> str:
        """The text in the words of the game."""
        return _replaced(text, self._back)


def cipher_for(rules: Rules, seed: int) -> Scrambled:
    """The cipher for a game; the same seed gives the same words."""
    return Scrambled(scramble(rules, seed)[1])


def _replaced(text: str, mapping: Mapping[str, str]) -> str:
    return _WORD.sub(lambda word: mapping.get(word.group().lower(), word.group()), text)
