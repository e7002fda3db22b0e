"""``ggp solve --solver module:Class``: a solver of the user's own; no page may name one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gdl.errors import GdlError
from ggp.solving.solve_puzzle import SolveRequest, solve_puzzle
from tests.ggp.program import python

GAME = """(role you) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3) (legal you go) (legal you stay)
(<= (next (at ?y)) (does you go) (true (at ?x)) (succ ?x ?y))
(<= (next (at ?x)) (does you stay) (true (at ?x)))
(<= terminal (true (at 3))) (goal you 100)"""
WALK = """
import random
from players.solvers import Certainty, LineSolver, Promise

class Walk(LineSolver):
    name = "walk"

    @classmethod
    def recognise(cls, machine):
        return Promise(Certainty.MAY_FIND, memory=0)

    def step(self, deadline):
        state, line = self.start, []
        while not self.machine.is_terminal(state):
            line.append(random.choice(self.machine.legal_moves(state, 0)))
            state = self.machine.next_state(state, line[-1:])
        self.report(100, line)
        return True

class Nameless(Walk):
    name = "frontier"

class Broken(Walk):
    name = "broken"

    def step(self, deadline):
        return 1 / 0

class Nothing:
    pass
"""


def solved(folder: Path, solver: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "walk.py").write_text(WALK)
    (folder / "steps.kif").write_text(GAME)
    words = "solve", "steps.kif", "--solver", solver, "-s", "300", *options
    return python("-P", "-m", "ggp", *words, cwd=folder)


@pytest.mark.slow
def test_a_class_of_the_current_folder_solves_a_puzzle(tmp_path: Path) -> None:
    done = solved(tmp_path, "walk:Walk", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["solver"], told["value"]) == ("walk", 100)
    assert told["moves"].count("go") == 3


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        ("walk:Broken", "the solver walk:Broken failed: ZeroDivisionError: division by zero at walk.py:"),
        ("walk:Nameless", "walk:Nameless is called 'frontier'"),
        ("walk:Nothing", "walk:Nothing is no solver"),
        ("walk:Other", "there is no solver walk:Other"),
        ("absent:Walk", "no module absent"),
    ],
)
def test_what_is_no_solver_or_fails_is_one_line(solver: str, message: str, tmp_path: Path) -> None:
    done = solved(tmp_path, solver)
    assert done.returncode == 2
    assert message in done.stderr and "Traceback" not in done.stderr


def test_a_solver_that_a_page_names_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_trap.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    # As the process behind the page does, which passes on the name that the page gives.
    with pytest.raises(GdlError, match="there is no solver 'own_trap:Walk'"):
        solve_puzzle(SolveRequest(GAME, 5.0, 1 << 20, "own_trap:Walk"), lambda *_: None)
    assert "own_trap" not in sys.modules
