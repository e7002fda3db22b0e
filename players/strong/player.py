"""The tables player: plays perfectly from a table of its game, and leaves other games to another player."""

from __future__ import annotations

from itertools import product
from typing import Any

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.words import counted
from players.options import Option
from players.player import Candidate, Choice, Player
from players.registry import make_player, with_option
from players.strong.choice_kernels import UNKNOWN
from players.strong.outcomes import Outcomes
from players.strong.tables import StateValue, Tables


class TablesPlayer(Player):
    """Plays the move with the best outcome for its role, whatever the others do. It takes the shortest way to
    an outcome above 50, the longest way to others. If its table lacks the state, or is for other rules, the
    player ``otherwise`` moves."""

    name = "tables"
    OPTIONS = (
        Option("dir", str, None, "folder of the table, made by ggp tabulate"),
        Option("otherwise", str, "uct", "the kind of player for states that the table does not have"),
        Option("workers", str, None, "search processes of that player"),
        Option("ponder", str, None, "whether these go on while the others think"),
        Option("playouts", int, None, "playouts per turn after which that player stops early"),
    )

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        super().__init__(seed=seed, **options)
        self.playouts: int | None = self.options["playouts"]
        self._tables: Tables | None = None
        self._why = ""
        self._other: Player | None = None

    def start(self, machine: Machine, role: int, state: State, startclock: float, deadline: float) -> None:
        self.machine, self.role = machine, role
        self._tables, self._why = None, ""
        try:
            self._tables = self._open(machine)
            self._outcomes = Outcomes(len(machine.roles), self._tables.outcomes)
            if self._tables.value(state) is None:
                self._why = "the table does not have the start of this match"
        except (GdlError, OSError) as error:
            self._tables, self._why = None, f"no table: {error}"
        if self._why:
            self.found_out(f"{self._why}; {self.options['otherwise']} plays")
            self._begin_other(state, startclock, deadline)

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        choice = self._from_table(state, options)
        if choice is not None:
            return choice
        why = self._why or "the table does not have this state"
        if self._other is None:
            self.found_out(f"{why}; {self.options['otherwise']} plays")
            self._begin_other(state, 0.0, deadline)
        assert self._other is not None
        found = self._other.choose(state, deadline)
        return Choice(found.move, found.candidates, f"{why}: {found.note or self._other.name}")

    def update_machine(self, machine: Machine) -> None:
        super().update_machine(machine)
        if self._other is not None:
            self._other.update_machine(machine)

    def share(self, workers: int, ponder: bool) -> None:
        if self._other is not None:
            self._other.share(workers, ponder)

    def stop(self) -> None:
        if self._other is not None:
            self._other.stop()
        self._other = self._tables = None

    def _open(self, machine: Machine) -> Tables:
        folder = self.options["dir"]
        if not folder:
            raise GdlError("no folder was named", remedy="tables:dir=DIR")
        tables = Tables.open(folder)
        tables.check_rules(machine.rules)
        return tables

    def _begin_other(self, state: State, startclock: float, deadline: float) -> None:
        """Let the other player take over from this state on."""
        name = self.options["otherwise"]
        for key in ("workers", "ponder", "playouts"):
            value = self.playouts if key == "playouts" else self.options[key]
            if value is not None:
                name = with_option(name, key, ("no", "yes")[value] if isinstance(value, bool) else value)
        self._other = make_player(name, self.seed)
        self._other.interrupted = self.interrupted
        self._other.start(self.machine, self.role, self.machine.own_state(state), startclock, deadline)

    def _from_table(self, state: State, options: list[int]) -> Choice | None:
        """The best of the moves; None if the table lacks a state that may follow."""
        if self._tables is None:
            return None
        machine = self.machine
        others = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        found: list[tuple[int, int, StateValue]] = []
        for move in self.in_order(options):
            worst: tuple[int, StateValue] | None = None
            for joint in product(*others[: self.role], [move], *others[self.role + 1 :]):
                value = self._tables.value(machine.next_state(state, joint))
                if value is None:
                    return None
                liking = self._liking(value)
                if worst is None or liking < worst[0]:
                    worst = liking, value
            if worst is None:
                return None
            found.append((worst[0], move, worst[1]))
        found.sort(key=lambda row: -row[0])
        _, best, value = found[0]
        goals = [(move, v.goals[self.role]) for _, move, v in found]
        candidates = tuple(Candidate(move, 0, float(goal) if goal >= 0 else None) for move, goal in goals)
        left = value.distance
        ends = "need not end" if left is None else f"ends after {counted(left + 1, 'move')}"
        return Choice(best, candidates, f"from the table: {_goal_text(value.goals[self.role])}, {ends}")

    def _liking(self, value: StateValue) -> int:
        distance = UNKNOWN if value.distance is None else value.distance
        rank = int(self._outcomes.ranks[self.role, value.outcome])
        return rank * (UNKNOWN + 1) * 2 + int(self._outcomes.longer[self.role, value.outcome]) * distance


def _goal_text(goal: int) -> str:
    return str(goal) if goal >= 0 else "no goal value"
