"""A file with a cover problem, of whatever kind."""

from __future__ import annotations

from pathlib import Path

from players.puzzles.cover.files.dlx import read_dlx
from players.puzzles.cover.files.json_form import read_json
from players.puzzles.cover.problem import CoverError, CoverProblem

_MOST_BYTES = 1 << 28


def read_problem(path: Path) -> CoverProblem:
    """The problem in a file: JSON if it begins with ``{``, else DLX text. Raises CoverError."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise CoverError(f"cannot read {path}: {error.strerror}", remedy="name a file") from None
    if len(data) > _MOST_BYTES:
        raise CoverError(f"{path} is too large", remedy=f"files may have {_MOST_BYTES >> 20} MiB")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        raise CoverError(
            f"line {line} is not UTF-8 text", remedy="JSON or DLX text", source=str(path)
        ) from None
    return (read_json if text.lstrip().startswith("{") else read_dlx)(text, str(path))
