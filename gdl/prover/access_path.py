"""Access paths: how generated code reads relations.

Arguments are coded as in :class:`~gdl.compile.program.FlatAtom`: constants >= 0, variables < 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Key = tuple[int, tuple[int, ...], tuple[int, ...]]
"""An access: a predicate, its bound columns, and the wanted columns."""


@dataclass(frozen=True, slots=True)
class AccessPath:
    """A variable of the generated code through which it reads a relation.

    Without keys the variable holds a set of rows: tuples, plain values of one column, or a bool where no
    column is left. With keys it holds a dict from key to the list of the rows with that key; of a lazy
    path to the set of the rows, or to a bool.

    Attributes:
        name: the variable.
        loader: the statement that gives it its value at the start of a function; empty for globals.
        maker: the expression that computes the value where the loader gave None; empty where the
            loader always gives one.
        call: of a lazy path, the start of the call that computes the rows of a missing key.
        local: whether it exists only in the function that computes the relation.
        single: whether the dict leads from each key to its only row.
    """

    name: str
    loader: str = ""
    maker: str = ""
    call: str = ""
    local: bool = False
    single: bool = False

    def load(self) -> list[str]:
        """The statements that give the variable its value."""
        return [self.loader, *([f"if {self.name} is None: {self.name} = {self.maker}"] if self.maker else [])]


def variables(args: Iterable[int]) -> frozenset[int]:
    """The variables among arguments."""
    return frozenset([a for a in args if a < 0])


def value(arg: int) -> str:
    """The source of an argument: a number or a local variable."""
    return str(arg) if arg >= 0 else f"v{-1 - arg}"


def row(args: Sequence[int]) -> str:
    """The source of a row or key: plain for one column."""
    if len(args) == 1:
        return value(args[0])
    return f"({', '.join(map(value, args))})"


def split_row(access: Key, arity: int) -> tuple[str, str, str]:
    """The source that takes a row apart for an access: loop targets, key, and wanted values."""
    _, keys, values = access
    targets = ", ".join(f"v{c}" if c in keys or c in values else "_" for c in range(arity))
    return targets, row([-1 - c for c in keys]), row([-1 - c for c in values])
