"""Which game rules are, whatever their words: the games that come along are known by their rules."""

from __future__ import annotations

from functools import cache

from gdl.errors import GdlError
from gdl.rules import Rules
from gdl.words import counted


def name_of(rules: Rules) -> str:
    """The name of the game that comes along with these rules, in any order and under any words; else
    ``unnamed, N rules``."""
    from players.knowledge.canonical_rules import canonical_names

    unnamed = f"unnamed, {counted(len(rules), 'rule')}"
    known = by_length().get(len(rules), ())
    try:
        fingerprint = canonical_names(rules).fingerprint if known else ""
    except GdlError:  # too long or too symmetric to be told from others
        return unnamed
    return next((name for name in known if _fingerprint(name) == fingerprint), unnamed)


@cache
def by_length() -> dict[int, tuple[str, ...]]:
    """Number of rules -> the games that come along with so many. Takes a while at first."""
    from ggp.game import installed_games, read_rules_file
    from ggp.protocol.messages import split

    found: dict[int, tuple[str, ...]] = {}
    for path in installed_games():
        number = len(split(read_rules_file(path)))
        found[number] = (*found.get(number, ()), path.stem)
    return found


@cache
def _fingerprint(name: str) -> str:
    from ggp.game import Game
    from players.knowledge.canonical_rules import canonical_names

    return canonical_names(Game.load(name).rules).fingerprint
