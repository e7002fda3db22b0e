"""What searches, solvers' positions and beliefs are measured by: duels, proven positions, engines."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench import engines, particles, teach
from bench.duel import tuning_of
from bench.engines import VARIANTS, Draughts, Engine, missing, opened, play_engine
from bench.positions import BY_SEARCH, EXACT, LONGEST, ProvenPosition, load, load_game
from bench.positions.solver import Claim, OutOfNodesError, Solver, role_to_move
from bench.tree import measure
from bench.tree import summary as cost_summary
from bench.twentyfortyeight import board_of, corner, slide
from gdl.errors import GdlError
from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from ggp.game import Game
from ggp.tournament.statistics.scores import Tally
from ggp.training.trial import summary
from players.belief.belief import Belief, Observed
from players.kaskade.guided_machine import guided
from players.knowledge import store as stores
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.knowledge import GameKnowledge, Record
from players.player import Choice
from players.uct.training import duel
from players.uct.training.duel import advantage, play, play_pair
from players.uct.tuning import Tuning
from propnet.build import build
from propnet.machine import PropnetMachine
from propnet.native.machine import NativeMachine

pytest.importorskip("pyspiel", reason="pip install 'kaskade-ggp[rl]'")
from bench.exploitability import measure_peer


def test_tunings_are_read_as_options_of_the_player() -> None:
    assert tuning_of("-") == Tuning()
    assert tuning_of("policy=equal,exploration=0.3,decisive=0") == Tuning(
        policy="equal", exploration=0.3, decisive=False
    )


@pytest.mark.parametrize("text", ["workers=2", "nothing=1", "policy=best", "exploration=much"])
def test_what_a_search_does_not_know_is_refused(text: str) -> None:
    with pytest.raises(GdlError):
        tuning_of(text)


def test_two_good_searches_draw() -> None:
    machine = Game.load("tictactoe").machine("propnet")
    state = machine.initial_state()
    good = tuning_of("-")
    assert play(machine, state, (good, good), 0.05, 1, 9) == [50, 50]
    assert "3.5 of 4" in summary(Tally(3, 1, 0))


@pytest.mark.parametrize(
    ("goals", "seat", "score"),
    [
        ((100, 0), 0, 1.0),
        ((50, 50), 1, 0.5),
        ((100, 0), 1, 0.0),
        ((50, 0, 100), 0, 0.5),
        ((9, 9, 0), 1, 0.75),
    ],
)
def test_a_role_is_compared_with_each_other_one(goals: tuple[int, ...], seat: int, score: float) -> None:
    assert advantage(goals, seat) == score


@pytest.mark.parametrize("roles", [2, 3])
def test_a_pair_of_equal_searches_is_drawn_whoever_wins(roles: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def first_role_wins(machine: object, state: object, tunings: Sequence[Tuning], *_: object) -> list[int]:
        seen.append([tuning.number for tuning in tunings])
        return [100] + [0] * (roles - 1)

    monkeypatch.setattr(duel, "play", first_role_wins)
    machine = Game.load("tictactoe" if roles == 2 else "chinesecheckers").machine("propnet")
    tunings = replace(tuning_of("-"), number=1), replace(tuning_of("-"), number=2)
    for seat in range(roles):
        scores = play_pair(machine, machine.initial_state(), tunings, 0.1, 1, 9, seat)
        assert scores is not None and sum(scores) == 1
    assert seen[:2] == [[1, 2, 2][:roles], [2, 1, 1][:roles]]


def test_a_match_in_which_roles_wait_for_ever_is_drawn() -> None:
    rules = """(role a) (role b) (init (at 0)) (on 0 1) (on 1 0)
    (<= (legal ?r stay) (role ?r)) (<= (legal ?r turn) (role ?r))
    (<= (next (at ?m)) (true (at ?n)) (on ?n ?m)) (<= terminal (true (at 2)))
    (<= (goal ?r 100) (role ?r))"""
    machine = PropnetMachine(parsed := parse_rules(rules), build(ground(parsed)))
    options = tuning_of("-")
    assert play(machine, machine.initial_state(), (options, options), 0.001, 1, longest=7) == [0, 0]


# --- What the tree costs is told by parts that make up most of the time, and beside the raw playouts
def test_the_parts_of_a_search_make_up_most_of_its_time() -> None:
    native = Game.load("connectfour").machine("native")
    assert isinstance(native, NativeMachine)
    machine = guided(native)
    few, many = (measure(machine, tuning_of(text), 0.3, 1) for text in ("-", "per_leaf=32"))
    for cost in (few, many):
        assert cost.visits > 0
        assert cost.playouts >= cost.visits
        assert all(part >= 0.0 for part in cost.parts.values())
        assert 0.3 < sum(cost.parts.values()) <= 1.001
        assert 0.0 < cost.share < 1.5
    assert many.playouts / many.visits > few.playouts / few.visits
    line = cost_summary("-", [few, few], [few, few])
    assert "(x1.00)" in line
    assert "playouts" in line


# --- The positions that searches are measured by (bench/positions) are what they are said to be
POSITIONS = load()
QUICK = 220
"""Positions whose proof looked at no more states than that are proven anew here; `python -m bench.positions
--verify` proves them all."""
LATE = 26
"""Positions of the exact solver with more propositions than that are proven anew by another one."""


def test_wins_of_all_depths_in_at_least_eight_games() -> None:
    depths = defaultdict(set)
    for position in POSITIONS:
        if position.value == 100 and 1 <= position.plies <= 7:
            depths[position.plies].add(position.game)
    assert {1, 3, 5, 7} <= set(depths)
    assert len(set.union(*depths.values())) >= 8
    assert {"tictactoe", "connectfour", "nim", "chomp", "smallbreakthrough"} <= {p.game for p in POSITIONS}
    assert len({(p.game, p.role, p.true) for p in POSITIONS}) == len(POSITIONS)


@pytest.mark.parametrize("game", sorted({position.game for position in POSITIONS}))
def test_the_best_moves_are_legal_and_others_too(game: str) -> None:
    machine = load_game(game).machine("prover")
    spell = machine.rules.spell
    for position in (p for p in POSITIONS if p.game == game):
        state, role = position.on(machine)
        assert not machine.is_terminal(state)
        assert role_to_move(machine, state) == role
        moves = {spell(machine.move(role, move)) for move in machine.legal_moves(state, role)}
        assert position.best
        assert set(position.best) < moves


@pytest.mark.parametrize(
    "position",
    [p for p in POSITIONS if p.proof == BY_SEARCH and p.nodes <= QUICK],
    ids=lambda position: f"{position.game}-{position.plies}-{position.nodes}",
)
def test_the_best_moves_are_proven_by_exhaustive_search(position: ProvenPosition) -> None:
    machine = load_game(position.game).machine("prover")
    state, role = position.on(machine)
    solution = Solver(machine, 20 * QUICK).solve(state, role, LONGEST, count=position.plies > 0)
    assert (solution.value, solution.best, solution.plies) == (position.value, position.best, position.plies)


def test_late_positions_of_connect_four_are_as_the_exact_solver_says() -> None:
    machine = load_game("connectfour").machine("native")
    late = [p for p in POSITIONS if p.proof == EXACT and len(p.true) > LATE]
    assert len(late) >= 5
    for position in late:
        solution = Solver(machine, 20_000).solve(*position.on(machine), LONGEST, count=False)
        assert (solution.value, solution.best) == (position.value, position.best)


def test_the_solver_knows_when_it_does_not_know() -> None:
    machine = Game.load("tictactoe").machine("prover")
    solver = Solver(machine, 300)
    assert solver.decide(machine.initial_state(), 0, 100, 2) == (Claim.OPEN, 2)
    with pytest.raises(OutOfNodesError):
        solver.solve(machine.initial_state(), 0)
    both = Game.load("rockpaperscissors").machine("prover")
    with pytest.raises(ValueError, match="both"):
        role_to_move(both, both.initial_state())


# --- Our moves are UCI's, and an engine that is not installed is reported
@pytest.mark.parametrize(
    ("game", "role", "move", "uci"),
    [
        ("chess", "white", "(move e 2 e 4)", "e2e4"),
        ("chess", "black", "(castle queenside)", "e8c8"),
        ("chess", "white", "(promote b 7 a 8 knight)", "b7a8n"),
        ("breakthrough", "white", "(move b 2 a 3)", "b2a3"),
        ("othello", "black", "(place e 3)", "P@e6"),
    ],
)
def test_moves_are_spelt_in_uci(game: str, role: str, move: str, uci: str) -> None:
    assert VARIANTS[game].spell(Term(role), parse_term(move)) == uci


def test_without_the_engine_the_reason_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_program", lambda: None)
    assert "apt-get install stockfish" in missing()
    assert "there is no program" in missing("./nowhere")
    with pytest.raises(GdlError, match="not installed"):
        Engine("chess", "nodes 1")


def test_openings_are_of_their_length_and_not_over() -> None:
    machine = Game.load("tictactoe").machine("propnet")
    matches = [opened(machine, 7, seed) for seed in range(20)]
    assert all(match.at == 7 and not match.over for match in matches)
    assert len({match.state for match in matches}) > 10


_ENGINE = r"""#!{python}
import sys
said = []
for line in sys.stdin:
    line = line.strip()
    said.append(line)
    if line == "uci":
        print("option name UCI_Variant type combo default chess var chess var breakthrough\nuciok")
    elif line == "isready":
        print("readyok")
    elif line == "go perft 1":
        print("{moves}\n\nNodes searched: 22")
    elif line.startswith("go"):
        print("info depth 1\nbestmove a7a6")
    elif line == "quit":
        break
    sys.stdout.flush()
