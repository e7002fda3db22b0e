"""Plays rules at random and reports faults as findings, like those of :mod:`gdl.checks`.

The playouts run on the lanes of a network, 512 at once, or on the prover if there is no network. The facts
seen in them are compared with the declarations of base and input rules.

A role of a game of hidden information should know its legal moves, and at the end its goal, from its
observations (Thielscher, AAAI 2010). :func:`doubts` plays random matches to find states in which it does
not. In each it follows all states that a role considers possible, each with the joint moves of one way to it,
as long as there are not too many.

>>> from gdl.syntax.parser import parse_rules
>>> rules = parse_rules("(role a) (init p) (<= (legal a go) (true p)) (<= (next q) (does a go))")
>>> [finding.code for finding in rehearse(rules) if finding.severity == 2]
['stuck-role']
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.checks.diagnostic import Diagnostic, Evidence, Kind, Severity
from gdl.errors import Place, TooLargeError
from gdl.information import chance_role, hides, playing
from gdl.machine import JointMove, Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Literal, Rule, Rules, body_literals
from gdl.syntax.writer import OwnNotation
from gdl.terms import BASE, DOES, GOAL, INIT, INPUT, LEGAL, NEXT, TERMINAL, TRUE, Term
from gdl.words import counted
from players.belief.belief import world_machine
from players.belief.worlds import Joints, Options, Rows, WorldMachine, Worlds, all_joints
from players.move_lists import unpack_moves
from propnet.capabilities import lane_machine

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine

_LANE_PAIRS, _PAIRS = 20_000, 400
"""The most joint moves that are played for one role in a turn: with lanes and without."""
_LONGEST = 60
"""Number of turns of a match that are followed."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Two states that a role cannot distinguish, and their difference.

    Attributes:
        role: its index.
        ways: the ways to the first and to the second state.
        move: the id of a move that is legal in the first state alone; None if the goals at the end differ.
        goals: the goals at the end in the first and in the second state.
    """

    role: int
    ways: tuple[Trail, Trail]
    move: int | None = None
    goals: tuple[int, int] = (0, 0)


class _Layer(NamedTuple):
    """Worlds after a turn; the world before each, and the joint move that led to it."""

    worlds: Worlds
    before: Rows
    joints: Joints


def doubts(machine: Machine, seconds: float, seed: int, matches: int = 64) -> list[Doubt]:
    """The first doubt of each role about its moves, and the first about its goal, found in at most
    ``matches`` random matches and about ``seconds`` of wall time."""
    deadline = time.monotonic() + seconds
    rng = random.Random(f"{seed} doubts")
    found: dict[tuple[int, bool], Doubt] = {}
    machines = {role: world_machine(machine, role) for role in playing(machine.roles)}
    for number in range(matches):
        followed = [_Followed(worlds, rng) for worlds in machines.values()]
        state = machine.initial_state()
        for _ in range(_LONGEST):
            if machine.is_terminal(state) or (number and time.monotonic() > deadline):
                break
            options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
            if not all(options):
                break
            joint = [rng.choice(moves) for moves in options]
            for one in followed:
                for doubt in one.turn(state, joint):
                    found.setdefault((doubt.role, doubt.move is None), doubt)
            state = machine.next_state(state, joint)
    return [found[key] for key in sorted(found)]


class _Followed:
    """The states that one role considers possible in a match, turn by turn."""

    def __init__(self, machine: WorldMachine, rng: random.Random) -> None:
        self._machine, self._rng = machine, rng
        first = machine.of_states([machine.machine.initial_state()])
        nothing = np.zeros((1, len(machine.machine.roles)), np.int32)
        self._layers = [_Layer(first, np.zeros(1, np.int64), nothing)]
        self._most = _PAIRS if lane_machine(machine.machine) is None else _LANE_PAIRS

    def turn(self, state: State, joint: list[int]) -> Iterator[Doubt]:
        """Play the joint move of the match in ``state``; yields the doubts before and after it."""
        machine, role, layer = self._machine, self._machine.role, self._layers[-1]
        if not len(layer.worlds):
            return
        options = machine.options(layer.worlds)
        pair = _different_moves(options, role)
        if pair is not None:
            one, other, move = pair
            yield Doubt(role, (self._way(layer, one), self._way(layer, other)), move)
        of, joints = all_joints(options, options.open)
        fits = np.flatnonzero(joints[:, role] == joint[role])
        if len(fits) > self._most:
            fits = np.sort(np.array(self._rng.sample(fits.tolist(), self._most)))
        of, joints = of[fits], joints[fits]
        # The role's percepts in the possible states are compared with those in the match, the last row.
        everything = np.concatenate([layer.worlds[of], machine.of_states([state])])
        after, seen = machine.step(everything, np.concatenate([joints, np.array([joint], np.int32)]))
        codes = machine.codes(seen)
        same = np.flatnonzero(codes[:-1] == codes[-1])
        once, places = machine.unique(after[same])
        firsts = np.full(len(once), len(same), np.int64)
        np.minimum.at(firsts, places, np.arange(len(same)))
        chosen = same[firsts]
        reached = _Layer(once, of[chosen], joints[chosen])
        over = machine.terminal(once)
        ends = np.flatnonzero(over)
        goals = machine.goals(once[ends])
        if len(ends) and (goals != goals[0]).any():
            other = int(np.flatnonzero(goals != goals[0])[0])
            ways = self._way(reached, int(ends[0])), self._way(reached, int(ends[other]))
            yield Doubt(role, ways, None, (int(goals[0]), int(goals[other])))
        self._layers.append(_Layer(once[~over], reached.before[~over], reached.joints[~over]))

    def _way(self, layer: _Layer, number: int) -> Trail:
        """The way to a world of the layer ``layer`` or of the one after it."""
        state = self._machine.state(layer.worlds, number)
        moves: list[JointMove] = []
        before = self._layers if layer is not self._layers[-1] else self._layers[:-1]
        for earlier in reversed(before):
            moves.append(tuple(layer.joints[number].tolist()))
            number, layer = int(layer.before[number]), earlier
        return Trail(tuple(reversed(moves)), state)


def _different_moves(options: Options, role: int) -> tuple[int, int, int] | None:
    """Two worlds that go on, and a move of the role that is legal in the first alone; None for none."""
    worlds = np.flatnonzero(~options.terminal)
    starts = options.starts
    first: set[int] | None = None
    usual = options.counts[worlds, role]
    for number, count in zip(worlds.tolist(), usual.tolist(), strict=True):
        begin = int(starts[number, role])
        own = set(options.moves[begin : begin + count].tolist())
        if first is None:
            first, one = own, number
        elif own != first:
            return (one, number, min(first - own)) if first - own else (number, one, min(own - first))
    return None


MOST_STEPS = 10_000
"""A playout is cut after this many joint moves."""


@dataclass(frozen=True, slots=True)
class Trail:
    """A state, and the joint moves (ids) that lead to it from the initial one."""

    moves: tuple[JointMove, ...]
    state: State


@dataclass(slots=True)
class Walks:
    """Observations from random playouts.

    Attributes:
        machine: the machine that they ran on.
        ended: playouts that came to a terminal state; stuck ones have not.
        cut: playouts that were cut, for time or after :data:`MOST_STEPS`.
        stopped: playouts that could not go on because a role was stuck.
        longest: joint moves of the longest playout.
        stuck: role -> a shortest trail to a state that is not terminal, where it has no legal move.
        without_goal: role -> a shortest trail to a terminal state in which no goal value holds for it.
        several_goals: role -> a shortest trail to a terminal state in which more than one holds.
        best: per role its highest goal at an end; -1 where it had none.
        worst: the same for the lowest goal; 101 before any end.
        propositions: base proposition -> a function that returns the trail to where it was first true.
        moves: (role, move id) -> the same for where it was first legal, not counting terminal states.
    """

    machine: Machine
    ended: int = 0
    cut: int = 0
    stopped: int = 0
    longest: int = 0
    stuck: dict[int, Trail] = field(default_factory=dict)
    without_goal: dict[int, Trail] = field(default_factory=dict)
    several_goals: dict[int, Trail] = field(default_factory=dict)
    best: list[int] = field(default_factory=list)
    worst: list[int] = field(default_factory=list)
    propositions: dict[int, Callable[[], Trail]] = field(default_factory=dict)
    moves: dict[tuple[int, int], Callable[[], Trail]] = field(default_factory=dict)

    @property
    def playouts(self) -> int:
        """The number of playouts, whatever their end."""
        return self.ended + self.cut + self.stopped


def walk(machine: Machine, playouts: int, seconds: float, seed: int = 0) -> Walks:
    """Run ``playouts`` random playouts from the initial state, for at most ``seconds`` of wall time.

    On lanes all playouts run in parallel, and those unfinished when time is over count as cut. On other
    machines they run one after the other, and those not begun are left out.
    """
    lanes = lane_machine(machine)
    if lanes is not None:
        # One run before the clock starts, because kernels may have to be compiled.
        _LaneWalk(lanes, 1, seed).run(time.monotonic(), 1)
        return _LaneWalk(lanes, playouts, seed).run(time.monotonic() + seconds)
    return _walk_singly(machine, playouts, time.monotonic() + seconds, seed)


def _keep_shortest(known: dict[int, Trail], role: int, length: int, make: Callable[[], Trail]) -> None:
    if role not in known or length < len(known[role].moves):
        known[role] = make()


class _LaneWalk:
    """Playouts in parallel. It saves the joint moves of each step, so that any trail can be rebuilt."""

    def __init__(self, machine: PropnetMachine, playouts: int, seed: int) -> None:
        self.machine = machine
        self.walks = Walks(machine, best=[-1] * len(machine.roles), worst=[101] * len(machine.roles))
        self._rng = np.random.default_rng(seed)
        self._records = np.repeat(machine.records([machine.initial_state()]), playouts, axis=0)
        self._rows: NDArray[np.int64] = np.arange(playouts)
        self._played: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = []
        self._seen = np.zeros(machine.words, np.uint64)
        self._seen_legal = np.zeros(machine.move_words, np.uint64)

    def run(self, until: float, at_least: int = 0) -> Walks:
        """Play until all playouts or the time are over, but at least ``at_least`` steps."""
        walks = self.walks
        while len(self._rows):
            step = len(self._played)
            self._look(step)
            if not len(self._rows):
                break
            if step >= MOST_STEPS or (step >= at_least and time.monotonic() > until):
                walks.cut = len(self._rows)
                break
            self._played.append((self._rows, self._joint))
            self._records = self.machine.successors(self._records, self._joint)
        walks.longest = len(self._played)
        return walks

    def _look(self, step: int) -> None:
        """Note what holds in the states reached; leave playouts that are over; choose moves for others."""
        machine, walks = self.machine, self.walks
        answer = machine.evaluate(self._records)
        self._note_new(self._records, self._seen, self._note_proposition)
        over = answer.terminal
        if over.any():
            walks.ended += int(over.sum())
            goals = answer.goals[over]
            single = machine.evaluate(self._records[over], single=True).goals
            walks.best = np.maximum(walks.best, goals.max(axis=0)).tolist()
            walks.worst = np.minimum(walks.worst, goals.min(axis=0)).tolist()
            self._note_roles(walks.without_goal, goals < 0, np.flatnonzero(over))
            self._note_roles(walks.several_goals, (goals >= 0) & (single < 0), np.flatnonzero(over))
            self._keep(~over)
        legal = answer.legal[~over]
        self._note_new(legal, self._seen_legal, self._note_move)
        counts, moves = unpack_moves(legal, machine.role_moves)
        stuck = counts == 0
        if stuck.any():
            self._note_roles(walks.stuck, stuck, np.arange(len(stuck)))
            walks.stopped += int(stuck.any(axis=1).sum())
            self._keep(~stuck.any(axis=1))
        starts = (np.cumsum(counts.ravel()) - counts.ravel()).reshape(counts.shape)
        chosen = starts + (self._rng.random(counts.shape) * counts).astype(np.int64)
        self._joint = moves[chosen[~stuck.any(axis=1)]]

    def _keep(self, wanted: NDArray[np.bool_]) -> None:
        self._records, self._rows = self._records[wanted], self._rows[wanted]

    def _note_roles(
        self, known: dict[int, Trail], faulty: NDArray[np.bool_], places: NDArray[np.int64]
    ) -> None:
        """Note a trail for each role that a column of ``faulty`` finds at fault in some row."""
        for role in np.flatnonzero(faulty.any(axis=0)).tolist():
            place = int(places[np.flatnonzero(faulty[:, role])[0]])
            _keep_shortest(known, role, len(self._played), self._trail(place))

    def _note_new(
        self, words: NDArray[np.uint64], seen: NDArray[np.uint64], note: Callable[[int, int], None]
    ) -> None:
        """Call ``note`` with each bit that no row had before, and a row that has it."""
        if not len(words):
            return
        for word in np.flatnonzero(np.bitwise_or.reduce(words, axis=0) & ~seen).tolist():
            fresh = int(np.bitwise_or.reduce(words[:, word]) & ~seen[word])
            seen[word] |= np.uint64(fresh)
            while fresh:
                bit = fresh & -fresh
                fresh ^= bit
                row = int(np.flatnonzero(words[:, word] & np.uint64(bit))[0])
                note(word * 64 + bit.bit_length() - 1, row)

    def _note_proposition(self, index: int, place: int) -> None:
        self.walks.propositions[index] = self._trail(place)

    def _note_move(self, index: int, place: int) -> None:
        role = int(np.searchsorted(self.machine.role_moves, index, "right")) - 1
        self.walks.moves[role, index - int(self.machine.role_moves[role])] = self._trail(place)

    def _trail(self, place: int) -> Callable[[], Trail]:
        """Tells how the playout that now stands at ``place`` came here."""
        row, steps = int(self._rows[place]), len(self._played)
        return lambda: self._tell(row, steps)

    def _tell(self, row: int, steps: int) -> Trail:
        moves: list[JointMove] = []
        state = self.machine.initial_state()
        for rows, joints in self._played[:steps]:
            joint = joints[int(np.searchsorted(rows, row))].tolist()
            moves.append(tuple(joint))
            state = self.machine.next_state(state, joint)
        return Trail(tuple(moves), state)


def _walk_singly(machine: Machine, playouts: int, until: float, seed: int) -> Walks:
    """Playouts one after the other, on any machine."""
    rng = random.Random(seed)
    roles = range(len(machine.roles))
    walks = Walks(machine, best=[-1] * len(machine.roles), worst=[101] * len(machine.roles))
    seen: set[Term] = set()
    while walks.playouts < playouts and (time.monotonic() < until or not walks.playouts):
        state = machine.initial_state()
        played: list[JointMove] = []
        while True:
            here = partial(Trail, tuple(played), state)
            for proposition in state.propositions - seen:
                seen.add(proposition)
                walks.propositions[machine.proposition_id(proposition)] = here
            if machine.is_terminal(state):
                walks.ended += 1
                for role in roles:
                    result = machine.result(state, role)
                    if result is None:
                        _keep_shortest(walks.without_goal, role, len(played), here)
                        continue
                    walks.best[role] = max(walks.best[role], result)
                    walks.worst[role] = min(walks.worst[role], result)
                    if machine.goal(state, role) is None:
                        _keep_shortest(walks.several_goals, role, len(played), here)
                break
            options = [machine.legal_moves(state, role) for role in roles]
            for role, moves in enumerate(options):
                for move in moves:
                    walks.moves.setdefault((role, move), here)
            if not all(options):
                walks.stopped += 1
                for role in roles:
                    if not options[role]:
                        _keep_shortest(walks.stuck, role, len(played), here)
                break
            if len(played) >= MOST_STEPS or time.monotonic() > until:
                walks.cut += 1
                break
            joint = tuple([rng.choice(moves) for moves in options])
            state = machine.next_state(state, joint)
            played.append(joint)
        walks.longest = max(walks.longest, len(played))
    return walks


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
