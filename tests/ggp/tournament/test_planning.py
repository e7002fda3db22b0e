"""What a tournament plays, keeps and tells: schedule, players, settings, openings, ratings, reports."""

from __future__ import annotations

import io
import json
import math
import random
import re
import socket
from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.console import new_console
from ggp.game import Game
from ggp.tournament.schedule import Fixture, plan, rules_from, seatings
from ggp.tournament.session import write_csv, write_json
from ggp.tournament.settings import Entrant, GameSpec, TournamentSettings, check_kept, parse_entrants
from ggp.tournament.sites import Cores
from ggp.tournament.statistics.ratings import ELO, Sprt, _posterior, expected, rate
from ggp.tournament.statistics.scores import (
    Comparison,
    block_scores,
    by_game,
    comparisons,
    conduct,
    crosstable,
)
from ggp.tournament.statistics.standing import standing_of
from ggp.tournament.statistics.tables import LiveTable, html_report, rating_rows, verdict_line
from ggp.tournament.store import Result, Store, faults_of
from players.match import Openings
from players.processes.limits import cores
from tests.examples import examples
from tests.ggp.program import ggp
from tests.ggp.tournament.small_tournaments import settings_of, tournament_of
from tests.places import ROOT


@given(players=st.integers(2, 6), roles=st.integers(1, 4))
def test_every_player_has_every_role_and_every_opponent_equally_often(players: int, roles: int) -> None:
    names = [f"p{i}" for i in range(players)]
    seated = seatings(names, roles)
    assert len(set(seated)) == len(seated)
    for role in range(roles):
        assert len(set(Counter(seats[role] for seats in seated).values())) == 1
        assert {seats[role] for seats in seated} == set(names)
    if roles > 1:
        meetings = Counter(
            frozenset(pair) for seats in seated for pair in combinations(seats, 2) if len(set(pair)) == 2
        )
        assert len(meetings) == math.comb(players, 2)
        assert len(set(meetings.values())) == 1


def test_all_permutations_of_all_choices_are_played_in_each_round() -> None:
    fixtures = list(plan({"two": 2, "three": 3, "one": 1}, ["a", "b", "c"], 2))
    assert len(set(fixtures)) == len(fixtures) == 2 * (6 + 6 + 3)
    assert {f.seats for f in fixtures if f.game == "three" and f.round == 1} == set(permutations("abc"))
    assert [f.round for f in fixtures] == sorted(f.round for f in fixtures)


def test_two_players_share_out_three_roles() -> None:
    seated = seatings(["a", "b"], 3)
    assert len(seated) == 6
    assert ("a", "a", "a") not in seated
    with pytest.raises(GdlError, match="one player alone"):
        seatings(["a"], 2)


@given(st.lists(st.tuples(st.lists(st.integers(0, 3), min_size=1, max_size=3), st.booleans()), max_size=30))
def test_no_core_is_given_to_two_matches(asked: list[tuple[list[int], bool]]) -> None:
    cores = Cores(range(4))
    held: list[tuple[tuple[int, ...], ...]] = []
    for needs, shared in asked:
        sets = cores.take(needs, shared)
        if sets is None:
            assert held
            cores.give_back(held.pop(0))
            continue
        busy = {core for match in held for part in match for core in part}
        mine = {core for part in sets for core in part}
        assert not busy & mine
        wanted = max(needs) if shared else sum(needs)
        assert len(mine) == min(wanted, 4)
        if wanted <= 4:
            assert [len(part) for part in sets] == needs
        held.append(sets)
    for match in held:
        cores.give_back(match)
    assert cores.take([4], False) == ((0, 1, 2, 3),)


def test_players_are_named_and_counted() -> None:
    entrants = parse_entrants(["random,old@http://host:9147", "one@legal"])
    assert [e.label for e in entrants] == ["random", "old", "one"]
    assert [e.remote for e in entrants] == [False, True, False]
    assert [e.cores(4) for e in entrants] == [1, 0, 1]
    assert Entrant("x", "uct:workers=3").cores(4) == 3
    assert Entrant("x", "uct:workers=all,exploration=1").cores(4) == 4
    assert Entrant("x", "uct:workers=all,exploration=1").local_name(4) == "uct:workers=4,exploration=1"
    assert (Entrant("x", "uct").workers(4), Entrant("x", "uct").cores(4)) == (0, 1)
    assert Entrant("x", "m:Class").local_name(4) == "m:Class"


