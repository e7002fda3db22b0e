"""The network, or the cone of some of its outputs, as an SVG drawing in layers (K. Sugiyama, S. Tagawa and
M. Toda, 1981).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from gdl.errors import GdlError
from gdl.terms import DOES, GOAL, LEGAL, NEXT, TERMINAL, TRUE, Term
from propnet.network import Network

LARGEST = 600
"""The most gates that are drawn by default."""

CONSTANT, BASE, MOVE, AND, OR, OUTPUT = "constant", "base", "move", "and", "or", "output"


@dataclass(frozen=True)
class Box:
    """A node of the drawing: its kind (one of the constants above), its text, whether it is in a loop."""

    kind: str
    text: str
    in_loop: bool = False


@dataclass(frozen=True)
class _NetworkDrawing:
    """Boxes, each after those that it reads (except in loops), and edges (from, to, negated), from the box
    that is read to its reader."""

    boxes: list[Box]
    edges: list[tuple[int, int, bool]]
    title: str


def output_names(network: Network) -> dict[Term, int]:
    """Every output of a network, ``(next ...)``, ``(legal role move)``, ``(goal role value)``
    and ``terminal``, with its literal."""
    names = {Term(NEXT, base): int(x) for base, x in zip(network.bases, network.next_literals, strict=True)}
    moves = (Term(LEGAL, r, m) for r, own in zip(network.roles, network.moves, strict=True) for m in own)
    names |= {name: int(x) for name, x in zip(moves, network.legal_literals, strict=True)}
    for role, value, x in network.goals.tolist():
        names[Term(GOAL, network.roles[role], Term(str(value)))] = x
    names[Term(TERMINAL)] = network.terminal_literal
    return names


def draw(
    network: Network,
    of: Iterable[Term] = (),
    spell: Callable[[Term], str] = str,
    title: str = "network",
) -> _NetworkDrawing:
    """Draw the cone of some outputs, such as ``(next (cell 1 1 x))``, by default of all of them.

    Raises GdlError if there is no such output, or if there are more than :data:`LARGEST` gates to draw."""
    names = output_names(network)
    outputs = list(of) or list(names)
    for name in outputs:
        if name not in names:
            raise GdlError(
                f"the network has no output {spell(name)}",
                remedy="outputs are (next P), (legal ROLE MOVE), (goal ROLE VALUE) and terminal",
            )
    start, inputs = network.gate_start.tolist(), network.gate_inputs.tolist()
    first = network.first_gate

    def reads(node: int) -> list[int]:
        gate = node - first
        return inputs[start[gate] : start[gate + 1]] if gate >= 0 else []

    order = _cone([names[name] >> 1 for name in outputs], reads)
    gates = sum(node >= first for node in order)
    if gates > LARGEST:
        raise GdlError(
            f"there are {gates:,} gates to draw, more than anyone can read ({LARGEST})",
            remedy="draw the cone of one output: (legal ROLE MOVE)",
        )
    place = {node: i for i, node in enumerate(order)}
    looped = {g + first for low, high in network.loops.tolist() for g in range(low, high)}
    boxes: list[Box] = []
    edges: list[tuple[int, int, bool]] = []
    # An AND of mostly negated inputs reads better as the negated OR that it equals.
    flipped = {node for node in order if 2 * sum(x & 1 for x in reads(node)) > len(reads(node))}
    for node in order:
        if node < first:
            boxes.append(_input(network, node, spell))
            continue
        is_or = node in flipped
        boxes.append(Box(OR if is_or else AND, "or" if is_or else "and", node in looped))
        for x in reads(node):
            edges.append((place[x >> 1], place[node], bool(x & 1) ^ is_or ^ (x >> 1 in flipped)))
    for name in outputs:
        x = names[name]
        edges.append((place[x >> 1], len(boxes), bool(x & 1) ^ (x >> 1 in flipped)))
        boxes.append(Box(OUTPUT, spell(name)))
    return _NetworkDrawing(boxes, edges, title)


def _cone(roots: list[int], reads: Callable[[int], list[int]]) -> list[int]:
    """The nodes that some nodes depend on, including themselves, ascending."""
    cone: set[int] = set()
    while roots:
        node = roots.pop()
        if node not in cone:
            cone.add(node)
            roots.extend(x >> 1 for x in reads(node))
    return sorted(cone)


def _input(network: Network, node: int, spell: Callable[[Term], str]) -> Box:
    """The box of the constant, a base proposition or a move."""
    if node == 0:
        return Box(CONSTANT, "true")
    if node <= len(network.bases):
        return Box(BASE, spell(Term(TRUE, network.bases[node - 1])))
    number = node - 1 - len(network.bases)
    for role, moves in zip(network.roles, network.moves, strict=True):
        if number < len(moves):
            return Box(MOVE, spell(Term(DOES, role, moves[number])))
        number -= len(moves)
    raise IndexError(node)


ROW = 26
"""Pixels from one box to the next one of its layer."""
_GAP = 70
"""Pixels between layers."""
_SWEEPS = 6
"""The number of times that each layer is sorted by its neighbours' places, to reduce crossings."""
_FILL = {
    CONSTANT: "#ffffff",
    BASE: "#dcebf7",
    MOVE: "#fbe7c6",
    AND: "#ffffff",
    OR: "#e4e4e4",
    OUTPUT: "#d9efd7",
}


def svg(drawing: _NetworkDrawing) -> str:
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
        left += widest + _GAP
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


def _layers(drawing: _NetworkDrawing) -> list[list[int]]:
    """Boxes by the longest path to them; all outputs are in the last layer."""
    depth = [0] * len(drawing.boxes)
    reads: list[list[int]] = [[] for _ in drawing.boxes]
    for source, target, _ in drawing.edges:
        reads[target].append(source)
    # Each box follows those that it reads, except for the arrows that close a loop.
    for number in range(len(drawing.boxes)):
        depth[number] = max((depth[s] + 1 for s in reads[number] if s < number), default=0)
    layers: list[list[int]] = [[] for _ in range(max(depth, default=0) + 1)]
    for number, box in enumerate(drawing.boxes):
        layers[-1 if box.kind == OUTPUT else depth[number]].append(number)
    return [layer for layer in layers if layer]


def _uncross(layers: list[list[int]], drawing: _NetworkDrawing) -> None:
    """Sort each layer by the mean place of its neighbours, backwards and forwards in turn."""
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
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 else reversed(layers):
            layer.sort(key=mean)
            take_places(layer)
