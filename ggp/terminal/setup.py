"""A match in this process: sets up machine, players and view, and prints it for people and programs, as rich
text, plain text or JSON lines.

Doubtful rules are reported first. A first match begins at once: a player without kernels plays until those of
the search are compiled. People who play in a match of hidden information see the knowledge of their roles.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

import orjson
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from gdl.checks.diagnostic import Severity
from gdl.checks.run import check_text
from gdl.errors import GdlError
from gdl.information import hides
from gdl.machine import Machine, State
from gdl.syntax.writer import OwnNotation
from gdl.terms import RANDOM
from gdl.visible import visible
from gdl.words import counted
from ggp.boards.looks import role_styles
from ggp.boards.spoken.ends import EndFinder
from ggp.boards.spoken.words import MoveWords
from ggp.boards.text import DrawnState, Painter
from ggp.console import new_console, spinner
from ggp.game import Game
from ggp.printing import show
from ggp.rule_files import loaded_files
from ggp.terminal.human import HumanPlayer
from ggp.warm import compile_behind, compile_missing
from players.belief.belief import SURE, Belief, likelihoods
from players.kaskade.kaskade import BOTTOM, FAILED, Event, Kaskade
from players.kaskade.player import KaskadePlayer
from players.kaskade.stages import exercise_answers
from players.kaskade.until_compiled import STAND_IN, UntilCompiled
from players.match import MatchStep, MatchView, Quit, doubts_of, play_match
from players.player import Candidate, Choice, Player
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
                progress.update(task, description=f"{name}: looking for a board")
                from ggp.sokoban.glyphs import in_unicode
                from ggp.terminal.drawing import painter_of

                colours, unicode = console.is_terminal, in_unicode(console)
                painter, level = painter_of(machine, name, colours=colours, unicode=unicode)

                def person() -> HumanPlayer:
                    # What words say depends on the moves that they have seen.
                    words = MoveWords(machine.rules, machine.roles, painter.board)
                    return HumanPlayer(show=console.print, width=console.width, words=words)

                players = self._players(kaskade, machine, person, compiled, cleanup)
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
            players = self._players(kaskade, machine, HumanPlayer, None, cleanup)
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
        person: Callable[[], HumanPlayer],
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
                players.append(person())
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


_SHOWN = 5
_BAR = 24
_MOST_BESIDE = 60
_INDENT = 2
_VISITS = 18
"""Characters of a column."""


class TextView(MatchView):
    """Prints a match; in a terminal with colours, and with the search while it runs. ``painter`` draws the
    states; each is shown for at least ``delay`` seconds."""

    def __init__(
        self,
        console: Console,
        machine: Machine,
        players: Sequence[Player],
        painter: Painter,
        delay: float = 0.0,
    ) -> None:
        super().__init__(machine, players)
        self._words = MoveWords(machine.rules, machine.roles, painter.board)
        self._state = machine.initial_state()
        self.console = console
        self.painter = painter
        self._own = OwnNotation(machine.rules)
        self._styles = role_styles(machine.roles)
        self._delay = delay
        self._shown_at = 0.0
        self._live: Live | None = None
        if painter.legend:
            legend = Text("pieces: ", "dim")
            for glyph, meaning, style in painter.legend[:20]:
                legend.append(glyph, style).append(f" {meaning}  ")
            console.print(legend)

    def preparing(self, role: int, deadline: float) -> None:
        self._watch(role, deadline, "prepares")

    def position(self, steps: int, state: State, before: State | None) -> None:
        self.close()
        self._state = state
        pause = self._shown_at + self._delay - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        drawing = self.painter.draw_state(state, self.console.width - _INDENT, before)
        self.console.print()
        self.console.print(Text(f"after {counted(steps, 'step')}" if steps else "at first", "bold"))
        self.console.print(self._picture(drawing))
        self._shown_at = time.monotonic()

    def thinking(self, role: int, deadline: float) -> None:
        self.close()
        if not isinstance(self.players[role], HumanPlayer):
            self._watch(role, deadline, "thinks")

    def move_name(self, role: int, move: int) -> str:
        """A move in words, as the list of moves has it."""
        text = self._words.texts(self._state, role).get(move)
        return text or self._own.term(self.machine.move(role, move))

    def step(self, step: MatchStep) -> None:
        super().step(step)
        self.close()
        moves = []
        words = self._words.joint(step.state, step.joint)
        for role, text in enumerate(words):
            choice = step.choices.get(role)
            if choice and (choice.note or choice.candidates):
                self.console.print(self._search(role, choice))
            if text is None and role not in step.late and any(words):
                continue  # This role only waits.
            name = f"{self.roles[role]} " if len(self.roles) > 1 or self.console.width > 30 else ""
            said = text or self._own.term(self.machine.move(role, step.joint[role]))
            moves.append(Text.assemble((name, "dim"), (said, self._style(role) if choice else "dim")))
            if role in step.late:
                moves[-1].append(f" ({step.late[role]:.1f} s late)", "yellow")
        self.console.print(Text(f"step {step.number}: ", "bold") + Text(", ").join(moves))

    def note(self, text: str) -> None:
        self.close()
        self.console.print(Text(text, "yellow"))

    def end(self, state: State, steps: int, why: str) -> None:
        self.close()
        self.console.print()
        for text in (why, *doubts_of(state), *self.lateness):
            if text:
                self.console.print(Text(text, "yellow"), soft_wrap=True)
        # A state in which a match is cut short has goal values too, but they are not a result.
        over = self.machine.is_terminal(state)
        if over and (reason := EndFinder(self.machine, self.painter.board).ending(state).text):
            self.console.print(Text(reason, "bold"))
        line = Text("result: " if over else "no result; goal values so far: ", "bold")
        scored = [(role, goal) for role, goal in enumerate(state.goals.values()) if role != self.chance]
        for place, (role, goal) in enumerate(scored):
            line.append(", " if place else "").append(f"{self.roles[role]} ({self.players[role].name}) ")
            text = ("undefined" if over else "none") if goal is None else str(goal)
            line.append(text, "bold green" if over and goal == 100 else "bold")
        self.console.print(line)
        self.console.print(Text(f"{counted(steps, 'step')}, {self.seconds:.1f} s", "dim"))

    def _style(self, role: int) -> str:
        return self._styles[role]

    def _picture(self, drawing: DrawnState) -> RenderableType:
        lines: list[RenderableType] = []
        for spans in drawing.lines:
            line = Text.assemble(" " * _INDENT, *spans)
            line.rstrip()
            lines.append(line)
        if drawing.beside:
            most = _MOST_BESIDE if drawing.lines else 4 * _MOST_BESIDE
            shown = " ".join(drawing.beside[:most])
            if len(drawing.beside) > most:
                shown += f" ... and {len(drawing.beside) - most} more"
            lines.append(Text(f"  {shown}", "dim" if drawing.lines else ""))
        return Group(*lines)

    def _search(self, role: int, choice: Choice) -> RenderableType:
        """The candidates of a choice as a table, and the player's note."""
        parts: list[RenderableType] = []
        if choice.candidates:
            table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
            most = max(c.visits for c in choice.candidates) or 1
            for candidate in choice.candidates[:_SHOWN]:
                chosen = candidate.move == choice.move
                name = ("> " if chosen else "  ") + self.move_name(role, candidate.move)
                length = max(1 if candidate.visits else 0, round(_BAR * candidate.visits / most))
                bar = ("█" if self.console.is_terminal else "#") * length
                table.add_row(
                    Text(name, self._style(role) if chosen else ""),
                    Text(f"{bar:<{_BAR}}", "green" if chosen else "dim"),
                    Text(_visits(candidate), "dim"),
                    Text("" if candidate.value is None else f"expects {candidate.value:5.1f} of 100"),
                )
            parts.append(table)
            if len(choice.candidates) > _SHOWN:
                parts.append(Text(f"  and {counted(len(choice.candidates) - _SHOWN, 'other move')}", "dim"))
        if choice.note:
            parts.append(Text(f"  {self.roles[role]} ({self.players[role].name}): {choice.note}", "dim"))
        return Group(*parts)

    def _watch(self, role: int, deadline: float, what: str) -> None:
        player = self.players[role]
        if not (self.console.is_terminal and player.reports):
            return
        self.close()
        began = time.monotonic()
        head = Text(f"{self.roles[role]} ({player.name}) {what}", self._style(role))

        def picture(choice: Choice | None) -> RenderableType:
            share = min(1.0, (time.monotonic() - began) / max(deadline - began, 1e-6))
            bar = Text("━" * round(_BAR * share), "green").append("━" * (_BAR - round(_BAR * share)), "dim")
            return Group(head, bar, *([self._search(role, choice)] if choice else []))

        live = Live(picture(None), console=self.console, transient=True, auto_refresh=False)
        live.start()
        self._live, self._player = live, player
        player.on_progress = lambda choice: live.update(picture(choice), refresh=True)

    def close(self) -> None:
        """Restore the terminal: the search is no longer shown."""
        if self._live is not None:
            self._live.stop()
            self._live = None
            self._player.on_progress = None


