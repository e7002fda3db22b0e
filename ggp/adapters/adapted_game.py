"""`AdaptedGame`: the action ids with names, observations, masks and turns that all environments of a game
share; its states as planes and pixels.

Planes are an array (channels, rows, columns) of zeros and ones, from the board found in the rules. Each thing
that may stand on a square of a board has a channel. Each other base proposition, such as whose turn it is or
the number of steps, has a channel that is the same on all squares. Propositions of an empty square have none.
A game without a board has a single square. Pixels are drawn by Pillow, from the description of the state by
:class:`ggp.boards.svg.picture.SvgPainter`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self, cast

import numpy as np
from numpy.typing import NDArray

from gdl.ends import no_move, stuck_roles
from gdl.errors import GdlError, MoveError, TooLargeError
from gdl.information import chance_role, hides, playing
from gdl.machine import State
from ggp.boards.board import find_board
from ggp.boards.svg.layout import UNIT
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from propnet.analysis.longest import longest_match
from propnet.capabilities import lane_machine
from propnet.environments.senses import Senses, remembered
from propnet.environments.vector_match import TurnTaking
from propnet.jit.arrays import Words
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine


class MissingPackageError(GdlError, ImportError):
    """A package of an extra is not installed."""


def missing(package: str, what: str, extra: str = "rl") -> MissingPackageError:
    """The error which says that ``what`` need a package that an extra installs."""
    return MissingPackageError(
        f"{what} need the package {package}", remedy=f"pip install 'kaskade-ggp[{extra}]'"
    )


class Planes:
    """The planes of a game's base propositions.

    Attributes:
        shape: channels, rows, columns. Row 0 is drawn on top.
        names: the meaning of each channel.
    """

    def __init__(self, machine: PropnetMachine) -> None:
        board = find_board(machine)
        bases = machine.network.bases
        rows = {} if board is None else {row: i for i, row in enumerate(reversed(board.rows))}
        columns = {} if board is None else {column: i for i, column in enumerate(board.columns)}
        height, width = max(1, len(rows)), max(1, len(columns))
        channels: dict[str, int] = {}
        taken: set[tuple[str, int]] = set()
        on: list[tuple[int, str, int]] = []
        off_board: list[int] = []
        for base, term in enumerate(bases):
            place = None if board is None else board.where(term)
            if board is None or place is None:
                off_board.append(base)
                continue
            (panel, column, row), thing = place
            if thing in board.blanks:
                continue
            if row not in rows or column not in columns:
                off_board.append(base)
                continue
            name = " ".join(map(machine.rules.spell, (*panel, *thing)))
            cell = rows[row] * width + columns[column]
            while (name, cell) in taken:  # two propositions say the same of a square
                name += "'"
            taken.add((name, cell))
            channels.setdefault(name, len(channels))
            on.append((base, name, cell))
        self.names = (*channels, *(machine.rules.spell(bases[base]) for base in off_board))
        self.shape = len(self.names), height, width
        self._on = np.array([base for base, _, _ in on], np.int64)
        self._cells = np.array([channels[name] * height * width + cell for _, name, cell in on], np.int64)
        self._off_board = np.array(off_board, np.int64)
        self._first = len(channels)

    def of_bits(self, bits: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Planes, uint8 (n, channels, rows, columns), of states, 0 or 1, (n, bases)."""
        planes = np.zeros((len(bits), *self.shape), np.uint8)
        planes.reshape(len(bits), -1)[:, self._cells] = bits[:, self._on]
        planes[:, self._first :] = bits[:, self._off_board, None, None]
        return planes


_PAPER, _SQUARE, _EDGE, _INK = (250, 250, 246), (236, 226, 202), (120, 108, 84), (30, 30, 30)
_PIECES = ((40, 40, 40), (250, 250, 250), (190, 50, 40), (40, 90, 170), (60, 140, 70), (200, 150, 30))
_LINE = 14
_MOST_LINES = 12


