"""Tables on disk: the values of all states of a game, compressed, in blocks that can be read alone.

A folder holds ``manifest.json`` and a file for each layer. A layer's file is blocks, one after another, and
an index. A block is up to 32,768 states, compressed by zstd: the bytes of the differences of consecutive
records, all first bytes, then all second bytes and so on; then the outcomes, a byte each; then the distances,
one or two bytes each, in the same manner. The index has for each block its first record, its end in the file,
and four times the number of its states plus the bytes of a distance. The manifest is written last and has the
length of each file, and its BLAKE2 digest.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gdl.errors import GdlError, MissingFileError
from gdl.json_schema import FLAG, TEXT, check_json, matching, or_null, record, rows, whole
from gdl.reading import read_limited
from gdl.rules import Rules
from gdl.writing import NEW, naming, replace_file, sealed, unsealed
from players.sorted_sets.codes import shrunk
from players.strong.outcomes import IMAGES_SCHEMA, MOST, Distances, SolvedGame, ValuedSet
from propnet.jit.arrays import Octets, Words

FORMAT = "ggp-tables"
VERSION = 4
MANIFEST = "manifest.json"
BLOCK = 1 << 15
"""Most states of a block."""
_LEVEL = 3
_MOST_MANIFEST = 1 << 30
"""Most bytes of a manifest."""


@dataclass(frozen=True, slots=True)
class LayerFile:
    """The manifest's entry of a layer's file.

    Attributes:
        name: of the file, in the folder.
        length: bytes.
        digest: BLAKE2b of all bytes, 16 bytes in hexadecimal.
        states: number of states.
        blocks: number of blocks.
    """

    name: str
    length: int
    digest: str
    states: int
    blocks: int


_FILE_SCHEMA = record(
    name=matching(r"layer-[0-9]{5,9}\.table"),
    length=whole(),
    digest=matching("[0-9a-f]{32}"),
    states=whole(),
    blocks=whole(),
)
_GOALS = rows(rows(whole(-1, 100)), most=MOST)
_SCHEMA = record(
    format=TEXT,
    version=whole(),
    rules=matching("[0-9a-f]{64}"),
    name=TEXT,
    roles=rows(TEXT, least=1),
    propositions=rows(TEXT),
    outcomes=_GOALS,
    cyclic=FLAG,
    sizes=rows(whole()),
    start=rows(whole(-1, 100)),
    distance=or_null(whole()),
    files=rows(_FILE_SCHEMA),
    images=or_null(IMAGES_SCHEMA),
)


def rules_digest(rules: Rules) -> str:
    """A digest of rules that does not depend on comments, layout, case or the order of the sentences."""
    return hashlib.sha256("\n".join(sorted(map(str, rules))).encode()).hexdigest()


class TableWriter:
    """Writes the table of a game to a folder, which is created; an existing table is replaced.

    Raises GdlError for a folder with other contents.

    Attributes:
        size: bytes of all files once it is finished, before that 0.
    """

    def __init__(self, folder: Path) -> None:
        self.size = 0
        self._folder = folder
        self._files: list[LayerFile] = []
        self._begun = False
        self._ours()

    def keep(self, number: int, layer: ValuedSet) -> None:
        """Write a layer (:func:`players.strong.layers.solve_game`)."""
        self._files.append(_write_layer(layer, self._path_of(number)))

    def _path_of(self, number: int) -> Path:
        """The path of a layer's file; before the first one, an existing table is removed."""
        if not self._begun:
            for path in self._ours():
                path.unlink()
            self._folder.mkdir(parents=True, exist_ok=True)
            self._begun = True
        return self._folder / f"layer-{number:05}.table"

    def finish(self, solved: SolvedGame) -> int:
        """Write the manifest, which completes the table. Returns the bytes of all files."""
        machine = solved.machine
        body = {
            "format": FORMAT,
            "version": VERSION,
            "rules": rules_digest(machine.rules),
            "name": machine.rules.name,
            "roles": [str(role) for role in machine.roles],
            "propositions": [str(machine.proposition(i)) for i in range(len(machine.network.bases))],
            "outcomes": solved.outcomes.vectors,
            "cyclic": solved.cyclic,
            "sizes": solved.sizes,
            "start": solved.start,
            "distance": solved.distance,
            "files": self._files[::-1],
            "images": None if solved.images is None else solved.images.as_json(),
        }
        text = sealed(body)
        replace_file(self._folder / MANIFEST, text)
        self.size = len(text) + sum(file.length for file in self._files)
        return self.size

    def _ours(self) -> list[Path]:
        """The files of an existing table, the manifest first: without it the others do not count."""
        folder = self._folder
        if not folder.exists():
            return []
        ours = [*folder.glob(MANIFEST), *folder.glob("layer-*.table"), *folder.glob(NEW + "*")]
        if not folder.is_dir() or len(ours) < len(list(folder.iterdir())):
            raise GdlError(f"{folder} holds something else than a table", remedy="name a new folder")
        return ours


