"""What a tournament plays before anything is played: schedule, players, settings, openings."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from ggp.tournament.schedule import Openings, plan, rules_from, seatings
from ggp.tournament.settings import Entrant, GameSpec, TournamentSettings, parse_entrants
from ggp.tournament.sites import Cores
from tests.ggp.tournament.small_settings import settings_of


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
