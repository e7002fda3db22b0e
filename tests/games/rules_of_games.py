"""Our games, loaded once, and what their rules declare; helpers of the tests in this folder."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product
from math import prod

from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rule, Rules
from gdl.syntax.parser import parse_rules, parse_term, parse_terms
from gdl.terms import BASE, GOAL, INIT, INPUT, LEGAL, NEXT, TERMINAL, Term
from tests.places import GAME_FILES

NAMES = list(GAME_FILES)
_DECLARED_MOVE = "declared_move"


def text(name: str) -> str:
    """A game's file."""
    return GAME_FILES[name].read_text(encoding="utf-8")


@cache
def rules(name: str) -> Rules:
    """A game's rules."""
    return parse_rules(text(name), name)


@cache
def prover(name: str) -> Machine:
    """A game's prover machine."""
    return ProverMachine(rules(name))


@cache
def declared(name: str) -> tuple[set[Term], set[tuple[Term, Term]]]:
    """The base propositions and the (role, move) pairs that a game's ``base`` and ``input`` give."""
    return declared_by(rules(name))


def declared_by(given: Rules) -> tuple[set[Term], set[tuple[Term, Term]]]:
    """What the ``base`` and ``input`` of some rules give. They are asked for as the initial state of a game
    in which they are just that."""

    def head(term: Term) -> Term:
        match term.name:
            case "base":
                return Term(INIT, *term.args)
            case "input":
                return Term(INIT, Term(_DECLARED_MOVE, *term.args))
        return term

    asked = [
        Rule(head(rule.head), rule.body)
        for rule in given
        if rule.head.name not in (INIT, NEXT, LEGAL, GOAL, TERMINAL)
    ]
    assert {BASE, INPUT} <= {rule.head.name for rule in given}
    found = ProverMachine(Rules(tuple(asked))).initial_state().propositions
    bases = {term for term in found if term.name != _DECLARED_MOVE}
    return bases, {(term.args[0], term.args[1]) for term in found - bases}


def options(state: State) -> list[list[int]]:
    """The legal moves of each role."""
    return [state.machine.legal_moves(state, role) for role in range(len(state.machine.roles))]


def legal(state: State, role: str) -> list[str]:
    """The legal moves of a role as GDL, sorted."""
    return sorted(state.legal[role])


def successors(state: State) -> list[State]:
    """The states after each joint move; none of a terminal state."""
    if state.terminal:
        return []
    return [state.machine.next_state(state, joint) for joint in product(*options(state))]


def play(state: State, moves: str) -> State:
    """The state after some moves, at each step one for every role that has a choice, in role
    order. Forced moves may be given too, or left out."""
    machine = state.machine
    run = parse_terms(moves)[::-1]
    while run:
        joint = []
        for role, choices in enumerate(options(state)):
            forced = len(choices) == 1 and (not run or machine.move(role, choices[0]) is not run[-1])
            move = choices[0] if forced else machine.move_id(role, run.pop())
            assert move in choices, f"{machine.move(role, move)} is not legal"
            joint.append(move)
        state = machine.next_state(state, joint)
    return state


def state_of(machine: Machine, propositions: Iterable[str]) -> State:
    """A state from propositions in GDL."""
    return machine.state_of(map(parse_term, propositions))


def has(state: State, proposition: str) -> bool:
    """Whether a proposition is true."""
    return parse_term(proposition) in state.propositions


def in_control(state: State) -> Term:
    """The role whose turn it is."""
    (found,) = (p.args[0] for p in state.propositions if p.name == "control")
    return found


TURNS_GO_ON = frozenset({"amazons", "checkers", "kalah", "ninemensmorris"})
"""Games in which a role may stay in control after its move."""


def perft(state: State, turns: int) -> int:
    """How many ways there are to play some turns on; a turn lasts while the same role is in
    control, so a jump that goes on is one turn."""
    go_on = state.machine.rules.name in TURNS_GO_ON
    if turns == 1 and not go_on:
        return 0 if state.terminal else prod(map(len, options(state)))
    count = 0
    for after in successors(state):
        if go_on and not after.terminal and in_control(after) is in_control(state):
            count += perft(after, turns)
        else:
            count += 1 if turns == 1 else perft(after, turns - 1)
    return count


def reachable(state: State) -> set[State]:
    """All states that play can lead to, this one included."""
    seen = {state}
    waiting = [state]
    while waiting:
        for after in successors(waiting.pop()):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen
