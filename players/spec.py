"""The grammar of players' names: ``uct``, ``uct:workers=2,exploration=0.4``, ``old@http://host:9147``.

Lists have commas between names, as options have between them: what follows as ``key=value`` belongs to the
name before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from gdl.syntax.phrases import read_phrase

if TYPE_CHECKING:
    from pyparsing import ParserElement, ParseResults

_HOW = "options are written key=value, with commas between them: uct:workers=2,exploration=0.4"
_BARE = re.compile(r"[A-Za-z][\w.-]*")


@dataclass(frozen=True, slots=True)
class PlayerSpec:
    """A kind of player and the options that are chosen, in the order and spelling of the text."""

    kind: str
    options: tuple[tuple[str, str], ...] = ()

    def option(self, key: str) -> str | None:
        """The last value that is chosen for an option; None where none is."""
        return dict(self.options).get(key)

    def without(self, prefix: str) -> PlayerSpec:
        """The same without options whose names begin so."""
        return PlayerSpec(self.kind, tuple((k, v) for k, v in self.options if not k.startswith(prefix)))

    def __str__(self) -> str:
        options = ",".join(f"{key}={value}" for key, value in self.options)
        return f"{self.kind}:{options}" if options else self.kind


def read_spec(text: str) -> PlayerSpec:
    """The kind and options of one name, both in lower case but for the options' values.

    >>> read_spec("UCT: workers = 2, exploration=0.4")
    PlayerSpec(kind='uct', options=(('workers', '2'), ('exploration', '0.4')))

    Raises GdlError, with the column, where it is not written so.
    """
    name = text.strip()
    if _BARE.fullmatch(name):
        return PlayerSpec(name.lower())  # most names: without a grammar to load
    kind, *options = read_phrase(_grammars()[0], text, "player", _HOW, "',' or the end")
    return PlayerSpec(kind.lower(), tuple((key.lower(), value) for key, value in options))


def read_names(text: str) -> list[str]:
    """The names of a list, each with its label and options, without needless blanks.

    >>> read_names("uct:workers=1, exploration=0.4, old@random,,my.module:Player")
    ['uct:workers=1,exploration=0.4', 'old@random', 'my.module:Player']

    Raises GdlError, with the column, where it is no such list.
    """
    return read_phrase(_grammars()[1], text, "players", _HOW, "',' or the end")


@cache
def _grammars() -> tuple[ParserElement, ParserElement]:
    """One name; a list of names."""
    from pyparsing import Group, OneOrMore, Optional, Regex, Suppress, ZeroOrMore

    colon, commas = Suppress(":"), Suppress(OneOrMore(","))
    kind = Regex(r"[^\s:,=@]+").set_name("a player's name")
    key = Regex(r"[^\s:,=@/]+").set_name("an option's name")
    # What is no key=value any more is the next name of a list.
    another = Regex(r"[^\s:,=@/]+(?=\s*=)").set_name("an option's name")
    equals = Suppress("=").set_name("'='")
    value = Regex(r"[^,]*").set_name("a value").set_parse_action(lambda found: found[0].strip())
    first = Group(key - equals - value)
    options = Optional(commas) + Optional(first + ZeroOrMore(commas + Group(another - equals - value)))
    spec = kind + Optional(colon - options)
    alone = kind + Optional(colon - Optional(commas) - Optional(first + ZeroOrMore(commas + first)))

    def written(found: ParseResults) -> str:
        name, *chosen = found
        return str(PlayerSpec(name, tuple((key, value) for key, value in chosen)))

    address = Regex(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s,]*").set_name("an address")
    own = Regex(r"[^\s:,=@]+:[^\s:,=@/]+(?=\s*(?:,|$))").set_name("module:Class")
    label = Regex(r"[^,@:=]*@").set_name("a label").set_parse_action(lambda found: found[0].strip())
    name = address | own | spec.copy().set_parse_action(written)
    entry = (Optional(label) + name.set_name("a player's name")).set_parse_action(
        lambda found: "".join(found)
    )
    names = Optional(commas) + Optional(entry + ZeroOrMore(commas + entry)) + Optional(commas)
    return alone + Optional(commas), names
