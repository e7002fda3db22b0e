"""Options of players. A player declares each of them once, in its class::

    class MonteCarloPlayer(Player):
        OPTIONS = (Option("playouts", int, None, "playouts per turn after which it stops early"),)

        def __init__(self, *, seed: int = 0, **options: Any) -> None:
            super().__init__(seed=seed, **options)
            self.playouts: int | None = self.options["playouts"]

From this derive the text form ``montecarlo:playouts=100`` (:mod:`players.registry`), the constructor's
keyword arguments with their defaults (``Player.__init__`` fills ``self.options``), and the help text
(:func:`describe_options`). Lists can be joined: ``OPTIONS = (*Parent.OPTIONS, Option(...))``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from gdl.errors import GdlError

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
