"""FESS: features, macro moves, deadlocks and searches against plain Python and the oracle of all states."""

from __future__ import annotations

import heapq
import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.sokoban.state_space import explore
from gdl.errors import TooLargeError
from players.puzzles.sokoban.board import BOXED, FREE, Board, new_board, place_boxes, walk
from players.puzzles.sokoban.deadlocks.bipartite import Bipartite, is_bipartite_deadlock, new_bipartite
from players.puzzles.sokoban.fess.deadlocks import (
    Area,
    FrozenMatching,
    is_area_deadlock,
    is_unmatched,
    new_area,
    new_frozen_matching,
)
from players.puzzles.sokoban.fess.features import (
    BLOCKERS,
    HOTSPOTS,
    LINKS,
    MOBILITY,
    OUT,
    PACKED,
    REGIONS,
    FeatureRoom,
    Knowledge,
    find_features,
    new_knowledge,
    new_scratch,
    rooms_of,
)
from players.puzzles.sokoban.fess.macro_moves import Maneuvers, macro_pulls, macro_pushes, new_maneuvers
from players.puzzles.sokoban.fess.moves import (
    ADVISED,
    DEAD,
    KEPT,
    UNKNOWN,
    Children,
    keep_best,
    new_children,
)
from players.puzzles.sokoban.fess.packing_plan import PackingPlan, packing_plan
from players.puzzles.sokoban.fess.search import STYLES, Fess, FessStyle, _spell_out, run
from players.puzzles.sokoban.geometry import LEFT, RIGHT, Geometry, Position, from_level
from players.puzzles.sokoban.levels.level import Level
from players.puzzles.sokoban.levels.read import find_level, read_levels
from players.puzzles.sokoban.lines import after_steps, is_solved, steps_of
from players.puzzles.sokoban.push_search import PushTask
from players.puzzles.sokoban.solution import Outcome
from propnet.jit.arrays import Flags, Index, Int32s, Ints, Octets, Words
from propnet.jit.decorators import kernel
from tests.examples import examples
from tests.places import GAMES
from tests.players.puzzles.sokoban.small_levels import LEVELS, random_position, region


# --- Features against what plain Python counts
@kernel
def _find(board: Board, know: Knowledge, scratch: FeatureRoom, boxes: Int32s, keeper: Index) -> None:
    walk(board, keeper)
    find_features(board, know, scratch, boxes, len(boxes), -1, -1, 0, -1)


def _features(
    geometry: Geometry, position: Position, loose: bool, plan: PackingPlan | None = None
) -> tuple[Knowledge, list[int]]:
    know = new_knowledge(geometry, plan or packing_plan(geometry, position, everywhere=loose), loose)
    board, scratch = new_board(geometry), new_scratch(geometry)
    place_boxes(board, position)
    _find(board, know, scratch, np.array(position.boxes, np.int32), np.int64(position.keeper))
    return know, scratch.values.tolist()


def _lone_squares(geometry: Geometry, square: int, walls: set[int]) -> set[int]:
    """Squares that a lone box reaches beside walls, wherever the keeper must be."""
    seen, waiting = {square}, [square]
    closed = {geometry.size, *walls}
    while waiting:
        here = waiting.pop()
        for direction in range(4):
            there, behind = geometry.neighbours[here, [direction, direction ^ 2]].tolist()
            if there not in closed and behind not in closed and there not in seen:
                seen.add(there)
                waiting.append(there)
    return seen


def _lone_goals(geometry: Geometry, square: int, wall: int) -> int:
    """The number of goals among them, beside one wall."""
    return len(_lone_squares(geometry, square, {wall}) & set(geometry.goals.tolist()) - {wall})


