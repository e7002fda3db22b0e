"""A recorded match of hidden information is seen as a role saw it: by what it did and perceived alone."""

from __future__ import annotations

import random

import orjson
import pytest

from gdl.errors import GdlError
from gdl.prover.machine import ProverMachine
from ggp.game import Game
from ggp.protocol.match_record import MatchRecord
from ggp.web.replay.recorded import read_match
from ggp.web.replay.replay_process import Replay
from players.belief.belief import observed
from players.match import Match
from tests.ggp.told import Told


def recorded(game: Game, seed: int) -> MatchRecord:
    """A random match."""
    machine, rng = ProverMachine(game.rules), random.Random(seed)
    record = MatchRecord("m", 1, 1, ["one", "two"], game=game.name)
    match = Match(machine, rng)
    while True:
        record.add_state(match.state, [""] * len(machine.roles))
        if match.over:
            return record
        for role in match.waiting:
            match.replace(role, "none")
        step = match.make()
        record.add_moves(step.state, step.joint)


def test_two_matches_that_are_the_same_to_a_role_look_the_same_when_seen_as_it() -> None:
    game, told = Game.load("kuhn"), Told()
    machine = game.machine("prover")
    for seed in range(25):
        match = read_match(recorded(game, seed).to_dict())
        replay = Replay(match, game)
        assert replay.story()["hidden"] == [0, 1]
        for role in (0, 1):
            history: tuple[object, ...] = ()
            sights = replay.sights(role)
            assert len(sights) == len(match.states) - 1  # at the end all is told
            for step, sight in enumerate(sights):
                told.note("sight", role, history, orjson.dumps(sight), match.states[step])
                state = machine.state_of(match.states[step])
                joint = tuple(machine.move_id(one, move) for one, move in enumerate(match.moves[step]))
                history = (*history, observed(state, joint)[role])
    assert told.compared > 20
    assert told.differences == []


def test_where_nothing_is_hidden_there_is_nothing_to_see_as_somebody() -> None:
    game = Game.load("tictactoe")
    replay = Replay(read_match(recorded(game, 1).to_dict()), game)
    assert replay.story()["hidden"] == []
    with pytest.raises(GdlError, match="anything hidden"):
        replay.sights(0)