def _write_layer(layer: ValuedSet, path: Path) -> LayerFile:
    """Write the file of a layer: blocks, then the index (first records, ends and counts). Returns the
    manifest's entry."""
    hashed = hashlib.blake2b(digest_size=16)
    firsts: list[Words] = []
    rest: list[tuple[int, int]] = []
    length = 0
    with naming(path), path.open("wb") as file:

        def write(data: bytes) -> None:
            nonlocal length
            hashed.update(data)
            file.write(data)
            length += len(data)

        for first in range(0, len(layer.rows), BLOCK):
            part = slice(first, first + BLOCK)
            rows, distances = layer.rows[part], layer.distances[part]
            finite = distances[distances < np.iinfo(np.uint16).max]
            # 255 in one byte, 65535 in two stand for play that need not end.
            wide = 1 if not len(finite) or finite.max() < 255 else 2
            write(shrunk(memoryview(pack_block(rows, layer.values[part], distances, wide)), _LEVEL))
            firsts.append(rows[0])
            rest.append((length, len(rows) << 2 | wide))
        write(np.array(firsts, "<u8").tobytes())
        write(np.ascontiguousarray(np.array(rest, "<u8").T).tobytes())
    return LayerFile(path.name, length, hashed.hexdigest(), len(layer.rows), len(rest))


def pack_block(rows: Words, values: Octets, distances: Distances, wide: int) -> bytes:
    """The bytes of a block before compression: records (n, words), values (n,), distances (n,)."""
    steps = rows.copy()
    steps[1:] -= rows[:-1]
    narrow = np.minimum(distances, 255).astype(np.uint8) if wide == 1 else distances
    return b"".join(_planes(array) for array in (steps, values, narrow))


def unpack_block(block: bytes, n: int, words: int, wide: int) -> tuple[Words, Octets, Distances]:
    """The reverse of :func:`pack_block`."""
    planes = np.frombuffer(block, np.uint8).reshape(-1, n)
    steps = np.ascontiguousarray(planes[: 8 * words].T).view("<u8").astype(np.uint64)
    rows = np.cumsum(steps, axis=0, dtype=np.uint64)
    values = planes[8 * words].copy()
    if wide == 1:
        distances = planes[8 * words + 1].astype(np.uint16)
        distances[distances == 255] = np.iinfo(np.uint16).max
    else:
        distances = np.ascontiguousarray(planes[8 * words + 1 :].T).view("<u2").astype(np.uint16)[:, 0]
    return rows, values, distances


def _planes(array: np.ndarray) -> bytes:
    """All first bytes of little-endian numbers, then all second bytes and so on."""
    small = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).view(np.uint8)
    return np.ascontiguousarray(small.reshape(len(array), -1).T).tobytes()


def read_manifest(folder: Path) -> dict[str, Any]:
    """The body of a table's manifest. Raises GdlError if it is missing or invalid."""
    path = folder / MANIFEST
    remedy = "make one by: ggp tabulate GAME DIR"
    try:
        _, body = unsealed(read_limited(path, _MOST_MANIFEST, remedy))
    except MissingFileError:
        raise GdlError(f"there is no table in {folder}", remedy=remedy) from None
    except ValueError as error:
        raise GdlError(f"{path} is not a table's manifest: {error}", remedy=remedy) from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise GdlError(f"{path} is not a table's manifest", remedy=remedy)
    if body.get("version") != VERSION:
        raise GdlError(
            f"{path} has version {body.get('version')} of the format, not {VERSION}", remedy=remedy
        )
    try:
        check_json(body, _SCHEMA, "body")
    except GdlError as error:
        raise GdlError(f"{path} is not a table's manifest: {error.message}", remedy=remedy) from None
    return body
