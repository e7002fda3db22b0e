"""Clicks: finds from the rules alone which squares a move names, so that a move is one click, two, or more.

Arguments of moves belong to a board's columns, rows or panels if rules lead from one to the other (nearness)
and their values are coordinates. A list offers the rest of a move (a promotion, a bid).

Names play no part in nearness: rules that share a variable lead from one argument to another. The place of
``?x`` in ``(does ?r (drop ?x))`` is one step from its place in ``(next (cell ?x ?y ?r))``. Relations defined
by facts alone connect nothing: columns and rows often share a successor.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gdl.rules import Rule, Rules, Signature, literals
from gdl.terms import BASE, DOES, INIT, INPUT, LEGAL, NEXT, TRUE, Term
from ggp.boards.board import Grid
from ggp.boards.layers import Layer, Square, split_name
from ggp.boards.looks import signs_of
from ggp.boards.race import Race

_ArgumentPlace = tuple[str, str, int, int]
"""The kind of an atom (``true``, ``does`` or empty for other relations), its name and arity, and the
argument's place."""
_STATE = (TRUE, NEXT, INIT, BASE)
_MOVES = (LEGAL, DOES, INPUT)


class _Nearness:
    """The number of steps between arguments in some rules."""

    def __init__(self, rules: Rules) -> None:
        defined = {rule.head.signature for rule in rules if rule.body}
        self._beside: dict[_ArgumentPlace, set[_ArgumentPlace]] = defaultdict(set)
        for rule in rules:
            if not rule.body:
                continue
            where: dict[Term, set[_ArgumentPlace]] = defaultdict(set)
            for kind, atom in _atoms(rule):
                if not kind and atom.signature not in defined:
                    continue
                for i, arg in enumerate(atom.args):
                    if arg.is_variable:
                        where[arg].add((kind, *atom.signature, i))
            for places in where.values():
                for place in places:
                    self._beside[place] |= places - {place}

    def steps(self, start: _ArgumentPlace, most: int) -> dict[_ArgumentPlace, int]:
        """The places that are at most ``most`` steps away, each with its number of steps."""
        found = {start: 0}
        waiting = deque([start])
        while waiting:
            at = waiting.popleft()
            if found[at] == most:
                continue
            for place in self._beside.get(at, ()):
                if place not in found:
                    found[place] = found[at] + 1
                    waiting.append(place)
        return found


def _atoms(rule: Rule) -> Iterator[tuple[str, Term]]:
    for atom in [rule.head, *(lit.atom for part in rule.body for lit, _ in literals(part))]:
        if atom.name in _STATE and len(atom.args) == 1:
            yield TRUE, atom.args[0]
        elif atom.name in _MOVES and len(atom.args) == 2:
            yield DOES, atom.args[1]
        else:
            yield "", atom


_FARTHEST = 4
Clicks = tuple[tuple[str, ...], ...]
"""For each click of a move the squares that count as it, each as in ``data-square`` of the drawing. Usually
this is one square; it is a whole column if the move names only the column."""


@dataclass(frozen=True, slots=True)
class SquarePlaces:
    """The arguments of a move that name one square.

    Attributes:
        x, y: the arguments for column and row; -1 if there is none. Both are equal if one argument names the
            square.
        panel: the arguments for the board, if there are several boards; empty if the move names none.
        layer: number of the layer to which the squares belong.
    """

    x: int
    y: int
    panel: tuple[int, ...]
    layer: int


@dataclass(frozen=True, slots=True)
class ClickMove:
    """A legal move, as KIF and as clicks.

    Each click narrows the set of moves. A complete move is played at once if it is the only one left. If
    there are several, or if further clicks lead to others, the complete moves are listed.
    """

    move: str
    clicks: Clicks