def _visits(candidate: Candidate) -> str:
    if candidate.value is None:
        return "not visited yet".rjust(_VISITS)
    return counted(candidate.visits, "visit").rjust(_VISITS) if candidate.visits else ""


class JsonView(MatchView):
    """Prints a match as JSON: a line for the game (``game`` is its name), one per step, one for the result.
    ``write`` takes lines, line ends included."""

    def __init__(
        self, machine: Machine, players: Sequence[Player], game: str, write: Callable[[bytes], object]
    ) -> None:
        super().__init__(machine, players)
        self._write = write
        names = [player.name for player in players]
        self._line(type="game", game=game, machine=machine.level, roles=self.roles, players=names)

    def step(self, step: MatchStep) -> None:
        super().step(step)
        self._line(
            type="step",
            step=step.number,
            state=self._state(step.state),
            joint=[self.move_name(role, move) for role, move in enumerate(step.joint)],
            seconds=round(step.seconds, 3),
            late={self.roles[role]: round(late, 3) for role, late in step.late.items()},
            search=[
                {
                    "role": self.roles[role],
                    "note": choice.note,
                    "candidates": [
                        {"move": self.move_name(role, c.move), "visits": c.visits, "value": c.rounded(2)}
                        for c in choice.candidates
                    ],
                }
                for role, choice in step.choices.items()
            ],
        )

    def note(self, text: str) -> None:
        self._line(type="note", text=text)

    def end(self, state: State, steps: int, why: str) -> None:
        self._line(
            type="result",
            steps=steps,
            terminal=self.machine.is_terminal(state),
            state=self._state(state),
            goals=state.goals,
            why=why,
            doubts=[*doubts_of(state), *self.lateness],
            seconds=round(self.seconds, 3),
        )

    def _state(self, state: State) -> list[str]:
        return [self.machine.rules.spell(p) for p in sorted(state.propositions)]

    def _line(self, **fields: object) -> None:
        self._write(orjson.dumps(fields))


