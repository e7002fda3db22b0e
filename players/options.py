"""Options of players. A player declares each of them once, in its class::

    class MonteCarloPlayer(Player):
        OPTIONS = (Option("playouts", int, None, "playouts per turn after which it stops early"),)

        def __init__(self, *, seed: int = 0, **options: Any) -> None:
            super().__init__(seed=seed, **options)
            self.playouts: int | None = self.options["playouts"]

From this derive the text form ``montecarlo:playouts=100`` (:mod:`players.registry`), the constructor's
keyword arguments with their defaults (``Player.__init__`` fills ``self.options``), and the help text. Lists
can be joined: ``OPTIONS = (*Parent.OPTIONS, Option(...))``.

The grammar of players' names is here, too: ``uct``, ``uct:workers=2,exploration=0.4``,
``old@http://host:9147``. Lists have commas between names, as options have between them: what follows as
``key=value`` belongs to the name before it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from gdl.errors import GdlError
from gdl.syntax.phrases import read_phrase

if TYPE_CHECKING:
    from pyparsing import ParserElement, ParseResults


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be chosen about a kind of player.

    Attributes:
        name: the key in ``kind:key=value``, and the constructor's keyword argument.
        read: makes the value from text; raises ValueError if the text is none.
        default: the value if nothing is chosen; not read from text.
        help: what the option does, in one line.
        public: reads the values that strangers may choose, who use a page or have written a file. None keeps
            the option to the operator. Declare an option public only if no value that ``public`` takes loads
            code, opens a path, calls an address, or uses more memory than the default or more processes than
            there are cores.
    """

    name: str
    read: Callable[[str], object]
    default: object
    help: str
    public: Callable[[str], object] | None = None


class NoSuchValueError(ValueError):
    """A text is no value of an option. The message says which values there are: "a whole number from 1"."""


def at_least(least: int) -> Callable[[str], int]:
    """A reader that takes whole numbers from this one on."""
    return _number(int, least, math.inf, f"a whole number from {least}")


def between(least: int, most: int) -> Callable[[str], int]:
    """A reader that takes whole numbers between these two, both included."""
    return _number(int, least, most, f"a whole number from {least} to {most}")


def number_between(least: float, most: float) -> Callable[[str], float]:
    """A reader that takes numbers between these two, both included, and so neither infinity nor NaN."""
    return _number(float, least, most, f"a number from {least:g} to {most:g}")


def _number(kind: Callable[[str], T], least: float, most: float, values: str) -> Callable[[str], T]:
    def read(text: str) -> T:
        try:
            if least <= (value := kind(text)) <= most:  # type: ignore[operator]
                return value
        except ValueError:
            pass
        raise NoSuchValueError(values)

    return read


def switch(text: str) -> bool:
    """Reads ``yes``, ``no``, ``1`` or ``0``."""
    if text.lower() not in ("0", "1", "no", "yes"):
        raise NoSuchValueError("yes or no")
    return text.lower() in ("1", "yes")


def one_of(names: Sequence[str]) -> Callable[[str], str]:
    """A reader that takes one of these words."""

    def read(text: str) -> str:
        if text not in names:
            raise NoSuchValueError(f"one of {', '.join(names)}")
        return text

    return read


def by_name(options: Sequence[Option]) -> dict[str, Option]:
    """The options that a class declares, by their names."""
    return {option.name: option for option in options}


def complete(options: Sequence[Option], chosen: Mapping[str, object]) -> dict[str, Any]:
    """The chosen value of each option, or its default. Raises TypeError for a choice that is no option."""
    known = by_name(options)
    if unknown := chosen.keys() - known.keys():
        raise TypeError(f"there is no option {', '.join(sorted(unknown))}")
    return {name: chosen.get(name, option.default) for name, option in known.items()}


def read_options(
    kind: str, options: Sequence[Option], texts: Sequence[tuple[str, str]], spec: str, public: bool = False
) -> dict[str, object]:
    """The values of options that were chosen as pairs of name and text; the last pair of a name counts.
    ``public``: a stranger has chosen them. Raises GdlError if there is no such option, it is not for
    strangers, or the text is no value of it; the message names the kind of player, and ``spec``, where the
    texts come from."""
    known = by_name(options)
    values: dict[str, object] = {}
    for name, text in texts:
        if name not in known:
            raise GdlError(
                f"{kind} has no option {name!r}",
                remedy=f"its options are {', '.join(known)}" if known else "it has no options",
            )
        read = known[name].public if public else known[name].read
        if read is None:
            raise GdlError(f"{name}= in {spec} is for the operator alone", remedy=f"leave {name} out")
        try:
            values[name] = read(text)
        except NoSuchValueError as error:
            fault = f"{name}={text} in {spec}: not a value of this option"
            raise GdlError(fault, remedy=f"give {error}") from None
        except ValueError:
            raise GdlError(f"{name}={text} in {spec}: not a value of this option") from None
    return values


def describe_options(options: Sequence[Option]) -> str:
    """One line for each option: its name, what it does, its default if it has one. Empty without options."""
    known = by_name(options).values()
    width = max((len(option.name) for option in known), default=0)
    return "\n".join(f"{option.name:{width}}  {option.help}{_default(option.default)}" for option in known)


def _default(value: object) -> str:
    if value is None:
        return ""
    spelled = ("no", "yes")[value] if isinstance(value, bool) else value
    return f" [default: {spelled}]"


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
    alone = [name.strip() for name in text.split(",")]
    if all(_BARE.fullmatch(name) or not name for name in alone):
        return [name for name in alone if name]  # most lists
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
