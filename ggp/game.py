"""`Game`: rules by name, path or text, the machines that run them, and players for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from threading import TIMEOUT_MAX
from typing import TYPE_CHECKING

from gdl.errors import GdlError, ParseError, real_number
from gdl.machine import Machine, State
from gdl.reading import plain
from gdl.rules import Rules
from gdl.syntax.notation import Notation, form_of
from gdl.syntax.parser import parse_rules
from gdl.visible import visible
from gdl.words import counted
from ggp.rule_files import find_rules_file, generated_rules, loaded_files, read_rules_file
from players.plugins import plugins

if TYPE_CHECKING:
    from ggp.in_code import GamePlayer, PlayedMatch, PlayerSource
    from players.kaskade.player import ClimbingStates


__all__ = ["Game", "State", "load"]


class Game:
    """One game: its rules, and machines made on demand.

    >>> game = load("tictactoe")
    >>> game.name, len(game.rules), game.kif == game.text
    ('tictactoe', 33, True)
    >>> game.ready(), game.initial, game.machine("prover")
    (True, <State (control x)>, <Machine tictactoe: prover>)
    >>> game.player("random", "x").choose(game.initial)
    {'x': '(mark ...)'}
    >>> game.play(["random", "random"], seed=1)
    <PlayedMatch of ... steps: x random ..., o random ...>

    Attributes:
        name: the file's stem, printable; for a level of several with its number; ``game`` for rules as text.
        rules: the parsed rules.
        text: the rules as they were written, comments included.
    """

    def __init__(self, name: str, text: str, notation: Notation = "auto") -> None:
        """Parse ``text``; its notation is detected unless it is given. Raises ParseError."""
        name = visible(name)
        self.name = name
        self.text = plain(text)
        self.rules: Rules = parse_rules(text, name, notation)
        self._machines: dict[str, Machine] = {}
        self._draw: Callable[[State], str] | None = None
        self._draw_svg: Callable[[State], str] | None = None

    @property
    def kif(self) -> str:
        """The rules in KIF, as game managers send them: the text itself if it is KIF."""
        if self.rules.notation == "kif":
            return self.text
        from gdl.syntax.format import to_kif

        return to_kif(self.rules)

    @classmethod
    def load(cls, source: str | Path) -> Game:
        """A game from an installed game's name (``sokoban``), a path, or rules as text.

        ``FILE.xsb`` and ``FILE.xsb:N`` are the first and the N-th Sokoban level of a file (also .sok, .slc,
        .txt), one step of the keeper per move; ``FILE.txt:N`` may also be a level of Snakes. Files are looked
        for in games/levels too.

        >>> Game.load("(role you) (init here) (legal you wait) (next there) (<= terminal (true there))")
        <Game game: 5 rules>

        Raises:
            GdlError: no such game, file or level (the error names similar ones), or a broken level.
            ParseError: the rules cannot be read.
        """
        if not isinstance(source, str | Path) or source == "":
            given = "an empty text" if source == "" else repr(source)
            raise GdlError(
                f"a game's name, its file or its rules were expected, not {given}",
                remedy="`ggp games` lists the names",
            )
        text = str(source)
        if rules := generated_rules(text):
            return cls(*rules)
        if isinstance(source, str) and "(" in text:
            return cls("game", text)
        path = find_rules_file(text)
        try:
            text = read_rules_file(path)
            game = cls(path.stem, text, notation=form_of(text, name=path.name).name)
        except ParseError as error:
            error.source = str(path)
            raise
        loaded_files[game.name] = path
        return game

    def machine(self, level: str = "auto") -> Machine:
        """The game's machine of a level, made once and kept.

        It is built here and now, however long that takes within the limits. Players in matches do
        not wait: they begin on the prover and go up as a :class:`players.kaskade.kaskade.Kaskade` has
        machines ready.

        Args:
            level: one of :data:`players.kaskade.LEVELS`. ``prover`` is ready at once; ``auto``
                is the furthest that can be built.

        Raises:
            RulesError: the rules cannot be played.
            TooLargeError: another level than ``auto`` was asked for and the game is too large for it.
        """
        if level not in self._machines:
            from players.kaskade.make_machine import make_machine

            self._machines[level] = machine = make_machine(self.rules, level)
            self._let_draw(machine)
        return self._machines[level]

    @property
    def initial(self) -> State:
        """The first state: at once, by the prover in games that take long to ground. These are grounded in
        the background meanwhile, and new states are 2 to 100 times as fast after that (:meth:`ready`).

        Raises RulesError if the rules cannot be played.
        """
        return self._climb.initial_state()

    def ready(self, seconds: float | None = None) -> bool:
        """Wait, at most ``seconds``, until :attr:`initial` and its successors use the fastest machine.
        Returns whether they do. They never do in games that do not ground within the limits."""
        if seconds is not None:
            real_number(seconds, "seconds", 0, TIMEOUT_MAX)
        return self._climb.ready(seconds)

    @cached_property
    def _climb(self) -> ClimbingStates:
        from players.kaskade.player import ClimbingStates

        return ClimbingStates(self.rules, self.kif, self._let_draw)

    def _let_draw(self, machine: Machine) -> None:
        """Have the machine's states drawn as this game's are."""
        if self._draw is None:
            self._draw = _Painter("text", self.name)
            self._draw_svg = _Painter("svg", self.name)
        machine.draw = self._draw
        machine.draw_svg = self._draw_svg

    def player(
        self, name: PlayerSource, role: str | None = None, *, seed: int = 0, machine: str = "auto"
    ) -> GamePlayer:
        """A player that is asked for moves in states of this game: ``game.player("uct").choose(state)``.

        Args:
            name: ``uct``, ``uct:playouts=1000``, ``module:Class`` (the module may lie in the current folder),
                or a subclass of :class:`players.player.Player`.
            role: whose moves it chooses; those of all roles by default.
            seed: what its randomness comes from.
            machine: level of the machine that it thinks on.

        Raises:
            GdlError: there is no such player or role.
        """
        from ggp.in_code import GamePlayer

        return GamePlayer(self.machine(machine), name, role, seed)

    def play(
        self,
        players: Sequence[PlayerSource],
        *,
        seconds: float = 1.0,
        startclock: float = 1.0,
        seed: int = 0,
        machine: str = "auto",
        max_steps: int | None = None,
        watch: Callable[[State], object] = lambda state: None,
    ) -> PlayedMatch:
        """A match in this process; the players think one after the other.

        Args:
            players: one per role, as for :meth:`player`.
            seconds: for each move; a role with a single legal move makes it without being asked.
            startclock: seconds before the first move, for all players together.
            seed: what the players' randomness comes from.
            machine: level of the machine that it is played on.
            max_steps: stop after this many joint moves.
            watch: called with each state that is reached.

        Raises:
            GdlError: there is no such player, there are not as many as roles, or one chose no legal move.
        """
        from ggp.in_code import play_in_code

        return play_in_code(self.machine(machine), players, seconds, startclock, seed, max_steps, watch)

    def _repr_html_(self) -> str:
        """The first state in a notebook, with the game's name and roles below it."""
        from html import escape

        machine = self.machine("prover")
        roles = ", ".join(map(machine.rules.spell, machine.roles))
        words = escape(f"{self.name}: {roles}; {counted(len(self.rules), 'rule')}")
        drawing = machine.initial_state()._repr_svg_() or ""
        return f"<figure>{drawing}<figcaption>{words}</figcaption></figure>"

    def __repr__(self) -> str:
        return f"<Game {self.name}: {len(self.rules)} rules>"


class _Painter:
    """Draws the states of one game by a plugin of ``kaskade.painters``, imported for the first state."""

    def __init__(self, kind: str, name: str) -> None:
        self._kind, self._name = kind, name
        self._draw: Callable[[State], str] | None = None

    def __call__(self, state: State) -> str:
        if self._draw is None:
            self._draw = plugins("painters")[self._kind].load()(state.machine, self._name)
        return self._draw(state)


load = Game.load
"""A game by name, path or text, as :meth:`Game.load` finds it."""