def _out_of_plan(geometry: Geometry, plan: PackingPlan, loose: bool, boxes: set[int]) -> int:
    """Boxes out of plan, by a matching that tries all ways."""
    phases = (plan.loose,) if loose and len(plan.phases) > 1 else plan.phases
    counted = (plan.loose,) if loose else plan.phases
    begun = max((number for number, phase in enumerate(counted) if set(phase.base) <= boxes), default=-1)
    if begun < 0:
        return 0
    now, places = counted[begun], list[tuple[int, set[int]]]()
    due = [{now.squares[other] for other in np.flatnonzero(row)} <= boxes for row in now.before]
    packed = set(now.base) | {
        square for square, ready in zip(now.squares, due, strict=True) if ready and square in boxes
    }
    for phase in phases[begun:]:
        for number, square in enumerate(phase.squares):
            if phase is not phases[begun] or square not in packed:
                earlier, waiting = set[int](), [number]
                while waiting:
                    new = set(np.flatnonzero(phase.before[waiting.pop()]).tolist()) - earlier
                    earlier |= new
                    waiting += new
                places.append(
                    (square, {*phase.base, *(phase.squares[other] for other in earlier)} - {square})
                )
    left = sorted(boxes - packed)
    fits = [
        [box not in walls and square in _lone_squares(geometry, box, walls) for square, walls in places]
        for box in left
    ]

    def most(first: int, taken: frozenset[int]) -> int:
        if first == len(left):
            return 0
        free = [place for place in range(len(places)) if fits[first][place] and place not in taken]
        return max([most(first + 1, taken), *(1 + most(first + 1, taken | {place}) for place in free)])

    return len(left) - most(0, frozenset())


@given(st.integers(0, 100_000), st.booleans())
@examples(40)
def test_features_are_what_they_say(seed: int, loose: bool) -> None:
    geometry, position = random_position(seed)
    plan = packing_plan(geometry, position, everywhere=loose)
    know, values = _features(geometry, position, loose, plan)
    boxes = set(position.boxes)
    left = set(range(geometry.size)) - boxes
    regions = 0
    while left:
        left -= region(geometry, boxes, min(left))
        regions += 1
    assert values[REGIONS] == regions
    around = region(geometry, boxes, position.keeper)
    sides = [side for box in boxes for side in geometry.neighbours[box].tolist()]
    assert values[MOBILITY] == sum(side in around for side in sides)
    assert values[OUT] == _out_of_plan(geometry, plan, loose, boxes)
    assert 0 <= values[PACKED] <= len(boxes)
    for box in boxes:
        for other in boxes - {box}:
            hot = _lone_goals(geometry, box, other) < _lone_goals(geometry, box, -1)
            assert _blocks(know, box, other) == hot
    assert values[HOTSPOTS] <= sum(_blocks(know, box, other) for box in boxes for other in boxes)
    assert values[LINKS] == _broken_links(geometry, know, boxes)


def _blocks(know: Knowledge, box: int, other: int) -> bool:
    """Whether the second box is a hotspot of the first."""
    return bool(int(know.hot[box, other >> 6]) >> (other & 63) & 1)


@given(st.integers(0, 100_000), st.integers(0, len(STYLES) - 1))
@examples(60)
def test_features_found_from_those_before_a_move_are_those_after_it(seed: int, number: int) -> None:
    geometry, position = random_position(seed)
    style = replace(STYLES[number], kept=1000)
    search = Fess(PushTask(geometry, position, MEMORY), (style,))
    tools, tree, moves, cells = next(arrays for arrays in search._begin(style) if arrays is not None)
    tools.children.stance[:] = -1
    run(tools, tree, moves, cells, 1)
    board, scratch = new_board(geometry), new_scratch(geometry)
    around = region(geometry, set(position.boxes), position.keeper)
    for move in range(int((tools.children.stance >= 0).sum())):
        origin, stance = int(tools.children.origin[move]), int(tools.children.stance[move])
        boxes = np.array([stance >> 2 if box == origin else box for box in position.boxes], np.int32)
        keeper = int(geometry.neighbours[stance >> 2, stance & 3])
        after = Position(tuple(boxes.tolist()), keeper)
        place_boxes(board, after)
        _find(board, tools.know, scratch, boxes, np.int64(keeper))
        assert tools.children.values[move].tolist() == scratch.values.tolist()
        new = _has_new_push(geometry, tools.know, after, around | {origin})
        assert bool(tools.children.explores[move]) == new


