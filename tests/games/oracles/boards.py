"""The oracles of ``games/boards``, each by the name of its game."""

from __future__ import annotations

import re
from collections.abc import Hashable
from functools import partial
from typing import Any

from tests.games.oracles.draughts import Draughts
from tests.games.oracles.fairy import Fairy, pyffish
from tests.games.oracles.lined import Morris
from tests.games.oracles.match import LETTERS, Turn, cell
from tests.games.oracles.plain import QUEEN, Dominoes, Row, Tafl, hexagon, rectangle
from tests.games.oracles.spiel import Spiel

WHITE_BLACK, BLACK_WHITE = ("white", "black"), ("black", "white")
CELL = frozenset({"cell"})
_LINES = QUEEN[:4]
_HEX_LINES = [(1, 0), (0, 1), (1, 1)]


def from_to(text: str) -> tuple[str, ...]:
    """``a5b5``."""
    return (f"(move {text[0]} {text[1:-2]} {text[-2]} {text[-1]})",)


def placed(text: str) -> tuple[str, ...]:
    """``c11``."""
    return (f"(place {text[0]} {text[1:]})",)


def rows_of(text: str, things: dict[str, str]) -> set[str]:
    """The board of a drawing whose rows begin with their numbers, such as ``5oxoxox``."""
    found = set()
    for number, row in re.findall(r"^(\d+)([^\d\n]+)$", text, re.MULTILINE):
        found |= {cell(x, int(number), things[sign]) for x, sign in enumerate(row, 1) if sign in things}
    return found


clobber = partial(
    Spiel, "clobber", WHITE_BLACK, from_to, lambda s: rows_of(str(s), {"o": "white", "x": "black"}), CELL
)
joust = partial(
    Fairy, "joust", WHITE_BLACK, {"N": "white", "n": "black", "*": "gone"}, lambda u: from_to(u.split(",")[0])
)


def _isolation(uci: str) -> tuple[str, ...]:
    step, wall = uci.split(",")
    return (*from_to(step), f"(remove {wall[2]} {wall[3]})")


isolation = partial(Fairy, "isolation7x7", WHITE_BLACK, {"P": "white", "p": "black", "*": "gone"}, _isolation)


def _gomoku(text: str) -> tuple[str, ...]:
    row, column = map(int, text.split(","))
    return (f"(place {'abcdefghijklmno'[column]} {15 - row})",)


def _gomoku_board(state: Any) -> set[str]:
    things = {"b": "black", "w": "white"}
    rows = str(state).lower().splitlines()[1:16]
    return {
        cell(x, 16 - y, things[sign])
        for y, row in enumerate(rows, 1)
        for x, sign in enumerate(row, 1)
        if sign in things
    }


gomoku = partial(Spiel, "gomoku", BLACK_WHITE, _gomoku, _gomoku_board, CELL)
connectsix = partial(Row, rectangle(19, 19), _LINES, BLACK_WHITE, 6, 0, 2)
squava = partial(Row, rectangle(5, 5), _LINES, WHITE_BLACK, 4, 3)
yavalath = partial(Row, hexagon(5), _HEX_LINES, WHITE_BLACK, 4, 3)
havannah = partial(Spiel, "havannah(board_size=5)", WHITE_BLACK, placed)
y = partial(Spiel, "y(board_size=9)", WHITE_BLACK, placed)
domineering = partial(Dominoes, 8, {"vertical": [(0, 1)], "horizontal": [(1, 0)]})
cram = partial(Dominoes, 6, {role: [(0, 1), (1, 0)] for role in ("first", "second")})


def _ataxx(uci: str) -> tuple[str, ...]:
    if uci.startswith("P@"):
        return placed(uci[2:])
    return ("pass",) if uci[:2] == uci[2:] else (f"(jump {uci[0]} {uci[1]} {uci[2]} {uci[3]})",)


class Ataxx(Fairy):
    """There is no limit of turns there; here who has more pieces then wins."""

    def __init__(self) -> None:
        super().__init__("ataxx", WHITE_BLACK, {"P": "white", "p": "black"}, _ataxx, most=200)

    def result(self) -> dict[str, int] | None:
        result, board = super().result(), self.fen.split()[0]
        if result is None or self.plies < 200:
            return result
        lead = board.count("P") - board.count("p")
        return {
            "white": 50 + 50 * (lead > 0) - 50 * (lead < 0),
            "black": 50 + 50 * (lead < 0) - 50 * (lead > 0),
        }


