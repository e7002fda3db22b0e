"""How many moves a level may take: a generous guess at the length of a good solution, without solving it."""

from __future__ import annotations

from players.puzzles.sokoban.levels.level import BOX, BOX_ON_GOAL, GOAL, KEEPER_ON_GOAL, Level, Square

TIMES_A_GOOD_SOLUTION = 3

_DETOURS, _EACH_BOX, _EACH_SQUARE = 1.5, 4, 0.5
"""Pushes that a good solution may have: for each push of the assignment below, each box, each square."""
_WALKS, _ROUNDS = 3, 2
"""Steps: for each such push, each square. A limit that is too low spoils a level, one that is too high costs
next to nothing."""
_MOST_SQUARES = 300
"""Squares of larger levels count no more."""
_MOST_WORK = 2_000_000


def step_limit(level: Level, pushes: bool = False, solution: int | None = None) -> int:
    """The number of moves after which a game of this level ends: three times a good solution, or more.

    Args:
        level: a checked level.
        pushes: whether a move is a push, the keeper's walk included; else it is a step.
        solution: the length of a good solution in these moves, where one is known. Else it is guessed from
            the distances that boxes have to be pushed, and from the size of the map.
    """
    if solution is not None:
        return _round(max(10, TIMES_A_GOOD_SOLUTION * solution))
    inside = level.inside
    boxes = sum(square in inside for square in level.find(BOX + BOX_ON_GOAL))
    squares = min(len(inside), _MOST_SQUARES)
    guess = _DETOURS * assigned_pushes(level) + _EACH_BOX * boxes + _EACH_SQUARE * squares
    if not pushes:
        guess = _WALKS * guess + _ROUNDS * squares
    return _round(int(TIMES_A_GOOD_SOLUTION * guess))


def assigned_pushes(level: Level) -> int:
    """The pushes of a greedy assignment of boxes to goals, where boxes are not in each other's way.

    The nearest pair of a box and a goal comes first. A box that no goal is left for counts as far as the map
    has squares along its sides; in levels with too many boxes and squares each box counts half of that.
    """
    inside = level.inside
    boxes = {square for square in level.find(BOX + BOX_ON_GOAL) if square in inside}
    if len(boxes) * len(inside) > _MOST_WORK:
        return len(boxes) * (level.width + level.height) // 2
    goals = {square for square in level.find(GOAL + BOX_ON_GOAL + KEEPER_ON_GOAL) if square in inside}
    pairs = sorted(
        (distance, box, goal)
        for goal in goals
        for box, distance in push_distances(inside, goal).items()
        if box in boxes
    )
    total = 0
    for distance, box, goal in pairs:
        if box in boxes and goal in goals:
            boxes.remove(box)
            goals.remove(goal)
            total += distance
    return total + len(boxes) * (level.width + level.height)


def push_distances(inside: frozenset[Square], goal: Square) -> dict[Square, int]:
    """From which squares a box alone can be pushed to the goal, and in how many pushes (the keeper being
    wherever it is needed): by pulling it back."""
    distances = {goal: 0}
    line = [goal]
    for x, y in line:
        for dx, dy in ((0, -1), (0, 1), (-1, 0), (1, 0)):
            pulled, keeper = (x + dx, y + dy), (x + 2 * dx, y + 2 * dy)
            if pulled in inside and keeper in inside and pulled not in distances:
                distances[pulled] = distances[x, y] + 1
                line.append(pulled)
    return distances


def _round(limit: int) -> int:
    """Up to two leading digits: 1347 becomes 1400."""
    unit: int = 10 ** max(0, len(str(limit)) - 2)
    return -(-limit // unit) * unit
