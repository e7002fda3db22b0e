"""A file with a cover problem, of whatever kind."""

from __future__ import annotations

from gdl.errors import Place
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
        line = before.rpartition(b"\n")[2].decode()
        place = Place(before.count(b"\n") + 1, len(line) + 1)
        raise CoverError("this is not UTF-8 text", place, "save the file as UTF-8", source) from None
    return (read_json if text.lstrip().startswith("{") else read_dlx)(text, source)