@pytest.mark.parametrize("text", ["nobody", "random,random", "@random", "http://", "os:path"])
def test_unknown_and_doubled_players_are_refused(text: str) -> None:
    with pytest.raises(GdlError):
        parse_entrants([text])


def test_a_tournament_may_grow_but_not_change() -> None:
    before = settings_of("a", "b")
    assert TournamentSettings.from_json(json.loads(json.dumps(before.as_json()))) == before
    grown = settings_of("c", rounds=5).continues(before)
    assert grown.labels == ["a", "b", "c"]
    assert grown.rounds == 5
    with pytest.raises(GdlError, match="playclock"):
        settings_of("a", "b", playclock=2.0).continues(before)
    other = TournamentSettings("t", (GameSpec("g", "(role b)", 2),), before.entrants, 3, 1.0, 1.0)
    with pytest.raises(GdlError, match="another g"):
        other.continues(before)
    with pytest.raises(GdlError, match="whole seconds"):
        TournamentSettings("t", before.games, (Entrant("u", "http://h"),), 1, 1.0, 0.5)


def test_openings_depend_on_the_seed_alone_and_differ() -> None:
    rules = Game.load("connectfour").rules
    one, same = (Openings(ProverMachine(rules), 2, 7) for _ in range(2))
    machine = ProverMachine(rules)

    def spelled(openings: Openings, number: int) -> list[list[str]]:
        own = openings._machine
        return [[str(own.move(r, m)) for r, m in enumerate(joint)] for joint in openings.of_round(number)]

    assert spelled(same, 9) == spelled(one, 9)
    openings = [spelled(one, number) for number in range(1, 21)]
    assert openings == [spelled(same, number) for number in range(1, 21)]
    assert len({str(opening) for opening in openings}) == 20
    assert all(len(opening) == 2 for opening in openings)
    assert spelled(Openings(machine, 2, 8), 1) != spelled(one, 1) or spelled(
        Openings(machine, 2, 8), 2
    ) != spelled(one, 2)


def test_openings_do_not_end_the_match_and_puzzles_have_none() -> None:
    machine = ProverMachine(Game.load("tictactoe").rules)
    for plies in (6, 30):
        for number in range(1, 10):
            state = machine.initial_state()
            for joint in Openings(machine, plies, 3).of_round(number):
                state = machine.next_state(state, joint)
                assert not state.terminal
    assert Openings(ProverMachine(Game.load("hanoi").rules), 4, 1).of_round(3) == ()


def test_an_opening_stops_where_nobody_has_a_choice_any_more() -> None:
    waiting = """
        (role white) (role black) (init start)
        (<= (legal white (choose ?n)) (number ?n) (true start))
        (<= (legal white wait) (not (true start)))
        (legal black wait) (number 1) (number 2) (number 3)
        (<= (next (chosen ?n)) (does white (choose ?n)))
        (<= (next (chosen ?n)) (true (chosen ?n)))
        (<= terminal (true (chosen never)))
        (goal white 50) (goal black 50)
        """
    openings = Openings(ProverMachine(parse_rules(waiting)), 4, 1)
    assert [len(openings.of_round(number)) for number in (1, 2, 3)] == [1, 1, 1]


def test_rules_begin_where_the_opening_ends() -> None:
    machine = ProverMachine(Game.load("breakthrough").rules)
    state = machine.initial_state()
    for joint in Openings(machine, 3, 1).of_round(1):
        state = machine.next_state(state, joint)
    begun = ProverMachine(parse_rules(rules_from(state))).initial_state()
    assert begun == state
    assert {r: sorted(m) for r, m in begun.legal.items()} == {r: sorted(m) for r, m in state.legal.items()}


# --- A tournament's file loads, calls and opens nothing: its players are compared with the command line's
OWN = "module:Class"


@pytest.mark.parametrize(
    "spec",
    [
        OWN,
        "http://127.0.0.1:9",
        "tables:dir=t",
        f"tables:otherwise={OWN}",
        "uct:knowledge=k",
        "uct:cluster=h:1",
        f"uct:workers={cores() + 1}",
        "no such player",
        "uct:nothing=1",
    ],
)
def test_a_file_alone_runs_only_players_that_reach_nothing(spec: str) -> None:
    kept = [Entrant("one", spec), Entrant("uct:workers=all", "uct:workers=all"), Entrant("b", "random")]
    with pytest.raises(GdlError, match=r"names one@.*--players 'one@"):
        check_kept(kept, [Entrant("b", "random")], "t.sqlite")
    check_kept(kept, [Entrant("another label", spec)], "t.sqlite")
    check_kept(kept[1:], [], "t.sqlite")


