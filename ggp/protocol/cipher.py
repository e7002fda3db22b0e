"""The cipher of a scrambled match: the words of a game on one side, made-up ones on the other."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gdl.rules import Rules
from gdl.scramble import scramble

_WORD = re.compile(r"[^\s();]+")


class Cipher:
    """Replaces words of KIF text, one by one, whatever their case. ``mapping`` has the made-up words by those
    of the game, in lower case; the empty one changes nothing."""

    def __init__(self, mapping: Mapping[str, str]) -> None:
        self._there = dict(mapping)
        self._back = {new: old for old, new in mapping.items()}

    def scramble(self, text: str) -> str:
        """The text in the words that players see."""
        return _replaced(text, self._there)

    def unscramble(self, text: str) -> str:
        """The text in the words of the game."""
        return _replaced(text, self._back)


def cipher_for(rules: Rules, seed: int) -> Cipher:
    """The cipher for a game; the same seed gives the same words."""
    return Cipher(scramble(rules, seed)[1])


def _replaced(text: str, mapping: Mapping[str, str]) -> str:
    return _WORD.sub(lambda word: mapping.get(word.group().lower(), word.group()), text)
