"""The source of one generated function as it grows, and what is known at the place being written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gdl.prover.access_path import AccessPath
from gdl.prover.table_slots import Relations

MAX_INDENT = 80
"""Python allows 100 levels of indentation; at most 20 are written between two tests of this limit."""


@dataclass(frozen=True, slots=True)
class MatchCode:
    """The code that handles a match of a body.

    Attributes:
        write: writes the code.
        leaves: whether the code leaves the function.
        fresh: gives the condition that the head is new; None where nobody needs it.
        row: the arguments of the head.
        all_of: writes the code for a relation (by its variable) all of whose rows are matches.
    """

    write: Callable[[], None]
    leaves: bool = False
    fresh: Callable[[], str] | None = None
    row: tuple[int, ...] | None = None
    all_of: Callable[[str], None] | None = None


@dataclass(slots=True)
class Scope:
    """What is known at one place of the code.

    Attributes:
        bound: variables that have their values.
        ready: variables of paths that surely hold a value.
        first_only: whether the first match is enough from here on.
        loops: loops around this place that a match must break out of.
        nested: all loops around this place.
        match: handles a match.
        needed: variables that the match reads.
        calls: how often this place is expected to be reached.
    """

    bound: frozenset[int]
    ready: frozenset[str]
    first_only: bool
    loops: int
    nested: int
    match: MatchCode
    needed: frozenset[int]
    calls: float = 1.0


class FunctionSource:
    """The lines of one function, and the loads of the relations that it reads.

    Args:
        relations: the relations that it can read.
        parameters: its parameters, as in the source.

    Attributes:
        lines: the statements so far, indented.
        indent: the present indentation.
        loads: variable -> the statement at the start that loads its relation.
        helpers: the lines of the functions that must stand before it.
        locals: the local paths that it reads.
        ticks: whether it counts down to the next check of the limits.
    """

    def __init__(self, relations: Relations, parameters: str) -> None:
        self.relations = relations
        self.parameters = parameters
        self.lines: list[str] = []
        self.indent = 1
        self.loads: dict[str, str] = {}
        self.helpers: list[str] = []
        self.locals: set[str] = set()
        self.ticks = False
        self._names = 0

    def deep(self) -> bool:
        """Whether the following code must go into a function of its own."""
        return self.indent >= MAX_INDENT

    def line(self, *texts: str) -> None:
        """Append statements at the present indentation."""
        self.lines += [" " * self.indent + text for text in texts]

    def name(self, prefix: str) -> str:
        """A fresh local variable."""
        self._names += 1
        return f"{prefix}{self._names}"

    def when(self, conditions: Sequence[str]) -> None:
        """Go on only where all conditions hold."""
        if conditions:
            self.line(f"if {' and '.join(conditions)}:")
            self.indent += 1

    def read(self, path: AccessPath, scope: Scope) -> None:
        """Make sure that a path's variable holds its value here."""
        if path.local:
            self.locals.add(path.name)
        if path.loader:
            self.loads.setdefault(path.name, path.loader)
            if path.maker and path.name not in scope.ready:
                self.line(f"if {path.name} is None: {path.name} = {path.maker}")
                scope.ready |= {path.name}

    def function(
        self, name: str, start: Sequence[str] = (), end: Sequence[str] = (), ticks: int = 16
    ) -> list[str]:
        """The lines of the whole function, loads first; ``ticks`` until the first check of the limits."""
        first = [*self.loads.values(), *([f"n = {ticks}"] if self.ticks else []), *start]
        lines = [f"def {name}({self.parameters}):", *(f" {text}" for text in first), *self.lines]
        return lines + [f" {text}" for text in end]
