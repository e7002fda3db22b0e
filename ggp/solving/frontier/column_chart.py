"""A chart of columns in the terminal, an eighth of a character fine."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

_EIGHTHS = " ▁▂▃▄▅▆▇█"


def column_chart(values: Sequence[int], width: int, height: int) -> list[str]:
    """Lines of text with a column for each value, the first on the left; its height is the value's share of
    the largest. Where ``width`` is too small neighbours share a column: the largest of them is drawn. What
    is above 0 is seen."""
    if not values:
        return []
    columns = min(width, len(values))
    edges = [len(values) * column // columns for column in range(columns + 1)]
    heights = [max(values[low:high]) for low, high in itertools.pairwise(edges)]
    top = max(1, max(heights))
    eighths = [max(min(1, value), round(8 * height * value / top)) for value in heights]
    wide = max(1, min(3, width // columns))
    return [
        "".join(_EIGHTHS[min(8, max(0, part - 8 * row))] * wide for part in eighths).rstrip()
        for row in range(height - 1, -1, -1)
    ]
