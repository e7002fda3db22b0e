"""What solving a whole game may use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class StrongOptions:
    """What solving a whole game may use.

    Attributes:
        memory: bytes that the process may have resident.
        workers: threads.
        scratch: a folder for what does not fit; None for none.
        disk: bytes of files in it; None for as many as there is room for.
        resume: whether to go on with what is in ``scratch``.
        symmetry: whether one state of each orbit may stand for all.
    """

    memory: int
    workers: int = 1
    scratch: Path | None = None
    disk: int | None = None
    resume: bool = False
    symmetry: bool = True
