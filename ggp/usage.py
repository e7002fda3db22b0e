"""Errors in the use of the command line, in our words, each with a remedy."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, get_args, get_type_hints

import typer
from typer.models import ParameterInfo

from gdl.errors import GdlError

_MOST_PROCESSES = 1024
_COUNTERS = ("workers", "jobs", "processes")
_MOST = {int: 10**12, float: 366.0 * 24 * 3600}
"""Where an option does not say: a count that no computer reaches, a year in seconds."""
_SEED = 2**63
UsageError: Any = typer.BadParameter.__mro__[1]
"""The base class of typer's errors; typer does not export it."""


def bound_numbers(function: Callable[..., None]) -> None:
    """Have each number among the options of a command read by one type: finite, and from the least to the
    largest value, which its help shows."""
    defaults = inspect.signature(function).parameters
    # As objects: texts would make new options each time they are read.
    function.__annotations__ = get_type_hints(function, include_extras=True)
    for name, hint in function.__annotations__.items():
        kind, info = hint, defaults[name].default if name in defaults else None
        if hasattr(hint, "__metadata__"):  # Annotated
            kind, info = get_args(hint)[:2]
        kinds = {int, float} & {kind, *get_args(kind)}
        if kinds and isinstance(info, ParameterInfo) and info.parser is None:
            _bound(name, info, kinds.pop())


def _bound(name: str, info: ParameterInfo, kind: type[int] | type[float]) -> None:
    option = f"--{name.replace('_', '-')}"
    least: float = -_SEED if info.min is None else info.min
    most = info.max
    if most is None:
        most = _MOST_PROCESSES if name in _COUNTERS else _SEED - 1 if name == "seed" else _MOST[kind]
    form = "d" if kind is int else ".10g"

    def read(text: Any) -> float:
        try:
            value = kind(text)
        except (ValueError, OverflowError):
            value = math.nan
        if not least <= value <= most:
            what = f"a {'whole ' if kind is int else ''}number from {least:{form}} to {most:{form}}"
            raise GdlError(f"{option} must be {what}, not {str(text)[:40]!r}")
        return value

    if name != "seed" and (info.min is not None or info.max is not None):
        largest = "" if info.max is None else f" to {most:{form}}"
        info.help = f"{info.help or ''} [from {least:{form}}{largest}]"
    info.metavar = info.metavar or ("INTEGER" if kind is int else "NUMBER")
    info.min = info.max = None
    info.parser = read


def in_our_words(error: Any, command: str | None, commands: list[str]) -> GdlError:
    """The error that describes a fault on the command line, from the one that typer raises."""
    remedy = f"see `ggp {command} --help`" if command in commands else "see `ggp --help`"
    text = str(error.message)
    match type(error).__name__:
        case "MissingParameter":
            names = sorted(error.param.opts, key=len)
            name = names[-1] if names[-1].startswith("-") else names[-1].upper()
            return GdlError(f"{name} is missing", remedy=remedy)
        case "NoSuchOption":
            near = list(error.possibilities or ())
            meant = f"did you mean {' or '.join(near)}?" if near else remedy
            return GdlError(f"there is no option {error.option_name}", remedy=meant)
        case "BadOptionUsage":
            needs = "needs a value" if "require" in text else "takes no value"
            return GdlError(f"{error.option_name} {needs}", remedy=remedy)
    if command is not None and command not in commands:
        near = get_close_matches(command, commands)
        return GdlError(
            f"there is no command {command!r}", remedy=f"did you mean {near[0]}?" if near else remedy
        )
    words = text.partition("(")[2].rpartition("(")[2].rstrip(") ") if "(" in text else ""
    return GdlError(f"more words than arguments: {words}" if words else "this cannot be read", remedy=remedy)
