"""A state of any machine as the word that stands for it: its image, recoded, and that word's rank."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.json_schema import check_json, record, rows
from players.puzzles.frontier.coding_form import BASES, CODING_SCHEMA, coding_as_json, coding_from_json
from players.strong.ranked.rank import RANK_SCHEMA, Rank
from propnet.jit.arrays import Ints
from propnet.kernels.records import pack
from propnet.recoding.coding import Codec, Coding

Bits = NDArray[np.bool_]
CODEC_SCHEMA = record(
    coding=CODING_SCHEMA, initial=BASES, sources=rows(BASES), order=BASES, unobserved=BASES, rank=RANK_SCHEMA
)


@dataclass(frozen=True)
class StateCodec:
    """How a table finds a state.

    Attributes:
        coding: of the states that stand for their orbits.
        initial: bool (bases,): the initial state that the coding is for.
        sources: for each automorphism but the identity, of which base proposition each gets its value.
        order: base propositions by which images are compared, the most significant first.
        unobserved: base propositions that do not count: they have their initial value.
        rank: of the words.
    """

    coding: Coding
    initial: Bits
    sources: Ints
    order: Ints
    unobserved: Ints
    rank: Rank

    def word_of(self, true: Iterable[int]) -> int | None:
        """The word of the state in which exactly these base propositions are true; None where it has none."""
        bits = np.zeros(self.coding.bases, np.bool_)
        bits[list(true)] = True
        bits[self.unobserved] = self.initial[self.unobserved]
        images = [bits, *bits[self.sources]]
        least = min(images, key=lambda image: image[self.order].tobytes())
        code = self._codec.encode(least[None, :])
        if code[0, self.coding.broken_bit]:
            return None
        return int(pack(code)[0, 0])

    @cached_property
    def _codec(self) -> Codec:
        return Codec(self.coding, self.initial)

    def as_json(self) -> dict[str, Any]:
        """For a manifest or a checkpoint."""
        return {
            "coding": coding_as_json(self.coding),
            "initial": np.flatnonzero(self.initial).tolist(),
            "sources": self.sources.tolist(),
            "order": self.order.tolist(),
            "unobserved": self.unobserved.tolist(),
            "rank": self.rank.as_json(),
        }

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> StateCodec:
        """The reverse. Raises GdlError and ValueError for what is none."""
        check_json(body, CODEC_SCHEMA, "codec")
        coding = coding_from_json(body["coding"])
        if coding.broken_bit > 63:
            raise GdlError("a table's states are more than a word")
        named = chain(body["initial"], body["order"], body["unobserved"], *body["sources"])
        if any(base >= coding.bases for base in named):
            raise GdlError("a codec names more base propositions than there are")
        if any(len(source) != coding.bases for source in body["sources"]):
            raise GdlError("an automorphism is not of all base propositions")
        initial = np.zeros(coding.bases, np.bool_)
        initial[body["initial"]] = True
        sources = np.array(body["sources"], np.int64).reshape(-1, coding.bases)
        return cls(
            coding,
            initial,
            sources,
            np.array(body["order"], np.int64),
            np.array(body["unobserved"], np.int64),
            Rank.from_json(body["rank"]),
        )
