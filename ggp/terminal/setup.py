"""Sets up a match in this process: machine, players, view; reports doubtful rules first. A first match begins
at once: a player without kernels plays until those of the search are compiled."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from rich.progress import Progress
from rich.text import Text

from gdl.checks.diagnostic import Severity
from gdl.checks.run import check_text
from gdl.errors import GdlError
from gdl.information import hides
from gdl.machine import Machine
from gdl.terms import RANDOM
from gdl.visible import visible
from gdl.words import counted
from ggp.console import new_console, spinner
from ggp.game import Game
from ggp.printing import show
from ggp.rule_files import loaded_files
from ggp.terminal.human import HumanPlayer
from ggp.terminal.views import BlindView, JsonView, TextView
from ggp.warm import compile_behind, compile_missing
from players.kaskade.kaskade import BOTTOM, FAILED, Event, Kaskade
from players.kaskade.player import KaskadePlayer
from players.kaskade.stages import exercise_answers
from players.kaskade.until_compiled import STAND_IN, UntilCompiled
from players.match import Quit, play_match
from players.player import Player
from players.processes.limits import cores
from players.registry import check_name, fitting, make_player
from players.warm_kernels import NETWORK, match_parts, parts_for
from propnet.capabilities import lane_machine
from propnet.jit.parts import folder_of_parts, missing

_NEEDS_NO_KERNELS = frozenset(("human", "random", "legal"))


def can_wait(names: Collection[str]) -> bool:
    """Whether these players can begin without kernels: some of them search by the clock, and the others need
    no kernels. A player with a number of playouts cannot, since its match must be repeatable."""
    searching = [name for name in names if name.partition(":")[0] not in _NEEDS_NO_KERNELS]
    return bool(searching) and all(
        name.partition(":")[0] == "uct" and "playouts" not in name for name in searching
    )


def doubts(game: Game) -> str:
    """The worst finding of the checks about the rules, in one line with the counts; empty if there is none.
    Notes do not count."""
    found = [d for d in check_text(game.text, game.name)[1] if d.severity > Severity.INFO]
    if not found:
        return ""
    counts = Counter(d.severity for d in found)
    numbers = ", ".join(counted(counts[severity], str(severity)) for severity in sorted(counts, reverse=True))
    path = visible(str(loaded_files.get(game.name, game.name)))
    first = found[0]
    return (
        f"{path}:{first.place}: these rules are doubtful: {first.message}"
        f" ({numbers}; see `ggp validate {path}`)"
    )


HUMAN = "human"
_PLAYOUTS = 200
"""Playouts per turn of the stand-in: enough not to miss a win in small games, and few enough to leave the
processors to the compilers."""
_LEVEL = "auto"
"""The furthest machine."""
_BEHIND = f"uct is being compiled in the background, once; until then {STAND_IN} moves in its place"


@dataclass(frozen=True, slots=True)
class LocalMatch:
    """A match to be played.

    Attributes:
        names: the players, in role order; roles may be left out.
        prepared_by: end of the startclock; time.monotonic() seconds.
        playclock: seconds for each move.
        seed: random seed of the players.
        max_steps: stop after this many joint moves.
        workers: search processes per player.
    """

    game: Game
    names: Sequence[str]
    prepared_by: float
    playclock: float
    seed: int
    max_steps: int | None
    workers: int

    def print(self, delay: float) -> bool:
        """Play the match and print it for people; each state is shown for ``delay`` seconds at least. Returns
        whether a role got stuck. Raises KeyboardInterrupt if a person leaves."""
        console = new_console(soft_wrap=not sys.stdout.isatty())
        name = self.game.name
        with ExitStack() as cleanup:
            with spinner(console) as progress:
                task = progress.add_task(f"{name}: reading the rules")

                def show_event(event: Event) -> None:
                    progress.update(task, description=f"{name}: {event}")
                    if event.what == FAILED:
                        console.print(Text(str(event), "yellow"))

                began = time.monotonic()
                compiled = self._compile_behind(cleanup)
                if compiled is not None:
                    console.print(_BEHIND, style="dim")
                    kaskade = self._kaskade(BOTTOM, cleanup)
                    machine = kaskade.best()
                else:
                    self._compile_network(progress)
                    kaskade = self._kaskade(_LEVEL, cleanup, show_event)
                    machine = self._first_machine(kaskade)
                    self._compile(machine, progress)
                prepared_by = self.prepared_by + time.monotonic() - began
                players = self._players(kaskade, machine, console.print, console.width, compiled, cleanup)
                progress.update(task, description=f"{name}: looking for a board")
                from ggp.sokoban.glyphs import in_unicode
                from ggp.terminal.drawing import painter_of

                colours, unicode = console.is_terminal, in_unicode(console)
                painter, level = painter_of(machine, name, colours=colours, unicode=unicode)
            spell = machine.rules.spell
            who = ", ".join(f"{spell(r)}: {p.name}" for r, p in zip(machine.roles, players, strict=True))
            console.print(Text.assemble((name, "bold"), f" on the {machine.level} machine; {who}"))
            blind = hides(machine.rules) and any(isinstance(player, HumanPlayer) for player in players)
            view = (BlindView if blind else TextView)(console, machine, players, painter, delay)
            cleanup.callback(view.close)
            try:
                match = play_match(machine, players, view, prepared_by, self.playclock, self.max_steps)
            except Quit:
                raise KeyboardInterrupt from None
            if level is not None:
                from ggp.sokoban.findings import show_epilogue

                show_epilogue(console, level, list(map(level.position, match.states)), players[0].name)
            return bool(match.stuck)

    def print_json(self) -> bool:
        """Play the match and print it as JSON lines, each flushed at once. Returns whether a role got
        stuck."""

        with ExitStack() as cleanup:
            began = time.monotonic()
            with spinner(new_console(stderr=True)) as progress:
                self._compile_network(progress)
                kaskade = self._kaskade(_LEVEL, cleanup)
                machine = self._first_machine(kaskade)
                self._compile(machine, progress)
            prepared_by = self.prepared_by + time.monotonic() - began
            players = self._players(kaskade, machine, show, 80, None, cleanup)
            view = JsonView(machine, players, self.game.name, show)
            match = play_match(machine, players, view, prepared_by, self.playclock, self.max_steps)
            return bool(match.stuck)

    def _compile_behind(self, cleanup: ExitStack) -> Callable[[], bool] | None:
        """Compile in the background, during the match, the kernels that it needs. Returns a function that
        says whether this is done. Returns None if nothing is missing, if the result could not be stored, or
        if kernels must be compiled first, as for puzzles, which only a search solves."""
        if hides(self.game.rules) or folder_of_parts() is None:
            return None
        roles = self.game.machine("prover").roles
        if len(roles) < 2 or not can_wait(seats(self.names, [str(role) for role in roles])):
            return None
        parts = missing(parts_for(["uct"]))
        if not parts:
            return None
        process = compile_behind(parts)
        cleanup.callback(process.wait)
        cleanup.callback(process.kill)
        # If the folder is read-only, only the end of the process shows that it is done.
        return lambda: process.poll() is not None or not missing(parts)

    def _compile_network(self, progress: Progress) -> None:
        """Compile the kernels of every machine above the prover, before any is built."""
        compile_missing(NETWORK, cores(), progress)

    def _compile(self, machine: Machine, progress: Progress) -> None:
        """Compile the kernels that our players need in this game, before any clock runs."""
        if lane_machine(machine) is not None:
            players = seats(self.names, [str(role) for role in machine.roles])
            compile_missing(match_parts(machine, players), cores(), progress)

    def _kaskade(
        self, level: str, cleanup: ExitStack, on_event: Callable[[Event], None] | None = None
    ) -> Kaskade:
        """Start building the game's machines up to this level."""
        kaskade = cleanup.enter_context(Kaskade(level, on_event=on_event, exercise=exercise_answers))
        kaskade.begin(self.game.text, self.game.rules)
        return kaskade

    def _first_machine(self, kaskade: Kaskade) -> Machine:
        """The machine on which the match begins: the first above the prover, or else the prover."""
        kaskade.wait(next(iter(kaskade.levels), BOTTOM))
        return kaskade.best()

    def _players(
        self,
        kaskade: Kaskade,
        machine: Machine,
        show: Callable[[str], None],
        width: int,
        compiled: Callable[[], bool] | None,
        cleanup: ExitStack,
    ) -> list[Player]:
        roles = [machine.rules.spell(role) for role in machine.roles]
        names = seats(self.names, roles, fitting("uct", machine))
        # Our players think in turn: only a single one may also think while others do.
        ponder = sum(name not in (HUMAN, "random", "legal") for name in names) == 1
        players: list[Player] = []
        for role, name in enumerate(names):
            seed = self.seed * 64 + role
            if name == HUMAN:
                players.append(HumanPlayer(show=show, width=width))
                continue
            make = partial(make_player, name, seed, workers=self.workers, ponder=ponder)
            if compiled is not None and can_wait([name]):

                def climbing(make: Callable[[], Player] = make) -> Player:
                    return KaskadePlayer(make(), self._kaskade(_LEVEL, cleanup))

                stand_in = make_player(f"{STAND_IN}:playouts={_PLAYOUTS}", seed)
                players.append(UntilCompiled(name, stand_in, climbing, compiled))
            else:
                players.append(KaskadePlayer(make(), kaskade))
        return players


def check_names(names: Sequence[str], as_json: bool) -> None:
    """Raise GdlError for unknown players, and for a person together with JSON output."""
    for name in names:
        if name != HUMAN:
            check_name(name)
    if as_json and HUMAN in names:
        raise GdlError("--json leaves no room for a person's prompts", remedy="leave out one of them")


def seats(names: Sequence[str], roles: Sequence[str], ours: str = "uct") -> list[str]:
    """The player's name for each role: the given names, and a suitable player for roles left out, ``ours``
    among them. Chance, the role ``random``, draws its moves and needs no name. Raises GdlError if there are
    more names than roles."""
    playing = [role for role in roles if role.lower() != RANDOM.name]
    if len(names) > len(playing):
        raise GdlError(
            f"{counted(len(names), 'player')} for {counted(len(playing), 'role')}",
            remedy=f"the roles are {', '.join(playing)}",
        )
    rest = ours if names and all(name == HUMAN for name in names) else "random"
    given = names or [ours]
    seated = iter([*given, *[rest] * (len(playing) - len(given))])
    return [next(seated) if role in playing else "random" for role in roles]
