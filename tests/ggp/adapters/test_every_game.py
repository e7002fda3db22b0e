"""Every game that grounds in 10 s, ours and the public ones, passes the checks of all frameworks; and its
matches in lanes are those of its machine."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from gdl.errors import TooLargeError
from gdl.grounding.limits import GroundLimits
from gdl.grounding.pipeline import ground
from ggp.adapters.adapted_game import AdaptedGame
from ggp.game import Game
from ggp.rule_files import installed_games
from propnet.environments.vector_match import VectorMatch
from propnet.kernels.records import pack
from propnet.machine import PropnetMachine
from tests.ggp.adapters.matches import check

pytest.importorskip("gymnasium", reason="pip install 'kaskade-ggp[rl]'")
pytest.importorskip("pettingzoo", reason="pip install 'kaskade-ggp[rl]'")
pytest.importorskip("pyspiel", reason="pip install 'kaskade-ggp[rl]'")

from ggp.adapters import load_gdl

pyspiel = pytest.importorskip("pyspiel")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
CORPUS = os.environ.get("GGP_CORPUS")
GAMES = [*installed_games(), *sorted(Path(CORPUS, "games").glob("*.kif"))] if CORPUS else []
STEPS = 100
SPIEL_STEPS = 30
"""Fewer: OpenSpiel reads each state of a match from text, by playing the match again."""


def follow(machine: PropnetMachine, steps: int) -> None:
    """Step matches in lanes, and hold each step against the machine's evaluation and successors."""
    matches = VectorMatch(machine, 520)
    for _ in range(steps):
        before, over = matches.bits.copy(), matches.done.copy()
        actions = matches.random_actions()
        if (actions[~over] < 0).any():
            return  # stuck at first
        matches.step(actions)
        answer = machine.evaluate(matches.bits)
        legal = np.concatenate([matches.legal(role) for role in range(matches.roles)], axis=1)
        assert (pack(legal) == answer.legal).all()
        assert (matches.bits[~over] == machine.successors(before[~over], actions[~over])).all()
        assert (matches.terminated[~over] == answer.terminal[~over]).all()
        ended = matches.terminated & ~over
        assert np.allclose(matches.rewards[ended], np.maximum(answer.goals[ended], 0) / 100)
        assert not matches.rewards[~ended].any()


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS, reason="takes many minutes: set GGP_CORPUS")
@pytest.mark.parametrize("path", GAMES, ids=lambda path: f"{path.parent.parent.name}/{path.stem}")
def test_every_game_that_grounds_passes_all_checks(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = Game.load(path)
    try:
        ground(game.rules, GroundLimits(cpu_seconds=10.0))
    except TooLargeError as error:
        pytest.skip(f"does not ground in 10 s: {error.message}")
    adapted = AdaptedGame(game, machine="propnet")
    follow(adapted.machine, 40)
    check(adapted, 20, max_steps=STEPS)
    spiel = load_gdl(game, machine="propnet", max_steps=SPIEL_STEPS)
    pyspiel.random_sim_test(spiel, num_sims=1, serialize=True, verbose=False)
    again = pickle.loads(pickle.dumps(adapted))
    assert [again.action_names(a) for a in again.agents] == [adapted.action_names(a) for a in adapted.agents]
    state = spiel.new_initial_state()
    assert str(pickle.loads(pickle.dumps(state))) == str(state)
