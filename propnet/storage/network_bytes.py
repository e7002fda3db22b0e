"""A network as bytes and back, for other processes and for caches: checked, and without pickles.

The bytes are a file of arrays as NumPy writes them: those of the network, ``head`` (JSON with the names of
all symbols and the other fields), and ``words``. These hold, term after term, the place of its name, the
number of its arguments, and their places among the terms before it.

On disk, a game that was played before needs no grounding and no building. A file is named by a hash of the
rules and of the code that builds: no other game, and no other version of a pass, finds it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import propnet
from gdl.errors import GdlError
from gdl.rules import Rules
from gdl.terms import Term
from propnet.network import Network
from propnet.private_files import default_directory
from propnet.storage.file_store import FileStore


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Arrays and their names as bytes."""
    body = io.BytesIO()
    np.savez(body, **arrays)  # type: ignore[arg-type]
    return body.getvalue()


def unpack(data: bytes) -> dict[str, NDArray[Any]]:
    """The arrays that :func:`pack` wrote. Raises ValueError for damaged bytes."""
    try:
        return dict(np.load(io.BytesIO(data), allow_pickle=False))
    except Exception as error:  # zipfile and NumPy raise many kinds
        raise ValueError(f"the bytes are damaged: {error}") from None


def to_bytes(network: Network) -> bytes:
    """The network as bytes that :func:`from_bytes` reads in any process on any machine."""
    terms = _Terms()
    fields: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for field in dataclasses.fields(network):
        value = getattr(network, field.name)
        if isinstance(value, np.ndarray):
            arrays[field.name] = value
        elif isinstance(value, tuple):
            fields[field.name] = {"terms": terms.places(value)}
        else:
            fields[field.name] = {"value": value}
    head = json.dumps({"names": list(terms.names), "fields": fields}).encode()
    return pack({**arrays, "head": np.frombuffer(head, np.uint8), "words": np.array(terms.words, np.int32)})


def from_bytes(data: bytes) -> Network:
    """The network that :func:`to_bytes` wrote. Raises GdlError if the bytes are not a network, or if its
    parts do not fit together."""
    try:
        network = _read(data)
        fault = _fault(network)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise GdlError(f"these bytes are not a network: {error}") from None
    if fault:
        raise GdlError(f"this network does not fit together: {fault}")
    return network


class _Terms:
    """Numbers terms, arguments before the terms that hold them."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.words: list[int] = []
        self._places: dict[Term, int] = {}

    def place(self, term: Term) -> int:
        """The number of a term."""
        place = self._places.get(term)
        if place is None:
            places = [self.place(arg) for arg in term.args]
            name = self.names.setdefault(term.name, len(self.names))
            self.words += [name, len(places), *places]
            place = self._places[term] = len(self._places)
        return place

    def places(self, terms: tuple[Any, ...]) -> list[Any]:
        """The numbers of terms in tuples of any depth."""
        return [self.places(x) if isinstance(x, tuple) else self.place(x) for x in terms]


def _nested(terms: list[Term], places: list[Any]) -> tuple[Any, ...]:
    """The terms with these numbers, in tuples as the numbers are in lists."""
    return tuple(_nested(terms, x) if isinstance(x, list) else terms[x] for x in places)


def _read(data: bytes) -> Network:
    arrays: dict[str, Any] = unpack(data)
    head = json.loads(arrays.pop("head").tobytes())
    terms = _terms(head["names"], arrays.pop("words").tolist())
    for name, field in head["fields"].items():
        arrays[name] = _nested(terms, field["terms"]) if "terms" in field else field["value"]
    return Network(**arrays)


def _terms(names: list[str], words: list[int]) -> list[Term]:
    terms: list[Term] = []
    at = 0
    while at < len(words):
        name, count = words[at : at + 2]
        places = words[at + 2 : at + 2 + count]
        if name < 0 or count < 0 or len(places) != count or min(places, default=0) < 0:
            raise ValueError(f"no term at {at}")
        terms.append(Term(names[name], *(terms[place] for place in places)))
        at += 2 + count
    return terms


def _fault(network: Network) -> str:
    """The fields that would lead readers of the network out of its arrays; empty if there are none."""
    gates, nodes = network.gates, network.nodes
    start, inputs, loops = network.gate_start, network.gate_inputs, network.loops
    moves = sum(map(len, network.moves))
    percepts = network.percept_literals
    outputs = [network.next_literals, network.legal_literals, network.goals[:, 2], percepts]
    literals = np.concatenate([inputs, *outputs, [network.terminal_literal]])
    checks = {
        "roles": len(network.moves) == len(network.roles) > 0,
        "bases": len(network.next_literals) == len(network.initial) == len(network.bases),
        "moves": len(network.legal_literals) == moves,
        "percepts": len(percepts) == sum(map(len, network.percepts))
        and len(network.percepts) in (0, len(network.roles)),
        "gates": gates >= 0
        and start[0] == 0
        and bool((np.diff(start) >= 0).all())
        and start[-1] == len(inputs)
        and len(network.loop_init) == gates
        and 0 <= network.base_gates <= gates,
        "literals": bool(((literals >= 0) & (literals < 2 * nodes)).all()),
        "loops": bool(((loops >= 0) & (loops <= gates)).all()) and loops.shape[1] == 2,
        "goals": bool(((network.goals[:, 0] >= 0) & (network.goals[:, 0] < len(network.roles))).all()),
    }
    return ", ".join(name for name, good in checks.items() if not good)


MAX_BYTES = 256 * 1024 * 1024
"""The largest size of all files together, in bytes."""
_CODE = "gdl", "propnet"
"""The packages that take part in building."""


def load(rules: Rules, kind: str = "") -> bytes | None:
    """The stored bytes of the network of these rules, or None. ``kind`` distinguishes networks that are built
    in other ways."""
    return files.get(_name(rules, kind)) if (files := _files()) is not None else None


def keep(rules: Rules, network: bytes, kind: str = "") -> bool:
    """Store the bytes of a network; return whether that was possible."""
    files = _files()
    return files is not None and files.put(_name(rules, kind), network)


def _files() -> FileStore | None:
    try:
        return FileStore(default_directory() / "networks", MAX_BYTES)
    except RuntimeError:  # the user has no home
        return None


def _name(rules: Rules, kind: str) -> str:
    return hashlib.sha256(_code_version() + kind.encode() + str(rules).encode()).hexdigest()


@cache
def _code_version() -> bytes:
    return code_version(Path(propnet.__path__[0]).parent)


def code_version(root: Path) -> bytes:
    """Bytes that change with the modules that take part in building, in the packages below a folder."""
    modules: list[str] = []
    for folder in _CODE:
        for path in sorted((root / folder).rglob("*.py")):
            status = path.stat()
            modules.append(f"{path.relative_to(root)} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(modules).encode() + b"\n\n"