jesonmor = partial(Fairy, "jesonmor", WHITE_BLACK, {"N": "white", "n": "black"}, most=200)
foxandhounds = partial(Fairy, "fox-and-hounds", ("fox", "hounds"), {"F": "fox", "h": "hound"})


def _dots(text: str) -> tuple[str, ...]:
    kind, row, column = re.findall(r"[hv]|\d+", text.partition("(")[2])
    x, y = 2 * int(column) + 1, 7 - 2 * int(row)
    return (f"(draw {LETTERS[x - (kind == 'v')]} {y - (kind == 'v')})",)


dotsandboxes = partial(Spiel, "dots_and_boxes(num_rows=3,num_cols=3)", ("red", "blue"), _dots)
_TWISTS = {
    "s": "left upper counterclockwise", "t": "left upper clockwise", "u": "right upper counterclockwise",
    "v": "right upper clockwise", "w": "right lower counterclockwise", "x": "right lower clockwise",
    "y": "left lower counterclockwise", "z": "left lower clockwise",
}  # fmt: skip


def _pentago(text: str) -> tuple[str, ...]:
    return f"(place {text[0]} {7 - int(text[1])})", f"(twist {_TWISTS[text[2]]})"


def _pentago_board(state: Any) -> set[str]:
    things = {"O": "white", "@": "black"}
    found = set()
    for number, row in re.findall(r"^.. ?(\d)((?: [.O@]){6})", str(state), re.MULTILINE):
        signs = row.split()
        found |= {cell(x, 7 - int(number), things[sign]) for x, sign in enumerate(signs, 1) if sign in things}
    return found


pentago = partial(Spiel, "pentago", WHITE_BLACK, _pentago, _pentago_board, CELL)


class UltimateTicTacToe(Spiel):
    """There, who may choose the board does so first."""

    def __init__(self) -> None:
        super().__init__("ultimate_tic_tac_toe", ("x", "o"), self._mark, self._marks, CELL)

    @staticmethod
    def _mark(text: str) -> tuple[str, ...]:
        board, row, column = map(int, re.findall(r"\d", text))
        return (f"(mark {LETTERS[board % 3 * 3 + column]} {9 - board // 3 * 3 - row})",)

    @staticmethod
    def _marks(state: Any) -> set[str]:
        rows = [
            row.replace(" ", "") for row in str(state).splitlines() if re.fullmatch(r"([.xo]{3} ?){3}", row)
        ]
        return {
            cell(x, 9 - y, sign) for y, row in enumerate(rows) for x, sign in enumerate(row, 1) if sign != "."
        }

    def _all_turns(self) -> Turn:
        found: Turn = {}
        for action in self.state.legal_actions():
            if "Choose" not in self.state.action_to_string(action):
                found[self._mark(self.state.action_to_string(action))] = (action,)
                continue
            child = self.state.child(action)
            for then in child.legal_actions():
                found[self._mark(child.action_to_string(then))] = (action, then)
        return found

    def go(self, turn: Hashable) -> None:
        assert isinstance(turn, tuple)
        for action in turn:
            super().go(action)


def _loa(text: str) -> tuple[str, ...]:
    return from_to(re.sub("[-x]", "", text))


class LinesOfAction(Spiel):
    """There, a position that comes again is a draw."""

    def __init__(self) -> None:
        super().__init__(
            "lines_of_action(max_game_length=200)", BLACK_WHITE, _loa,
            lambda s: rows_of(str(s), {"x": "black", "o": "white"}), CELL,
        )  # fmt: skip
        self._seen: set[str] = set()

    @property
    def silent(self) -> bool:
        return str(self.state).partition("Current")[0] in self._seen and self.state.is_terminal()

    def go(self, turn: Hashable) -> None:
        self._seen.add(str(self.state).partition("Current")[0])
        super().go(turn)


TYPES = {"p": "pawn", "n": "knight", "b": "bishop", "r": "rook", "q": "queen", "k": "king"}
MEN = {kind: f"b{kind}" for kind in TYPES} | {kind.upper(): f"w{kind}" for kind in TYPES}


