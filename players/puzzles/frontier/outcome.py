"""What is asked of a frontier search, how it goes on, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FrontierOptions:
    """What a search may use.

    Attributes:
        memory: bytes that the process may have resident.
        scratch: a folder for what does not fit; None for none.
        disk: bytes of files in it; None for as many as there is room for.
        workers: threads.
        resume: whether to go on with the search in ``scratch``.
        symmetry: whether one state of each orbit may stand for all.
        game: the game's name, for those who find its checkpoint.
    """

    memory: int
    scratch: Path | None = None
    disk: int | None = None
    workers: int = 1
    resume: bool = False
    symmetry: bool = True
    game: str = ""


@dataclass(frozen=True, slots=True)
class FrontierProgress:
    """How far a search is.

    Attributes:
        layer: the depth of the layer that is expanded.
        layer_states: its states.
        done: how many of them are expanded.
        states: states of all layers.
        visited_bytes: size of the coded visited set.
        memory: resident bytes of the process.
        disk: bytes in files.
        seconds: wall time since the beginning.
    """

    layer: int
    layer_states: int
    done: int
    states: int
    visited_bytes: int
    memory: int
    disk: int
    seconds: float


@dataclass(frozen=True, slots=True)
class FrontierResult:
    """What came of a search.

    Attributes:
        value: the best goal value found, -1 if no end was found.
        moves: a line to it, move ids.
        proven: whether no line has a higher value.
        lines: goal value -> a line to it.
        layers: how many states each depth has.
        states: their sum.
        key_bits: bits that tell states apart.
        symmetries: how many automorphisms there are, the identity included; states of one orbit are one.
        bytes_per_state: size of the coded visited set over the states.
        peak_rss: highest resident size of the process so far, bytes.
        seconds_cpu, seconds_wall: of the search.
        complete: whether all states were visited.
        shortest: whether no line to any of the goal values is shorter.
        seconds_by_stage: CPU seconds of all threads by what they went to.
    """

    value: int
    moves: list[int]
    proven: bool
    lines: dict[int, list[int]]
    layers: list[int]
    states: int
    key_bits: int
    symmetries: int
    bytes_per_state: float
    peak_rss: int
    seconds_cpu: float
    seconds_wall: float
    complete: bool
    shortest: bool
    seconds_by_stage: dict[str, float] = field(default_factory=dict)