def test_what_the_remedy_says_is_a_list_of_players() -> None:
    kept = [Entrant("one", "tables:dir=t,otherwise=greedy"), Entrant("http://h:1", "http://h:1")]
    with pytest.raises(GdlError) as told:
        check_kept(kept, [], "t.sqlite")
    assert parse_entrants([str(told.value).split("'")[-2]]) == kept


@pytest.mark.slow
def test_going_on_with_a_file_imports_nothing_and_calls_nobody(tmp_path: Path) -> None:
    (tmp_path / "marker.py").write_text("from pathlib import Path\nPath('imported').touch()\n")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        specs = [
            "marker:X",
            "tables:otherwise=marker:X",
            f"uct:cluster={address}",
            f"http://{address}",
            "random",
        ]
        kept = tournament_of(Entrant(spec, spec) for spec in specs)
        with Store(tmp_path / "t.sqlite") as store:
            store.set("settings", kept.as_json())
        for more in ([], ["--anyway"], ["--players", "random"]):
            words = "tournament", "-d", "t.sqlite", *more
            told = ggp(*words, cwd=tmp_path, PYTHONPATH=str(ROOT), RAY_AUTH_TOKEN="secret")
            assert told.returncode == 2
            assert "not run because a file says so" in told.stderr
            assert len(told.stderr.splitlines()) <= 3
        with pytest.raises(TimeoutError):
            listening.accept()
    assert not (tmp_path / "imported").exists()


# --- A tournament's file, and what its results say of pairs of players
def result(game: str, number: int, seats: str, *goals: int, faults: object = None) -> Result:
    none = tuple((0, 0, 0) for _ in goals)
    return Result(Fixture(game, number, tuple(seats)), goals, faults or none, True, 10, 1.5)  # type: ignore[arg-type]


def test_results_come_back_as_they_were_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    # Files from before moves were counted say nothing of them.
    moved = replace(result("g", 1, "ab", 100, 0, faults=((1, 0, 2), (0, 3, 0))), own=(0, 4))
    kept = [moved, result("h", 2, "a", 40)]
    assert [moved.idle(0), moved.idle(1), kept[1].idle(0)] == [True, False, False]
    with Store(path) as store:
        store.set("settings", {"x": [1]})
        for one in kept:
            store.add(one, {"matchId": str(one.goals), "moves": [], "errors": []})
        store.add(result("g", 1, "ab", 0, 100), {})
        with pytest.raises(GdlError, match="another tournament"):
            Store(path)
        with Store(path, writing=False) as reader:
            assert reader.results() == kept
        store.add_failure(Fixture("g", 2, ("a", "b")), "why")
        store.add_failure(Fixture("g", 1, ("a", "b")), "played later")
    with Store(path) as store:
        assert store.results() == kept
        assert store.setting("settings") == {"x": [1]}
        assert store.failures() == [(Fixture("g", 2, ("a", "b")), "why")]
        assert write_json(store, tmp_path / "m.json") == 2
        assert write_csv(store, tmp_path / "m.csv") == 2
    records = json.loads((tmp_path / "m.json").read_text())
    assert [r["game"] for r in records] == ["g", "h"]
    lines = (tmp_path / "m.csv").read_text().splitlines()
    assert lines[1] == "1,g,1,1,a,100,1,10,1.50,1,0,2,0"
    assert lines[3] == "2,h,2,1,a,40,1,10,1.50,0,0,0,"
    assert len(lines) == 4


def test_errors_of_a_record_are_counted_by_kind() -> None:
    errors = [["", ""], ["TO", "IL ( x )"], ["CE refused", "not ready: x"], ["", "TO"]]
    assert faults_of({"errors": errors}, (0, 1)) == ((1, 0, 1), (1, 2, 0))