def _has_new_push(geometry: Geometry, know: Knowledge, position: Position, old: set[int]) -> bool:
    """Whether a box can be pushed from a square that is not an old one, and not to a dead side."""
    boxes, around = set(position.boxes), region(geometry, set(position.boxes), position.keeper)
    for box in boxes:
        for way in range(4):
            behind, ahead = geometry.neighbours[box, [way ^ 2, way]].tolist()
            alive = ahead not in {geometry.size, *boxes} and not know.dead[ahead] >> (way ^ 2) & 1
            if alive and behind in around - old:
                return True
    return False


def _broken_links(geometry: Geometry, know: Knowledge, boxes: set[int]) -> int:
    """The blocked links of rooms, by walks from each square of each room."""
    rooms = know.rooms.tolist()
    broken: set[tuple[int, int]] = set()
    for square in set(range(geometry.size)) - boxes:
        room = rooms[square]
        if room >= 0:
            others = {there for there in range(geometry.size) if rooms[there] not in (-1, room)}
            around = region(geometry, boxes | others, square)
            touched = {
                rooms[there]
                for here in around
                for there in geometry.neighbours[here].tolist()
                if there not in boxes
            }
            linked = {other for other in range(64) if int(know.links[room]) >> other & 1}
            broken |= {(room, other) for other in linked - touched}
    return len(broken)


def _blockers_of_the_loose_phase(geometry: Geometry, know: Knowledge, position: Position) -> int:
    """The blockers by Dijkstra's algorithm, with the keeper's sides told apart by walks around a lone box."""
    boxes, goals = set(position.boxes), know.squares[0].tolist()
    rows = np.unpackbits(know.before[0].view(np.uint8), axis=1, bitorder="little")
    needs = [{goals[other] for other in np.flatnonzero(row)} for row in rows]
    due = {goal for goal, need in zip(goals, needs, strict=True) if need <= boxes}
    placed = due & boxes
    around = region(geometry, boxes, position.keeper)

    def side(square: int, way: int) -> int:
        return min(region(geometry, {square}, int(geometry.neighbours[square, way])))

    free = [(goal, way) for goal in due - boxes for way in range(4)]
    waiting = [
        (0, goal, side(goal, way)) for goal, way in free if geometry.neighbours[goal, way] < geometry.size
    ]
    seen: set[tuple[int, int]] = set()
    best = 7
    while waiting:
        cost, square, part = heapq.heappop(waiting)
        if (square, part) in seen or cost >= best:
            continue
        seen.add((square, part))
        ways = [
            w for w in range(4) if geometry.neighbours[square, w] < geometry.size and side(square, w) == part
        ]
        if square in boxes:
            if square not in placed:
                best = min(
                    best, cost + all(int(geometry.neighbours[square, way]) not in around for way in ways)
                )
            continue
        for way in ways:
            there = int(geometry.neighbours[square, way])
            behind = int(geometry.neighbours[there, way])
            if behind < geometry.size and not {there, behind} & placed:
                heapq.heappush(waiting, (cost + (behind in boxes), there, side(there, way)))
    return best


@given(st.integers(0, 100_000))
@examples(60)
def test_blockers_are_the_fewest_boxes_in_the_way_of_the_next_packing(seed: int) -> None:
    geometry, position = random_position(seed)
    if position.boxes:
        know, values = _features(geometry, position, loose=True)
        assert values[BLOCKERS] == _blockers_of_the_loose_phase(geometry, know, position)


