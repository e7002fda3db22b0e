"""Draws races such as backgammon: two rows of points with stacks of pieces, a bar, trays, dice.

The first role's home is at the lower right. The drawing is turned by mirroring it, which brings the second
role's home there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.layers import Square, Thing
from ggp.boards.looks import PieceLook, PieceShape, role_classes
from ggp.boards.race import Held, Race
from ggp.boards.scene import Scene
from ggp.boards.svg.layout import UNIT, BoardLayout, Label, Spot
from ggp.boards.svg.markup import box, circle, clipped, element, number, points, title, words
from ggp.boards.svg.sprites import draw_piece
from ggp.boards.svg.whole import WholePicture

_TALL, _STEP = 4.5 * UNIT, 0.88 * UNIT
"""Height of a point, and of a piece in a stack."""
_MIDDLE, _BAR, _LABEL, _GAP = 1.7 * UNIT, 1.2 * UNIT, 18.0, 8.0
_HEIGHT = 2 * (_LABEL + _TALL) + _MIDDLE
_MOST_DRAWN, _MOST_TOLD = 5, 30


class RacePicture(WholePicture):
    """The drawing of a race."""

    squares = None

    def __init__(self, race: Race, rules: Rules, looks: Mapping[Thing, PieceLook]) -> None:
        self._race = race
        self._names = list(map(rules.spell, race.roles))
        self._colours = dict(enumerate(role_classes(race.roles)))
        self._colours |= {owner: looks[thing].colour for thing, owner in race.owners.items()}
        half = len(race.points) // 2
        left = half - half // 2
        self._bar, self._width = left * UNIT + _BAR / 2, half * UNIT + _BAR
        spots: dict[Square, Spot] = {}
        labels: list[Label] = []
        for n, x in enumerate(race.points):
            below, name = n < half, rules.spell(x)
            column = half - 1 - n if below else n - half
            across = (column + 0.5) * UNIT + (_BAR if column >= left else 0.0)
            spots[(), x, race.board.rows[0]] = _spot(race.key(x), name, across, below, n % 2 == 0)
            y = _HEIGHT - _LABEL / 2 if below else _LABEL / 2
            labels.append(Label(across, y, clipped(name, 4), "gb-count", _upright(y)))
        trays = [("tray", self._width + _GAP + _BAR / 2, 0)] if race.has_trays else []
        for n, player in enumerate(race.players):
            for place, across, lower in (("bar", self._bar, 1), *trays):
                spot = _spot(f"{place},{player}", f"{place}, {self._names[player]}", across, n == lower)
                spots[(), Term(spot.key), Term("")] = spot
        width = self._width + (_GAP + _BAR if trays else 0.0)
        turned = f"matrix(1 0 0 -1 0 {number(_HEIGHT)})"
        self.layout = BoardLayout(width, _HEIGHT, spots, labels=tuple(labels), turn=turned)

    def shows(self, proposition: Term) -> bool:
        return bool(self._race.look(proposition))

    def contents(self, scene: Scene) -> dict[str, list[str]]:
        """The names of the pieces on each place; empty places are left out."""
        found: dict[str, list[str]] = {}
        for (key, owner), n in self._race.held(scene.on, scene.beside).items():
            found.setdefault(key, []).extend(self._names[owner : owner + 1] * min(n, _MOST_TOLD))
        return found

    def draw(self, scene: Scene) -> list[str]:
        held = self._race.held(scene.on, scene.beside)
        was = held if scene.on_before is None else self._race.held(scene.on_before, scene.off_before or ())
        high = _HEIGHT - 2 * _LABEL
        drawn = [
            box("gb-felt", self._width / 2, _HEIGHT / 2, self._width, high, 6),
            box("gb-rail", self._bar, _HEIGHT / 2, _BAR - _GAP, high),
            box("gb-rail", self.layout.width - _BAR / 2, _HEIGHT / 2, self._race.has_trays * _BAR, high, 6),
        ]
        drawn += [self._place(spot, held, was) for spot in self.layout.spots.values()]
        return drawn + self._dice(scene)

    def _place(self, spot: Spot, held: Held, was: Held) -> str:
        """A point, bar or tray with up to five pieces, the last of which has the number of all. A ring is
        where one has come or gone."""
        way, wide = (-1 if spot.y > _HEIGHT / 2 else 1), spot.wide
        base = spot.y - way * _TALL / 2
        here, before = (
            [(owner, n) for (key, owner), n in of.items() if key == spot.key] for of in (held, was)
        )
        parts = [title(spot.said([" and ".join(f"{n} {self._names[owner]}" for owner, n in here)]))]
        parts.append(box("gb-reach", spot.x, spot.y, wide, _TALL))
        if spot.key.startswith("bar"):
            base, way = base + way * _TALL, -way  # Pieces that were hit lie near the middle.
        elif wide == UNIT:
            corners = [(spot.x + side * (wide / 2 - 1), base) for side in (-1, 1)]
            corners.append((spot.x, base + 0.94 * way * _TALL))
            cls = "gb-cell gb-dark" if spot.dark else "gb-cell"
            parts.append(element("polygon", cls=cls, points=points(corners)))
        total, old = (sum(n for _, n in places) for places in (here, before))
        pieces = [owner for owner, n in here for _ in range(min(n, _MOST_DRAWN))][-_MOST_DRAWN:]
        for n, owner in enumerate(pieces, 1):
            y = base + way * (n - 0.5) * _STEP
            piece = draw_piece(PieceLook("", PieceShape.DRAUGHT, self._colours[owner], ""), spot.x, y, 1.08)
            if n == _MOST_DRAWN < total:
                piece += words("gb-sign", str(total), spot.x, y, font_size=16, data_turn=_upright(y))
            parts.append(element("g", piece, cls=self._colours[owner]))
        if here != before:
            y = base + way * (min(max(total, old), _MOST_DRAWN) - 0.5) * _STEP
            parts.append(circle("gb-new", spot.x, y, _STEP / 2 - 1))
        amounts = ",".join(f"{owner}:{n}" for owner, n in here)
        return element("g", *parts, cls="gb-square", data_square=spot.key, data_held=amounts)

    def _dice(self, scene: Scene) -> list[str]:
        """The dice still to be played, and faded those just played, on the side of whom they belong to."""
        ahead = self._race.dice(scene.beside)
        past = Counter(self._race.dice(scene.off_before or ())) - Counter(ahead)
        turns = (scene.turn, scene.turn_before)
        owner = next((role for role in turns if role in self._race.players), self._race.players[0])
        first = owner == self._race.players[0]
        middle, y = (self._bar + first * self._width) / 2, _HEIGHT / 2 + (0.2 if first else -0.2) * UNIT
        faces = sorted(
            [*((n, "to be played") for n in ahead), *((n, "played") for n in past.elements())], reverse=True
        )
        drawn: list[str] = []
        for i, (n, when) in enumerate(faces):
            x = middle + (i - (len(faces) - 1) / 2) * UNIT
            inside = [title(f"die {n}, {when}"), box("gb-reach", x, y, UNIT, UNIT)]
            inside.append(draw_piece(PieceLook(str(n), PieceShape.DIE, self._colours[owner], ""), x, y, 1.05))
            # The first of equal dice takes the clicks.
            named = {"data_square": f"die,{n}"} if when != "played" and faces.index((n, when)) == i else {}
            cls = "gb-die gb-played" if when == "played" else "gb-die gb-square"
            drawn.append(element("g", *inside, cls=cls, data_turn=_upright(y), **named))
        return drawn


def _spot(key: str, name: str, x: float, below: bool, dark: bool = False) -> Spot:
    """A place at the lower or upper edge of the board."""
    y = _HEIGHT - _LABEL - _TALL / 2 if below else _LABEL + _TALL / 2
    return Spot(key, name, x, y, dark=dark, wide=UNIT if key.startswith("0") else _BAR)


def _upright(y: float) -> str:
    """The transformation that undoes the mirroring of something at this height."""
    return f"matrix(1 0 0 -1 0 {number(2 * y)})"
