"""`SaveFile`: a search on disk.

Solutions are appended to a file beside it, so that saving costs the same however many there are. The state
itself is replaced at once or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from gdl.reading import open_regular, read_limited
from gdl.writing import make_lasting, replace_file, sealed, unsealed
from players.puzzles.cover.outcome import is_solution
from players.puzzles.cover.problem import CoverError

_MOST_BYTES = 1 << 30
_MOST_OF_LINE = 1 << 24
"""Bytes of the state, and of a solution."""


class SaveFile:
    """A search in a file, its delivered solutions in ``FILE.solutions``, one JSON list a line.

    `lines` is the number of solutions in it. Raises CoverError from all methods where a file cannot be read
    or written, or has something else in it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.solutions_path = path.with_name(path.name + ".solutions")
        self.lines = self._bytes = 0

    def exists(self) -> bool:
        """Whether a search was saved there."""
        return os.path.exists(self.path)

    def load(self) -> dict[str, Any]:
        """The state that was saved last. Solutions that were appended after that are cut off: they will be
        found again."""
        data = read_limited(self.path, _MOST_BYTES, "--resume names a file to save in")
        try:
            _, whole = unsealed(data, bare="search")
        except ValueError as error:
            raise self._no_search(f"it is not what was written ({error})") from None
        if not isinstance(whole, dict) or not isinstance(whole.get("search"), dict):
            raise self._no_search("there is no search in it")
        told = whole.get("told")
        if not isinstance(told, dict):
            raise self._no_search("told is missing")
        lines, size = told.get("solutions"), told.get("bytes")
        if type(lines) is not int or type(size) is not int or not 0 <= lines <= size < 2**62:
            raise self._no_search("told is damaged")
        if self.solutions_path.is_symlink():
            raise self._no_search(f"{self.solutions_path.name} is a link, and would be cut off")
        try:
            there = self.solutions_path.stat().st_size if os.path.exists(self.solutions_path) else 0
            if there < size:
                raise self._no_search(f"{self.solutions_path.name} is too short")
            if there > size:
                os.truncate(self.solutions_path, size)
        except OSError as error:
            raise self._told(error) from None
        self.lines, self._bytes = lines, size
        search: dict[str, Any] = whole["search"]
        return search

    def begin(self) -> None:
        """Nothing was saved yet: what lies beside it is of no use."""
        try:
            self.solutions_path.unlink(missing_ok=True)
        except OSError as error:
            raise self._told(error) from None

    def append(self, solutions: Iterable[NDArray[np.int32]]) -> None:
        """Keep solutions; they count from the next :meth:`save` on."""
        lines = [orjson.dumps(solution.tolist()) + b"\n" for solution in solutions]
        if not lines:
            return
        data = b"".join(lines)
        try:
            with self.solutions_path.open("ab") as file:
                file.write(data)
        except OSError as error:
            raise self._told(error) from None
        self.lines += len(lines)
        self._bytes += len(data)

    def save(self, search: dict[str, Any]) -> None:
        """Keep the state of the search, and all solutions so far."""
        whole = {"search": search, "told": {"solutions": self.lines, "bytes": self._bytes}}
        try:
            if self.lines:
                make_lasting(self.solutions_path)
            replace_file(self.path, sealed(whole))
        except OSError as error:
            raise self._told(error) from None

    def solutions(self, options: int) -> Iterator[list[int]]:
        """All solutions so far, of a problem with so many options."""
        if not self.lines:
            return
        with open_regular(self.solutions_path) as file:
            try:
                while line := file.readline(_MOST_OF_LINE):
                    row = orjson.loads(line)
                    if not is_solution(row, options):
                        raise self._no_search(f"{self.solutions_path.name} has what is no solution")
                    yield row
            except OSError as error:
                raise self._told(error) from None
            except orjson.JSONDecodeError as error:
                raise self._no_search(f"{self.solutions_path.name}: {error.msg}") from None

    def _no_search(self, what: str) -> CoverError:
        return CoverError(
            f"{self.path} has no saved search: {what}", remedy="name another file, or delete this one"
        )

    def _told(self, error: OSError) -> CoverError:
        return CoverError(
            f"{error.filename or self.path}: {error.strerror}", remedy="--resume names a file to save in"
        )
