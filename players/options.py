"""Options of players. A player declares each of them once, in its class::

    class MonteCarloPlayer(Player):
        OPTIONS = (Option("playouts", int, None, "playouts per turn after which it stops early"),)

        def __init__(self, *, seed: int = 0, **options: Any) -> None:
            super().__init__(seed=seed, **options)
            self.playouts: int | None = self.options["playouts"]

From this derive the text form ``montecarlo:playouts=100`` (:mod:`players.registry`), the constructor's
keyword arguments with their defaults (``Player.__init__`` fills ``self.options``), and the help text. Lists
can be joined: ``OPTIONS = (*Parent.OPTIONS, Option(...))``.

This module also holds the grammar of players' names: ``uct``, ``uct:workers=2,exploration=0.4``,
``old@http://host:9147``. Commas separate the names of a list and also the options of a name: a following
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

if TYPE_CHECKING:
    from pyparsing import ParserElement, ParseResults

_LONGEST = 10_000
"""Characters of a phrase."""
_SHOWN = 60


def _read_phrase(grammar: ParserElement, text: str, kind: str, remedy: str = "") -> list[Any]:
    """The parts that a grammar reads from a whole text.

    Args:
        grammar: its parts have names, for messages.
        text: at most :data:`_LONGEST` characters.
        kind: the kind of text, in messages: ``player``.
        remedy: its form, for messages.

    Raises:
        GdlError: the text is too long, or not what the grammar takes. The message names the column and the
            expected part.

    >>> from pyparsing import Regex
    >>> seat = Regex("[a-z]+").set_name("a word") + Regex("[0-9]+").set_name("a number")
    >>> _read_phrase(seat, "seat 4", "seat")
    ['seat', '4']
    >>> _read_phrase(seat, "seat x", "seat")
    Traceback (most recent call last):
    gdl.errors.GdlError: seat 'seat x', column 6: expected a number, found 'x'
    """
    from pyparsing import ParseBaseException

    if len(text) > _LONGEST:
        raise GdlError(f"the {kind} has more than {_LONGEST:,} characters")
    try:
        return list(grammar.parse_with_tabs().parse_string(text, parse_all=True))
    except ParseBaseException as error:
        at = error.loc
        while at < len(text) and text[at].isspace():
            at += 1
        expected = error.msg.removeprefix("Expected ")
        if expected == "end of text":
            expected = "',' or the end"
        token = re.compile(r"[\w.-]+|.").match(text, at)
        found = "the end" if token is None else repr(token[0][:_SHOWN])
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        message = f"{kind} {shown!r}, column {at + 1}: expected {expected}, found {found}"
        raise GdlError(message, remedy=remedy) from None


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option:
    """One setting of a kind of player.

    Attributes:
        name: the key in ``kind:key=value``, and the constructor's keyword argument.
        read: converts text to the value; raises ValueError if the text is not a valid value.
        default: the value if none is chosen; not read from text.
        help: what the option does, in one line.
        public: converts the values that strangers may choose on a page or in a file. None reserves the option
            for the operator. Declare an option public only if no value that ``public`` accepts loads code,
            opens a path, calls an address, or uses more memory than the default or more processes than there
            are cores.
    """

    name: str
    read: Callable[[str], object]
    default: object
    help: str
    public: Callable[[str], object] | None = None


class _NoSuchValueError(ValueError):
    """A text is not a valid value of an option. The message describes the values: "a whole number from 1"."""


def at_least(least: int) -> Callable[[str], int]:
    """A reader that accepts whole numbers from ``least`` on."""
    return _number(int, least, math.inf, f"a whole number from {least}")


def between(least: int, most: int) -> Callable[[str], int]:
    """A reader that accepts whole numbers between the two bounds, both included."""
    return _number(int, least, most, f"a whole number from {least} to {most}")


def number_between(least: float, most: float) -> Callable[[str], float]:
    """A reader that accepts numbers between the two bounds, both included, but neither infinity nor NaN."""
    return _number(float, least, most, f"a number from {least:g} to {most:g}")


def _number(kind: Callable[[str], T], least: float, most: float, values: str) -> Callable[[str], T]:
    def read(text: str) -> T:
        try:
            if least <= (value := kind(text)) <= most:  # type: ignore[operator]
                return value
        except ValueError:
            pass
        raise _NoSuchValueError(values)

    return read


def switch(text: str) -> bool:
    """Reads ``yes``, ``no``, ``1`` or ``0``."""
    if text.lower() not in ("0", "1", "no", "yes"):
        raise _NoSuchValueError("yes or no")
    return text.lower() in ("1", "yes")


def one_of(names: Sequence[str]) -> Callable[[str], str]:
    """A reader that accepts one of these words."""

    def read(text: str) -> str:
        if text not in names:
            raise _NoSuchValueError(f"one of {', '.join(names)}")
        return text

    return read


def by_name(options: Sequence[Option]) -> dict[str, Option]:
    """The options that a class declares, by their names."""
    return {option.name: option for option in options}


def complete(options: Sequence[Option], chosen: Mapping[str, object]) -> dict[str, Any]:
    """The chosen value of each option, or its default. Raises TypeError for an unknown option."""
    declared = by_name(options)
    if unknown := chosen.keys() - declared.keys():
        raise TypeError(f"there is no option {', '.join(sorted(unknown))}")
    return {name: chosen.get(name, option.default) for name, option in declared.items()}


def read_options(
    kind: str, options: Sequence[Option], texts: Sequence[tuple[str, str]], spec: str, public: bool = False
) -> dict[str, object]:
    """The values of options that were chosen as pairs of name and text; the last pair of a name counts.

    ``public`` means that a stranger has chosen them. Raises GdlError if there is no such option, strangers
    may not choose it, or the text is not a valid value. The message names the kind of player and ``spec``,
    the text that the pairs come from.
    """
    declared = by_name(options)
    values: dict[str, object] = {}
    for name, text in texts:
        if name not in declared:
            raise GdlError(
                f"{kind} has no option {name!r}",
                remedy=f"its options are {', '.join(declared)}" if declared else "it has no options",
            )
        read = declared[name].public if public else declared[name].read
        if read is None:
            raise GdlError(f"{name}= in {spec} is for the operator alone", remedy=f"leave {name} out")
        try:
            values[name] = read(text)
        except _NoSuchValueError as error:
            fault = f"{name}={text} in {spec}: not a value of this option"
            raise GdlError(fault, remedy=f"give {error}") from None
        except ValueError:
            raise GdlError(f"{name}={text} in {spec}: not a value of this option") from None
    return values


_HOW = "options are written key=value, with commas between them: uct:workers=2,exploration=0.4"
_BARE = re.compile(r"[A-Za-z][\w.-]*")


@dataclass(frozen=True, slots=True)
class PlayerSpec:
    """A kind of player and the chosen options, in the order and spelling of the text."""

    kind: str
    options: tuple[tuple[str, str], ...] = ()

    def option(self, key: str) -> str | None:
        """The last value chosen for an option; None if there is none."""
        return dict(self.options).get(key)

    def without(self, prefix: str) -> PlayerSpec:
        """The same spec without options whose names begin with ``prefix``."""
        return PlayerSpec(self.kind, tuple((k, v) for k, v in self.options if not k.startswith(prefix)))

    def __str__(self) -> str:
        options = ",".join(f"{key}={value}" for key, value in self.options)
        return f"{self.kind}:{options}" if options else self.kind


def read_spec(text: str) -> PlayerSpec:
    """The kind and options of one name, in lower case except for the options' values.

    >>> read_spec("UCT: workers = 2, exploration=0.4")
    PlayerSpec(kind='uct', options=(('workers', '2'), ('exploration', '0.4')))

    Raises GdlError, with the column, if the text does not match the grammar.
    """
    name = text.strip()
    if _BARE.fullmatch(name):
        return PlayerSpec(name.lower())  # most names: no grammar needs loading
    kind, *options = _read_phrase(_grammars()[0], text, "player", _HOW)
    return PlayerSpec(kind.lower(), tuple((key.lower(), value) for key, value in options))


def read_names(text: str) -> list[str]:
    """The names of a list, each with its label and options, without superfluous blanks.

    >>> read_names("uct:workers=1, exploration=0.4, old@random,,my.module:Player")
    ['uct:workers=1,exploration=0.4', 'old@random', 'my.module:Player']

    Raises GdlError, with the column, if the text does not match the grammar.
    """
    alone = [name.strip() for name in text.split(",")]
    if all(_BARE.fullmatch(name) or not name for name in alone):
        return [name for name in alone if name]  # most lists
    return _read_phrase(_grammars()[1], text, "players", _HOW)


@cache
def _grammars() -> tuple[ParserElement, ParserElement]:
    """One name; a list of names."""
    from pyparsing import Group, OneOrMore, Optional, Regex, Suppress, ZeroOrMore

    colon, commas = Suppress(":"), Suppress(OneOrMore(","))
    kind = Regex(r"[^\s:,=@]+").set_name("a player's name")
    key = Regex(r"[^\s:,=@/]+").set_name("an option's name")
    # Text that is not key=value begins the next name of a list.
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
