"""Decides which options of ``ggp solve`` ask for the frontier search, without loading it."""

from __future__ import annotations

from pathlib import Path

from gdl.errors import GdlError

FRONTIER = "frontier"
"""The name of the solver."""


def wants_frontier(
    solver: str | None,
    scratch: Path | None,
    disk: object | None,
    resume: Path | None,
    plot: Path | None,
    symmetry: bool,
) -> bool:
    """Whether the frontier search is asked for. Raises GdlError for options that only work with it."""
    if solver == FRONTIER or (solver is None and resume is not None):
        return True
    others = {
        "--scratch": scratch,
        "--disk": disk,
        "--resume": resume,
        "--plot": plot,
        "--no-symmetry": None if symmetry else True,
    }
    for option, given in others.items():
        if given is not None:
            raise GdlError(f"{option} is for the frontier search", remedy="add --solver frontier")
    return False


def check_options(
    others: dict[str, bool], scratch: Path | None, disk: object | None, resume: Path | None
) -> None:
    """Raises GdlError for options that do not go together. ``others``: options of ``ggp solve`` that do not
    apply to the frontier search, and whether they were given."""
    for option, given in others.items():
        if given:
            raise GdlError(f"{option} does not go with --solver frontier")
    if scratch is not None and resume is not None:
        raise GdlError("--scratch begins a search, --resume goes on with one", remedy="give one of them")
    if disk is not None and scratch is None and resume is None:
        raise GdlError("--disk bounds the files in a directory", remedy="name it with --scratch DIR")
