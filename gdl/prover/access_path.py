"""Access paths: how generated code reads relations, and what its writer must know of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

Key = tuple[int, tuple[int, ...], tuple[int, ...]]
"""An access: a predicate, its bound columns, and the columns that are wanted."""


class AccessKind(Enum):
    """What an access path is made of."""

    ROWS = "a set of rows: tuples, or plain values of one column; a bool where no column is left"
    LISTS = "a dict from key to the list of the rows with that key"
    VALUES = "a dict from key to its only row"
    LAZY = "a dict from key to the rows with that key, or to a bool; filled by a call when a key misses"


@dataclass(frozen=True, slots=True)
class AccessPath:
    """A variable of the generated code through which a relation is read.

    Attributes:
        name: the variable.
        kind: what it holds.
        loader: the statement that gives it its value at the start of a function; empty for
            globals.
        maker: the expression that computes it where the loader gave None; empty where the
            loader always gives a value.
        call: of a LAZY one the start of the call that computes what a key misses.
        local: whether only the function that computes it has the variable.
    """

    name: str
    kind: AccessKind
    loader: str = ""
    maker: str = ""
    call: str = ""
    local: bool = False


class Relations(Protocol):
    """What the writer must know about the relations that bodies read."""

    def path(self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...]) -> AccessPath:
        """The access from the values of the columns ``keys`` to those of ``values``; a set of
        ``values`` where there are no keys. Columns in neither are projected away."""

    def lazy(
        self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...], calls: float
    ) -> AccessPath | None:
        """The same access, computed key by key as it is asked for; None where computing the
        whole relation is expected to be cheaper than that many calls."""

    def fan(self, predicate: int, keys: tuple[int, ...]) -> float:
        """How many rows a key of these columns is expected to have."""

    def effort(self, predicate: int) -> int:
        """Greater for relations whose look at costs more: static ones, given ones, derived."""

    def most(self, predicate: int, keys: tuple[int, ...]) -> int:
        """How many rows a key of these columns has at most."""

    def scanned(self, predicate: int, keys: tuple[int, ...]) -> bool:
        """Whether to scan all rows rather than to make an index on constant columns."""

    def functor(self, name: str) -> int:
        """The number of a functor."""

    def fresh(self) -> int:
        """A number for a new function."""


def variables(args: Iterable[int]) -> frozenset[int]:
    """The variables (coded < 0) among arguments."""
    return frozenset([a for a in args if a < 0])


def value(arg: int) -> str:
    """The source of an argument: a number or a local variable."""
    return str(arg) if arg >= 0 else f"v{-1 - arg}"


def row(args: Sequence[int]) -> str:
    """The source of a row or key: plain for one column."""
    if len(args) == 1:
        return value(args[0])
    return f"({', '.join(map(value, args))})"
