"""The limits of searches of all states; the progress and the result of a frontier search."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """The resources of a search of all states.

    Attributes:
        memory: bytes that the process may have resident.
        scratch: a folder for data that do not fit into memory; None for none. A search that began there is
            resumed.
        disk: the most bytes of files in it; None for as many as fit.
        workers: threads.
        symmetry: whether one state of each orbit may stand for all.
    """

    memory: int
    scratch: Path | None = None
    disk: int | None = None
    workers: int = 1
    symmetry: bool = True


@dataclass(frozen=True, slots=True)
class FrontierProgress:
    """The progress of a search.

    Attributes:
        layer: the depth of the layer being expanded.
        layer_states: the number of its states.
        done: the number of them already expanded.
        states: the number of states of all layers.
        visited_bytes: size of the coded visited set.
        memory: resident bytes of the process.
        disk: bytes in files.
        seconds: wall time since the start.
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
    """The result of a search.

    Attributes:
        value: the best goal value found, -1 if no end was found.
        moves: a line to it, move ids.
        proven: whether it is proven that no line has a higher value.
        lines: goal value -> a line to it.
        layers: the number of states at each depth.
        states: their sum.
        key_bits: the number of bits of a key.
        symmetries: the number of automorphisms, including the identity; states of one orbit count as one.
        bytes_per_state: size of the coded visited set divided by the number of states.
        peak_rss: highest resident size of the process, in bytes.
        complete: whether all states are visited.
        shortest: whether no line to any of the goal values is shorter.
        seconds_by_stage: CPU seconds of all threads by stage.
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
    complete: bool
    shortest: bool
    seconds_by_stage: dict[str, float] = field(default_factory=dict)
