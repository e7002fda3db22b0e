"""What random playouts and ground rules say about rules, as diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gdl.checks.diagnostic import Diagnostic, Evidence, Kind, Severity
from gdl.errors import Place
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.writer import OwnNotation
from gdl.terms import GOAL, INIT, LEGAL, NEXT, TERMINAL, Term
from gdl.words import counted
from players.rehearsal.walks import Trail, Walks

PLAYED_KINDS: dict[str, Kind] = {}
"""Every kind of finding that playing can give, by its code."""


def _kind(severity: Severity, code: str, remedy: str) -> Kind:
    return PLAYED_KINDS.setdefault(code, Kind(code, severity, remedy))


STUCK_ROLE = _kind(Severity.ERROR, "stuck-role", "write a legal rule for this state, or make it terminal")
GOAL_UNDEFINED = _kind(Severity.WARNING, "goal-undefined", "write goal rules that cover every terminal state")
GOAL_AMBIGUOUS = _kind(Severity.WARNING, "goal-ambiguous", "make the goal rules of a role exclude each other")
NEVER_TERMINAL = _kind(
    Severity.WARNING, "never-terminal", "make terminal come true in every match, by a step counter if need be"
)
CANNOT_WIN = _kind(Severity.WARNING, "cannot-win", "write a goal rule that is worth 100 and can hold")
NEVER_WON = _kind(Severity.INFO, "never-won", "see whether it can be reached at all")
STATE_OUTSIDE_BASE = _kind(
    Severity.WARNING, "state-outside-base", "write a base rule for it, or drop them all"
)
MOVE_OUTSIDE_INPUT = _kind(
    Severity.WARNING, "move-outside-input", "write an input rule for it, or drop them all"
)
PLAYED_SHORT = _kind(Severity.INFO, "played-short", "give more --seconds")


@dataclass(frozen=True, slots=True)
class GoalBounds:
    """What ground rules say of the end: per role its highest possible goal, None for none at all; and whether
    a terminal state is possible."""

    highest: tuple[int | None, ...]
    can_end: bool


class Findings:
    """Turns what was seen in playouts of some rules into findings."""

    def __init__(self, rules: Rules, walks: Walks) -> None:
        self.rules = rules
        self.walks = walks
        self._machine = walks.machine
        self._own = OwnNotation(rules)
        self._roles = [self._own.term(role) for role in walks.machine.roles]
        self._prover: ProverMachine | None = None

    def of_play(self) -> Iterator[Diagnostic]:
        """Roles that are stuck, ends without one goal value for each role, matches that do not end."""
        walks = self.walks
        for role, trail in walks.stuck.items():
            message = f"{self._roles[role]} has no legal move {_after(trail)}, and the match is not over"
            yield STUCK_ROLE.at(self._place(LEGAL, role), message, self._evidence(trail))
        for role, trail in walks.without_goal.items():
            message = f"{self._roles[role]} has no goal value at an end, {_after(trail)}"
            yield GOAL_UNDEFINED.at(self._place(GOAL, role), message, self._evidence(trail))
        for role, trail in walks.several_goals.items():
            values = " and ".join(map(str, sorted(self._goal_values(trail, role))))
            message = f"{self._roles[role]} has the goal values {values} at an end, {_after(trail)}"
            yield GOAL_AMBIGUOUS.at(self._place(GOAL, role), message, self._evidence(trail))

    def of_ends(self, bounds: GoalBounds | None, full_length: bool) -> Iterator[Diagnostic]:
        """Matches that never end, roles that cannot win. ``full_length``: the playouts that did not end were
        as long as they may be, and were not given up for time."""
        walks = self.walks
        played = counted(walks.playouts, "playout")
        if all(rule.head.name != TERMINAL for rule in self.rules):
            pass  # the checks of the text say so
        elif bounds is not None and not bounds.can_end:
            yield NEVER_TERMINAL.at(self._place(TERMINAL), "terminal can never hold: no match ends")
        elif not walks.ended and not walks.stopped and full_length:
            length = counted(walks.longest, "step")
            yield NEVER_TERMINAL.at(self._place(TERMINAL), f"none of {played} has ended within {length}")
        elif walks.cut:
            how = (
                f"not played to the end: {walks.cut:,} of {played} ({counted(walks.longest, 'step')} at most)"
            )
            yield PLAYED_SHORT.at(Place(), how)
        for role, name in enumerate(self._roles):
            highest = 100 if bounds is None else bounds.highest[role]
            if highest is None:
                yield CANNOT_WIN.at(self._place(GOAL, role), f"no goal value of {name} can ever hold")
            elif highest < 100:
                message = f"{name} cannot get 100: the most that can hold is {highest}"
                yield CANNOT_WIN.at(self._place(GOAL, role), message)
            elif walks.ended and walks.best[role] < 100:
                best = f", {walks.best[role]} at most" if walks.best[role] >= 0 else ""
                ends = (
                    "the playout that ended" if walks.ended == 1 else f"{walks.ended:,} playouts that ended"
                )
                yield NEVER_WON.at(self._place(GOAL, role), f"{name} did not get 100 in {ends}{best}")

    def outside_base(self, base: frozenset[Term]) -> Iterator[Diagnostic]:
        """States that have what no base rule declares: the first of each functor."""
        told: dict[tuple[str, int], list[tuple[Term, Callable[[], Trail]]]] = {}
        for index, tell in self.walks.propositions.items():
            proposition = self._machine.proposition(index)
            if proposition not in base:
                told.setdefault(proposition.signature, []).append((proposition, tell))
        for found in told.values():
            proposition, tell = found[0]
            trail = tell()
            more = f", as {counted(len(found) - 1, 'other')} of its kind later" if len(found) > 1 else ""
            message = f"{self._own.term(proposition)} is true {_after(trail)}, but no base rule has it{more}"
            place = self._place_of_functor(NEXT if trail.moves else INIT, proposition)
            yield STATE_OUTSIDE_BASE.at(place, message, self._evidence(trail))

    def outside_input(self, inputs: frozenset[Term]) -> Iterator[Diagnostic]:
        """Legal moves that no input rule declares: the first of each role and functor."""
        told: dict[tuple[int, tuple[str, int]], list[tuple[Term, Callable[[], Trail]]]] = {}
        for (role, index), tell in self.walks.moves.items():
            move = self._machine.move(role, index)
            if Term("pair", self._machine.roles[role], move) not in inputs:
                told.setdefault((role, move.signature), []).append((move, tell))
        for (role, _), found in told.items():
            move, tell = found[0]
            trail = tell()
            more = f", as {counted(len(found) - 1, 'other')} of its kind later" if len(found) > 1 else ""
            message = (
                f"{self._own.term(move)} is legal for {self._roles[role]} {_after(trail)},"
                f" but no input rule has it{more}"
            )
            place = self._place_of_functor(LEGAL, move)
            yield MOVE_OUTSIDE_INPUT.at(place, message, self._evidence(trail))

    def _goal_values(self, trail: Trail, role: int) -> frozenset[int]:
        if self._prover is None:
            known = self._machine
            self._prover = known if isinstance(known, ProverMachine) else ProverMachine(self.rules)
        return self._prover.goal_values(self._prover.state_of(trail.state.propositions), role)

    def _evidence(self, trail: Trail) -> Evidence:
        spell, machine = self._own.term, self._machine
        moves = [tuple(spell(machine.move(r, m)) for r, m in enumerate(joint)) for joint in trail.moves]
        return Evidence(tuple(moves), tuple(map(spell, sorted(trail.state.propositions))))

    def _place(self, relation: str, role: int | None = None) -> Place:
        """Where the relation's rules begin: the role's own ones, if there are any."""
        rules = [rule for rule in self.rules if rule.head.name == relation]
        if role is not None:
            own = [rule for rule in rules if rule.head.args[:1] == (self._machine.roles[role],)]
            rules = own or rules
        return rules[0].place if rules else Place()

    def _place_of_functor(self, relation: str, term: Term) -> Place:
        """A rule of the relation that may have given the proposition or move."""
        heads = [rule for rule in self.rules if rule.head.name == relation and rule.head.args]
        own = [rule for rule in heads if rule.head.args[-1].signature == term.signature]
        exact = [rule for rule in own if rule.head.args[-1] is term]
        return (exact or own or heads)[0].place if heads else Place()


def _after(trail: Trail) -> str:
    steps = len(trail.moves)
    return f"after {counted(steps, 'step')}" if steps else "at first"
