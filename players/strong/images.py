"""The images of a state under automorphisms: a table has one state of each orbit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from gdl.errors import GdlError
from gdl.json_schema import record, rows
from players.puzzles.frontier.key_space import BASES
from propnet.jit.arrays import Flags, Ints
from propnet.symmetries.canonical import Orbits

IMAGES_SCHEMA = record(initial=BASES, sources=rows(BASES), order=BASES, unobserved=BASES)


@dataclass(frozen=True, slots=True)
class OrbitImages:
    """The images of a state under the automorphisms of a game; a table has the smallest one
    (:class:`propnet.symmetries.canonical.Orbits`).

    Attributes:
        initial: bool (bases,): the initial state.
        sources: for each automorphism except the identity, the base proposition from which each gets its
            value.
        order: base propositions by which images are compared, the most significant first.
        unobserved: base propositions that do not count: they have their initial value.
    """

    initial: Flags
    sources: Ints
    order: Ints
    unobserved: Ints

    @classmethod
    def of(cls, orbits: Orbits) -> OrbitImages:
        """Those of the states of these orbits."""
        return cls(orbits.network.initial, orbits.sources, orbits.order, orbits.unobserved)

    def smallest(self, true: Sequence[int]) -> list[int]:
        """The base propositions that are true in the smallest image of the state in which these are."""
        bits = np.zeros(len(self.initial), np.bool_)
        bits[true] = True
        bits[self.unobserved] = self.initial[self.unobserved]
        least = min([bits, *bits[self.sources]], key=lambda image: image[self.order].tobytes())
        found: list[int] = np.flatnonzero(least).tolist()
        return found

    def as_json(self) -> dict[str, Any]:
        """JSON for a manifest."""
        return {
            "initial": np.flatnonzero(self.initial).tolist(),
            "sources": self.sources.tolist(),
            "order": self.order.tolist(),
            "unobserved": self.unobserved.tolist(),
        }

    @classmethod
    def from_json(cls, body: dict[str, Any], bases: int) -> OrbitImages:
        """The reverse, for a game with this number of base propositions. Raises GdlError."""
        named = chain(body["initial"], body["order"], body["unobserved"], *body["sources"])
        if any(base >= bases for base in named):
            raise GdlError("an automorphism is of more base propositions than there are")
        if any(len(source) != bases for source in body["sources"]):
            raise GdlError("an automorphism is not of all base propositions")
        initial = np.zeros(bases, np.bool_)
        initial[body["initial"]] = True
        sources = np.array(body["sources"], np.int64).reshape(-1, bases)
        order, unobserved = (np.array(body[name], np.int64) for name in ("order", "unobserved"))
        return cls(initial, sources, order, unobserved)
