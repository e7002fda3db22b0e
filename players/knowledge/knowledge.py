"""`GameKnowledge`: weights of features, by canonical names, and their form as bytes.

The bytes are eight of :data:`MAGIC`, four with the length of a JSON object, that object, the features' names
in ASCII separated by line ends, the arrays of 32-bit floats, and a SHA-256 of all that. With a net, the
first eight bytes are :data:`MAGIC_NET`, and its arrays come before the checksum. The bytes contain no code,
and they never make the reader allocate more memory than their own length justifies.

Files that are carried to other computers, or come with the games, begin with :data:`MAGIC_CARRIED`. They have
what searches use alone, and everything after the JSON object is compressed (zlib): 16-bit floats, and, last,
the net's first layer in 8-bit whole numbers, in units of their own for each unit of the layer.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.json_schema import FLAG, Schema, check_json, matching, number, row, rows, whole

UNITS = 128
"""Units of the first layer of new nets, a multiple of 4."""
WIDTH = 16
"""Units of the second layer."""
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class LearntNet:
    """The net's weights: its output is the logit of a state.

    A unit of the first layer is the sum of the weights of the features of true propositions, and of the
    constant feature, cut to 0..1. A unit of the second layer is the weighted sum of these and its bias, or 0
    if that is negative.

    Attributes:
        first: float32, shape (features, units).
        second, second_bias: float32, shapes (units, WIDTH) and (WIDTH,).
        third: float32, shape (columns, WIDTH).
    """

    first: Floats
    second: Floats
    second_bias: Floats
    third: Floats

    def arrays(self) -> tuple[Floats, ...]:
        """All arrays in this order."""
        return self.first, self.second, self.second_bias, self.third

    @property
    def units(self) -> int:
        """The number of units of the first layer."""
        return int(self.first.shape[1])

    @staticmethod
    def shapes(features: int, columns: int, units: int) -> tuple[tuple[int, ...], ...]:
        """The shapes of the arrays of a net with this many features, columns and units."""
        return (features, units), (units, WIDTH), (WIDTH,), (columns, WIDTH)

    @staticmethod
    def new(features: int, columns: int, rng: np.random.Generator, units: int = UNITS) -> LearntNet:
        """A net with output 0, and with random units."""
        first = rng.normal(0.0, _SPREAD, (features, units)).astype(np.float32)
        first[0] = rng.uniform(0.0, 0.5, units)
        return LearntNet(
            first,
            rng.normal(0.0, (2.0 / units) ** 0.5, (units, WIDTH)).astype(np.float32),
            np.full(WIDTH, 0.1, np.float32),
            np.zeros((columns, WIDTH), np.float32),
        )


_SPREAD = 0.02
"""The standard deviation of new weights of a feature: a proposition has some eight features, and some forty
propositions are true."""


MAGIC, MAGIC_NET, MAGIC_CARRIED = b"GGPKNOW1", b"GGPKNOW3", b"GGPKNOW5"
MOST_BYTES = 64 << 20
"""Most bytes of one game."""
_MOST_HEADER = 1 << 16
_MOST_ROLES = 64
_MOST_UNITS = 1024
_DIGEST = 32
_NAME = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
_ARRAYS = 3
_NUMBER = number(0.0, 1e15)
_HEADER: Schema = {
    "type": "object",
    "required": [
        "fingerprint", "game", "columns", "features", "names", "share", "moves", "seconds", "record",
    ],
    "properties": {
        "fingerprint": matching("[0-9a-f]{64}"),
        "game": matching(r"[\w.:-]{0,100}"),
        "columns": rows(matching(_NAME.pattern), 1, _MOST_ROLES),
        "features": whole(1),
        "names": whole(),
        "share": number(0.0, 1.0),
        "looks": FLAG,
        "net_used": FLAG,
        "net_alone": FLAG,
        "units": whole(4, _MOST_UNITS),
        "moves": whole(),
        "seconds": _NUMBER,
        "record": row(whole(), whole(), whole(), _NUMBER),
    },
}  # fmt: skip
"""The JSON object in the bytes; older files have no ``looks`` and no ``net_used``. Those with a net have its
``units``, and say that it stands by itself, ``net_alone``: earlier nets corrected linear weights."""
_MOST_HALF, _MOST_OCTET = 60_000.0, 127
"""The largest 16-bit float in a carried file, and the largest 8-bit whole number."""


class KnowledgeError(GdlError):
    """A file is not knowledge of a game, or of another game, or it does not exist."""


@dataclass(frozen=True)
class Record:
    """The outcome of a match of the trained player against the untrained one: wins, draws, losses, and the
    CPU seconds that each had for a move."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class GameKnowledge:
    """The learnt knowledge of a game.

    A column has the values of a role. If one of two roles gets what the other does not, there is one column.

    Attributes:
        fingerprint: of the game (:class:`players.knowledge.canonical_rules.CanonicalNames`).
        game: its name when it was learnt, for people; it does not identify the game.
        columns: the canonical names of the roles that have columns.
        features: the names of features (:mod:`players.knowledge.features`), the constant one first.
        weights: float32, shape (features, columns), in logits.
        sums, sizes: float32, same shape: the sums of the errors that moved the weights, with and without sign
            (temporal coherence learning).
        share: weight of the state's value in the value of a leaf; a playout has the rest. 0: not used.
        moves, seconds: moves of self-play, and CPU seconds, of the training.
        record: the match that ``share`` was found by.
        looks: whether searches without playouts value all moves of each new state.
        net: None if there is none.
        net_used: whether searches use the net.
    """

    fingerprint: str
    game: str
    columns: tuple[str, ...]
    features: tuple[str, ...]
    weights: Floats
    sums: Floats
    sizes: Floats
    share: float = 0.0
    moves: int = 0
    seconds: float = 0.0
    record: Record = field(default_factory=Record)
    looks: bool = False
    net: LearntNet | None = None
    net_used: bool = True

    @property
    def use(self) -> str:
        """Text for people: how searches use it."""
        return use(self.share, self.looks)

    def turned(self, column: str) -> GameKnowledge:
        """The same knowledge with the column of this role in place of the other one, if there is one column
        for two roles: one of them gets what the other does not."""
        net = None if self.net is None else replace(self.net, third=-self.net.third)
        return replace(self, columns=(column,), weights=-self.weights, sums=-self.sums, net=net)

    @property
    def model(self) -> str:
        """The kind of values that searches use, ``linear`` or ``net``."""
        return "net" if self.net is not None and self.net_used else "linear"

    def to_bytes(self) -> bytes:
        """The bytes for files and messages. Raises KnowledgeError for more than MOST_BYTES."""
        learnt = self.arrays() + (() if self.net is None else self.net.arrays())
        names, arrays = "\n".join(self.features).encode("ascii"), _packed(learnt, "<f4")
        magic = MAGIC if self.net is None else MAGIC_NET
        return _sealed(magic, self._header(self.net) | {"names": len(names)}, names + arrays)

    def carried(self) -> bytes:
        """The bytes for other computers: what searches use alone, a tenth as long. Training can go on from
        them, but takes its steps as if it were new. Raises KnowledgeError for more than MOST_BYTES."""
        net = self.net if self.net_used else None
        names, rest = "\n".join(self.features).encode("ascii"), [self.weights]
        octets = b""
        if net is not None:
            scale = (np.abs(net.first).max(axis=0) / _MOST_OCTET).astype("<f2").astype(np.float32)
            whole_numbers = np.rint(net.first / np.where(scale > 0.0, scale, 1.0))
            octets = np.clip(whole_numbers, -_MOST_OCTET, _MOST_OCTET).astype(np.int8).tobytes()
            rest += [scale, *net.arrays()[1:]]
        halves = _packed((np.clip(array, -_MOST_HALF, _MOST_HALF) for array in rest), "<f2")
        header = self._header(net) | {"names": len(names)}
        return _sealed(MAGIC_CARRIED, header, zlib.compress(names + halves + octets, 9))

    def _header(self, net: LearntNet | None) -> dict[str, Any]:
        return ({} if net is None else {"units": net.units, "net_alone": True}) | {
            "fingerprint": self.fingerprint,
            "game": self.game,
            "columns": list(self.columns),
            "features": len(self.features),
            "share": self.share,
            "looks": self.looks,
            "net_used": self.net_used,
            "moves": self.moves,
            "seconds": self.seconds,
            "record": [self.record.wins, self.record.draws, self.record.losses, self.record.seconds],
        }

    def arrays(self) -> tuple[Floats, ...]:
        return self.weights, self.sums, self.sizes

    @staticmethod
    def from_bytes(data: bytes, source: str = "") -> GameKnowledge:
        """The reverse of :meth:`to_bytes`. Raises KnowledgeError, with ``source`` as the place, for bytes
        that are damaged, too many, of another version, or not written by this program."""
        try:
            return _read(data)
        except (GdlError, ValueError, OverflowError, RecursionError) as error:
            plain = isinstance(error, GdlError) or type(error) is ValueError
            reason = str(error) if plain else "its parts cannot be read"
            raise KnowledgeError(
                f"this is not knowledge of a game: {reason}",
                remedy="train the game again, or export the file again where it was learnt",
                source=source,
            ) from None


