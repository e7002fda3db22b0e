"""Drawings as SVG, laid out in layers (K. Sugiyama, S. Tagawa and M. Toda, 1981)."""

from __future__ import annotations

from xml.sax.saxutils import escape

from propnet.drawing.graph import AND, BASE, CONSTANT, MOVE, OR, OUTPUT, Drawing

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


def svg(picture: Drawing) -> str:
    """The drawing as a stand-alone SVG text, inputs at the left, outputs at the right.

    A dashed line negates; gates of a loop have a red border.
    """
    layers = _layers(picture)
    _uncross(layers, picture)
    widths = [_width(picture.nodes[n].text) for n in range(len(picture.nodes))]
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
        f'<text x="10" y="20" font-size="14">{escape(picture.title)}</text>',
        '<g fill="none" stroke="#666666" stroke-opacity="0.7">',
    ]
    for source, target, negated in picture.edges:
        a, b = x[source] + widths[source], x[target]
        bend = max(30, (b - a) // 2)
        dash = ' stroke="#b03030" stroke-dasharray="4 3"' if negated else ""
        lines.append(
            f'<path d="M{a} {y[source]:.1f}C{a + bend} {y[source]:.1f} {b - bend} {y[target]:.1f} '
            f'{b} {y[target]:.1f}"{dash}/>'
        )
    lines.append("</g>")
    for number, node in enumerate(picture.nodes):
        round_ = 10 if node.kind in (AND, OR) else 3
        stroke = "#b03030" if node.in_loop else "#333333"
        lines.append(
            f'<rect x="{x[number]}" y="{y[number] - 9:.1f}" width="{widths[number]}" height="18" '
            f'rx="{round_}" fill="{_FILL[node.kind]}" stroke="{stroke}"/>'
            f'<text x="{x[number] + widths[number] / 2:.1f}" y="{y[number] + 4:.1f}" '
            f'text-anchor="middle">{escape(node.text)}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def _width(text: str) -> int:
    """Pixels of a box for a text."""
    return 14 + round(6.3 * len(text))


def _layers(picture: Drawing) -> list[list[int]]:
    """Boxes by the longest path to them; outputs all stand in the last layer."""
    depth = [0] * len(picture.nodes)
    reads: list[list[int]] = [[] for _ in picture.nodes]
    for source, target, _ in picture.edges:
        reads[target].append(source)
    # Nodes stand after what they read, but for the arrows that close a loop.
    for number in range(len(picture.nodes)):
        depth[number] = max((depth[s] + 1 for s in reads[number] if s < number), default=0)
    last = max(depth, default=0)
    layers: list[list[int]] = [[] for _ in range(last + 1)]
    for number, node in enumerate(picture.nodes):
        layers[last if node.kind == OUTPUT else depth[number]].append(number)
    return [layer for layer in layers if layer]


def _uncross(layers: list[list[int]], picture: Drawing) -> None:
    """Sort each layer by the mean place of its neighbours, to and fro."""
    neighbours: list[list[int]] = [[] for _ in picture.nodes]
    for source, target, _ in picture.edges:
        neighbours[source].append(target)
        neighbours[target].append(source)
    place: dict[int, float] = {}
    for layer in layers:
        place |= {n: (i + 0.5) / len(layer) for i, n in enumerate(layer)}

    def mean(n: int) -> float:
        near = neighbours[n]
        return sum(place[m] for m in near) / len(near) if near else place[n]

    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 else reversed(layers):
            layer.sort(key=mean)
            place |= {n: (i + 0.5) / len(layer) for i, n in enumerate(layer)}
