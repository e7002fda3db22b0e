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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gdl.errors import GdlError


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be chosen about a kind of player.

    Attributes:
        name: the key in ``kind:key=value``, and the constructor's keyword argument.
        read: makes the value from text; raises ValueError if the text is none.
        default: the value if nothing is chosen; not read from text.
        help: what the option does, in one line.
    """

    name: str
    read: Callable[[str], object]
    default: object
    help: str


def at_least(least: int) -> Callable[[str], int]:
    """A reader that takes whole numbers from this one on."""

    def read(text: str) -> int:
        if int(text) < least:
            raise ValueError(text)
        return int(text)

    return read


def switch(text: str) -> bool:
    """Reads ``yes``, ``no``, ``1`` or ``0``."""
    if text.lower() not in ("0", "1", "no", "yes"):
        raise ValueError(text)
    return text.lower() in ("1", "yes")


def one_of(names: Sequence[str]) -> Callable[[str], str]:
    """A reader that takes one of these words."""

    def read(text: str) -> str:
        if text not in names:
            raise ValueError(text)
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
    kind: str, options: Sequence[Option], texts: Sequence[tuple[str, str]], spec: str
) -> dict[str, object]:
    """The values of options that were chosen as pairs of name and text; the last pair of a name counts.
    Raises GdlError if there is no such option, or the text is no value of it; the message names the kind of
    player, and ``spec``, where the texts come from."""
    known = by_name(options)
    values: dict[str, object] = {}
    for name, text in texts:
        if name not in known:
            raise GdlError(
                f"{kind} has no option {name!r}",
                remedy=f"its options are {', '.join(known)}" if known else "it has no options",
            )
        try:
            values[name] = known[name].read(text)
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
