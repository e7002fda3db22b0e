"""What whole games are worth, found in plain Python without our networks, kernels or sorted sets."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from gdl.machine import Machine, State

Value = tuple[int, int]
"""Role 0's goal (role 1's makes 100 with it), and joint moves to the end: a role that gets more than 50 takes
the shortest way, one that gets less or as much the longest."""


def better(value: Value, role: int) -> tuple[int, int]:
    """What a role maximises."""
    own = value[0] if role == 0 else 100 - value[0]
    return own, -value[1] if own > 50 else value[1]


def values_of_machine(machine: Machine) -> dict[State, Value]:
    """All states of a game of two roles in turn, without cycles, by plain recursion."""
    known: dict[State, Value] = {}

    def visit(state: State) -> Value:
        if state not in known:
            if machine.is_terminal(state):
                goal = machine.result(state, 0)
                assert goal is not None
                known[state] = goal, 0
            else:
                options = [machine.legal_moves(state, role) for role in (0, 1)]
                role = int(len(options[1]) > 1)
                after = [machine.next_state(state, (a, b)) for a in options[0] for b in options[1]]
                goal, distance = max(map(visit, after), key=lambda value: better(value, role))
                known[state] = goal, distance + 1
        return known[state]

    visit(machine.initial_state())
    return known


Position = Hashable
Successors = Callable[[Position], Iterable[Position] | int]
"""A position's successors, or the first player's goal at the end. A position's first element is the side to
move."""


def values_of_game(start: Position, successors: Successors) -> dict[Position, int]:
    """The same for a game that is written in Python, without distances."""
    known: dict[Position, int] = {}

    def visit(position: Position) -> int:
        if position not in known:
            after = successors(position)
            if isinstance(after, int):
                known[position] = after
            else:
                values = [visit(one) for one in after]
                known[position] = max(values) if position[0] == 0 else min(values)  # type: ignore[index]
        return known[position]

    visit(start)
    return known


def connect_four(columns: int, rows: int) -> tuple[Position, Successors]:
    """Connect Four: the side to move and its columns as strings of 0 and 1 from the bottom up."""
    lines = [
        [(x + i * dx, y + i * dy) for i in range(4)]
        for x in range(columns)
        for y in range(rows)
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1))
        if x + 3 * dx < columns and 0 <= y + 3 * dy < rows
    ]

    def successors(position: Position) -> Iterable[Position] | int:
        side, board = position  # type: ignore[misc]
        mark = str(1 - side)
        for line in lines:
            if all(y < len(board[x]) and board[x][y] == mark for x, y in line):
                return 100 if side == 1 else 0
        after = [
            (1 - side, (*board[:x], board[x] + str(side), *board[x + 1 :]))
            for x in range(columns)
            if len(board[x]) < rows
        ]
        return after or 50

    return (0, ("",) * columns), successors


def breakthrough(columns: int, rows: int) -> tuple[Position, Successors]:
    """Breakthrough: the side to move and a string of squares, row by row from white's side."""
    start = "w" * 2 * columns + "." * (rows - 4) * columns + "b" * 2 * columns

    def successors(position: Position) -> Iterable[Position] | int:
        side, board = position  # type: ignore[misc]
        if "w" in board[-columns:] or "b" not in board:
            return 100
        if "b" in board[:columns] or "w" not in board:
            return 0
        own, step = ("w", columns) if side == 0 else ("b", -columns)
        after = []
        for square, pawn in enumerate(board):
            if pawn != own:
                continue
            for aside in (-1, 0, 1):
                if not 0 <= square % columns + aside < columns:
                    continue
                to = square + step + aside
                if board[to] == own or (aside == 0 and board[to] != "."):
                    continue
                squares = list(board)
                squares[square], squares[to] = ".", own
                after.append((1 - side, "".join(squares)))
        return after

    return (0, start), successors
