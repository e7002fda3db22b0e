"""Draws races such as backgammon: two rows of points with stacks of pieces, a bar in the middle, trays at the
side, dice in the middle.

The first role's home is at the lower right. A drawing is turned by mirroring it, so that the second role's
home comes to the lower right; ``data-turn`` of the numbers keeps them readable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.layers import Square, Thing
from ggp.boards.looks import PieceLook, PieceShape, role_classes
from ggp.boards.race import Held, Race
from ggp.boards.scene import Scene
from ggp.boards.svg.layout import UNIT, BoardLayout, Label, Spot
from ggp.boards.svg.markup import clipped, element, number, points, text_of
from ggp.boards.svg.sprites import draw_piece

_TALL = 4.5 * UNIT
"""Height of a point."""
_MIDDLE, _BAR, _TRAY, _LABEL, _GAP = 1.7 * UNIT, 1.2 * UNIT, 1.2 * UNIT, 18.0, 8.0
_STEP = 0.88 * UNIT
"""Diameter of a piece."""
_MOST_DRAWN = 5
_MOST_SLABS = 15
_HEIGHT = 2 * (_LABEL + _TALL) + _MIDDLE


class RacePicture:
    """The drawing of a race.

    Args:
        turn: the number of the role whose turn it is in a state, given by its propositions off the board.

    Attributes:
        layout: the places of points, bars and trays.
    """

    def __init__(
        self,
        race: Race,
        rules: Rules,
        looks: Mapping[Thing, PieceLook],
        turn: Callable[[list[Term]], int | None],
    ) -> None:
        self._race, self._turn = race, turn
        self._names = list(map(rules.spell, race.roles))
        self._colours = dict(enumerate(role_classes(race.roles)))
        self._colours |= {owner: looks[thing].colour for thing, owner in race.owners.items()}
        self._columns = list(race.board.columns)
        first = (thing for thing, owner in race.owners.items() if owner == race.players[0])
        if sum(race.board.behaviour.drift.get(thing, 0) for thing in first) > 0:
            self._columns.reverse()  # The first role's home has the highest numbers.
        self.layout = self._laid_out(rules)

    def _laid_out(self, rules: Rules) -> BoardLayout:
        half = len(self._columns) // 2
        left = half - half // 2
        width = half * UNIT + _BAR + 2 * _GAP + _TRAY
        spots: dict[Square, Spot] = {}
        labels: list[Label] = []
        for n, x in enumerate(self._columns):
            below = n < half
            column = half - 1 - n if below else n - half
            middle = _GAP + (column + 0.5) * UNIT + (_BAR if column >= left else 0.0)
            name, y = rules.spell(x), self._base(below) + (-1 if below else 1) * _TALL / 2
            square = ((), x, self._race.board.rows[0])
            spots[square] = Spot(self._race.point(x), name, middle, y, dark=n % 2 == 0, wide=UNIT)
            labels.append(Label(middle, _HEIGHT - _LABEL / 2 if below else _LABEL / 2, clipped(name, 4)))
        for place, across, wide in (
            ("bar", _GAP + left * UNIT + _BAR / 2, _BAR),
            ("tray", width - _TRAY / 2, _TRAY),
        ):
            for n, player in enumerate(self._race.players):
                below = (n == 0) == (place == "tray")
                y = self._base(below) + (-1 if below else 1) * _TALL / 2
                key = f"{place},{player}"
                spots[(Term(place),), Term(key), Term("")] = Spot(
                    key, f"{place}, {self._names[player]}", across, y, wide=wide
                )
        return BoardLayout(
            width, _HEIGHT, spots, labels=tuple(labels), turn=f"matrix(1 0 0 -1 0 {number(_HEIGHT)})"
        )

    def _base(self, below: bool) -> float:
        """The edge of the board at which stacks begin."""
        return _HEIGHT - _LABEL if below else _LABEL

    def shows(self, proposition: Term) -> bool:
        """Whether the drawing shows a proposition off the board."""
        return bool(self._race.look(proposition))

    def contents(self, scene: Scene) -> dict[str, str]:
        """What each place holds, in words, by its key; empty ones are left out."""
        held = self._race.held(scene.on, scene.beside)
        words: dict[str, list[str]] = {}
        for (key, owner), n in held.items():
            words.setdefault(key, []).append(f"{n} {self._names[owner]}")
        return {key: " and ".join(parts) for key, parts in words.items()}

    def draw(self, scene: Scene) -> list[str]:
        """The markup of a state."""
        held = self._race.held(scene.on, scene.beside)
        was = held if scene.on_before is None else self._race.held(scene.on_before, scene.off_before or ())
        spots = list(self.layout.spots.values())
        wide, high = self.layout.width - _TRAY - _GAP, _HEIGHT - 2 * _LABEL
        bar, tray = (next(spot for spot in spots if spot.key.startswith(place)) for place in ("bar", "tray"))
        drawn = [
            element("rect", cls="gb-felt", x=0, y=_LABEL, width=wide, height=high, rx=6),
            element("rect", cls="gb-rail", x=bar.x - _BAR / 2 + 4, y=_LABEL, width=_BAR - 8, height=high),
            element("rect", cls="gb-rail", x=tray.x - _TRAY / 2, y=_LABEL, width=_TRAY, height=high, rx=6),
        ]
        drawn += [
            element(
                "text", text_of(label.text), cls="gb-axis", x=label.x, y=label.y, data_turn=_upright(label.y)
            )
            for label in self.layout.labels
        ]
        said = self.contents(scene)
        drawn += [self._place(spot, held, was, said.get(spot.key, "")) for spot in spots]
        return drawn + self._dice(scene)

    def _place(self, spot: Spot, held: Held, was: Held, said: str) -> str:
        """A point, bar or tray with its pieces."""
        half, upper = spot.wide / 2, spot.y < _HEIGHT / 2
        parts = [
            element("title", text_of(f"{spot.name}: {said}" if said else spot.name)),
            element(
                "rect", cls="gb-reach", x=spot.x - half, y=spot.y - _TALL / 2, width=spot.wide, height=_TALL
            ),
        ]
        here = [(owner, n) for (key, owner), n in held.items() if key == spot.key]
        before = [(owner, n) for (key, owner), n in was.items() if key == spot.key]
        base, way = spot.y + (-1 if upper else 1) * _TALL / 2, 1 if upper else -1
        if spot.key.startswith("tray"):
            parts += [part for owner, n in here for part in self._slabs(spot, owner, n, base, way)]
        elif spot.key.startswith("bar"):
            # A piece that was hit lies near the middle.
            parts += self._stack(spot, here, before, base + way * _TALL, -way)
        else:
            corners = [
                (spot.x - half + 1, base),
                (spot.x, base + 0.94 * way * _TALL),
                (spot.x + half - 1, base),
            ]
            cls = "gb-cell gb-dark" if spot.dark else "gb-cell"
            parts.append(element("polygon", cls=cls, points=points(corners)))
            parts += self._stack(spot, here, before, base, way)
        pieces = ",".join(f"{owner}:{n}" for owner, n in here)
        return element("g", *parts, cls="gb-square", data_square=spot.key, data_held=pieces)

    def _stack(
        self, spot: Spot, here: list[tuple[int, int]], before: list[tuple[int, int]], base: float, way: int
    ) -> list[str]:
        """Up to five pieces one behind the other; the last one has the number of more. Where one has gone or
        come, there is a ring."""
        pieces = [owner for owner, n in here for _ in range(min(n, _MOST_DRAWN))][-_MOST_DRAWN:]
        total, old = (sum(n for _, n in places) for places in (here, before))
        drawn: list[str] = []
        for n, owner in enumerate(pieces):
            y = base + way * (n + 0.5) * _STEP
            piece = draw_piece(PieceLook("", PieceShape.DRAUGHT, self._colours[owner], ""), spot.x, y, 1.08)
            count = ""
            if n == _MOST_DRAWN - 1 and total > _MOST_DRAWN:
                count = self._count(total, spot.x, y, owner)
            drawn.append(element("g", piece, count))
        if here != before:
            y = base + way * (min(max(total, old), _MOST_DRAWN) - 0.5) * _STEP
            drawn.append(element("circle", cls="gb-new", cx=spot.x, cy=y, r=_STEP / 2 - 1))
        return drawn

    def _slabs(self, spot: Spot, owner: int, n: int, base: float, way: int) -> list[str]:
        """Pieces on their edges, and their number."""
        step = _TALL / (_MOST_SLABS + 3)
        drawn = [
            element(
                "rect",
                cls="gb-disc",
                x=spot.x - 0.4 * spot.wide,
                y=base + way * (i + 0.5) * step - 0.45 * step,
                width=0.8 * spot.wide,
                height=0.9 * step,
                rx=2,
            )
            for i in range(min(n, _MOST_SLABS))
        ]
        y = base + way * (_TALL - step)
        total = element("text", str(n), cls="gb-axis", x=spot.x, y=y, data_turn=_upright(y))
        return [element("g", *drawn, total, cls=self._colours[owner])]

    def _count(self, n: int, x: float, y: float, owner: int) -> str:
        text = element("text", str(n), cls="gb-sign", x=x, y=y, font_size=16, data_turn=_upright(y))
        return element("g", text, cls=self._colours[owner])

    def _dice(self, scene: Scene) -> list[str]:
        """The dice still to be played, and faded those that were just played, on the side of whom they belong
        to."""
        ahead = self._race.dice(scene.beside)
        past = Counter(self._race.dice(scene.off_before or ())) - Counter(ahead)
        turns = (scene.turn, self._turn(scene.off_before or []))
        owner = next((role for role in turns if role in self._race.players), None)
        if owner is None or not (ahead or past):
            return []
        bar = next(spot.x for spot in self.layout.spots.values() if spot.key.startswith("bar"))
        first = owner == self._race.players[0]
        width = self.layout.width - _TRAY - _GAP
        middle, y = (bar + width) / 2 if first else bar / 2, _HEIGHT / 2 + (0.2 if first else -0.2) * UNIT
        faces = [(value, True) for value in ahead] + [(value, False) for value in past.elements()]
        faces.sort(key=lambda face: -face[0])
        drawn: list[str] = []
        keys: set[str] = set()
        for i, (value, left) in enumerate(faces):
            x, key = middle + (i - (len(faces) - 1) / 2) * UNIT, f"die,{value}"
            face = draw_piece(PieceLook(str(value), PieceShape.DIE, self._colours[owner], ""), x, y, 1.05)
            title = element("title", f"die {value}, {'to be played' if left else 'played'}")
            reach = element("rect", cls="gb-reach", x=x - UNIT / 2, y=y - UNIT / 2, width=UNIT, height=UNIT)
            named = {"cls": "gb-square gb-die", "data_square": key} if left and key not in keys else {}
            keys |= {key} if left else set()
            cls = "gb-die" if left else "gb-die gb-played"
            drawn.append(element("g", title, reach, face, data_turn=_upright(y), **{"cls": cls, **named}))
        return drawn


def _upright(y: float) -> str:
    """The transformation that undoes the mirroring of something at this height."""
    return f"matrix(1 0 0 -1 0 {number(2 * y)})"
