"""`Tables`: the values of a game's states, looked up in a table on disk; and the table's answer for a state's
moves."""

from __future__ import annotations

import hashlib
import mmap
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from gdl.errors import GdlError, StateError
from gdl.machine import JointMove, State
from gdl.reading import open_regular
from gdl.rules import Rules
from gdl.syntax.parser import parse_term, parse_terms
from gdl.terms import Term
from players.sorted_sets.codes import DamagedKeysError, grown
from players.strong.outcomes import Distances, OrbitImages, known_distance
from players.strong.storage import BLOCK, LayerFile, read_manifest, rules_digest, unpack_block
from propnet.jit.arrays import Octets, Words
from propnet.kernels.records import record_words

_KEPT = 64
"""Number of decoded blocks in the cache."""

_Block = tuple[Words, Octets, Distances]


@dataclass(frozen=True, slots=True)
class _LayerData:
    """A layer's file and its index: for each block its first record, its end, and four times the number of
    its states plus the bytes of a distance."""

    data: mmap.mmap
    firsts: Words
    ends: Words
    counts: Words


@dataclass(frozen=True, slots=True)
class StateValue:
    """The value of a state under best play of all roles.

    Attributes:
        outcome: its number in the table.
        goals: each role's, 0..100; -1 if the rules give none.
        distance: joint moves to the end; None if play need not end.
    """

    outcome: int
    goals: tuple[int, ...]
    distance: int | None


class Tables:
    """A table written by a :class:`players.strong.storage.TableWriter`.

    Each file's digest is checked before the first answer from it.

    Attributes:
        folder: its folder.
        outcomes: goals by the number of the outcome.
        roles: as text, in the order of the rules.
        sizes: states of each layer (:class:`players.strong.outcomes.SolvedGame`).
        cyclic: whether play may return to a state.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        self.outcomes: list[tuple[int, ...]] = [tuple(goals) for goals in manifest["outcomes"]]
        self.roles: list[str] = manifest["roles"]
        self.sizes: list[int] = manifest["sizes"]
        self.cyclic: bool = manifest["cyclic"]
        self.start: tuple[int, ...] = tuple(manifest["start"])
        self._rules: str = manifest["rules"]
        self._name: str = manifest["name"]
        self._bits = {parse_term(text): i for i, text in enumerate(manifest["propositions"])}
        images = manifest["images"]
        self._images = None if images is None else OrbitImages.from_json(images, len(self._bits))
        self._words = record_words(len(self._bits))
        self._files = [LayerFile(**entry) for entry in manifest["files"]]
        vectors = [*self.outcomes, self.start]
        if any(len(goals) != len(self.roles) for goals in vectors):
            raise GdlError("an outcome does not have one goal for each role")
        if len(self._bits) != len(manifest["propositions"]):
            raise GdlError("a proposition is named twice")
        self._near = 0
        """The layer in which a state was found last: its successors are in the next one, or there too."""
        self._layers: dict[int, _LayerData] = {}
        self._blocks: OrderedDict[tuple[int, int], _Block] = OrderedDict()

    @classmethod
    def open(cls, folder: str | Path) -> Tables:
        """The table in a folder. Raises GdlError if it is missing or damaged."""
        folder = Path(folder)
        manifest = read_manifest(folder)
        try:
            tables = cls(folder, manifest)
        except (ValueError, GdlError) as error:
            what = error.message if isinstance(error, GdlError) else str(error)
            raise GdlError(
                f"the manifest in {folder} is not a table's: {what}", remedy="make the table again"
            ) from None
        for file in tables._files:
            path = folder / file.name
            length = path.stat().st_size if path.is_file() else -1
            if length != file.length:
                raise GdlError(
                    f"{path} is {'missing' if length < 0 else f'{length:,} bytes long, not {file.length:,}'}",
                    remedy="make the table again",
                )
        return tables

    def check_rules(self, rules: Rules) -> None:
        """Raises GdlError if the table is for other rules."""
        if rules_digest(rules) != self._rules:
            raise GdlError(
                f"the table in {self.folder} is for other rules ({self._name or 'without a name'})",
                remedy="make one for these by: ggp tabulate GAME DIR",
            )

    def value(self, state: State) -> StateValue | None:
        """The value of a state of any machine of the same rules; None if the table has no such state."""
        return self.value_of(state.propositions)

    def value_of(self, propositions: Iterable[Term]) -> StateValue | None:
        """The value of the state in which exactly these propositions are true; None if the table has no such
        state. Raises GdlError for a damaged file."""
        bits: list[int] = []
        for proposition in propositions:
            bit = self._bits.get(proposition)
            if bit is None:
                return None
            bits.append(bit)
        if self._images is not None:
            bits = self._images.smallest(bits)
        record = np.zeros(self._words, np.uint64)
        for bit in bits:
            record[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
        for number in sorted(range(len(self._files)), key=lambda layer: abs(2 * (layer - self._near) - 1)):
            found = self._find(number, record)
            if found is not None:
                self._near = number
                return found
        return None

    def _find(self, number: int, record: Words) -> StateValue | None:
        """A record's value in one layer, None if it is not there."""
        firsts = self._layer(number).firsts
        block = _bisect(firsts, record, after=True) - 1
        if block < 0:
            return None
        rows, values, distances = self._block(number, block)
        place = _bisect(rows, record, after=False)
        if place == len(rows) or (rows[place] != record).any():
            return None
        outcome = int(values[place])
        return StateValue(outcome, self.outcomes[outcome], known_distance(int(distances[place])))

    def _layer(self, number: int) -> _LayerData:
        """A layer's file and its index."""
        if number not in self._layers:
            file = self._files[number]
            path = self.folder / file.name
            index_bytes = 8 * file.blocks * (self._words + 2)
            if not 0 < index_bytes < file.length:
                raise self._damaged(number, "it has no index")
            with open_regular(path) as opened:
                data = mmap.mmap(opened.fileno(), file.length, access=mmap.ACCESS_READ)
            if hashlib.blake2b(data, digest_size=16).hexdigest() != file.digest:
                raise self._damaged(number, "its digest does not fit")
            index = np.frombuffer(data[-index_bytes:], "<u8")
            firsts = index[: -2 * file.blocks].reshape(-1, self._words)
            ends, counts = index[-2 * file.blocks :].reshape(2, -1)
            edges = np.concatenate([np.zeros(1, np.uint64), ends])
            sizes, wide = counts >> np.uint64(2), counts & np.uint64(3)
            if (
                (edges[1:] <= edges[:-1]).any()
                or int(ends[-1]) + index_bytes != file.length
                or not ((sizes > 0) & (sizes <= BLOCK) & (wide > 0) & (wide < 3)).all()
            ):
                raise self._damaged(number, "its index is invalid")
            self._layers[number] = _LayerData(data, firsts, ends, counts)
        return self._layers[number]

    def _damaged(self, number: int, what: str) -> GdlError:
        path = self.folder / self._files[number].name
        return GdlError(f"{path} is damaged: {what}", remedy="make the table again")

    def _block(self, number: int, block: int) -> _Block:
        """A decoded block."""
        key = number, block
        if key in self._blocks:
            self._blocks.move_to_end(key)
        else:
            layer = self._layer(number)
            packed = layer.data[int(layer.ends[block - 1]) if block else 0 : int(layer.ends[block])]
            count, wide = int(layer.counts[block]) >> 2, int(layer.counts[block]) & 3
            size = count * (8 * self._words + 1 + wide)
            try:
                plain = grown(packed, True, size)
            except DamagedKeysError:
                raise self._damaged(number, f"block {block}") from None
            if len(plain) != size:
                raise self._damaged(number, f"block {block} has another size")
            rows, values, distances = unpack_block(plain, count, self._words, wide)
            if int(values.max()) >= len(self.outcomes):
                raise self._damaged(number, f"block {block} has an unknown outcome")
            self._blocks[key] = rows, values, distances
            if len(self._blocks) > _KEPT:
                self._blocks.popitem(last=False)
        return self._blocks[key]


