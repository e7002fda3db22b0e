"""How many points a game does a player win at backgammon against GNU Backgammon, without the cube?

    apt-get install gnubg
    python -m bench.gnubg uct --games 20 --seconds 0.1

Both use the same dice in pairs of games, with seats changed. GNU Backgammon looks ``--plies`` ahead and
counts gammons and backgammons (no Jacoby rule). It runs as a program of its own, and only says moves: each is
checked by our rules. Clocks of our player count CPU seconds of this process.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.scripts import clocks_of_cpu_time, command_line, half_width, ready
from gdl.machine import Machine, State
from ggp.game import Game
from players.player import Player

SCRIPT = """
import json, sys
import gnubg
for command in ("set display off", "set player 0 human", "set player 1 human", "set automatic game off",
                "set jacoby off", "set cube use off", "new session 1"):
    gnubg.command(command)
print("ready", flush=True)
for line in sys.stdin:
    board, dice, plies = json.loads(line)
    context = gnubg.evalcontext(0, plies, 1, 0, 0.0)
    sides = tuple(tuple(side) for side in board)
    print("move", json.dumps(gnubg.findbestmove(sides, gnubg.cubeinfo(), context, tuple(dice))), flush=True)
"""
"""What GNU Backgammon runs. A line in: a board (the other side, the side on roll: checkers on its points 1 to
24 and on the bar), two dice, plies. A line out: from and to of each checker, 25 for the bar and 0 for off."""
POINTS = {100: 3, 83: 2, 67: 1, 50: 0, 33: -1, 17: -2, 0: -3}
RANDOM = 2


class GnuBackgammon:
    """The program, as long as it is asked."""

    def __init__(self, plies: int) -> None:
        program = shutil.which("gnubg", path="/usr/games:/usr/local/bin:/usr/bin:/bin")
        if program is None:
            raise SystemExit("gnubg is not installed: apt-get install gnubg")
        self._plies = plies
        self._folder = tempfile.TemporaryDirectory()
        script = Path(self._folder.name) / "moves.py"
        script.write_text(SCRIPT)
        self._process = subprocess.Popen(
            [program, "-t", "-q", "-p", str(script)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            # Two that begin at once would make the same folder at home.
            env=os.environ | {"HOME": self._folder.name},
        )  # fmt: skip
        self._answer("ready")

    def moves(self, own: Sequence[int], others: Sequence[int], dice: Sequence[int]) -> list[tuple[int, int]]:
        """From and to of each checker that it moves."""
        assert self._process.stdin is not None
        print([[list(others), list(own)], list(dice), self._plies], file=self._process.stdin, flush=True)
        numbers = [int(number) for number in self._answer("move").strip(" []\n").split(",") if number.strip()]
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        return [(start, end) for start, end in pairs if start or end]

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    def _answer(self, word: str) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(word):
                return line[len(word) :]
        raise SystemExit("gnubg has ended without an answer")


def sides_of(state: State, role: str) -> tuple[list[int], list[int]]:
    """Checkers of a role and of the other, each counted from its own side: points 1 to 24, then the bar."""
    own, others = [0] * 25, [0] * 25
    for fact in state.propositions:
        if fact.name == "cell":
            point, owner = int(fact.args[0].name), fact.args[2].name
            side = own if owner == role else others
            side[point - 1 if owner == "white" else 24 - point] += 1
        elif fact.name == "bar" and fact.args:
            (own if fact.args[0].name == role else others)[24] = int(fact.args[1].name)
    return own, others


def dice_of(state: State) -> list[int]:
    """The dice that are to be played."""
    for fact in state.propositions:
        if fact.name == "pair":
            return [int(die.name) for die in fact.args]
        if fact.name == "left":
            return [int(fact.args[0].name)] * int(fact.args[1].name)
    return []


def in_turn(machine: Machine, state: State) -> int:
    """Whose move it is."""
    return next(r for r in range(3) if str(machine.move(r, machine.legal_moves(state, r)[0])) != "noop")


def planned(machine: Machine, state: State, role: int, pairs: list[tuple[int, int]]) -> list[int] | None:
    """Our moves, in an order that is legal, that take these checkers there; None where there is no order."""
    if not pairs:
        return []
    for move in machine.legal_moves(state, role):
        term = machine.move(role, move)
        if term.name != "move":
            continue
        point, die = term.args[0].name, int(term.args[1].name)
        start = 25 if point == "bar" else int(point) if role == 0 else 25 - int(point)
        pair = start, max(0, start - die)
        if pair in pairs:
            rest = list(pairs)
            rest.remove(pair)
            joint = [machine.legal_moves(state, r)[0] for r in range(3)]
            joint[role] = move
            after = machine.next_state(state, joint)
            if not rest or (not machine.is_terminal(after) and in_turn(machine, after) == role):
                following = planned(machine, after, role, rest)
                if following is not None:
                    return [move, *following]
    return None


def play(machine: Machine, player: Player, own: int, gnu: GnuBackgammon, seed: int, seconds: float) -> int:
    """One game: the points that the player wins."""
    dice = random.Random(seed)
    state, plan = machine.initial_state(), list[int]()
    while not machine.is_terminal(state):
        role = in_turn(machine, state)
        options = machine.legal_moves(state, role)
        if role == RANDOM:
            move = dice.choice(options)
        elif role == own:
            one = len(options) == 1
            move = options[0] if one else player.choose(state, time.monotonic() + seconds).move
        elif str(machine.move(role, options[0])) == "pass":
            move = options[0]
        else:
            if not plan:
                pairs = gnu.moves(*sides_of(state, str(machine.roles[role])), dice_of(state)[:2])
                plan = planned(machine, state, role, pairs) or []
                if not plan:
                    raise SystemExit(f"gnubg plays {pairs}, which the rules do not allow in {state}")
            move = plan.pop(0)
        joint = [machine.legal_moves(state, r)[0] for r in range(3)]
        joint[role] = move
        state = machine.next_state(state, joint)
    player.stop()
    return POINTS[machine.result(state, own) or 0]


def main() -> None:
    """Read the command line, and play."""
    parser = command_line(__doc__)
    parser.add_argument("player", nargs="?", default="uct")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each move of one checker")
    parser.add_argument("--plies", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    machine = Game.load("backgammon").machine("native")
    gnu = GnuBackgammon(told.plies)
    clocks_of_cpu_time()
    points: list[int] = []
    for game in range(told.games):
        player = ready(told.player, told.seed + game, machine, game % 2)
        points.append(play(machine, player, game % 2, gnu, told.seed * 1009 + game // 2, told.seconds))
        won = sum(point > 0 for point in points)
        print(
            f"{told.player} against GNU Backgammon, {told.plies}-ply: {statistics.mean(points):+.2f}"
            f" +- {half_width(points):.2f} points a game, {won} of {len(points)} won",
            flush=True,
        )
    gnu.close()


if __name__ == "__main__":
    main()
