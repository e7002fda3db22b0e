"""What is asked of the frontier search on the command line, and whether it makes sense."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gdl.errors import GdlError

FRONTIER = "frontier"


@dataclass(frozen=True, slots=True)
class FrontierOrder:
    """What is to be searched, and with what.

    Attributes:
        memory: bytes that the process may have resident.
        workers: threads.
        seconds: wall time; None for as long as it takes.
        scratch: a directory for files; None for none.
        disk: bytes of files; None for as many as there is room for.
        resume: whether ``scratch`` holds a search to go on with.
        plot: the file of the picture of the layers; None for none.
        symmetry: whether one state may stand for all that are alike but for names.
        cluster: the address of a fleet over which the states are spread; "" for none.
    """

    memory: int
    workers: int = 1
    seconds: float | None = None
    scratch: Path | None = None
    disk: int | None = None
    resume: bool = False
    plot: Path | None = None
    symmetry: bool = True
    cluster: str = ""


def wants_frontier(
    solver: str | None,
    scratch: Path | None,
    disk: object | None,
    resume: Path | None,
    plot: Path | None,
    symmetry: bool,
    cluster: str,
) -> bool:
    """Whether the frontier search is asked for. Raises GdlError for options that go with it alone."""
    if solver == FRONTIER or (solver is None and resume is not None):
        return True
    others = {
        "--scratch": scratch,
        "--disk": disk,
        "--resume": resume,
        "--plot": plot,
        "--no-symmetry": None if symmetry else True,
        "--cluster": cluster or None,
    }
    for option, given in others.items():
        if given is not None:
            raise GdlError(f"{option} is for the frontier search", remedy="add --solver frontier")
    return False


def check_options(
    others: dict[str, bool], scratch: Path | None, disk: object | None, resume: Path | None
) -> None:
    """Raises GdlError for options that do not go together. ``others``: options of ``ggp solve`` that are not
    for the frontier search, and whether they were given."""
    for option, given in others.items():
        if given:
            raise GdlError(f"{option} does not go with --solver frontier")
    if scratch is not None and resume is not None:
        raise GdlError("--scratch begins a search, --resume goes on with one", remedy="give one of them")
    if disk is not None and scratch is None and resume is None:
        raise GdlError("--disk bounds the files in a directory", remedy="name it with --scratch DIR")
