"""What roles were told, by what they had done and perceived: two histories that are the same to a role must
be told the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable


class Told:
    """Notes what is told to roles.

    Attributes:
        compared: how often something was told to a role that had done and perceived the same before, though
            the truth was another one.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[Hashable, ...], tuple[bytes, Hashable]] = {}
        self._others: dict[tuple[Hashable, ...], set[bytes]] = defaultdict(set)
        self.compared = 0

    def note(self, what: str, role: int, history: Hashable, told: bytes, truth: Hashable) -> None:
        """A role that has done and perceived ``history`` is told something of a kind; ``truth`` is what it
        may not know."""
        key = what, role, history
        first, true = self._first.setdefault(key, (told, truth))
        self.compared += true != truth
        if first != told:
            self._others[key] |= {first, told}

    @property
    def differences(self) -> list[tuple[tuple[Hashable, ...], list[bytes]]]:
        """Where a role was told different things, though it had done and perceived the same."""
        return [(key, sorted(each)) for key, each in self._others.items()]