def use(share: float, looks: bool) -> str:
    """Text for people: how searches use knowledge with this share of a leaf's value."""
    return f"{share:.0%}, with looks" if looks else f"{share:.0%}"


def _packed(arrays: Iterable[Floats], dtype: str) -> bytes:
    return b"".join(np.ascontiguousarray(array, dtype).tobytes() for array in arrays)


def _sealed(magic: bytes, header: dict[str, Any], rest: bytes) -> bytes:
    text = json.dumps(header).encode()
    data = magic + len(text).to_bytes(4, "little") + text + rest
    if len(data) + _DIGEST > MOST_BYTES:
        raise KnowledgeError("its knowledge is too large to save", remedy="the game is played without it")
    return data + hashlib.sha256(data).digest()


def _read(data: bytes) -> GameKnowledge:
    if len(data) > MOST_BYTES:
        raise ValueError("it is too large")
    magic, body = data[: len(MAGIC)], data[:-_DIGEST]
    if magic not in (MAGIC, MAGIC_NET, MAGIC_CARRIED):
        raise ValueError("it is not a knowledge file of this version")
    if hashlib.sha256(body).digest() != data[-_DIGEST:]:
        raise ValueError("its checksum is wrong")
    begin = len(MAGIC) + 4
    length = int.from_bytes(body[len(MAGIC) : begin], "little")
    if length > _MOST_HEADER:
        raise ValueError("its header is too long")
    try:
        header: dict[str, Any] = json.loads(body[begin : begin + length])
    except ValueError:
        raise ValueError("its header cannot be read") from None
    check_json(header, _HEADER, "its header")
    if header.get("derived"):
        raise ValueError("it weighs derived propositions, which this version does not")
    carried, rest = magic == MAGIC_CARRIED, body[begin + length :]
    count, columns = header["features"], tuple(header["columns"])
    shapes: list[tuple[int, ...]] = [(count, len(columns))] * (1 if carried else _ARRAYS)
    octets = 0
    if magic == MAGIC_NET or (carried and "units" in header):
        if not header.get("net_alone") or "units" not in header:
            raise ValueError("its net corrects linear weights, which nets of this version do not")
        units = header["units"]
        if units % 4:
            raise ValueError("the units of its net are not a multiple of 4")
        layers = LearntNet.shapes(count, len(columns), units)
        shapes += [(units,), *layers[1:]] if carried else layers
        octets = count * units if carried else 0
    sizes, dtype = [math.prod(shape) for shape in shapes], np.dtype("<f2" if carried else "<f4")
    whole_size = header["names"] + dtype.itemsize * sum(sizes) + octets
    if carried:
        rest = _inflated(rest, whole_size)
    if len(rest) != whole_size:
        raise ValueError("its parts do not add up to its length")
    features = tuple(rest[: header["names"]].decode("ascii").split("\n"))
    if len(features) != count or len(set(features)) != count or len(set(columns)) != len(columns):
        raise ValueError("its number of features is wrong")
    if not all(_NAME.fullmatch(name) for name in features):
        raise ValueError("its features have invalid names")
    numbers = np.frombuffer(rest, dtype, sum(sizes), header["names"]).astype(np.float32)
    if not np.isfinite(numbers).all():
        raise ValueError("its weights are not finite numbers")
    parts = np.split(numbers, np.cumsum(sizes)[:-1])
    learnt = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
    if octets:
        learnt[1] = np.frombuffer(rest, np.int8, octets, whole_size - octets).reshape(count, -1) * learnt[1]
    if carried:
        learnt[1:1] = np.zeros((2, count, len(columns)), np.float32)
    weights, sums, errors, *net = learnt
    return GameKnowledge(
        header["fingerprint"],
        header["game"],
        columns,
        features,
        weights,
        sums,
        errors,
        float(header["share"]),
        header["moves"],
        float(header["seconds"]),
        Record(*header["record"]),
        header.get("looks", False),
        LearntNet(*net) if net else None,
        header.get("net_used", True),
    )


def _inflated(data: bytes, size: int) -> bytes:
    """The ``size`` bytes that compressed data stand for; it may stand for no more."""
    if size > MOST_BYTES:
        raise ValueError("it is too large")
    inflater = zlib.decompressobj()
    try:
        inflated = inflater.decompress(data, size + 1)
    except zlib.error:
        raise ValueError("it cannot be uncompressed") from None
    if not inflater.eof or inflater.unused_data:
        raise ValueError("its parts do not add up to its length")
    return inflated
