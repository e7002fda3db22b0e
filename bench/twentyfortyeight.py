"""What does a player score in 2048, beside a plain expectimax that keeps its tiles in a corner?

    python -m bench.twentyfortyeight uct --games 5 --seconds 0.05
    python -m bench.twentyfortyeight corner --games 20

Both play by the rules in GDL with the same draws of chance. Points are those of the original game, the sum of
all merged tiles; a match ends with a tile of 2048. ``corner`` looks two slides ahead and weighs the squares
along a snake from a corner. Clocks of our player count CPU seconds.
"""

from __future__ import annotations

import random
import statistics
from collections import Counter

from bench.scripts import choosing, clocks_of_cpu_time, command_line, half_width, play, ready
from gdl.machine import State
from ggp.game import Game
from players.match import Match
from players.player import Choice

WAYS = ("left", "right", "up", "down")
SNAKE = [
    4.0**power for row in ((15, 14, 13, 12), (8, 9, 10, 11), (7, 6, 5, 4), (0, 1, 2, 3)) for power in row
]
Board = tuple[int, ...]
"""Exponents of the tiles, 0 on empty squares: the top row from left to right, then the next."""


def board_of(state: State) -> Board:
    """The tiles of a state."""
    board = [0] * 16
    for fact in state.propositions:
        if fact.name == "cell":
            x, y, exponent = (argument.name for argument in fact.args)
            board[4 * (4 - int(y)) + "abcd".index(x)] = int(exponent)
    return tuple(board)


def _slid(line: Board) -> tuple[Board, int]:
    """A line slid to its beginning, and the points."""
    tiles, points, out = [tile for tile in line if tile], 0, list[int]()
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile:
            tile = tiles.pop(0) + 1
            points += 2**tile
        out.append(tile)
    return tuple(out + [0] * (4 - len(out))), points


def slide(board: Board, way: str) -> tuple[Board, int]:
    """The board after a slide, and the points that it brings."""
    starts = range(4) if way in ("up", "down") else range(0, 16, 4)
    step = 4 if way in ("up", "down") else 1
    after, points = list(board), 0
    for start in starts:
        places = [start + step * i for i in range(4)]
        if way in ("right", "down"):
            places.reverse()
        line, won = _slid(tuple(board[place] for place in places))
        points += won
        for place, tile in zip(places, line, strict=True):
            after[place] = tile
    return tuple(after), points


def corner(board: Board, slides: int) -> tuple[float, str]:
    """The value of a board and its best slide, so many slides ahead."""
    best, chosen = 0.0, WAYS[0]
    for way in WAYS:
        after, _ = slide(board, way)
        if after != board:
            value = _after_chance(after, slides - 1)
            if value > best:
                best, chosen = value, way
    return best, chosen


def _after_chance(board: Board, slides: int) -> float:
    if not slides:
        return sum(weight * 2.0**tile for weight, tile in zip(SNAKE, board, strict=True) if tile)
    empty = [place for place, tile in enumerate(board) if not tile]
    total = 0.0
    for place in empty:
        for tile, chance in ((1, 0.9), (2, 0.1)):
            total += chance * corner((*board[:place], tile, *board[place + 1 :]), slides)[0]
    return total / max(1, len(empty))


def in_the_corner(match: Match) -> Choice:
    """The slide that :func:`corner` finds best."""
    way, machine = corner(board_of(match.state), 2)[1], match.machine
    return Choice(next(move for move in match.options[0] if machine.move(0, move).args[0].name == way))


def points_of(match: Match) -> int:
    """The points of all slides that were made."""
    slides = ((step.state, match.machine.move(0, step.joint[0])) for step in match.steps)
    return sum(slide(board_of(state), move.args[0].name)[1] for state, move in slides if move.args)


def main() -> None:
    """Read the command line, and play."""
    parser = command_line(__doc__)
    parser.add_argument("player", nargs="?", default="uct", help="a player's name, or corner")
    parser.add_argument("--games", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="for each slide")
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    machine = Game.load("twentyfortyeight").machine("native")
    clocks_of_cpu_time()
    scores: list[int] = []
    tiles: Counter[int] = Counter()
    for game in range(told.games):
        match = Match(machine, random.Random(told.seed * 1009 + game))
        if told.player == "corner":
            play(match, {0: in_the_corner})
        else:
            player = ready(told.player, told.seed + game, machine, 0)
            play(match, {0: choosing(player, told.seconds)})
            player.stop()
        scores.append(points_of(match))
        tiles[2 ** max(board_of(match.state))] += 1
        told_tiles = ", ".join(f"{tile}: {count}" for tile, count in sorted(tiles.items()))
        mean, wide = statistics.mean(scores), half_width(scores)
        print(f"{told.player}: {mean:.0f} +- {wide:.0f} points, {told_tiles}", flush=True)


if __name__ == "__main__":
    main()