def test_players_are_compared_by_goals_in_a_match_or_in_a_round() -> None:
    results = [
        result("g", 1, "ab", 100, 0),
        result("g", 1, "ba", 50, 50),
        result("h", 1, "a", 30),
        result("h", 1, "b", 70),
        result("k", 1, "aab", 10, 80, 20),
    ]
    table = crosstable(comparisons(results))
    mine, theirs = table["a", "b"], table["b", "a"]
    assert (mine.wins, mine.draws, mine.losses) == (1.5, 1, 1.5)
    assert (theirs.wins, theirs.draws, theirs.losses) == (1.5, 1, 1.5)
    assert by_game(results)["g", "a"].goals == {0: [100], 1: [50]}
    assert by_game(results)["k", "b"].tally.score == 0.5
    assert block_scores(results, "a", "b") == [0.75, 0.0]
    assert block_scores(results, "b", "a") == [0.25, 1.0]
    late = result("g", 2, "ab", 0, 0, faults=((2, 1, 0), (0, 0, 5)))
    assert [line[2:] for line in conduct([late]).values()] == [[2, 1, 0], [0, 0, 5]]


# --- Ratings and sequential tests, by simulated matches
def simulated(strengths: dict[str, float], draws: float, games: int, seed: int) -> list[Comparison]:
    rng = random.Random(seed)
    compared = []
    for a, b in combinations(strengths, 2):
        gap = (strengths[a] - strengths[b]) / ELO
        weights = [math.exp(gap / 2), draws, math.exp(-gap / 2)]
        for number in range(games):
            compared.append(Comparison(a, b, rng.choices([1.0, 0.5, 0.0], weights)[0], 1.0, ("g", number)))
    return compared


def test_known_strengths_are_found_within_their_intervals() -> None:
    truth = {"a": -300.0, "b": -40.0, "c": 0.0, "d": 120.0, "e": 220.0}
    inside = total = 0
    for seed in range(40):
        ratings = rate(simulated(truth, 0.8, 60, seed), list(truth))
        for label, elo in truth.items():
            total += 1
            inside += ratings[label].low <= elo <= ratings[label].high
    assert 0.91 < inside / total < 0.99
    many = rate(simulated(truth, 0.8, 4000, 1), list(truth))
    assert [rating.label for rating in many.table] == ["e", "d", "c", "b", "a"]
    assert all(abs(many[label].elo - elo) < 12 for label, elo in truth.items())
    assert many.draws == pytest.approx(0.8, abs=0.05)
    assert many.superiority("e", "a") > 0.999
    assert many.superiority("a", "e") < 0.001


def test_who_wins_everything_has_a_finite_rating() -> None:
    ratings = rate([Comparison("a", "b", 1.0, 1.0, ("g", n)) for n in range(50)], ["a", "b", "idle"])
    assert 200 < ratings["a"].elo < 2000
    assert ratings["a"].low > ratings["b"].elo
    assert ratings["idle"].low < -1000
    assert rate([], ["a"])["a"].elo == 0


@examples(20)
@given(st.integers(0, 1000))
def test_gradient_and_hessian_are_the_derivatives_of_the_posterior(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, 9, (4, 4)).astype(float)
    draws = rng.integers(0, 9, (4, 4)).astype(float)
    np.fill_diagonal(wins, 0)
    draws = np.triu(draws, 1) + np.triu(draws, 1).T
    theta = rng.normal(size=5)
    _, gradient, hessian = _posterior(theta, wins, draws)
    for i, step in enumerate(np.eye(5) * 1e-5):
        up, down = _posterior(theta + step, wins, draws), _posterior(theta - step, wins, draws)
        assert (up[0] - down[0]) / 2e-5 == pytest.approx(gradient[i], abs=1e-4)
        np.testing.assert_allclose((up[1] - down[1]) / 2e-5, hessian[i], atol=1e-4)


def decided(test: Sprt, score: float, draws: float, rng: random.Random) -> tuple[str, int]:
    """Play pairs of matches, whose results depend on each other, until the test is decided."""
    scores: list[float] = []
    while not (verdict := test.verdict(scores)):
        tilt = rng.choice((-0.15, 0.15))  # an opening that is good for one role
        pair = 0.0
        for sign in (1, -1):
            win = score - draws / 2 + sign * tilt
            pair += rng.choices([1.0, 0.5, 0.0], [win, draws, 1 - win - draws])[0]
        scores.append(pair / 2)
    return verdict, len(scores)


