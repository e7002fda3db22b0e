"""Plays rules at random and reports faults as findings, like those of :mod:`gdl.checks`.

The playouts run on the lanes of a network, or on the prover if there is no network (:mod:`players.walks`).
The facts seen in them are compared with the declarations of base and input rules.

>>> from gdl.syntax.parser import parse_rules
>>> rules = parse_rules("(role a) (init p) (<= (legal a go) (true p)) (<= (next q) (does a go))")
>>> [finding.code for finding in rehearse(rules) if finding.severity == 2]
['stuck-role']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from gdl.checks.diagnostic import Diagnostic, Evidence, Kind, Severity
from gdl.errors import Place, TooLargeError
from gdl.information import chance_role, hides
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.rules import Literal, Rule, Rules, body_literals
from gdl.syntax.writer import OwnNotation
from gdl.terms import BASE, DOES, GOAL, INIT, INPUT, LEGAL, NEXT, TERMINAL, TRUE, Term
from gdl.words import counted
from players.hidden.look_alikes import Doubt, doubts
from players.walks import MOST_STEPS, Trail, Walks, walk

_STATEFUL = (TRUE, 1), (DOES, 2), (INIT, 1)
_LEFT_OUT = (INIT, 1), (NEXT, 1), (LEGAL, 2), (GOAL, 2), (TERMINAL, 0)


def declared(rules: Rules, signature: tuple[str, int]) -> frozenset[Term] | None:
    """The facts of ``base`` (propositions), or of ``input`` (pairs as terms with the role and the move).

    None if there are no such rules, or if they ask for ``true`` or ``does``, which they must not. Time and
    memory grow with the number of facts: bound both.

    Raises:
        GdlError: the rules cannot be evaluated.
    """
    assert signature in ((BASE, 1), (INPUT, 2))
    if all(rule.head.signature != signature for rule in rules):
        return None
    remaining = [rule for rule in rules if rule.head.signature not in _LEFT_OUT]
    if any(
        rule.head.signature in ((BASE, 1), (INPUT, 2)) and literal.atom.signature in _STATEFUL
        for rule in remaining
        for literal, _ in body_literals(rule)
    ):
        return None
    # Declared facts become the initial state of a game without moves.
    variables = [Term(f"?{i}") for i in range(signature[1])]
    fact = variables[0] if signature[1] == 1 else Term("pair", *variables)
    remaining.append(Rule(Term(INIT, fact), (Literal(Term(signature[0], *variables)),)))
    return ProverMachine(Rules(tuple(remaining), rules.spelling, rules.name)).initial_state().propositions


PLAYED_KINDS: dict[str, Kind] = {}
"""All kinds of findings from playing, by their codes."""


def _kind(severity: Severity, code: str, remedy: str) -> Kind:
    return PLAYED_KINDS.setdefault(code, Kind(code, severity, remedy))


_STUCK_ROLE = _kind(Severity.ERROR, "stuck-role", "write a legal rule for this state, or make it terminal")
_GOAL_UNDEFINED = _kind(
    Severity.WARNING, "goal-undefined", "write goal rules that cover every terminal state"
)
_GOAL_AMBIGUOUS = _kind(
    Severity.WARNING, "goal-ambiguous", "make the goal rules of a role exclude each other"
)
_NEVER_TERMINAL = _kind(
    Severity.WARNING, "never-terminal", "make terminal come true in every match, by a step counter if need be"
)
_CANNOT_WIN = _kind(Severity.WARNING, "cannot-win", "write a goal rule that is worth 100 and can hold")
_NEVER_WON = _kind(Severity.INFO, "never-won", "see whether it can be reached at all")
_STATE_OUTSIDE_BASE = _kind(
    Severity.WARNING, "state-outside-base", "write a base rule for it, or drop them all"
)
_MOVE_OUTSIDE_INPUT = _kind(
    Severity.WARNING, "move-outside-input", "write an input rule for it, or drop them all"
)
_MOVES_NOT_KNOWN = _kind(
    Severity.WARNING,
    "moves-not-known",
    "write a sees rule that shows the role the facts its moves depend on",
)
_GOAL_NOT_KNOWN = _kind(
    Severity.WARNING, "goal-not-known", "write a sees rule that shows the role how the match has ended"
)
_PLAYED_SHORT = _kind(Severity.INFO, "played-short", "give more --seconds")


@dataclass(frozen=True, slots=True)
class _GoalBounds:
    """The possible ends by the ground rules: per role its highest possible goal, None if no goal is possible;
    and whether a terminal state is possible."""

    highest: tuple[int | None, ...]
    can_end: bool


class Findings:
    """Turns the observations from playouts of some rules into findings."""

    def __init__(self, rules: Rules, walks: Walks) -> None:
        self.rules = rules
        self.walks = walks
        self._machine = walks.machine
        self._own = OwnNotation(rules)
        self._roles = [self._own.term(role) for role in walks.machine.roles]
        self._chance = chance_role(walks.machine.roles)
        self._prover: ProverMachine | None = None

    def of_play(self) -> Iterator[Diagnostic]:
        """Roles that are stuck, ends without one goal value for each role, matches that do not end."""
        walks = self.walks
        for role, trail in walks.stuck.items():
            message = f"{self._roles[role]} has no legal move {_after(trail)}, and the match is not over"
            yield _STUCK_ROLE.at(self._place(LEGAL, role), message, self._evidence(trail))
        for role, trail in walks.without_goal.items():
            if role == self._chance:
                continue  # the goal of chance does not matter
            message = f"{self._roles[role]} has no goal value at an end, {_after(trail)}"
            yield _GOAL_UNDEFINED.at(self._place(GOAL, role), message, self._evidence(trail))
        for role, trail in walks.several_goals.items():
            values = " and ".join(map(str, sorted(self._goal_values(trail, role))))
            message = f"{self._roles[role]} has the goal values {values} at an end, {_after(trail)}"
            yield _GOAL_AMBIGUOUS.at(self._place(GOAL, role), message, self._evidence(trail))

    def of_ends(self, bounds: _GoalBounds | None, full_length: bool) -> Iterator[Diagnostic]:
        """Matches that never end, roles that cannot win. ``full_length``: the playouts that did not end
        reached the maximum length and were not cut for time."""
        walks = self.walks
        played = counted(walks.playouts, "playout")
        if all(rule.head.name != TERMINAL for rule in self.rules):
            pass  # the checks of the text say so
        elif bounds is not None and not bounds.can_end:
            yield _NEVER_TERMINAL.at(self._place(TERMINAL), "terminal can never hold: no match ends")
        elif not walks.ended and not walks.stopped and full_length:
            length = counted(walks.longest, "step")
            yield _NEVER_TERMINAL.at(self._place(TERMINAL), f"none of {played} has ended within {length}")
        elif walks.cut:
            how = (
                f"not played to the end: {walks.cut:,} of {played} ({counted(walks.longest, 'step')} at most)"
            )
            yield _PLAYED_SHORT.at(Place(), how)
        lost: list[int] = []
        bounded: dict[int, list[int]] = {}
        for role, name in enumerate(self._roles):
            if role == self._chance:
                continue
            highest = 100 if bounds is None else bounds.highest[role]
            if highest is None:
                yield _CANNOT_WIN.at(self._place(GOAL, role), f"no goal value of {name} can ever hold")
            elif self._chance is not None and 50 < highest < 100:
                pass  # in games of chance goals may be stakes
            elif highest < 100:
                bounded.setdefault(highest, []).append(role)
            elif walks.ended and walks.best[role] < 100:
                lost.append(role)
        for highest, roles in bounded.items():
            names = " and ".join(self._roles[role] for role in roles)
            message = f"{names} cannot get 100: the most that can hold is {highest}"
            yield _CANNOT_WIN.at(self._place(GOAL, roles[0]), message)
        if lost:
            ends = "the playout that ended" if walks.ended == 1 else f"{walks.ended:,} playouts that ended"
            names = " and ".join(self._roles[role] for role in lost)
            most = " and ".join(str(max(0, walks.best[role])) for role in lost)
            alike = "; all ended with the same goals" if walks.best == walks.worst and walks.ended > 1 else ""
            message = f"{names} did not get 100 in {ends}, {most} at most{alike}"
            yield _NEVER_WON.at(self._place(GOAL, lost[0]), message)

    def outside_base(self, base: frozenset[Term]) -> Iterator[Diagnostic]:
        """States with propositions that no base rule declares: the first of each functor."""
        by_functor: dict[tuple[str, int], list[tuple[Term, Callable[[], Trail]]]] = {}
        for index, tell in self.walks.propositions.items():
            proposition = self._machine.proposition(index)
            if proposition not in base:
                by_functor.setdefault(proposition.signature, []).append((proposition, tell))
        for found in by_functor.values():
            proposition, tell = found[0]
            trail = tell()
            more = f", as {counted(len(found) - 1, 'other')} of its kind later" if len(found) > 1 else ""
            message = f"{self._own.term(proposition)} is true {_after(trail)}, but no base rule has it{more}"
            place = self._place_of_functor(NEXT if trail.moves else INIT, proposition)
            yield _STATE_OUTSIDE_BASE.at(place, message, self._evidence(trail))

    def outside_input(self, inputs: frozenset[Term]) -> Iterator[Diagnostic]:
        """Legal moves that no input rule declares: the first of each role and functor."""
        by_functor: dict[tuple[int, tuple[str, int]], list[tuple[Term, Callable[[], Trail]]]] = {}
        for (role, index), tell in self.walks.moves.items():
            move = self._machine.move(role, index)
            if Term("pair", self._machine.roles[role], move) not in inputs:
                by_functor.setdefault((role, move.signature), []).append((move, tell))
        for (role, _), found in by_functor.items():
            move, tell = found[0]
            trail = tell()
            more = f", as {counted(len(found) - 1, 'other')} of its kind later" if len(found) > 1 else ""
            message = (
                f"{self._own.term(move)} is legal for {self._roles[role]} {_after(trail)},"
                f" but no input rule has it{more}"
            )
            place = self._place_of_functor(LEGAL, move)
            yield _MOVE_OUTSIDE_INPUT.at(place, message, self._evidence(trail))

    def in_doubt(self, doubts: Iterable[Doubt]) -> Iterator[Diagnostic]:
        """Moves and goals that a role cannot know."""
        for doubt in doubts:
            one, other = doubt.ways
            name, apart = self._roles[doubt.role], self._apart(one, other)
            if doubt.move is None:
                first, second = doubt.goals
                message = f"{name} cannot know whether it gets {first} or {second} at an end, {apart}"
                yield _GOAL_NOT_KNOWN.at(self._place(GOAL, doubt.role), message, self._evidence(one))
            else:
                move = self._own.term(self._machine.move(doubt.role, doubt.move))
                message = f"{name} cannot know whether {move} is legal {apart}"
                yield _MOVES_NOT_KNOWN.at(self._place(LEGAL, doubt.role), message, self._evidence(one))

    def _apart(self, one: Trail, other: Trail) -> str:
        """The number of steps of two matches, and the joint moves in which the second one differs."""
        differing = [
            f"{number}. {' '.join(self._own.term(self._machine.move(r, m)) for r, m in enumerate(joint))}"
            for number, (joint, usual) in enumerate(zip(other.moves, one.moves, strict=True), 1)
            if joint != usual
        ]
        dots = "  ..." if len(differing) > _MOST_SHOWN else ""
        shown = "  ".join(differing[:_MOST_SHOWN]) + dots
        return f"{_after(one)}: it learns the same if the match below went {shown or 'as it did'}"

    def _goal_values(self, trail: Trail, role: int) -> frozenset[int]:
        if self._prover is None:
            machine = self._machine
            self._prover = machine if isinstance(machine, ProverMachine) else ProverMachine(self.rules)
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


_MOST_SHOWN = 4
"""Most joint moves that a finding shows of the differences between two matches that look alike to a role."""


def _after(trail: Trail) -> str:
    steps = len(trail.moves)
    return f"after {counted(steps, 'step')}" if steps else "at first"


_GROUND_BYTES = 1 << 30
GROUND_RULES = 500_000
"""With more ground rules no network is built: that would take longer than playing on the prover."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """Limits and seed of the random playouts.

    Attributes:
        playouts: number of playouts.
        seconds: CPU time for grounding, and again wall time for the playouts.
        seed: of the moves.
    """

    playouts: int = 512
    seconds: float = 10.0
    seed: int = 1


def rehearse(rules: Rules, how: Rehearsal = Rehearsal()) -> list[Diagnostic]:
    """Play rules that have no errors, and return the findings.

    Each finding has happened in a match (the finding's ``evidence``), or follows from the ground rules. The
    playouts are random, so other faults may remain.

    Raises:
        GdlError: the rules cannot be played at all.
    """
    machine, bounds = _machine(rules, how.seconds)
    walks = walk(machine, how.playouts, how.seconds, how.seed)
    findings = Findings(rules, walks)
    diagnostics = [*findings.of_play(), *findings.of_ends(bounds, walks.longest >= MOST_STEPS)]
    for signature, outside in (((BASE, 1), findings.outside_base), ((INPUT, 2), findings.outside_input)):
        try:
            facts = declared(rules, signature)
        except TooLargeError:
            continue  # more facts than a prover holds: the question stays open
        if facts is not None:
            diagnostics += outside(facts)
    if hides(rules):
        diagnostics += findings.in_doubt(doubts(machine, how.seconds, how.seed))
    return diagnostics


def _machine(rules: Rules, seconds: float) -> tuple[Machine, _GoalBounds | None]:
    """A machine with lanes and its goal bounds; the prover and None for rules too large to ground."""
    from gdl.grounding.pipeline import GroundLimits, ground
    from propnet.build import build
    from propnet.machine import PropnetMachine

    try:
        limits = GroundLimits(max_rules=GROUND_RULES, memory_bytes=_GROUND_BYTES, cpu_seconds=seconds)
        network = build(ground(rules, limits))
    except TooLargeError:
        return ProverMachine(rules), None
    goals: list[int | None] = [None] * len(network.roles)
    for role, value, literal in network.goals.tolist():
        if literal != 1:
            goals[role] = max(value, goals[role] or 0)
    return PropnetMachine(rules, network), _GoalBounds(tuple(goals), network.terminal_literal != 1)
