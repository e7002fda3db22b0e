"""A file with a cover problem, of whatever kind."""

from __future__ import annotations

from players.puzzles.cover.files.dlx import read_dlx
from players.puzzles.cover.files.json_form import read_json
from players.puzzles.cover.problem import CoverError, CoverProblem


def problem_of(data: bytes, source: str) -> CoverProblem:
    """The problem in the bytes of a file: JSON if they begin with ``{``, else DLX text. Raises CoverError, in
    which ``source`` is the place."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        raise CoverError(f"line {line} is not UTF-8 text", remedy="JSON or DLX text", source=source) from None
    return (read_json if text.lstrip().startswith("{") else read_dlx)(text, source)