def test_rooms_links_and_the_order_of_packing() -> None:
    level = Level(("###########", "#   #  ...#", "#       ..#", "# $ #     #", "# @ #  $$ #", "###########"))
    geometry, start = from_level(level)
    assert sorted(set(rooms_of(geometry)[:-1].tolist())) == [-1, 0, 1]
    door = next(i for i, place in enumerate(geometry.places.tolist()) if place == [2, 4])
    for box, broken in ((door, 2), (door + 5, 0)):
        _, values = _features(geometry, Position((box,), start.keeper), False)
        assert values[LINKS] == broken
    plan = packing_plan(geometry, start, everywhere=False)
    assert [phase.counted for phase in plan.phases] == [0]
    assert sorted(plan.phases[0].squares) == geometry.goals.tolist()
    corner = plan.phases[0].squares.index(int(geometry.goals[2]))
    assert not plan.phases[0].before[corner].any()  # the corner waits for none


def test_boxes_on_the_wrong_side_of_a_goal_room_are_out_of_plan() -> None:
    """Goals shut the way between both sides. The plan fills the last two of three from the left, where one
    box begins, and the first from either side."""
    rows = ("#########", "#  ...  #", "#   #   #", "# $ # $ #", "#   # $@#", "#   #   #", "#########")
    geometry, start = from_level(Level(rows))
    plan = packing_plan(geometry, start, everywhere=True)
    assert len(plan.phases) == 1
    for loose in (False, True):
        out = _features(geometry, start, loose, plan)[1][OUT]
        assert out == _out_of_plan(geometry, plan, loose, set(start.boxes)) == 1


def test_a_line_ends_when_all_boxes_are_on_goals() -> None:
    geometry, start = from_level(Level(("#######", "#@$.  #", "#######")))
    assert _spell_out(geometry, start, [(1, 4 * 3 + LEFT)]) == [(1, RIGHT)]


def test_all_boxes_count_when_the_level_is_solved() -> None:
    level = Level(("########", "#@     #", "# *##* #", "#  * * #", "########"))
    geometry, start = from_level(level)
    for loose in (False, True):
        assert _features(geometry, start, loose)[1][PACKED] == 4


# --- Macro moves against a search of single pushes and pulls of one box
@kernel
def _moves(board: Board, room: Maneuvers, dead: Octets, keeper: Index, box: Index, pulls: bool) -> Index:
    walk(board, keeper)
    return macro_pulls(board, room, box) if pulls else macro_pushes(board, room, dead, box, 15)


def _oracle(geometry: Geometry, position: Position, box: int, pulls: bool) -> set[tuple[int, int]]:
    """Where the box and the lowest square of the keeper's region can be, by single pushes or pulls."""
    others = set(position.boxes) - {box}

    def lowest(square: int, keeper: int) -> int:
        return min(region(geometry, others | {square}, keeper))

    start = box, lowest(box, position.keeper)
    seen, waiting = {start}, [start]
    while waiting:
        square, keeper = waiting.pop()
        around = region(geometry, others | {square}, keeper)
        for direction in range(4):
            there = int(geometry.neighbours[square, direction])
            last = int(geometry.neighbours[there if pulls else square, direction if pulls else direction ^ 2])
            if there == geometry.size or last == geometry.size or {there, last} & others:
                continue
            if (there if pulls else last) in around:
                state = there, lowest(there, last if pulls else square)
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
    return seen


@given(st.integers(0, 100_000), st.booleans())
@examples(60)
def test_all_places_are_found(seed: int, pulls: bool) -> None:
    geometry, position = random_position(seed)
    board, room = new_board(geometry), new_maneuvers(geometry)
    place_boxes(board, position)
    dead = np.zeros(geometry.size + 1, np.uint8)
    for box in position.boxes:
        count = _moves(board, room, dead, np.int64(position.keeper), np.int64(box), pulls)
        found = []
        for stance in room.stances[:count].tolist():
            square, keeper = stance >> 2, int(geometry.neighbours[stance >> 2, stance & 3])
            walls = set(position.boxes) - {box} | {square}
            found.append((square, min(region(geometry, walls, keeper))))
        assert len(found) == len(set(found))
        beside = set(geometry.neighbours[box].tolist())
        places = _oracle(geometry, position, box, pulls)
        near = bool(beside & region(geometry, set(position.boxes), position.keeper))
        assert set(found) == (places if near and (pulls or len(places) > 1) else set())