def test_sequential_tests_err_as_seldom_as_they_promise() -> None:
    test = Sprt(0, 80)
    rng = random.Random(5)
    runs = 80
    wrong0 = sum(decided(test, expected(0), 0.2, rng)[0] == "H1" for _ in range(runs))
    wrong1 = sum(decided(test, expected(80), 0.2, rng)[0] == "H0" for _ in range(runs))
    # Each is binomial with a mean of 4 at most: 10 or more come up with one seed in a hundred.
    assert wrong0 < 10
    assert wrong1 < 10
    far = [decided(test, expected(300), 0.1, rng) for _ in range(10)]
    assert all(verdict == "H1" and length < 60 for verdict, length in far)


def test_a_sequential_test_is_symmetric() -> None:
    rng = random.Random(1)
    scores = [rng.choice((0.0, 0.25, 0.5, 0.75, 1.0)) for _ in range(50)]
    there = Sprt(-30, 50).llr(scores)
    back = Sprt(-50, 30).llr([1 - score for score in scores])
    assert there == pytest.approx(-back, rel=1e-6)
    assert Sprt(0, 10).llr([]) == 0
    assert Sprt(0, 10).bounds == pytest.approx((-2.944, 2.944), abs=0.001)
    assert Sprt(0, 50).history(scores)[-1] == Sprt(0, 50).llr(scores)


# --- The live table and the report of a tournament
@pytest.mark.parametrize("terminal", [True, False])
def test_the_live_table_shows_what_is_played_and_what_came_out(terminal: bool) -> None:
    shown = io.StringIO()
    console = new_console(file=shown, force_terminal=terminal, width=120, color_system=None)
    results: list[Result] = []
    view = LiveTable(console, results, ["a", "[b]"], 4, Sprt(0, 50))
    console.print(view)
    fixtures = [Fixture("g", 1, ("a", "[b]")), Fixture("g", 1, ("[b]", "a")), Fixture("g", 2, ("a", "[b]"))]
    for fixture in fixtures:
        view.began(fixture)
    view.step(fixtures[2], 17)
    for fixture in fixtures[:2]:
        results.append(Result(fixture, (100, 0), ((0, 0, 0), (0, 2, 0)), True, 9, 1.0))
        view.ended(fixture, results[-1], "")
    view._standing_at = 0.0
    console.print(view)
    text = shown.getvalue()
    for part in ("0 of 4 matches", "2 of 4 matches", "step 17", "[b]", "+1 =0 -1", "after 1 opening,"):
        assert part in text
    assert ("2/4 g 1: [b] - a  100 - 0" in text) is not terminal
    view.ended(fixtures[2], None, "it broke")
    assert "it broke" in shown.getvalue()


def test_the_report_needs_nothing_from_elsewhere_and_no_name_is_markup() -> None:
    evil = '</script><script src="http://evil/x.js">$x$</script>'
    tournament = settings_of("a", evil)
    rng = random.Random(1)
    results = [
        Result(
            Fixture("g", number, seats), (goal, 100 - goal), ((0, 1, 0), (0, 0, 0)), True, 9, 1.0
        )
        for number in range(1, 6)
        for seats in (("a", evil), (evil, "a"))
        for goal in [rng.choice((0, 50, 100))]
    ]  # fmt: skip
    failures = [(Fixture("h", 1, ("a",)), "it <b>broke</b>")]
    page = html_report(tournament, results, failures, Sprt(0, 50))
    assert page.count("<script") == page.count("</script>") == 2 and "default-src 'none'" in page
    assert not re.search(r"<(link|img|iframe|object|embed|base)\b|@import|url\((?!#)|\nimport ", page)
    told = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert told["players"] == ["a", evil] and len(told["matches"]) == 10 and told["test"]
    assert told["failures"] == ["h 1: a: it <b>broke</b>"]
    assert '"played":0' in html_report(settings_of("a", "b"), [])


def verdict(*goals: int) -> str:
    seats = ("a", "b")
    results = [
        Result(Fixture("g", number, seats), (goal, 100 - goal), ((0, 0, 0), (0, 0, 0)), True, 9, 1.0)
        for number, goal in enumerate(goals, 1)
    ]
    return verdict_line(rating_rows(standing_of(results, seats)))


def test_nobody_leads_before_it_is_likely_enough() -> None:
    assert verdict(*[50] * 6) == "not sure yet: with 50.0 % a is stronger than b"
    assert verdict(100, 0, 100, 100).startswith("not sure yet: with")
    assert re.fullmatch(r"b leads, 9\d\.\d % sure", verdict(*[0] * 12))
