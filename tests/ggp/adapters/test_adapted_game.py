"""What all environments share: planes, pickling, packages that are missing, words that are wrong."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gdl.errors import GdlError, MoveError, TooLargeError
from ggp.adapters.adapted_game import OBSERVATIONS, AdaptedGame, missing
from ggp.game import Game
from tests.ggp.adapters.matches import adapted, random_match
from tests.ggp.program import python

pytest.importorskip("gymnasium", reason="pip install 'kaskade-ggp[rl]'")
pytest.importorskip("pettingzoo", reason="pip install 'kaskade-ggp[rl]'")

from ggp.adapters import GdlAEC, GdlEnv, GdlParallel, VectorMatch, make_vec

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


FRAME = "(role r) (init a) (<= (next {}) (true a)) (<= terminal (true b)) (goal r 0) (<= (next b) (true b))\n"


NOBODY = FRAME.format("c")


def test_what_is_not_there_is_one_clear_line() -> None:
    for settings, words in (
        ({"role": "z"}, "no role z"),
        ({"opponents": {"z": "random"}}, "z is not an opponent of x"),
        ({"opponents": "deepthought"}, "no player 'deepthought'"),
        ({"observation": "smell"}, "no observation 'smell'"),
        ({"illegal": "shrug"}, "choose end or error"),
        ({"render_mode": "png"}, "no render mode 'png' .choose ansi, svg, rgb_array"),
    ):
        with pytest.raises(GdlError, match=words):
            GdlEnv("tictactoe", **settings)
    with pytest.raises(GdlError, match="no render mode"):
        adapted("tictactoe").render(adapted("tictactoe").machine.initial_state(), "smoke")
    with pytest.raises(GdlError, match="r has no legal move in the state a"):
        AdaptedGame(NOBODY)
    with pytest.raises(TooLargeError, match="does not ground"):
        AdaptedGame("tictactoe", machine="prover")


@pytest.mark.parametrize("action", ["a", 1.0, None, [1, 2], np.array([0.5]), True])
def test_what_is_no_integer_is_no_action(action: Any) -> None:
    single, turns, together, many = (
        GdlEnv(adapted("tictactoe")),
        GdlAEC(adapted("tictactoe")),
        GdlParallel(adapted("tictactoe")),
        make_vec("tictactoe", 3),
    )
    for environment in (single, turns, together, many):
        environment.reset()
        given = {"x": action, "o": 9} if environment is together else action
        with pytest.raises(MoveError, match=r"give (an )?integer"):
            environment.step(given)
        masks = single.action_masks()
        assert masks.sum() == 9, "nothing has changed"
    single.step(np.array([1]))


@pytest.mark.slow
def test_planes_hold_what_the_state_holds() -> None:
    for name in ("connectfour", "othello", "eightpuzzle", "nim"):
        game = adapted(name, "planes")
        matches = np.unique(_visited(game), axis=0)
        planes = game.observe(matches)
        assert len(np.unique(planes.reshape(len(planes), -1), axis=0)) == len(matches)
        assert planes.shape[1:] == game.shape and len(game.planes.names) == game.shape[0]
    first = adapted("tictactoe", "planes")
    state = first.machine.initial_state().play("(mark a 3)")
    assert first.observe_state(state)[first.planes.names.index("x")].sum() == 1


def _visited(game: AdaptedGame) -> np.ndarray:
    from propnet.environments.vector_match import VectorMatch

    matches = VectorMatch(game.machine, 20)
    return np.concatenate([matches.step(matches.random_actions()).bits.copy() for _ in range(20)])


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_pickled_environments_go_on_as_the_same_game(observation: str) -> None:
    game = adapted("tictactoe", observation)
    again = pickle.loads(pickle.dumps(game))
    assert (again.agents, again.shape) == (game.agents, game.shape)
    assert again.action_names("x") == game.action_names("x")
    assert random_match(GdlAEC(again), 9) == random_match(GdlAEC(game), 9)


def test_a_missing_package_is_told_with_its_remedy() -> None:
    assert "pip install 'kaskade-ggp[rl]'" in str(missing("gymnasium", "Gymnasium environments"))
    blocked = "import sys; sys.modules.update({'gymnasium': None, 'pettingzoo': None, 'pyspiel': None});"
    for name in ("GdlEnv", "GdlAEC", "make_vec"):
        code = (
            f"{blocked} from ggp.adapters import AdaptedGame, VectorMatch; import ggp.adapters as a; a.{name}"
        )
        run = python("-c", code)
        assert run.returncode == 1 and "pip install 'kaskade-ggp[rl]'" in run.stderr.splitlines()[-1]


@pytest.mark.slow
def test_each_module_imports_its_own_framework_only() -> None:
    for module, others in (
        ("gymnasium", ("pettingzoo", "pyspiel")),
        ("vector", ("pettingzoo", "pyspiel")),
        ("pettingzoo", ("pyspiel",)),
        ("adapted_game", ("gymnasium", "pettingzoo", "pyspiel")),
    ):
        code = f"import sys, ggp.adapters.{module}; print([m for m in {others} if m in sys.modules])"
        run = python("-c", code)
        assert run.stdout.strip() == "[]", (module, run.stdout, run.stderr)


def test_vectors_of_matches_are_refused_to_games_of_hidden_information() -> None:
    with pytest.raises(GdlError, match=r"kuhn hides information .*GdlAEC"):
        make_vec("gdl/kuhn-v0", num_envs=2)


@pytest.mark.parametrize("number", [-1, "x", 1.5, True, float("nan"), 2**64])
def test_numbers_of_environments_are_checked(number: Any) -> None:
    game = Game.load("tictactoe")
    calls: list[tuple[str, Callable[[], object]]] = [
        ("environments", lambda: make_vec(game, number)),
        ("environments", lambda: VectorMatch(game.machine("native"), number)),
        ("memory_limit", lambda: make_vec(game, 2, memory_limit=number)),
        ("seed", lambda: make_vec(game, 2).reset(seed=number)),
        ("seed", lambda: GdlAEC(game).reset(seed=number)),
        ("seed", lambda: GdlParallel(game).reset(seed=number)),
    ]
    calls += [
        ("max_steps", lambda kind=kind: kind(game, max_steps=number))
        for kind in (make_vec, GdlAEC, GdlParallel, GdlEnv)
    ]
    for name, call in calls:
        with pytest.raises(GdlError, match=rf"^{name} is .* \(give a whole number from [01] to [\d,]+\)$"):
            call()
    with pytest.raises(GdlError, match=r"^seconds is .* \(give a number from 0 to 86,400\)$"):
        GdlEnv(game, seconds="x" if number == 1.5 else number)
    make_vec(game, 2).reset(seed=np.int64(3))  # type: ignore[arg-type]


def test_a_vector_of_matches_names_what_it_needs() -> None:
    game = Game.load("tictactoe")
    for machine in (game, game.machine("prover"), None):
        with pytest.raises(GdlError, match=r"is not a machine with a network \(give .*'native'"):
            VectorMatch(machine, 2)  # type: ignore[arg-type]
