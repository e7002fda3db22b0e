"""PLAYs that cannot be, or are not so: what a broken or hostile manager might send in a match."""

from __future__ import annotations

import random
from collections.abc import Sequence

from gdl.machine import Machine, State

KINDS = ("too few moves", "too many moves", "no terms", "not legal", "long ago", "the turn before was other")
"""The last kind is legal in the state before: the manager might put itself right so."""


def junk(
    kind: str, machine: Machine, played: Sequence[tuple[State, list[str]]], state: State, rng: random.Random
) -> str:
    """The moves of such a PLAY in ``state``, as GDL; ``played`` are the states before and the joint moves
    made in them. Where a kind has no example here, it is ``not legal``."""
    roles = range(len(machine.roles))
    spell = machine.rules.spell
    last = played[-1][1] if played else ["noop" for _ in roles]
    match kind:
        case "too few moves":
            return _list(last[1:])
        case "too many moves":
            return _list([*last, last[-1]])
        case "no terms":
            return _list([rng.choice(("()", "(())", "?x", "(f ?x)", "((a b) c)")) for _ in roles])
        case "long ago" if len(played) > 3:
            return _list(rng.choice(played[:-2])[1])
        case "the turn before was other" if played:
            before = played[-1][0]
            choices = [machine.legal_moves(before, role) for role in roles]
            return _list([spell(machine.move(role, rng.choice(moves))) for role, moves in enumerate(choices)])
    # Legal in no state.
    return _list(
        [f"(nonsense {move})" if rng.random() < 0.5 else move for move in last[:-1]] + ["(nonsense 1)"]
    )


def blind_junk(kind: str, turn: int, rng: random.Random) -> str:
    """What follows the match in such a PLAY where information is hidden, as GDL, when so many turns were
    made."""
    nonsense = "(nonsense 1) thunder"
    match kind:
        case "too few moves":
            return "0 NIL NIL"
        case "too many moves":
            return f"{turn} (a) (b) (c) ({nonsense})"
        case "no terms":
            return rng.choice([f"{turn} NIL ((()) ?x)", "((?x))", f"{turn} (f ?x) NIL", "(f ("])
        case "not legal":
            return f"{turn + 1000} (nonsense 1) ({nonsense})"
        case "long ago":
            return f"{max(0, turn - 3)} (nonsense 1) ({nonsense})"
    return f"{max(0, turn - 1)} (nonsense 1) ({nonsense})"


def _list(moves: Sequence[str]) -> str:
    return "(" + " ".join(moves) + ")" if moves else "NIL"
