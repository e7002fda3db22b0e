"""A person at a terminal sees what the person's role sees, and nothing that depends on anything else."""

from __future__ import annotations

import io
import re
import time
from collections import defaultdict
from functools import cache

import pytest
from rich.console import Console

from gdl.information import observations
from gdl.machine import Machine
from ggp.boards.board import find_board
from ggp.boards.text import Painter
from ggp.game import Game
from ggp.terminal.human import HumanPlayer
from ggp.terminal.setup import BlindView
from players.baselines import RandomPlayer
from players.belief.belief import Belief
from players.match import MatchStep, play_match
from players.player import Player


@cache
def machine_of(name: str) -> Machine:
    return Game.load(name).machine("prover")


class Recorder(BlindView):
    """Notes what was on the screen whenever the person was asked, and what the role had learnt by then."""

    def __init__(self, machine: Machine, players: list[Player], screen: io.StringIO) -> None:
        console = Console(file=screen, width=100, force_terminal=False)
        painter = Painter(find_board(machine), machine.rules, machine.roles)
        super().__init__(console, machine, players, painter)
        self.screen = screen
        self.pages: list[tuple[tuple[object, ...], str]] = []
        self.learnt: list[object] = []

    def step(self, step: MatchStep) -> None:
        super().step(step)
        self.learnt.append(observations(self.machine, step.state, step.joint)[0])

    def perceived(self, role: int, belief: Belief) -> None:
        super().perceived(role, belief)
        if role == 0:
            self.pages.append((tuple(self.learnt), self.screen.getvalue()))


def watched(name: str, seed: int) -> Recorder:
    """A match whose first role is a person who takes moves at random."""
    machine = machine_of(name)
    screen = io.StringIO()
    shown: list[str] = []
    asked = iter(range(100))

    def show(text: str) -> None:
        shown.append(text)
        print(text, file=screen)

    def ask(prompt: str) -> str:
        screen.write(prompt)
        numbers = re.findall(r"(\d+) \(?[a-z]", shown[-1])
        return str(numbers[(seed + next(asked)) % len(numbers)])

    person = HumanPlayer(show=show, ask=ask, width=100)
    players: list[Player] = [person, *[RandomPlayer(seed=seed * 7 + r) for r in range(1, len(machine.roles))]]
    view = Recorder(machine, players, screen)
    play_match(machine, players, view, time.monotonic(), 5.0)
    return view


@pytest.mark.parametrize("name", ["montyhall", "kuhn"])
def test_equal_observations_give_equal_screens_until_the_end(name: str) -> None:
    screens: dict[tuple[object, ...], set[str]] = defaultdict(set)
    times: dict[tuple[object, ...], int] = defaultdict(int)
    for seed in range(60):
        for learnt, text in watched(name, seed).pages:
            screens[learnt].add(text)
            times[learnt] += 1
    assert max(times.values()) > 3
    assert {key: len(texts) for key, texts in screens.items() if len(texts) > 1} == {}


def test_the_truth_is_shown_after_the_end() -> None:
    view = watched("montyhall", 4)
    shown = view.screen.getvalue()
    assert "(car" not in view.pages[-1][1]
    assert "(car" in shown and "result: " in shown
