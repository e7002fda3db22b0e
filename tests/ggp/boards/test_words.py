"""Moves in the words of hints: notations, templates, and what becomes of wrong ones."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.checks.run import check_text
from gdl.hints import MOST_HINTS, read_word_hints
from gdl.machine import Machine
from gdl.syntax.parser import parse_rules, parse_terms
from gdl.terms import Term
from gdl.words import fill
from ggp.boards.spoken.words import MoveWords
from players.kaskade.make_machine import make_machine
from tests.examples import examples
from tests.games.rules_of_games import NAMES
from tests.ggp.boards.found_boards import board_of_machine, machine_of
from tests.places import in_turn


@cache
def worded(game: str) -> tuple[Machine, MoveWords]:
    machine = machine_of(game)
    return machine, MoveWords(machine.rules, machine.roles, board_of_machine(game))


def said(game: str, facts: str, role: int = 0) -> set[str]:
    """The words for the legal moves of a role in a state of a game."""
    machine, words = worded(game)
    return set(words.texts(machine.state_of(parse_terms(facts)), role).values())


# --- Chess: every move of random games as a library writes it
def uci(move: Term, row: int) -> str:
    names = [term.name for term in move.args]
    if move.name == "castle":
        return f"e{row}{'g' if names == ['kingside'] else 'c'}{row}"
    kinds = {"queen": "q", "rook": "r", "bishop": "b", "knight": "n"}
    return "".join(names[:4]) + "".join(map(kinds.__getitem__, names[4:]))


@pytest.mark.parametrize("seed", [1, 2, pytest.param(range(3, 12), marks=pytest.mark.slow)])
def test_san_is_that_of_python_chess(seed: int | range) -> None:
    chess = pytest.importorskip("chess", reason="python-chess is not installed")
    machine, words = worded("chess")
    seen: set[str] = set()
    for one in seed if isinstance(seed, range) else [seed]:
        rng, board, state = random.Random(one), chess.Board(), machine.initial_state()
        while not machine.is_terminal(state) and board.halfmove_clock < 90 and board.fullmove_number < 90:
            role, row = (0, 1) if board.turn else (1, 8)
            texts = words.texts(state, role)
            ours = {uci(machine.move(role, move), row): text for move, text in texts.items()}
            assert ours == {move.uci(): board.san(move) for move in board.legal_moves}
            rare = [move for move, text in texts.items() if set("+#=O") & set(text)]
            move = rng.choice(rare if rare and rng.random() < 0.5 else list(texts))
            seen.update(texts[move])
            board.push_san(texts[move])
            joint = [machine.legal_moves(state, other)[0] for other in range(2)]
            joint[role] = move
            state = machine.next_state(state, joint)
    assert set("KNx+") <= seen


KINGS = "(cell e 1 wk) (cell e 8 bk) "


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (
            KINGS + "(cell a 1 wr) (cell h 1 wr) (right white kingside) (right white queenside)",
            {"O-O", "O-O-O"},
        ),
        (KINGS + "(cell b 1 wn) (cell f 3 wn)", {"Nbd2", "Nfd2"}),
        (KINGS + "(cell a 1 wr) (cell a 5 wr)", {"R1a3", "R5a3"}),
        (KINGS + "(cell a 7 wp) (cell b 8 br)", {"a8=Q", "a8=N", "axb8=N", "axb8=Q+"}),
        (KINGS + "(cell d 5 wp) (cell e 5 bp) (passing e)", {"dxe6", "d6"}),
        (KINGS + "(cell g 6 wr) (cell h 7 wr)", {"Rg8#", "Rh8+"}),
        ("(cell b 3 wk) (cell b 8 bk) (cell e 4 wq) (cell h 4 wq) (cell h 1 wq)", {"Qee1", "Q1e1", "Qh4e1"}),
    ],
)
def test_chess_moves_that_are_rare(facts: str, expected: set[str]) -> None:
    assert expected <= said("chess", f"{facts} (control white) (tens 0) (units 0)")


# --- Draughts, go, and words of our games
def test_draughts_are_numbered_from_the_side_of_black_as_in_books() -> None:
    machine, words = worded("checkers")
    state = machine.initial_state()
    first = {"9-13", "9-14", "10-14", "10-15", "11-15", "11-16", "12-16"}
    assert set(words.texts(state, 0).values()) == first
    number = {text: str(machine.move(0, move)) for move, text in words.texts(state, 0).items()}
    state = state.play(number["11-15"])
    assert {"22-18", "23-19", "24-20"} <= set(words.texts(state, 1).values())
    assert said("checkers", "(cell c 3 bm) (cell d 4 wm) (control black) (step 1)") == {"11x18"}


def test_go_points_leave_out_the_letter_i() -> None:
    assert {"A1", "G7", "D4"} <= set(said("atarigo", "(control black)"))
    points = "".join(f"(column c{i}) (row {i + 1}) " for i in range(10))
    text = f"""(role b) (role w) {points} (init (control b)) (init (cell c0 1 w))
        (<= (legal ?r (put ?x ?y)) (true (control ?r)) (column ?x) (row ?y) (not (full ?x ?y)))
        (<= (full ?x ?y) (true (cell ?x ?y ?r)))
        (<= (legal ?r pass) (role ?r) (not (true (control ?r))))
        (<= (next (cell ?x ?y ?r)) (does ?r (put ?x ?y))) (<= (next (cell ?x ?y ?r)) (true (cell ?x ?y ?r)))
        (<= (next (control w)) (true (control b))) (<= (next (control b)) (true (control w)))
        (<= terminal (true (cell c9 10 b))) (<= (goal ?r 50) (role ?r))
        ; notation: go
        """
    machine = make_machine(parse_rules(text), "prover")
    texts = set(MoveWords.of_machine(machine).texts(machine.initial_state(), 0).values())
    assert {"A2", "H10", "J10", "K3"} <= texts and not any("I" in one for one in texts)


@pytest.mark.parametrize(
    ("game", "facts", "role", "expected"),
    [
        ("backgammon", "(control white) (turn white) (bar white 1) (left 5 1)", 0, {"from the bar to 20"}),
        ("backgammon", "(control white) (turn white) (cell 13 1 white) (left 6 1)", 0, {"point 13 to 7"}),
        ("backgammon", "(control white) (cell 2 1 white) (left 6 2)", 0, {"bear off from point 2 with a 6"}),
        (
            "liarsdice",
            "(control first) (bid 1 6)",
            0,
            {"bid two ones", "bid two fives", "call the bid a lie"},
        ),
        ("liarsdice", "(control second) (bid 1 5)", 1, {"bid one six", "bid two sixes"}),
        ("nim", "(control first) (heap a 3)", 0, {"take one from heap a", "take three from heap a"}),
    ],
)
def test_words_of_our_games(game: str, facts: str, role: int, expected: set[str]) -> None:
    assert expected <= said(game, facts, role)


@pytest.mark.parametrize("game", in_turn(NAMES))
def test_no_game_of_ours_shows_its_notation(game: str) -> None:
    machine, words = worded(game)
    rng, state = random.Random(3), machine.initial_state()
    for _ in range(30):
        options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        if machine.is_terminal(state):
            break
        joint = [rng.choice(moves) for moves in options]
        for text in words.joint(state, joint):
            assert text is None or not (set("()_?#") - {"#", "?"}) & set(text)
            assert text is None or not text.isdecimal()
        state = machine.next_state(state, joint)


def test_chance_says_what_it_does_and_not_by_which_of_several_equal_moves() -> None:
    machine, words = worded("twentyfortyeight")
    state = machine.initial_state()
    texts = words.texts(state, 1)
    assert len(set(texts.values())) == len(texts) > 100
    joint = [words.joint(state, [machine.legal_moves(state, 0)[0], move])[1] for move in texts]
    assert {text[:3] for text in joint if text} == {"a 2", "a 4"} and len(set(joint)) == 32


# --- Hints of strangers
STRANGE = """(role r) (init (p 1)) (<= (legal r (go ?n ?m)) (n ?n) (n ?m)) (<= (legal r rest) (true (p 1)))
    (n 1) (n 2) (<= (next (p ?n)) (does r (go ?n ?m))) (<= terminal (true (p 2))) (goal r 0)
    (<= (bigger ?n) (n ?n) (true (p ?m)) (distinct ?n ?m))
    """


@pytest.mark.parametrize(
    ("hint", "texts"),
    [
        ("say: (go ?n ?m) as go #n step+s to ?m", {"go one step to 1", "go two steps to 1"}),
        ("say: (go ?n ?m) as go #n step+s", {"go 1 1", "go 1 2", "go 2 1"}),
        ("say: (go 1 ?m) as back", {"go 1 1", "go 1 2", "go 2 1"}),
        ("say: (go ?n ?m) as rest", {"go 1 1", "rest"}),
        ("say: (go ?n ?m) as on to ?n by ?m where (bigger ?n)", {"on to 2 by 1", "go 1 1"}),
        ("say: (does ?who (go ?n ?m)) as ?who goes ?n, ?m", {"r goes 1, 2"}),
        ("say: (does other (go ?n ?m)) as never", {"go 1 1"}),
        ("say: (go ?n ?m) as <script>?n?m</script>", {"<script>12</script>"}),
        ("say: (go ?n ?m) as ?n?m " + "x" * 90, {"go 1 1"}),
        ("say: (stay) as stay", {"go 1 1"}),
        ("say: (go ?s ?m) as ?ſ", {"go 1 1"}),
        ("say: (go ?n ?m) as ?who", {"go 1 1"}),
        ("say: (go ?n ?m) as ?n ?m where (not (p ?x))", {"go 1 1"}),
        ("notation: san check nothing", {"go 1 1"}),
        ("notation: draughts", {"go 1 1"}),
    ],
)
def test_hints_of_strangers_and_wrong_ones_which_are_left_out(hint: str, texts: set[str]) -> None:
    machine = make_machine(parse_rules(f"{STRANGE}\n; {hint}\n"), "prover")
    found = MoveWords.of_machine(machine).texts(machine.initial_state(), 0)
    assert texts <= set(found.values())
    assert len(set(found.values())) == len(found) == 5


def test_the_same_hint_without_the_state_is_left_out_if_it_needs_one() -> None:
    rules = parse_rules(f"{STRANGE}\n; say: (go ?n ?m) as on to ?n by ?m where (bigger ?n)")
    words = MoveWords(rules, (Term("r"),), None)
    assert words.of_terms(parse_terms("(go 2 1) (go 1 1)")) == ["go 2 1", "go 1 1"]


@given(st.text("; notation:say:ends: as where(?n#+)gor\n\t%", max_size=120))
@examples(60)
def test_whatever_hints_say_moves_keep_texts_of_their_own(text: str) -> None:
    machine = make_machine(
        parse_rules(f"{STRANGE}\n; say: (go ?n ?m) as {text.splitlines()[0] if text else ''}"), "prover"
    )
    found = MoveWords(machine.rules, machine.roles, None).texts(machine.initial_state(), 0)
    assert len(set(found.values())) == len(found)
    hints, faults = read_word_hints(text)
    assert len(hints) + len(faults) <= MOST_HINTS + 1


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("say: (go ?n ?m)", "this hint has no 'as'"),
        ("say: (go ?n) as go", "these rules have no move 'go' with 1 arguments"),
        ("say: (go ?n ?m) as go ?x", "nothing says what '?x' is"),
        ("say: (go ?n ?m as go", "this '(' is never closed"),
        ("say: (go ?n ?m) as go where (q ?n)", "these rules have no 'q' with 1 arguments"),
        ("ends: (not (p ?n)) as over", "?n may be anything here"),
        ("ends: (or (p 1) (p 2)) as over", "a condition is a relation, or 'not' and a relation"),
        ("ends: p as over", "these rules have no 'p' with 0 arguments"),
        ("notation: chess", "there is no notation 'chess'"),
        ("notation: san mate", "this hint does not end as it should"),
        ("notation: san check (q)", "these rules have no 'q' with 0 arguments"),
        ("notation: draughts from black", "these rules have no role 'black'"),
        ("say: " + "x" * 300, "this hint is too long"),
        ("ends: (p 1) as \u202eover", "this hint has characters that cannot be shown"),
    ],
)
def test_a_wrong_hint_is_noted_with_its_place(hint: str, message: str) -> None:
    _, findings = check_text(f"{STRANGE}\n; {hint}\n")
    (found,) = [one for one in findings if one.code == "hint"]
    assert (str(found.place), found.message, str(found.severity)) == ("5:3", message, "info")
    assert found.remedy


def test_many_hints_are_cut() -> None:
    hints, (fault,) = read_word_hints("; ends: p as q\n" * 1000)
    assert len(hints) == MOST_HINTS and str(fault).startswith(f"{MOST_HINTS + 1}:3: there are more than")


@given(
    st.text(max_size=40), st.dictionaries(st.from_regex("[a-z]{1,2}", fullmatch=True), st.text(max_size=9))
)
def test_no_text_is_longer_than_it_may_be(text: str, values: dict[str, str]) -> None:
    assert len(fill(text, values)) <= 80