# --- No detector of FESS calls a position dead that can be solved, by the oracle of all states


@kernel
def _flagged(
    board: Board,
    area: Area,
    bipartite: Bipartite,
    matching: FrozenMatching,
    room: Maneuvers,
    goals: Int32s,
    records: Words,
    alive: Flags,
    counts: Ints,
) -> None:
    """Count flagged positions: rows area, matching; columns dead and alive."""
    size = len(board.occupied) - 1
    boxes = np.zeros(len(goals), np.int32)
    for row in range(len(records)):
        count = 0
        for square in range(size):
            bit = records[row, square // 64] >> np.uint64(square % 64) & np.uint64(1)
            board.occupied[square] = BOXED if bit else FREE
            if bit:
                boxes[count] = square
                count += 1
        keeper = walk(board, np.int64(records[row, records.shape[1] - 1]))
        state = 1 if alive[row] else 0
        for number in range(count):
            if is_area_deadlock(board, area, boxes[number], keeper, 3, 300):
                counts[0, state] += 1
                break
        known = is_bipartite_deadlock(board, bipartite, keeper)
        if not known and is_unmatched(matching, room, bipartite.freeze, goals, boxes, keeper):
            counts[1, state] += 1


def _counts(level: Level, most: int) -> Ints:
    geometry, start = from_level(level)
    space = explore(geometry, start, most)
    counts = np.zeros((2, 2), np.int64)
    if len(start.boxes) == len(geometry.goals):
        _flagged(
            new_board(geometry),
            new_area(geometry),
            new_bipartite(geometry),
            new_frozen_matching(geometry, len(start.boxes)),
            new_maneuvers(geometry),
            np.ascontiguousarray(geometry.goals, np.int32),
            space.records,
            space.alive,
            counts,
        )
    return counts


@pytest.mark.slow
def test_our_levels() -> None:
    total = sum((_counts(level, 100_000) for level in LEVELS), np.zeros((2, 2), np.int64))
    assert total[:, 1].tolist() == [0, 0]
    assert total[0, 0] > 100  # it does find dead positions


@pytest.mark.slow
def test_levels_that_people_made(microban: Path) -> None:
    total = np.zeros((2, 2), np.int64)
    for level in read_levels(microban.read_text(encoding="utf-8"))[:25]:
        try:
            total += _counts(level, 5_000)
        except TooLargeError:
            continue
    assert total[:, 1].tolist() == [0, 0]
    assert (total[:, 0] > 0).all()


# --- FESS solves levels, its pushes replay, and it finds nothing where nothing is to be found
SOLVABLE = (
    *(LEVELS[0], LEVELS[1], LEVELS[3]),
    Level(
        (
            "##############",
            "#   #    #   #",
            "# $   $    $ #",
            "# $ # $  # $ #",
            "#   #    #   #",
            "### #### ## ##",
            "#@    #  ....#",
            "#  $     ....#",
            "##############",
        )
    ),
)
UNSOLVABLE = Level(("#######", "#     #", "#$$ . #", "#.  @ #", "#$  . #", "#     #", "#######"))
MEMORY = 40 << 20


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("number", range(len(SOLVABLE)))
def test_solutions_replay(number: int, style: FessStyle) -> None:
    geometry, start = from_level(SOLVABLE[number])
    search = Fess(PushTask(geometry, start, MEMORY), (style,))
    assert search.step(math.inf)
    assert search.outcome is Outcome.SOLVED
    assert is_solved(geometry, after_steps(geometry, start, steps_of(geometry, start, search.pushes)))


@pytest.mark.parametrize(("best", "weights"), [((3, 5, 4), [4.0, 1.0, 1.0]), ((3, 3, 4), [2.5, 2.5, 1.0])])
def test_styles_that_lead_have_more_time(best: tuple[int, ...], weights: list[float]) -> None:
    search = Fess(PushTask(*from_level(SOLVABLE[0]), MEMORY), STYLES[:3])
    for turn, reached in zip(search._turns, best, strict=True):
        turn.work.best = reached
    search._favour_the_leaders()
    assert [turn.weight for turn in search._turns] == weights


def test_a_style_with_nothing_left_to_try_leaves_the_time_to_the_others() -> None:
    geometry, start = from_level(find_level(str(GAMES / "levels" / "tutorial.xsb:5")))
    narrow = FessStyle(kept=0)
    alone = Fess(PushTask(geometry, start, MEMORY), (narrow,))
    assert alone.step(math.inf)
    assert alone.outcome is Outcome.GAVE_UP
    search = Fess(PushTask(geometry, start, MEMORY), (narrow, FessStyle()))
    assert search.step(math.inf)
    assert search.outcome is Outcome.SOLVED


@kernel()
def _keep(children: Children, total: Index, most: Index) -> None:
    keep_best(children, total, most)


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from((UNKNOWN, DEAD, ADVISED)))), st.integers(0, 12))
def test_the_best_moves_that_no_advisor_named_are_kept(moves: list[tuple[int, int]], most: int) -> None:
    children = new_children(len(moves) + 1)
    for number, (score, status) in enumerate(moves):
        children.score[number], children.advised[number] = score, status
    _keep(children, len(moves), most)
    named = children.advised[: len(moves)].tolist()
    unknown = sorted(score for score, status in moves if status == UNKNOWN)
    kept = sorted(score for (score, _), status in zip(moves, named, strict=True) if status == KEPT)
    assert kept == unknown[:most]
    for (_, before), after in zip(moves, named, strict=True):
        assert after == before or (before, after) == (UNKNOWN, KEPT)


