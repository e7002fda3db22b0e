"""Drawings as SVG, laid out in layers (K. Sugiyama, S. Tagawa and M. Toda, 1981)."""

from __future__ import annotations

from xml.sax.saxutils import escape

from propnet.drawing.graph import AND, BASE, CONSTANT, MOVE, OR, OUTPUT, NetworkDrawing

ROW = 26
"""Pixels from one box to the next one of its layer."""
GAP = 70
"""Pixels between layers."""
SWEEPS = 6
"""How often each layer is sorted by its neighbours' places, to lessen crossings."""
_FILL = {
    CONSTANT: "#ffffff",
    BASE: "#dcebf7",
    MOVE: "#fbe7c6",
    AND: "#ffffff",
    OR: "#e4e4e4",
    OUTPUT: "#d9efd7",
}


def svg(drawing: NetworkDrawing) -> str:
    """The drawing as a stand-alone SVG text, inputs at the left, outputs at the right.

    A dashed line negates; gates of a loop have a red border.
    """
    layers = _layers(drawing)
    _uncross(layers, drawing)
    widths = [14 + round(6.3 * len(box.text)) for box in drawing.boxes]
    left = 10
    x: dict[int, int] = {}
    y: dict[int, float] = {}
    tallest = max(map(len, layers), default=1)
    for layer in layers:
        widest = max((widths[n] for n in layer), default=0)
        step = ROW * max(1.0, tallest / max(1, len(layer)) if len(layer) > 1 else 1.0)
        top = 40 + (tallest * ROW - step * len(layer)) / 2
        for row, n in enumerate(layer):
            x[n] = left + (widest - widths[n]) // 2
            y[n] = top + step * row + step / 2
        left += widest + GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left}" height="{tallest * ROW + 60}" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="10" y="20" font-size="14">{escape(drawing.title)}</text>',
        '<g fill="none" stroke="#666666" stroke-opacity="0.7">',
    ]
    for source, target, negated in drawing.edges:
        a, b = x[source] + widths[source], x[target]
        bend = max(30, (b - a) // 2)
        dash = ' stroke="#b03030" stroke-dasharray="4 3"' if negated else ""
        lines.append(
            f'<path d="M{a} {y[source]:.1f}C{a + bend} {y[source]:.1f} {b - bend} {y[target]:.1f} '
            f'{b} {y[target]:.1f}"{dash}/>'
        )
    lines.append("</g>")
    for number, box in enumerate(drawing.boxes):
        rounding = 10 if box.kind in (AND, OR) else 3
        stroke = "#b03030" if box.in_loop else "#333333"
        lines.append(
            f'<rect x="{x[number]}" y="{y[number] - 9:.1f}" width="{widths[number]}" height="18" '
            f'rx="{rounding}" fill="{_FILL[box.kind]}" stroke="{stroke}"/>'
            f'<text x="{x[number] + widths[number] / 2:.1f}" y="{y[number] + 4:.1f}" '
            f'text-anchor="middle">{escape(box.text)}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _layers(drawing: NetworkDrawing) -> list[list[int]]:
    """Boxes by the longest path to them; outputs all stand in the last layer."""
    depth = [0] * len(drawing.boxes)
    reads: list[list[int]] = [[] for _ in drawing.boxes]
    for source, target, _ in drawing.edges:
        reads[target].append(source)
    # Boxes stand after what they read, but for the arrows that close a loop.
    for number in range(len(drawing.boxes)):
        depth[number] = max((depth[s] + 1 for s in reads[number] if s < number), default=0)
    layers: list[list[int]] = [[] for _ in range(max(depth, default=0) + 1)]
    for number, box in enumerate(drawing.boxes):
        layers[-1 if box.kind == OUTPUT else depth[number]].append(number)
    return [layer for layer in layers if layer]


def _uncross(layers: list[list[int]], drawing: NetworkDrawing) -> None:
    """Sort each layer by the mean place of its neighbours, to and fro."""
    neighbours: list[list[int]] = [[] for _ in drawing.boxes]
    for source, target, _ in drawing.edges:
        neighbours[source].append(target)
        neighbours[target].append(source)
    place: dict[int, float] = {}

    def take_places(layer: list[int]) -> None:
        place.update((n, (i + 0.5) / len(layer)) for i, n in enumerate(layer))

    def mean(n: int) -> float:
        near = neighbours[n]
        return sum(place[m] for m in near) / len(near) if near else place[n]

    for layer in layers:
        take_places(layer)
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 else reversed(layers):
            layer.sort(key=mean)
            take_places(layer)