class _Chess(Fairy):
    """A relative of chess, with our clock of moves without progress."""

    def __init__(self, variant: str, castles: bool = False) -> None:
        rights = {"right"} if castles else set()
        super().__init__(
            variant, WHITE_BLACK, MEN, self._named, 100, self._beside, CELL | {"tens", "units"} | rights
        )

    def _named(self, uci: str) -> tuple[str, ...]:
        if uci[4:]:
            return (f"(promote {uci[0]} {uci[1]} {uci[2]} {uci[3]} {TYPES[uci[4]]})",)
        king = f"(cell e {uci[1]} {'w' if uci[1] == '1' else 'b'}k)"
        if uci in ("e1g1", "e1c1", "e8g8", "e8c8") and "right" in self.relations and king in super().facts():
            return (f"(castle {'kingside' if uci[2] == 'g' else 'queenside'})",)
        return from_to(uci)

    def _beside(self, fen: str) -> set[str]:
        clock = int(fen.split()[-2])
        found = {f"(tens {clock // 10})", f"(units {clock % 10})"}
        if "right" in self.relations:
            sides = {
                "K": "white kingside",
                "Q": "white queenside",
                "k": "black kingside",
                "q": "black queenside",
            }
            found |= {f"(right {sides[sign]})" for sign in fen.split()[2] if sign != "-"}
        return found


class _MiniChess(_Chess):
    """There a match with nothing but kings goes on; here it is drawn."""

    def result(self) -> dict[str, int] | None:
        bare = not set(self.fen.split()[0]) - set("kK/12345678")
        return dict.fromkeys(self.roles, 50) if bare else super().result()


class ThreeCheck(_Chess):
    """There the last check is counted at once; here with the next move."""

    def __init__(self) -> None:
        super().__init__("3check", True)
        self.relations |= {"checks"}

    def _beside(self, fen: str) -> set[str]:
        left = fen.split()[4].split("+")
        given = {role: 3 - int(number) for role, number in zip(self.roles, left, strict=True)}
        if pyffish.gives_check(self.variant, fen, []):
            given[self.roles[fen.split()[1] == "w"]] -= 1
        return super()._beside(fen) | {f"(checks {role} {number})" for role, number in given.items()}


kingofthehill = partial(_Chess, "kingofthehill", True)
gardner, losalamos = partial(_MiniChess, "gardner"), partial(_MiniChess, "losalamos")
antichess, racingkings = partial(_Chess, "antichess"), partial(_Chess, "racingkings")
_CROSS = {(4, 3), (4, 5), (3, 4), (5, 4)}
_CORNERS = {(1, 1), (1, 7), (7, 1), (7, 7)}
brandubh = partial(
    Tafl, 7, {(4, 1), (4, 2), (4, 6), (4, 7), (1, 4), (2, 4), (6, 4), (7, 4)}, _CROSS, _CORNERS, _CORNERS
)
_SHORES = {(4, 1), (5, 1), (6, 1), (5, 2), (4, 9), (5, 9), (6, 9), (5, 8)}
_ARMS = {(5, 3), (5, 4), (5, 6), (5, 7)}
tablut = partial(
    Tafl,
    9,
    _SHORES | {(y, x) for x, y in _SHORES},
    _ARMS | {(y, x) for x, y in _ARMS},
    set(),
    {(x, y) for x, y in rectangle(9, 9) if {x, y} & {1, 9}},
)
_THREE = [[(1, y), (2, y), (3, y)] for y in (1, 2, 3)] + [[(x, 1), (x, 2), (x, 3)] for x in (1, 2, 3)]
threemensmorris = partial(
    Morris, 3, [*_THREE, [(1, 1), (2, 2), (3, 3)], [(1, 3), (2, 2), (3, 1)]], [], True, 50
)
_SQUARES = [[(x, i), (x, 3), (x, 6 - i)] for i in (1, 2) for x in (i, 6 - i)]
_SHORT = [[(1, 3), (2, 3)], [(4, 3), (5, 3)]]
sixmensmorris = partial(
    Morris,
    6,
    _SQUARES + [[(y, x) for x, y in mill] for mill in _SQUARES],
    _SHORT + [[(y, x) for x, y in link] for link in _SHORT],
    False,
    100,
)
russiandraughts = partial(Draughts, "russian", 200)
ANIMALS = {"l": "lion", "e": "elephant", "g": "giraffe", "c": "chick"}
_ANIMALS = {
    kind.upper() if side == "w" else kind: side + kind for side in "wb" for kind in ANIMALS
} | {"+C": "wh", "+c": "bh"}  # fmt: skip


def _dobutsu(uci: str) -> tuple[str, ...]:
    if "@" in uci:
        return (f"(drop {ANIMALS[uci[0].lower()]} {uci[2]} {uci[3]})",)
    return from_to(uci.removesuffix("+"))