def test_slices_add_up() -> None:
    geometry, start = from_level(SOLVABLE[3])
    search = Fess(PushTask(geometry, start, MEMORY))
    while not search.step(time.monotonic() + 0.0005):
        pass
    assert search.outcome is Outcome.SOLVED


def test_no_boxes_are_a_solution_of_no_pushes() -> None:
    geometry, start = from_level(Level(("#####", "#@* #", "#####")))
    search = Fess(PushTask(geometry, start, MEMORY))
    assert search.step(math.inf)
    assert search.outcome is Outcome.SOLVED
    assert not search.pushes


def test_every_small_level_is_solved_or_exhausted() -> None:
    """A solution is found just when the oracle says that there is one."""
    rows = ("#######", "#     #", "# ### #", "#     #", "#######")
    solved = 0
    for box in ((1, 2), (1, 5), (2, 1), (3, 3)):
        for goal in ((1, 3), (3, 1), (3, 4)):
            drawn = [list(row) for row in rows]
            drawn[box[0]][box[1]], drawn[goal[0]][goal[1]], drawn[1][1] = "$", ".", "@"
            geometry, start = from_level(Level(tuple("".join(row) for row in drawn)))
            search = Fess(PushTask(geometry, start, MEMORY))
            search.step(math.inf)
            alive = bool(explore(geometry, start, 10_000).alive[0])
            assert search.outcome is (Outcome.SOLVED if alive else Outcome.GAVE_UP)
            solved += alive
    assert 0 < solved < 12


def test_two_boxes_at_a_wall_with_one_goal_exhaust_the_search() -> None:
    geometry, start = from_level(UNSOLVABLE)
    search = Fess(PushTask(geometry, start, MEMORY))
    assert search.step(math.inf)
    assert search.outcome is Outcome.GAVE_UP