"""


def _engine(folder: Path, moves: list[str]) -> str:
    """A program that speaks UCI and has these moves in each position."""
    path = folder / "engine"
    path.write_text(_ENGINE.format(python=sys.executable, moves="\\n".join(f"{move}: 1" for move in moves)))
    path.chmod(0o700)
    return str(path)


def test_an_engine_whose_moves_are_not_ours_is_an_error_not_a_match(tmp_path: Path) -> None:
    machine = Game.load("breakthrough").machine("propnet")
    match, few = opened(machine, 1, 3), _engine(tmp_path, ["a2a3"])
    with (
        Engine("breakthrough", "nodes 1", program=few) as engine,
        pytest.raises(AssertionError, match="b2b3"),
    ):
        engine.choose(match)
    with pytest.raises(GdlError, match="does not play othello"):
        Engine("othello", "nodes 1", program=few)


@pytest.mark.skipif(bool(missing()), reason=missing() or "it is installed")
def test_a_match_against_the_engine_is_played_by_the_same_rules() -> None:
    machine = Game.load("chess").machine("propnet")
    with Engine("chess", "nodes 1") as engine:
        assert play_engine(machine, "random", 0.1, engine, 2, opening=2).games == 2


def test_a_match_of_checkers_against_the_engine_is_played_by_the_same_rules() -> None:
    with pytest.raises(GdlError, match="to a depth"):
        Draughts("nodes 1")
    pytest.importorskip("draughts.boards.american", reason="pip install py-draughts")
    machine = Game.load("checkers").machine("propnet")
    assert play_engine(machine, "random", 0.1, Draughts("depth 1"), 2, opening=2).games == 2


def test_the_engine_chooses_how_a_jump_goes_on_whose_beginning_was_no_choice() -> None:
    pytest.importorskip("draughts.boards.american", reason="pip install py-draughts")
    machine, engine, asked = Game.load("checkers").machine("propnet"), Draughts("depth 1"), 0
    for seed in range(60):
        match = opened(machine, 0, seed)
        while not match.over:
            going_on = {term for term in match.state.propositions if term.name == "chain"}
            if (
                going_on
                and match.waiting
                and len(machine.legal_moves(match.steps[-1].state, match.waiting[0])) == 1
            ):
                engine.begin()
                assert engine.choose(match).move in machine.legal_moves(match.state, match.waiting[0])
                asked += 1
            for role in match.waiting:
                match.answer(role, Choice(match.draw(role)))
            match.make()
    assert asked


# --- The measure of beliefs counts the joint moves that they play
def test_particles_are_the_joint_moves_that_are_not_seen() -> None:
    machine = Game.load("blindtictactoe").machine("propnet")
    belief = Belief(machine, 0)
    assert particles.particles(belief, 100) == 9
    belief.update(Observed(Term("mark", Term("b"), Term("2")), frozenset([Term("ok")])))
    assert particles.particles(belief, 100) == 8 * 8
    assert particles.particles(belief, 10) == 10


def test_what_is_learnt_of_a_match_fits_a_belief() -> None:
    machine = Game.load("kuhn").machine("propnet")
    for seed in range(8):
        belief = Belief(machine, 1)
        for seen in particles.learnt(machine, 1, random.Random(seed)):
            assert belief.update(seen)


# --- The slides of the benchmark are those of the rules
def test_slides_come_to_the_boards_of_the_rules_and_the_best_one_is_legal() -> None:
    machine, rng = Game.load("twentyfortyeight").machine("propnet"), random.Random(2)
    state = machine.initial_state()
    for _ in range(120):
        own, puts = machine.legal_moves(state, 0), machine.legal_moves(state, 1)
        if machine.is_terminal(state):
            break
        ways = {str(machine.move(0, move)): move for move in own}
        if "noop" not in ways:
            board = board_of(state)
            for way, move in ways.items():
                after = machine.next_state(state, [move, puts[0]])
                assert board_of(after) == slide(board, way[7:-1])[0]
            legal = {way for way in ("left", "right", "up", "down") if slide(board, way)[0] != board}
            assert {f"(slide {way})" for way in legal} == set(ways)
            assert corner(board, 1)[1] in legal
        state = machine.next_state(state, [rng.choice(own), rng.choice(puts)])


# --- The bench of equilibria has OpenSpiel's own algorithm beside ours
def test_openspiels_cfr_learns_in_the_time_that_it_is_given() -> None:
    assert 0.0 <= measure_peer("kuhn_poker", 0.2) < 0.01


def test_a_game_is_taught_once_and_its_file_comes_along_if_it_won_its_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, page, calls = tmp_path / "games", tmp_path / "page.md", []
    monkeypatch.setattr(teach, "PAGE", page)
    monkeypatch.setattr(stores, "BUNDLED", folder)

    def train(command: list[str], env: dict[str, str], check: bool) -> None:
        """What ``ggp train`` leaves."""
        calls.append(command)
        game, weights = command[4], np.ones((1, 1), np.float32)
        fingerprint = canonical_names(Game.load(game).rules).fingerprint
        share, record = (0.5, Record(9, 1, 0, 0.1)) if game == "nim" else (0.0, Record(1, 1, 8, 0.1))
        learnt = GameKnowledge(fingerprint, game, ("#1",), ("1",), *[weights] * 3, share, 7, 60.0, record)
        stores.KnowledgeStore(Path(env["GGP_CACHE"]) / "knowledge").put(learnt)

    monkeypatch.setattr(subprocess, "run", train)
    for _ in range(2):
        teach.main(["nim", "tictactoe", "--work", str(tmp_path / "work"), "--minutes", "1"])
        (path,) = stores.bundled_files()
        assert path.name.startswith("nim.") and stores.read_file(path).moves == 7
        assert [line[:7] for line in page.read_text().splitlines()[-2:]] == ["|---|--", "| nim |"]
    assert [command[4] for command in calls] == ["nim", "tictactoe"]
    assert calls[0][5:7] == ["--minutes", "1.00"]
