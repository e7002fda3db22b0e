"""How an assembly comes apart, in words and for JSON."""

from __future__ import annotations

from collections.abc import Iterator

from ggp.cover.drawing.packed import Packed
from players.puzzles.cover.disassembly.disassembly import Disassembly


def moves_told(packed: Packed, apart: Disassembly) -> Iterator[str]:
    """Whether it comes apart, at which level, and each move on a line of its own.

    Pieces are named by their letters in the drawing of layers.
    """
    level = ".".join(map(str, apart.level))
    if apart.apart:
        yield f"comes apart, level {level}" if level else "stays together, as it may"
    elif apart.apart is None:
        yield "whether it comes apart is not known: too many arrangements of its pieces"
    else:
        yield f"does not come apart, beyond level {level}" if level else "does not come apart"
    letters = packed.letters()
    number = 0
    for part in apart.separations():
        for step in part.steps:
            number += 1
            names = " ".join(letters[piece] for piece in step.pieces)
            yield f"{number:>3}  {names}: {way_told(step.way)}{', out' if step.out else ''}"


def moves_as_json(apart: Disassembly) -> dict[str, object]:
    """``apart`` (true, false, or null where it is not known), ``level`` (the moves of each separation), and
    ``moves``: the numbers of the pieces, the way, and whether they are out then."""
    return {
        "apart": apart.apart,
        "level": list(apart.level),
        "moves": [
            {"pieces": list(step.pieces), "way": list(step.way), "out": step.out}
            for part in apart.separations()
            for step in part.steps
        ],
    }


def way_told(way: tuple[int, int, int]) -> str:
    """A translation in words.

    >>> way_told((0, -2, 0)), way_told((1, 1, 0))
    ('2 along -y', '1 along +x +y')
    """
    steps = max(map(abs, way))
    axes = [("+" if part > 0 else "-") + axis for part, axis in zip(way, "xyz", strict=True) if part]
    return f"{steps} along {' '.join(axes)}"