def _hands(fen: str) -> set[str]:
    held = fen.partition("[")[2].partition("]")[0]
    return {
        f"(hand {'white' if kind.isupper() else 'black'} {ANIMALS[kind.lower()]} {held.count(kind)})"
        for kind in held
        if kind.lower() in "egc"
    }


dobutsu = partial(
    Fairy, "dobutsu", WHITE_BLACK, _ANIMALS, _dobutsu, 0, _hands, CELL | {"hand"}, most=100
)  # fmt: skip
pyffish.load_variant_config("""
[minireversi:flipello]
maxRank = 6
maxFile = 6
enclosingDropStart = c3 c4 d3 d4
startFen = 6/6/2Pp2/2pP2/6/6[PPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPpppppppppppppppppppppppppppppppppppp] w 0 1
""")


def _reversi(uci: str) -> tuple[str, ...]:
    return placed(uci[2:]) if uci.startswith("P@") else ("pass",)


class MiniReversi(Fairy):
    """There a match goes on with passes when neither side can place a disc."""

    def __init__(self) -> None:
        super().__init__("minireversi", BLACK_WHITE, {"P": "black", "p": "white"}, _reversi)

    def result(self) -> dict[str, int] | None:
        board = self.fen.partition("[")[0]
        if set(self.turns()) <= {("pass",)}:
            after = pyffish.get_fen(self.variant, self.fen, list(self.turns().values()))
            moves = pyffish.legal_moves(self.variant, after, [])
            if not any("@" in uci for uci in moves):
                lead = board.count("P") - board.count("p")
                return {
                    role: 50 + 50 * ((lead > 0) - (lead < 0)) * (1 - 2 * i)
                    for i, role in enumerate(self.roles)
                }
        return None


class Oware(Spiel):
    """There, a position that comes again ends the match, and at the end all seeds left are given out."""

    def __init__(self) -> None:
        super().__init__("oware", ("south", "north"), self._sow, self._pits, CELL)
        self._scores = [[0, 0]]

    @staticmethod
    def _sow(text: str) -> tuple[str, ...]:
        return (f"(sow {'bcdefggfedcb'['ABCDEFabcdef'.index(text)]})",)

    @staticmethod
    def _rows(state: Any) -> list[list[int]]:
        """North's score, its pits from the left, south's, south's score."""
        rows = re.findall(r"(?m)score = (\d+)|^ +((?:\d+ +){5}\d+)", str(state))
        return [[int(number) for number in (score or pits).split()] for score, pits in rows]

    def _pits(self, state: Any) -> set[str]:
        taken, north, south, own = self._rows(state)
        found = {cell(x, 1, str(n)) for x, n in enumerate(south, 2)}
        found |= {cell(x, 2, str(n)) for x, n in enumerate(north, 2)}
        return found | {cell(8, 1, str(own[0])), cell(1, 2, str(taken[0]))}

    def facts(self) -> set[str]:
        return super().facts() if self.relations else set()

    @property
    def silent(self) -> bool:
        """Nothing comes again so soon after a capture."""
        return bool(self.state.is_terminal()) and self._scores[-9:-1].count(self._scores[-2]) == 8

    def go(self, turn: Hashable) -> None:
        super().go(turn)
        rows = self._rows(self.state)
        self._scores.append([rows[3][0], rows[0][0]])
        if self.state.is_terminal():
            self.relations = frozenset()

    def result(self) -> dict[str, int] | None:
        if len(self._scores) <= 200 or self.state.is_terminal():
            return super().result()
        lead = self._scores[-1][0] - self._scores[-1][1]
        return {"south": 50 + 50 * ((lead > 0) - (lead < 0)), "north": 50 + 50 * ((lead < 0) - (lead > 0))}


class Go(Spiel):
    """There, a position that comes again ends the match."""

    def __init__(self) -> None:
        super().__init__(
            "go(board_size=7,komi=9.0,max_game_length=120)", BLACK_WHITE, self._stone,
            lambda s: rows_of(str(s).replace(" ", ""), {"X": "black", "O": "white"}), CELL,
        )  # fmt: skip
        self._passes, self._moves = 0, 0

    @staticmethod
    def _stone(text: str) -> tuple[str, ...]:
        return ("pass",) if "PASS" in text else placed(text[2:])

    def go(self, turn: Hashable) -> None:
        self._passes = self._passes + 1 if turn == 49 else 0
        self._moves += 1
        super().go(turn)

    @property
    def silent(self) -> bool:
        return self.state.is_terminal() and self._passes < 2 and self._moves < 120