def _bisect(rows: Words, record: Words, after: bool) -> int:
    """The first row of a set that is not less than a record, or with ``after`` the first that is greater."""
    target = tuple(record[::-1].tolist())
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        row = tuple(rows[middle][::-1].tolist())
        if row < target or (after and row == target):
            low = middle + 1
        else:
            high = middle
    return low


@dataclass(frozen=True, slots=True)
class JointValue:
    """A joint move with the value of the state that it leads to."""

    joint: JointMove
    value: StateValue


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """The value of a state, and of each joint move in it.

    Attributes:
        choosers: the roles that have more than one move.
        moves: the joint moves, none for a terminal state.
    """

    value: StateValue
    choosers: tuple[int, ...]
    moves: tuple[JointValue, ...]


def ask(tables: Tables, state: State) -> TableAnswer:
    """Look up a state of any machine and its successors. Raises StateError if one is not in the table."""
    machine = state.machine
    value = _value_or_raise(tables, state)
    if machine.is_terminal(state):
        return TableAnswer(value, (), ())
    options = machine.options(state)
    moves = [
        JointValue(joint, _value_or_raise(tables, machine.next_state(state, joint)))
        for joint in product(*options)
    ]
    choosers = tuple(role for role, some in enumerate(options) if len(some) > 1)
    return TableAnswer(value, choosers, tuple(moves))


def _value_or_raise(tables: Tables, state: State) -> StateValue:
    value = tables.value(state)
    if value is None:
        raise StateError(
            f"the table in {tables.folder} has no such state",
            remedy="it has those that play can reach; write all that is true, as in (cell a 1 x) (control o)",
        )
    return value


def facts(text: str) -> list[Term]:
    """The propositions of a state written as ``(cell a 1 x) (control o)``; ``(true ...)`` around one is
    dropped. Raises ParseError."""
    terms = parse_terms(text, notation="auto") if text.strip() else []
    return [term.args[0] if term.name == "true" and len(term.args) == 1 else term for term in terms]
