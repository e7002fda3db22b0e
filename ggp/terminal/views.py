"""Output of a match in this process, for people and programs: rich text, plain text, JSON lines.

People who play in a match of hidden information see the knowledge of their roles.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import orjson
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gdl.machine import Machine, State
from gdl.syntax.writer import OwnNotation
from gdl.words import counted
from ggp.boards.looks import role_styles
from ggp.boards.text import DrawnState, Painter
from ggp.terminal.human import HumanPlayer
from players.belief.belief import SURE, Belief, likelihoods
from players.match import MatchStep, MatchView, doubts_of
from players.player import Candidate, Choice, Player

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
        """A move as the author of the rules writes it."""
        return self._own.term(self.machine.move(role, move))

    def step(self, step: MatchStep) -> None:
        super().step(step)
        self.close()
        moves = []
        for role, move in enumerate(step.joint):
            choice = step.choices.get(role)
            if choice and (choice.note or choice.candidates):
                self.console.print(self._search(role, choice))
            name = f"{self.roles[role]} " if len(self.roles) > 1 or self.console.width > 30 else ""
            text = (self.move_name(role, move), self._style(role) if choice else "dim")
            moves.append(Text.assemble((name, "dim"), text))
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