pyffish.load_variant_config("""
[plainmakruk:makruk]
countingRule = none
nMoveRule = 0
[plainshatranj:shatranj]
nMoveRule = 0
""")


class _Makruk(_MiniChess):
    """A relative of chess whose pawns become one kind of piece only."""

    def __init__(self, variant: str, kinds: str) -> None:
        super().__init__(variant)
        letters = dict(zip("pnbrqk", kinds, strict=True))
        self._pieces = {letter: f"b{kind}" for kind, letter in letters.items()}
        self._pieces |= {letter.upper(): f"w{kind}" for kind, letter in letters.items()}

    def _named(self, uci: str) -> tuple[str, ...]:
        return from_to(uci[:4])


makruk = partial(_Makruk, "plainmakruk", "pnsrmk")
shatranj = partial(_Makruk, "plainshatranj", "pnbrqk")
_GENERALS = {"k": "king", "g": "gold", "s": "silver", "b": "bishop", "r": "rook", "p": "pawn"}
_SHOGI = {letter: f"b{letter}" for letter in _GENERALS} | {f"+{letter}": f"bp{letter}" for letter in "sbrp"}
_SHOGI |= {letter.upper(): f"w{thing[1:]}" for letter, thing in _SHOGI.items()}


def _shogi(uci: str) -> tuple[str, ...]:
    if "@" in uci:
        return (f"(drop {_GENERALS[uci[0].lower()]} {uci[2]} {uci[3]})",)
    return (f"({'promote' if uci[4:] else 'move'} {uci[0]} {uci[1]} {uci[2]} {uci[3]})",)


def _held(fen: str) -> set[str]:
    held = fen.partition("[")[2].partition("]")[0].replace("-", "")
    return {
        f"(hand {'white' if kind.isupper() else 'black'} {_GENERALS[kind.lower()]} {held.count(kind)})"
        for kind in held
    }


class MiniShogi(Fairy):
    """There, a pawn that is dropped to give checkmate loses; here it may not be dropped."""

    def __init__(self) -> None:
        super().__init__("minishogi", WHITE_BLACK, _SHOGI, _shogi, 0, _held, CELL | {"hand"}, most=200)

    def turns(self) -> Turn:
        if self._turns is None:
            self._turns = {ours: uci for ours, uci in super().turns().items() if not self._mates(str(uci))}
        return self._turns

    def _mates(self, uci: str) -> bool:
        if not uci.startswith("P@"):
            return False
        after = pyffish.get_fen(self.variant, self.fen, [uci])
        return pyffish.gives_check(self.variant, after, []) and not pyffish.legal_moves(
            self.variant, after, []
        )


class _Xiangqi(Fairy):
    """Letters of pieces there -> ours."""

    def __init__(self, variant: str) -> None:
        letters = dict(zip("kabnrcp", "gaehrcs", strict=True))
        pieces = {letter: f"b{kind}" for letter, kind in letters.items()}
        pieces |= {letter.upper(): f"r{kind}" for letter, kind in letters.items()}
        super().__init__(
            variant,
            ("red", "black"),
            pieces,
            clock=100,
            more=self._clocks,
            relations=CELL | {"tens", "units"},
        )

    @staticmethod
    def _clocks(fen: str) -> set[str]:
        clock = int(fen.split()[-2])
        return {f"(tens {clock // 10})", f"(units {clock % 10})"}


xiangqi, minixiangqi = partial(_Xiangqi, "xiangqi"), partial(_Xiangqi, "minixiangqi")


def _quoridor(text: str) -> tuple[str, ...]:
    x, y = 2 * LETTERS.index(text[0]), 11 - 2 * int(text[1])
    if not text[2:]:
        return (f"(move {LETTERS[x]} {y})",)
    return (f"(build {LETTERS[x + 1]} {y - 1} {'across' if text[2] == 'h' else 'upright'})",)


quoridor = partial(Spiel, "quoridor(board_size=5)", WHITE_BLACK, _quoridor)
pyffish.load_variant_config("""
[hexapawn]
customPiece1 = p:mfWcfF
maxRank = 3
maxFile = 3
startFen = ppp/3/PPP w - - 0 1
stalemateValue = loss
flagPiece = p
flagRegionWhite = *3
flagRegionBlack = *1
""")
hexapawn = partial(Fairy, "hexapawn", WHITE_BLACK, {"P": "white", "p": "black"})
