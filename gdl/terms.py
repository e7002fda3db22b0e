"""Interned GDL terms: equality is identity, and each living term has an integer id."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Final

_table: weakref.WeakValueDictionary[tuple[Any, ...], Term] = weakref.WeakValueDictionary()
_ids = itertools.count()
_making = threading.RLock()


class Term:
    """A symbol (``xplayer``), a variable (``?x``) or a function term (``(cell 1 ?x b)``).

    Terms are interned: building the same term twice gives the same object, so ``==`` is ``is`` and hashing
    costs nothing; the table holds them weakly, so that terms of forgotten games are freed. GDL ignores case:
    names are folded to lower case; :class:`gdl.rules.Rules` keeps the game's spelling.

    >>> Term("cell", Term("1"), Term("?X")) is Term("CELL", Term("1"), Term("?x"))
    True
    >>> str(Term("cell", Term("1"), Term("?x")))
    '(cell 1 ?x)'

    Attributes:
        name: the symbol, the variable with its ``?``, or the functor; lower case.
        args: the arguments; ``()`` for symbols and variables. As in GDL, ``terminal`` and
            ``(terminal)`` are the same.
        id: an integer that no other living term of this process has.
        ground: whether no variable occurs in it.
        depth: 0 for symbols and variables, else 1 + the deepest argument's depth.
    """

    __slots__ = ("__weakref__", "_text", "args", "depth", "ground", "id", "name")

    name: str
    args: tuple[Term, ...]
    id: int
    ground: bool
    depth: int
    _text: str | None

    def __new__(cls, name: str, *args: Term) -> Term:
        name = name.lower()
        key = (name, *args)
        existing = _table.get(key)
        if existing is not None:
            return existing
        with _making:  # another thread may make the same term at the same moment
            existing = _table.get(key)
            if existing is not None:
                return existing
            self = object.__new__(cls)
            self.name = name
            self.args = args
            self.id = next(_ids)
            self._text = None
            self.ground = all(a.ground for a in args) if args else not name.startswith("?")
            self.depth = 1 + max(a.depth for a in args) if args else 0
            _table[key] = self
        return self

    @property
    def is_variable(self) -> bool:
        """Whether this is a variable (its name starts with ``?``)."""
        return not self.args and self.name.startswith("?")

    @property
    def signature(self) -> tuple[str, int]:
        """Name and arity, which identify a relation or function."""
        return self.name, len(self.args)

    def variables(self) -> Iterator[Term]:
        """The variables in it, left to right, with repetitions."""
        if self.ground:
            return
        if not self.args:
            yield self
        for arg in self.args:
            yield from arg.variables()

    def substitute(self, binding: dict[Term, Term]) -> Term:
        """The term with every variable that ``binding`` knows replaced by its value."""
        if self.ground:
            return self
        if not self.args:
            return binding.get(self, self)
        return Term(self.name, *(a.substitute(binding) for a in self.args))

    def spelled(self, spelling: dict[str, str]) -> str:
        """KIF text with each name in the spelling that the dictionary gives for it."""
        name = spelling.get(self.name, self.name)
        if not self.args:
            return name
        return f"({name} {' '.join(a.spelled(spelling) for a in self.args)})"

    def __str__(self) -> str:
        if self._text is None:
            self._text = f"({self.name} {' '.join(map(str, self.args))})" if self.args else self.name
        return self._text

    def __repr__(self) -> str:
        return f"Term<{self}>"

    def __lt__(self, other: Term) -> bool:
        """Terms sort by their text, numbers by value: an order that outlives the process."""
        return sort_key(self) < sort_key(other)

    def __reduce__(self) -> tuple[Any, ...]:
        return Term, (self.name, *self.args)


def sort_key(term: Term) -> tuple[Any, ...]:
    """A key that sorts terms by name and arguments, integers by value and before names."""
    name = term.name
    if name.isascii() and name.isdecimal():
        # By number of digits, then digit by digit: int() refuses or is slow on huge ones.
        digits = name.lstrip("0")
        head: tuple[Any, ...] = (0, len(digits), digits, name)
    else:
        head = (1, 0, "", name)
    return (*head, len(term.args), *(sort_key(a) for a in term.args))


TRUE: Final = "true"
DOES: Final = "does"
NEXT: Final = "next"
INIT: Final = "init"
LEGAL: Final = "legal"
GOAL: Final = "goal"
TERMINAL: Final = "terminal"
ROLE: Final = "role"
BASE: Final = "base"
INPUT: Final = "input"
DISTINCT: Final = "distinct"
SEES: Final = "sees"

ARITIES: Final = {
    TRUE: 1,
    DOES: 2,
    NEXT: 1,
    INIT: 1,
    LEGAL: 2,
    GOAL: 2,
    TERMINAL: 0,
    ROLE: 1,
    BASE: 1,
    INPUT: 2,
    DISTINCT: 2,
    SEES: 2,
}
"""The relations whose meaning GDL fixes, and how many arguments each takes."""

RANDOM: Final = Term("random")
"""The role of chance: the game manager draws its moves, all legal ones alike."""

CONNECTIVES: Final = frozenset({"not", "or", "and", "<="})
"""The words that join literals; they name no relation."""