class BlindView(TextView):
    """Prints the percepts of the people at the terminal and the facts that are sure for them; the full state
    only after the last move."""

    def position(self, steps: int, state: State, before: State | None) -> None:
        self.close()
        if not steps or self.machine.is_terminal(state):
            super().position(steps, state, before)

    def move_name(self, role: int, move: int) -> str:
        """A move in words that depend on nothing but the role's own moves."""
        return self._words.of_terms([self.machine.move(role, move)], role)[0]

    def thinking(self, role: int, deadline: float) -> None:
        """Show nothing: the search of another player would reveal its knowledge."""
        self.close()

    def step(self, step: MatchStep) -> None:
        MatchView.step(self, step)
        own = [role for role, player in enumerate(self.players) if isinstance(player, HumanPlayer)]
        moves = [
            Text.assemble((f"{self.roles[role]} ", "dim"), self.move_name(role, step.joint[role]))
            for role in own
            if role in step.choices
        ]
        line = Text(", ").join(moves) if moves else Text("the others move", "dim")
        self.console.print(Text(f"step {step.number}: ", "bold") + line)

    def perceived(self, role: int, belief: Belief) -> None:
        if not isinstance(self.players[role], HumanPlayer):
            return
        seen = " ".join(map(self._own.term, sorted(belief.history[-1].percepts))) or "nothing"
        self.console.print(Text.assemble((f"{self.roles[role]} sees: ", "bold"), seen), soft_wrap=True)
        count = counted(len(belief), "state")
        if not belief.exact:
            self.console.print(Text(f"  more than {count} are possible", "dim"))
            return
        sure = [term for term, share in likelihoods(belief).items() if share >= SURE]
        drawing = self.painter.draw_state(self.machine.state_of(sure), self.console.width - 2, None)
        self.console.print(Text(f"  sure, in all of {count} that are possible:", "dim"))
        self.console.print(self._picture(drawing))