def raster(painter: SvgPainter, state: State) -> NDArray[np.uint8]:
    """A state as uint8 (height, width, 3): the board, each thing a disc with its sign, and below it some
    lines with the propositions that are not on a board. Raises GdlError if Pillow is not installed."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise missing("pillow", "pixels") from None
    drawn = painter.describe(state.propositions)
    lines = [
        f"{block['name']} {' '.join(map(str, row))}" for block in drawn["beside"] for row in block["rows"]
    ]
    lines = lines[: _MOST_LINES if drawn["squares"] else 4 * _MOST_LINES]
    width = max(int(drawn.get("width") or 0), 200)
    top = int(drawn.get("height") or 8)
    image = Image.new("RGB", (width, top + _LINE * len(lines) + 8), _PAPER)
    draw: Any = ImageDraw.Draw(image)
    looks = {look["meaning"]: (look["sign"], look["colour"]) for look in painter.legend()}
    colours = sorted({colour for _, colour in looks.values()})
    half = UNIT / 2
    for square in drawn["squares"]:
        x, y = square["x"], square["y"]
        draw.rectangle((x - half, y - half, x + half, y + half), fill=_SQUARE, outline=_EDGE)
        for number, thing in enumerate(square["things"]):
            sign, colour = looks.get(thing, (thing[:1], ""))
            fill = _PIECES[(colours.index(colour) if colour in colours else 0) % len(_PIECES)]
            size = half * (0.8 - 0.2 * min(number, 2))
            draw.ellipse((x - size, y - size, x + size, y + size), fill=fill, outline=_EDGE)
            ink = _INK if sum(fill) > 380 else (255, 255, 255)
            draw.text((x, y), _plain(sign), fill=ink, anchor="mm")
    for number, line in enumerate(lines):
        draw.text((8, top + _LINE * number), _plain(line), fill=_INK)
    return np.asarray(image, np.uint8)


def _plain(text: str) -> str:
    """The text, with a question mark for each character that the built-in font cannot draw."""
    return text.encode("latin-1", "replace").decode("latin-1")


OBSERVATIONS: Final = ("bits", "packed", "planes")
"""The observations of games without hidden information: ``bits``, a 0 or 1 for each base proposition, uint8
(bases,); ``packed``, the same with eight in a byte, the lowest bit first, uint8 (bytes,); ``planes``,
:class:`.Planes`. With hidden information agents always see their own moves and percepts:
see :meth:`AdaptedGame.next_histories`."""
MOST_NUMBERS = 20_000
"""The largest number of values in an observation with hidden information: older turns are dropped."""
_MOST_TURNS = 64
RENDER_MODES: Final = ("ansi", "svg", "rgb_array")


def check_render_mode(mode: str) -> None:
    """Raise GdlError if an environment cannot be drawn in this mode."""
    if mode not in RENDER_MODES:
        raise GdlError(f"there is no render mode {mode!r}", remedy=f"choose {', '.join(RENDER_MODES)}")


def action_id(action: Any) -> int:
    """An action as an integer; it may be an array of one integer. Raises MoveError for anything else."""
    if type(action) is int or type(action) is np.int64:  # nearly always
        return int(action)
    value = np.asarray(action)
    if value.size != 1 or value.dtype.kind not in "iu":
        raise MoveError(
            f"{action!r} is not an action", remedy="give an integer, as action_space.sample() does"
        )
    return int(value.item())


class AdaptedGame:
    """A game for environments. It is pickled as its source and settings, and loaded again.

    Roles and moves have the ids of the machine with a network, which are the same in every process: see
    :meth:`action_names`.

    Attributes:
        game, machine: the game and its machine.
        agents: the names of the roles that are agents: all but chance.
        players: the numbers of these roles.
        chance: the number of the role of chance, whose moves the environment draws; None if there is none.
        senses: the percepts of each role if information is hidden; else empty.
        observation: one of :data:`OBSERVATIONS`.
        turns: which roles act in a state, and the moves of those that do not.
    """

    def __init__(
        self, source: str | Path | Game, *, observation: str = "bits", machine: str = "auto"
    ) -> None:
        """Load and ground a game.

        Args:
            source: as for :meth:`ggp.game.Game.load`, or a game.
            observation: one of :data:`OBSERVATIONS`.
            machine: ``propnet``, ``native`` or ``auto``.

        Raises:
            GdlError: there is no such game, or no such observation.
            TooLargeError: the game does not ground within the limits.
        """
        if observation not in OBSERVATIONS:
            names = ", ".join(OBSERVATIONS)
            raise GdlError(f"there is no observation {observation!r}", remedy=f"choose {names}")
        self.game = source if isinstance(source, Game) else Game.load(source)
        self.source = self.game.text if isinstance(source, Game) else _fixed(source)
        self.level = machine
        self.observation = observation
        fast = lane_machine(self.game.machine(machine))
        if fast is None:
            raise TooLargeError(
                f"{self.game.name} does not ground within the limits, so its actions have no ids",
                remedy="environments need a game that `ggp ground` can ground",
            )
        self.machine: PropnetMachine = fast
        self.players = playing(fast.roles)
        self.chance = chance_role(fast.roles)
        self.agents: tuple[str, ...] = tuple(fast.rules.spell(fast.roles[role]) for role in self.players)
        self._roles = dict(zip(self.agents, self.players, strict=True))
        hidden = hides(fast.rules)
        self.senses = tuple(Senses(fast, role) for role in range(len(fast.roles))) if hidden else ()
        if stuck := stuck_roles(fast.initial_state()):
            raise GdlError(
                f"{self.game.name}: {no_move(fast.initial_state(), stuck)}", remedy="see `ggp validate`"
            )
        for agent, role in self._roles.items():
            if not fast.network.moves[role]:
                raise GdlError(
                    f"{agent} has no move in any state of {self.game.name}", remedy="see `ggp validate`"
                )
        self.turns = TurnTaking(fast)
        self._bases = len(fast.network.bases)

    @classmethod
    def of(
        cls,
        game: str | Path | Game | AdaptedGame,
        observation: str,
        machine: str,
        render_mode: str | None,
    ) -> AdaptedGame:
        """The game itself, or one for this source. Raises GdlError also for unknown render modes."""
        if render_mode is not None:
            check_render_mode(render_mode)
        return game if isinstance(game, AdaptedGame) else cls(game, observation=observation, machine=machine)

    def __reduce__(self) -> tuple[Any, ...]:
        return _load, (self.source, self.observation, self.level, self.game.name)

    def __deepcopy__(self, memo: object) -> Self:
        return self  # copies of an environment share all immutable data

    @property
    def name(self) -> str:
        """The game's name."""
        return self.game.name

    def role(self, agent: str) -> int:
        """The number of a role. Raises GdlError if there is none of this name."""
        role = self._roles.get(agent)
        if role is None:
            raise GdlError(f"the game has no role {agent}", remedy=f"its roles are {', '.join(self.agents)}")
        return role

    def actions(self, agent: str) -> int:
        """The number of moves that a role may ever make; its action ids begin at 0."""
        return len(self.machine.network.moves[self.role(agent)])

    def action_names(self, agent: str) -> list[str]:
        """A role's moves as GDL text, by id."""
        return [self.machine.rules.spell(move) for move in self.machine.network.moves[self.role(agent)]]

    @cached_property
    def planes(self) -> Planes:
        """The planes into which states are converted."""
        return Planes(self.machine)

    @cached_property
    def turns_seen(self) -> int:
        """The number of turns in an observation when information is hidden."""
        width = max(one.width for one in self.senses)
        return remembered(longest_match(self.machine.network) or _MOST_TURNS, width, MOST_NUMBERS)

    def shape_of(self, agent: str) -> tuple[int, ...]:
        """The shape of an agent's observation, of uint8."""
        if not self.senses:
            return self.shape
        return (self.turns_seen * self.senses[self.role(agent)].width,)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an observation of the whole state, of uint8."""
        if self.observation == "planes":
            return self.planes.shape
        bases = len(self.machine.network.bases)
        return (bases,) if self.observation == "bits" else ((bases + 7) // 8,)

    @property
    def highest(self) -> int:
        """The highest value in an observation; the lowest is 0."""
        return 255 if self.observation == "packed" else 1

    def observe(self, records: Words) -> NDArray[np.uint8]:
        """The observations, uint8 ``(n, *shape)``, of packed states (n, words). ``packed`` ones are views."""
        if self.observation == "packed":
            octets: NDArray[np.uint8] = np.ascontiguousarray(records, "<u8").view(np.uint8)
            return octets[:, : self.shape[0]]
        bits = unpack(records, len(self.machine.network.bases)).view(np.uint8)
        return self.planes.of_bits(bits) if self.observation == "planes" else bits

    def observe_state(self, state: State) -> NDArray[np.uint8]:
        """The observation of one state."""
        if self.observation == "bits":
            octets = np.frombuffer(cast(bytes, state.key), np.uint8)
            return np.unpackbits(octets, count=self._bases, bitorder="little")
        return np.array(self.observe(self.machine.records([state]))[0])

    def next_histories(self, histories: Sequence[bytes], state: State, joint: Sequence[int]) -> list[bytes]:
        """Each role's history (:class:`propnet.environments.senses.Senses`) after one more joint move; empty
        if no information is hidden."""
        if not self.senses:
            return []
        seen = self.machine.percepts(state, joint)
        return [
            history + one.turn(joint[one.role], seen[one.role])
            for history, one in zip(histories or [b""] * len(joint), self.senses, strict=True)
        ]

    def observe_role(self, role: int, state: State, histories: Sequence[bytes]) -> NDArray[np.uint8]:
        """A role's observation: the state, or its own last turns, newest first, if information is hidden."""
        if not self.senses:
            return self.observe_state(state)
        history = histories[role] if histories else b""
        return self.senses[role].vector(history, self.turns_seen)

    def draw(self, options: Sequence[Sequence[int]], numbers: np.random.Generator) -> int:
        """A uniformly random move of chance."""
        assert self.chance is not None
        moves = options[self.chance]
        return moves[int(numbers.integers(len(moves)))] if len(moves) > 1 else moves[0]

    def mask(self, role: int, moves: Sequence[int]) -> NDArray[np.int8]:
        """The mask of a role's legal moves, int8 (actions,), 1 for legal."""
        mask = bytearray(len(self.machine.network.moves[role]))
        for move in moves:  # faster than an array's indices: they are few
            mask[move] = 1
        return np.frombuffer(mask, np.int8)

    def rewards(self, state: State) -> list[float]:
        """Each agent's goal in a terminal state / 100; 0 where it has none."""
        machine = self.machine
        return [(machine.result(state, role) or 0) / 100 for role in self.players]

    def render(self, state: State, mode: str) -> str | NDArray[np.uint8]:
        """A state as text (``ansi``), as SVG (``svg``), or as pixels (``rgb_array``), uint8 (height, width,
        3).

        Raises GdlError for another mode, or if pixels need a package that is not installed.
        """
        check_render_mode(mode)
        if mode == "ansi":
            return state.board()
        if mode == "svg":
            return state._repr_svg_() or ""
        return raster(self._painter, state)

    @cached_property
    def _painter(self) -> SvgPainter:
        return SvgPainter.of_machine(self.machine, self.name)


def _fixed(source: str | Path) -> str | Path:
    """The source as an absolute path if it is a file: other processes may run in other folders."""
    return Path(source).resolve() if "(" not in str(source) and Path(source).exists() else source


def _load(source: str | Path, observation: str, level: str, name: str) -> AdaptedGame:
    """Load the game again after pickling."""
    text = str(source)
    game: str | Path | Game = Game(name, text) if isinstance(source, str) and "(" in text else source
    return AdaptedGame(game, observation=observation, machine=level)
