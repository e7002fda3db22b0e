"""The source of one generated function as it grows, and what holds at the place that is being written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gdl.prover.access_path import AccessPath, Relations

MAX_INDENT = 80
"""Python allows 100 levels of indentation, and nowhere are 20 written without a look at this."""


@dataclass(frozen=True, slots=True)
class MatchCode:
    """What the code does with a match of a body.

    Attributes:
        write: writes it.
        leaves: whether it leaves the function.
        fresh: gives the condition that the head at hand is new; None where that is not asked.
        row: the arguments of the head.
        all_of: writes what is done where all rows of a relation are matches.
    """

    write: Callable[[], None]
    leaves: bool = False
    fresh: Callable[[], str] | None = None
    row: tuple[int, ...] | None = None
    all_of: Callable[[str], None] | None = None


@dataclass(slots=True)
class Scope:
    """What holds at one place of the code.

    Attributes:
        bound: variables that have their values.
        ready: paths that surely hold a value.
        one: whether one match is enough from here on.
        loops: loops around this place that a match must break out of.
        nested: all loops around this place.
        match: what is done with a match.
        needed: variables that the match reads.
        calls: how often this place is expected to be reached.
    """

    bound: frozenset[int]
    ready: frozenset[str]
    one: bool
    loops: int
    nested: int
    match: MatchCode
    needed: frozenset[int]
    calls: float = 1.0


class FunctionSource:
    """The lines of one function, and the loads of the relations that it reads.

    Args:
        relations: what it reads.
        parameters: its parameters, as in the source.

    Attributes:
        lines: the statements so far, indented.
        indent: the present indentation.
        loads: by variable the statements at the start that load relations.
        helpers: the lines of the functions that it calls and that must stand before it.
        locals: the relations that it reads and that are no more than variables where they are computed.
        ticks: whether it counts down to the next look at the limits.
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
        """Whether what comes next must go into a function of its own."""
        return self.indent >= MAX_INDENT

    def line(self, text: str) -> None:
        """Append a statement at the present indentation."""
        self.lines.append(" " * self.indent + text)

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
        """Make sure that a path's variable has its value here."""
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
        """The lines of the whole function, loads first; ``ticks`` until the first look at the limits."""
        lines = [f"def {name}({self.parameters}):"]
        lines += [f" {load}" for load in self.loads.values()]
        if self.ticks:
            lines.append(f" n = {ticks}")
        lines += [f" {text}" for text in start]
        lines += self.lines
        lines += [f" {text}" for text in end]
        return lines
