"""One move per role and turn: an OR over most of a role's moves is the negated OR of the others."""

from __future__ import annotations

from bisect import bisect_right

from propnet.passes.circuit import FALSE, Builder, Circuit


def one_move_per_role(circuit: Circuit) -> Circuit:
    """Use that each role makes exactly one of its moves.

    In an AND, two moves of one role are false, a move makes the denials of the role's
    other moves needless, and denials of more than half of a role's moves become the OR
    of the rest (the dual holds for ORs, which are negated ANDs).

    Only what depends on moves is changed, so legal, terminal and goal, which are evaluated
    before any move is made, stay what they are.
    """
    shape = circuit.shape
    builder = Builder(shape.first_gate)
    literal_of = [2 * node for node in range(shape.first_gate)]
    first_move, past_moves = 2 * shape.first_move, 2 * shape.first_cut
    starts = [shape.first_move]
    for count in shape.moves:
        starts.append(starts[-1] + count)
    for gate in circuit.gates:
        inputs = [literal_of[x >> 1] ^ (x & 1) for x in gate]
        by_role: dict[int, list[int]] = {}
        for x in inputs:
            if first_move <= x < past_moves:
                by_role.setdefault(bisect_right(starts, x >> 1) - 1, []).append(x)
        for role, moves in by_role.items():
            if len(moves) > 1:
                others = set(inputs).difference(moves)
                others.update(_moves_of_role(builder, moves, starts[role], starts[role + 1]))
                inputs = list(others)
        literal_of.append(builder.conjunction(inputs))
    outputs = [literal_of[x >> 1] ^ (x & 1) for x in circuit.outputs]
    return Circuit(shape, builder.gates, outputs)


def _moves_of_role(builder: Builder, literals: list[int], first: int, past: int) -> list[int]:
    """Literals equivalent to the AND of some literals of one role's moves ``first .. past-1``."""
    made = {x for x in literals if not x & 1}
    if len(made) > 1:
        return [FALSE]
    if made:
        move = next(iter(made))
        return [FALSE] if move + 1 in literals else [move]
    denied = {x >> 1 for x in literals}
    left = past - first - len(denied)
    if left == 0:
        return [FALSE]
    if left + 1 < len(denied) or left == 1:
        rest = [2 * move for move in range(first, past) if move not in denied]
        return [builder.disjunction(rest)]
    return literals