class ClickFinder:
    """Finds the squares of moves of one game.

    Args:
        board: the board; None for games without a board, whose moves have no clicks.
        moves: all possible moves of all roles, or those seen; :meth:`learn` adds more.

    Attributes:
        needs_effects: whether clicks depend on what moves change.
    """

    def __init__(self, board: Grid | None, rules: Rules, moves: Iterable[Term] = ()) -> None:
        self._board = board
        self._rules = rules
        self._race = Race.of_board(board, rules)
        self.needs_effects = self._race is not None or (board is not None and board.pits is not None)
        self._signs = signs_of(rules)
        self._near: dict[_ArgumentPlace, dict[tuple[str, int], int]] = defaultdict(dict)
        self._panels, self._columns, self._rows = ({}, {}, {}) if board is None else board.numbers
        self._known: dict[Signature, set[Term]] = defaultdict(set)
        self._patterns: dict[Signature, tuple[SquarePlaces, ...]] = {}
        self._role = 0
        if board is not None:
            self._measure(board, _Nearness(rules))
        self.learn(moves)

    def learn(self, moves: Iterable[Term]) -> None:
        """Add possible moves: the values seen decide which arguments are coordinates."""
        for move in moves:
            if move not in self._known[move.signature]:
                self._known[move.signature].add(move)
                self._patterns.pop(move.signature, None)

    def clicks(
        self,
        legal: Sequence[Term],
        state: Iterable[Term] = (),
        role: int = 0,
        after: Callable[[Term], Iterable[Term]] | None = None,
    ) -> list[ClickMove]:
        """The clicks of some legal moves of one role, in their order.

        Args:
            state: the true propositions. A move that names no square, but a thing on exactly one square, such
                as ``(slide 8)``, is a click on that square.
            role, after: the number of the role, whose squares of seas they name, and what is true after each
                of its moves, if that is known.
        """
        self.learn(legal)
        self._role = role
        true = tuple(state)
        found = [self._own_clicks(move, true) or self.squares(move) for move in legal]
        if not any(found):
            found = self._by_things(legal, true) or found
        if after is not None and self.needs_effects:
            found = [
                self._by_effect(role, one, true, after(move)) for move, one in zip(legal, found, strict=True)
            ]
        return [ClickMove(self._rules.spell(move), one) for move, one in zip(legal, found, strict=True)]

    def places(self, signature: Signature) -> tuple[SquarePlaces, ...]:
        """The arguments of moves of this functor that name squares, in the order of clicks."""
        if signature not in self._patterns:
            grid = self._board is not None and self._board.heaps is None
            self._patterns[signature] = self._pattern(signature) if grid else ()
        return self._patterns[signature]

    def things(self, signature: Signature) -> set[int]:
        """The arguments of moves of this functor that name things on squares, and not squares."""
        squares = {i for places in self.places(signature) for i in (places.x, places.y, *places.panel)}
        kinds = ((i, self._kinds(signature, i)) for i in range(signature[1]) if i not in squares)
        return {i for i, kind in kinds if any(what == "thing" for what, _ in kind)}

    def _measure(self, board: Grid, nearness: _Nearness) -> None:
        """Measure the steps from each argument of a move to columns, rows, panels and contents of each
        layer."""
        for number, layer in enumerate(board.layers):
            for i in range(layer.arity):
                kind = _kind(layer, i)
                for place, steps in nearness.steps((TRUE, layer.name, layer.arity, i), _FARTHEST).items():
                    if place[0] == DOES:
                        fewest = self._near[place].get((kind, number), steps)
                        self._near[place][kind, number] = min(fewest, steps)

    def _pattern(self, signature: Signature) -> tuple[SquarePlaces, ...]:
        kinds = [self._kinds(signature, i) for i in range(signature[1])]
        if not any(kinds):
            return self._guess(signature)
        layer = self._layer(kinds, signature)
        named: list[tuple[str, int]] = []
        count = {"x": 0, "y": 0}
        panels: list[int] = []
        for i, steps in enumerate(kinds):
            near = {kind: steps[kind, number] for kind, number in steps if number == layer}
            near = near or {kind: n for (kind, _), n in steps.items()}
            best = min(near.values(), default=_FARTHEST)
            kinds_here = [kind for kind, n in near.items() if n == best and self._fits(signature, i, kind)]
            if not kinds_here or near.get("thing", _FARTHEST + 1) < best:
                continue
            if "thing" in near and near["thing"] <= best and best > 1:
                continue
            if "panel" in kinds_here:
                panels.append(i)
                continue
            if len(kinds_here) > 1:
                kinds_here = ["x"] if count["x"] <= count["y"] else ["y"]
            kind = kinds_here[0]
            if kind in count:
                count[kind] += 1
            named.append((kind, i))
        return self._paired(named, panels, layer)

    def _kinds(self, signature: Signature, i: int) -> dict[tuple[str, int], int]:
        return self._near.get((DOES, *signature, i), {})

    def _layer(self, kinds: list[dict[tuple[str, int], int]], signature: Signature) -> int:
        """The layer that most arguments are nearest to; with seas that of the facts which the move makes."""
        assert self._board is not None
        for number, layer in enumerate(self._board.layers if self._board.seas else ()):
            for rule in self._rules:
                atoms = list(_atoms(rule))
                made = rule.head.name == NEXT and layer.fits(atoms[0][1])
                if made and any(kind == DOES and atom.signature == signature for kind, atom in atoms):
                    return number
        far = _FARTHEST + 1

        def distance(number: int) -> int:
            return sum(min([far, *(n for (_, k), n in steps.items() if k == number)]) for steps in kinds)

        return min(range(len(self._board.layers)), key=distance)

    def _fits(self, signature: Signature, i: int, kind: str) -> bool:
        """Whether most values of an argument are coordinates of a kind; if no value has been seen, the rules
        decide."""
        values = {move.args[i] for move in self._known[signature]}
        if not values:
            return kind != "thing"
        match kind:
            case "x":
                fitting = sum(value in self._columns for value in values)
            case "y":
                fitting = sum(value in self._rows for value in values)
            case "square":
                fitting = sum(self._split(value, 0) is not None for value in values)
            case "panel":
                names = {term for panel in self._panels for term in panel}
                fitting = sum(value in names for value in values)
            case _:
                return False
        return 2 * fitting > len(values)

    def _paired(
        self, named: list[tuple[str, int]], panels: list[int], layer: int
    ) -> tuple[SquarePlaces, ...]:
        assert self._board is not None
        squares = [i for kind, i in named if kind == "square"]
        if squares:
            return tuple(SquarePlaces(i, i, (), layer) for i in squares)
        xs = [i for kind, i in named if kind == "x"]
        ys = [i for kind, i in named if kind == "y"]
        if self._board.layers[layer].at and len(xs) == len(ys) == 2:
            return (SquarePlaces(xs[0], ys[0], (xs[1], ys[1]), layer),)
        if self._board.strip or self._race is not None:
            ys = []
        width = len(self._board.panels[0]) if self._board.layers[layer].panel else 0
        pairs: list[SquarePlaces] = []
        for n in range(max(len(xs), len(ys))):
            # A panel that is named once applies to all squares.
            own = panels[n * width : (n + 1) * width] or panels[:width]
            panel = tuple(own) if len(own) == width else ()
            pairs.append(
                SquarePlaces(xs[n] if n < len(xs) else -1, ys[n] if n < len(ys) else -1, panel, layer)
            )
        return tuple(pairs)

    def _guess(self, signature: Signature) -> tuple[SquarePlaces, ...]:
        """For rules without variables: pairs of adjacent arguments that are always a square of the board."""
        pairs: list[SquarePlaces] = []
        i = 0
        named = self._board is not None and self._race is None and not self._board.strip
        while named and i + 1 < signature[1]:
            places = SquarePlaces(i, i + 1, (), 0)
            moves = self._known[signature]
            if moves and all(self._keys(move, places) for move in moves):
                pairs.append(places)
                i += 1
            i += 1
        return tuple(pairs)

    def squares(self, move: Term) -> Clicks:
        """The clicks of a move by its arguments."""
        keys = (self._keys(move, places) for places in self.places(move.signature))
        return tuple(filter(None, keys))

    def _own_clicks(self, move: Term, state: Sequence[Term]) -> Clicks:
        """The clicks of a move that takes from a heap, or is a sign on the table; empty for others."""
        if (sign := self._signs.get((move.name,))) is not None and not move.args:
            return ((sign[0],),)
        taken = self._board and self._board.heaps and self._board.heaps.first_taken(move, state)
        return ((f"0,{taken[1]},{self._rows[taken[0]]}",),) if taken else ()

    def _by_things(self, legal: Sequence[Term], state: Iterable[Term]) -> list[Clicks]:
        """The square of the one thing that each move names; empty unless at least half of the moves name
        one."""
        if self._board is None:
            return []
        at: dict[Term, list[Square]] = defaultdict(list)
        on, _ = self._board.place(state)
        for square, things in on.items():
            for term in {term for thing in things for term in thing}:
                at[term].append(square)
        found: list[Clicks] = []
        for move in legal:
            named = [
                (key,)
                for i, arg in enumerate(move.args)
                if len(at[arg]) == 1 and any(kind == "thing" for kind, _ in self._kinds(move.signature, i))
                if (key := self._board.key(at[arg][0])) is not None
            ]
            found.append(tuple(named) if len(named) == 1 else ())
        return found if 2 * sum(map(bool, found)) >= len(found) else []

    def _by_effect(self, role: int, clicks: Clicks, now: Iterable[Term], then: Iterable[Term]) -> Clicks:
        """The clicks of a move by what it changes: in a race all of them; of pits the one that it empties."""
        board = self._board
        assert board is not None
        if self._race is not None:
            return self._race.clicks(role, now, then) or clicks
        was, left = (
            {board.key(square): things for square, things in board.place(state)[0].items()}
            for state in (now, then)
        )
        count = board.pits.count if board.pits is not None else len
        emptied = tuple(
            key for key in (clicks or ((),))[0] if count(left.get(key, [])) < count(was.get(key, []))
        )
        return (emptied,) if len(emptied) == 1 else clicks

    def _keys(self, move: Term, places: SquarePlaces) -> tuple[str, ...]:
        """The squares that a move names; none if its arguments are not coordinates."""
        board = self._board
        assert board is not None
        layer = board.layers[places.layer]
        if layer.at:
            dots = tuple(move.args[i] for i in (places.x, places.y, *places.panel) if i >= 0)
            return (board.key(layer.at[dots]) or "",) if dots in layer.at else ()
        if places.x == places.y:
            split = self._split(move.args[places.x], places.layer)
            columns, rows = ([], []) if split is None else ([split[0]], [split[1]])
        else:
            columns = self._coordinate(move, places.x, self._columns)
            rows = self._coordinate(move, places.y, self._rows)
        panels = list(self._panels)
        if layer.split:
            panels = [panel for panel in panels if panel == (Term(layer.name),)]
        elif board.seas:
            panels = [layer.sea(next(other.across[self._role] for other in board.layers if other.across))]
        elif places.panel:
            panel = tuple(move.args[i] for i in places.panel)
            panels = [panel] if panel in self._panels else []
        named = ((panel, x, y) for panel in panels for x in columns for y in rows)
        keys = [board.key(square) or "" for square in named if square in board.squares]
        # A move that names neither column nor row has no square.
        return tuple(keys) if len(keys) < len(board.squares) or len(keys) == 1 else ()

    def _coordinate(self, move: Term, place: int, known: dict[Term, int]) -> list[Term]:
        if place < 0:
            return list(known)
        return [move.args[place]] if move.args[place] in known else []

    def _split(self, name: Term, number: int) -> tuple[Term, Term] | None:
        """Column and row of a square with a name such as ``a1``."""
        assert self._board is not None
        if name.args:
            return None
        letter, digits = split_name(name)
        x, y = (digits, letter) if self._board.layers[number].turned else (letter, digits)
        return (x, y) if x in self._columns and y in self._rows else None


def _kind(layer: Layer, place: int) -> str:
    """The kind of an argument of a layer: ``x``, ``y``, ``square``, ``panel`` or ``thing``."""
    if layer.at and place in layer.panel:
        return "xy"[layer.panel.index(place)]
    if place == layer.x:
        return "square" if layer.x == layer.y else "x"
    if place == layer.y:
        return "y"
    return "panel" if place in layer.panel else "thing"
