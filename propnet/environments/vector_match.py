"""`VectorMatch`: n matches of one game, all stepped at once by moves from outside, for learning agents.

`TurnTaking` finds the roles that act in a state. It leaves out roles that only wait, so that in games with
alternating turns one role after the other acts.

Random play shows the *waiting moves*: the moves that a role is forced to make while another one has a choice.
In a state those roles act that have a choice. If none has, those roles act whose only move is not a waiting
move. The other roles make their only move.

Uniformly random legal moves for many matches come from rows of legal moves: rank and select in words. The
rank below the number of a role's legal moves comes from 32 random bits by multiplication (Lemire 2019), with
rejection, so that all are equally likely.

Each match has a lane. Between two calls every block of 512 lanes keeps wires of its own, in which the gates
that need no move are evaluated for the lanes' present states. A step checks whether all moves are legal and
makes them. It gives the base propositions their next values, evaluates again, and returns the states and the
legal moves as rows of bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError, MoveError, TooLargeError, whole_number
from gdl.information import playing
from gdl.machine import Machine, State
from gdl.words import counted
from propnet.capabilities import lane_machine
from propnet.jit.arrays import Flags, Goals, Index, Int32s, Ints, Octets, Offsets, Vector, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.random_numbers import next_random
from propnet.jit.vector512 import (
    BYTES,
    LANES,
    WORDS,
    aligned,
    any_lane,
    count_bits,
    item,
    load,
    lowest_bit,
    put,
    raw,
    splat,
    store,
)
from propnet.kernels.gates import read_wire
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.records import get_lane, list_lanes, pack, read_lanes, set_lane, unpack
from propnet.kernels.step import (
    evaluate_goals,
    evaluate_moves,
    evaluate_play,
    next_states,
    read_goals,
    terminal_lanes,
)
from propnet.machine import PropnetMachine

_NEXT_STEP, _SAME_STEP, _DISABLED = 0, 1, 2
"""When a finished match restarts: with the next step, within the last step, or at a call of
:func:`begin_lanes`."""


class _MatchLanes(NamedTuple):
    """The data kept between two steps, and scratch.

    ``wires`` (blocks, wires, 8). ``used`` and ``over`` (blocks, 8): lanes that are environments, and those
    whose match is over. ``lengths`` (n,): steps since the match began. ``start`` (bases,): the initial state,
    -1 for true. ``base_*`` (bases,) and ``mask_*`` (64 * mask words,): the places of the rows' bits, as
    in :func:`propnet.kernels.records.read_lanes`. Scratch: ``following`` (bases, 8), ``marks`` (3, 8),
    ``lane_of`` and ``rows`` (512), ``goals`` (512, roles).
    """

    wires: NDArray[np.uint64]
    used: Words
    over: Words
    lengths: Int32s
    start: Ints
    base_offsets: Offsets
    base_signs: Ints
    mask_offsets: Offsets
    mask_signs: Ints
    following: Words
    marks: Words
    lane_of: Ints
    rows: Int32s
    goals: Goals


class _MatchRows(NamedTuple):
    """The output of a step, a row for each environment: ``bits`` (n, words) and ``masks`` (n, mask words),
    ``rewards`` float32 (n, roles), ``done``, ``terminated``, ``truncated`` (n,; 0 or 1), and ``final_bits``
    (n, words), the last states of finished matches if a new one begins within the step."""

    bits: Words
    masks: Words
    rewards: NDArray[np.float32]
    done: Octets
    terminated: Octets
    truncated: Octets
    final_bits: Words


@kernel(nogil=True)
def step_lanes(
    args: KernelArgs, lanes: _MatchLanes, rows: _MatchRows, actions: Int32s, autoreset: int, max_steps: int
) -> Index:
    """Step all matches by move ids (n, roles), -1 for a role's only move. Returns -1, or, if some move is not
    legal, ``environment * roles + role`` of the first such move; nothing is then changed. ``max_steps=0``
    means no limit."""
    n = actions.shape[0]
    bare = raw(args)
    buffers = raw(lanes)
    moves = raw(actions)
    for block in range(lanes.used.shape[0]):
        wires = lanes.wires[block]
        bad = _first_illegal(
            bare,
            raw(wires),
            buffers,
            moves,
            block * LANES,
            min(LANES, n - block * LANES),
            block,
            autoreset,
        )
        if bad >= 0:
            return bad
    for block in range(lanes.used.shape[0]):
        wires = lanes.wires[block]
        first, count = block * LANES, min(LANES, n - block * LANES)
        _step_block(args, wires, lanes, rows, moves, first, count, block, autoreset, max_steps)
    return -1


@kernel(nogil=True)
def begin_lanes(args: KernelArgs, lanes: _MatchLanes, rows: _MatchRows, which: Words) -> None:
    """Restart the matches in the lanes ``which`` (blocks, 8), and write all rows."""
    n = rows.bits.shape[0]
    bare = raw(args)
    for block in range(lanes.used.shape[0]):
        wires = lanes.wires[block]
        first, count = block * LANES, min(LANES, n - block * LANES)
        begun = load(which, block * BYTES)
        _begin(bare, raw(wires), raw(lanes), begun)
        evaluate_play(bare, raw(wires))
        store(lanes.over, block * BYTES, load(lanes.over, block * BYTES) & ~begun)
        store(lanes.marks, 0, begun)
        for lane in range(count):
            if get_lane(lanes.marks, lane) != 0:
                rows.done[first + lane] = rows.terminated[first + lane] = rows.truncated[first + lane] = 0
                rows.rewards[first + lane] = 0.0
                lanes.lengths[first + lane] = 0
        read_lanes(wires, lanes.base_offsets, lanes.base_signs, rows.bits, first, count)
        read_lanes(wires, lanes.mask_offsets, lanes.mask_signs, rows.masks, first, count)


@inner
def _step_block(
    args: KernelArgs,
    wires: Words,
    lanes: _MatchLanes,
    rows: _MatchRows,
    moves: Int32s,
    first: Index,
    count: Index,
    block: Index,
    autoreset: int,
    max_steps: int,
) -> None:
    """Step the ``count`` matches from ``first`` on; their lanes are in ``wires``."""
    bare, at, buffers, out = raw(args), raw(wires), raw(lanes), raw(rows)
    used, waiting = load(buffers.used, block * BYTES), load(buffers.over, block * BYTES)
    _make_moves(bare, at, buffers, moves, first, count, used & ~waiting)
    evaluate_moves(bare, at)
    renewed, parked = splat(0), ~used
    if autoreset == _NEXT_STEP:
        renewed = waiting
    else:
        parked = parked | waiting
    next_states(bare, at, buffers.following, parked, renewed, True, buffers.start)
    evaluate_play(bare, at)
    playing = used & ~parked
    terminal = terminal_lanes(bare, at) & playing
    stopped = _count_steps(buffers, first, count, renewed, playing, max_steps)
    stopped = (stopped | _stuck_lanes(bare, at)) & playing & ~terminal
    ended = terminal | stopped
    roles = sizes_of(bare).roles
    for cell in range(first * roles, (first + count) * roles):
        put(out.rewards, cell, np.float32(0.0))
    if any_lane(terminal):
        evaluate_goals(bare, at)
        _reward(bare, at, buffers, out, terminal, first, roles)
    _flag(buffers, out, terminal, stopped, playing, first, count)
    if autoreset == _SAME_STEP:
        if any_lane(ended):
            read_lanes(wires, lanes.base_offsets, lanes.base_signs, rows.final_bits, first, count)
            _begin(bare, at, buffers, ended)
            evaluate_play(bare, at)
            store(buffers.marks, 0, ended)
            for lane in range(count):
                if get_lane(buffers.marks, lane) != 0:
                    put(buffers.lengths, first + lane, 0)
    elif autoreset == _NEXT_STEP:
        store(buffers.over, block * BYTES, ended)
    else:
        store(buffers.over, block * BYTES, waiting | ended)
    read_lanes(wires, lanes.base_offsets, lanes.base_signs, rows.bits, first, count)
    read_lanes(wires, lanes.mask_offsets, lanes.mask_signs, rows.masks, first, count)


@inner
def _first_illegal(
    args: KernelArgs,
    wires: Words,
    lanes: _MatchLanes,
    moves: Int32s,
    first: Index,
    count: Index,
    block: Index,
    autoreset: int,
) -> Index:
    """The first move of these matches that is not legal, coded as in :func:`step_lanes`; -1 if all are legal.
    Moves of finished matches are ignored."""
    sizes = sizes_of(args)
    bad: Index = np.int64(-1)
    for role in range(sizes.roles):
        low, high = np.int64(item(args.role_moves, role)), np.int64(item(args.role_moves, role + 1))
        store(lanes.marks, 0, splat(0))
        left_out = False
        for lane in range(count):
            cell = (first + lane) * sizes.roles + role
            asked = np.int64(item(moves, cell))
            if asked == -1:
                set_lane(lanes.marks, lane)
                left_out = True
                continue
            wrong = asked < 0 or asked >= high - low
            if not wrong:
                # A lane's bit in the wire of the move's legality, which may be any wire.
                at = np.int64(item(args.legal_offsets, low + asked)) * LANES // BYTES + lane
                wrong = (get_lane(wires, at) != 0) == (item(args.legal_signs, low + asked) != 0)
            if wrong and get_lane(lanes.over, LANES * block + lane) == 0 and (bad < 0 or cell < bad):
                bad = cell
        if left_out:
            once, twice = splat(0), splat(0)
            for move in range(low, high):
                legal = read_wire(wires, args.legal_offsets, args.legal_signs, move)
                twice = twice | (once & legal)
                once = once | legal
            unclear = load(lanes.marks, 0) & ~(once & ~twice) & ~load(lanes.over, block * BYTES)
            if any_lane(unclear):
                store(lanes.marks, 0, unclear)
                for lane in range(count):
                    cell = (first + lane) * sizes.roles + role
                    if get_lane(lanes.marks, lane) != 0 and (bad < 0 or cell < bad):
                        bad = cell
    return bad


@inner
def _make_moves(
    args: KernelArgs,
    wires: Words,
    lanes: _MatchLanes,
    moves: Int32s,
    first: Index,
    count: Index,
    playing: Vector,
) -> None:
    """Set the wires of the moves to the lanes that make them, all of them among the lanes ``playing``."""
    sizes = sizes_of(args)
    for role in range(sizes.roles):
        low, high = np.int64(item(args.role_moves, role)), np.int64(item(args.role_moves, role + 1))
        store(lanes.marks, 0, splat(0))
        left_out = False
        for lane in range(count):
            if item(moves, (first + lane) * sizes.roles + role) == -1:
                set_lane(lanes.marks, lane)
                left_out = True
        own = (1 + sizes.bases) * BYTES
        if left_out:
            only = load(lanes.marks, 0) & playing
            for move in range(low, high):
                legal = read_wire(wires, args.legal_offsets, args.legal_signs, move)
                store(wires, own + move * BYTES, legal & only)
        else:
            for move in range(low, high):
                store(wires, own + move * BYTES, splat(0))
        store(lanes.marks, 0, playing & ~load(lanes.marks, 0))
        for lane in range(count):
            if get_lane(lanes.marks, lane) != 0:
                chosen = low + np.int64(item(moves, (first + lane) * sizes.roles + role))
                set_lane(wires, LANES * (1 + sizes.bases + chosen) + lane)


@inner
def _stuck_lanes(args: KernelArgs, wires: Words) -> Vector:
    """The lanes in which some role has no legal move."""
    stuck = splat(0)
    for role in range(sizes_of(args).roles):
        some = splat(0)
        for move in range(np.int64(item(args.role_moves, role)), np.int64(item(args.role_moves, role + 1))):
            some = some | read_wire(wires, args.legal_offsets, args.legal_signs, move)
        stuck = stuck | ~some
    return stuck


@inner
def _count_steps(
    lanes: _MatchLanes, first: Index, count: Index, renewed: Vector, playing: Vector, max_steps: int
) -> Vector:
    """Count this step. Returns the lanes whose matches have lasted ``max_steps``."""
    store(lanes.marks, 0, renewed)
    store(lanes.marks, BYTES, splat(0))
    for lane in range(count):
        length = item(lanes.lengths, first + lane) + 1
        if get_lane(lanes.marks, lane) != 0:
            length = 0
        put(lanes.lengths, first + lane, length)
        if max_steps > 0 and length >= max_steps:
            set_lane(lanes.marks, LANES + lane)
    return load(lanes.marks, BYTES) & playing


@inner
def _reward(
    args: KernelArgs,
    wires: Words,
    lanes: _MatchLanes,
    rows: _MatchRows,
    terminal: Vector,
    first: Index,
    roles: Index,
) -> None:
    """Write the goals of terminal lanes as rewards 0 to 1, after :func:`evaluate_goals`."""
    count = list_lanes(terminal, lanes.marks, lanes.lane_of)
    for i in range(count):
        for role in range(roles):
            put(lanes.goals, i * roles + role, 0)
        put(lanes.rows, item(lanes.lane_of, i), i)
    read_goals(args, wires, lanes.lane_of, count, lanes.rows, lanes.marks, lanes.goals)
    for i in range(count):
        row = (first + item(lanes.lane_of, i)) * roles
        for role in range(roles):
            value = np.float32(item(lanes.goals, i * roles + role))
            put(rows.rewards, row + role, value / np.float32(100.0))


@inner
def _flag(
    lanes: _MatchLanes,
    rows: _MatchRows,
    terminal: Vector,
    stopped: Vector,
    playing: Vector,
    first: Index,
    count: Index,
) -> None:
    """Write which matches are over, and why; matches that were over before stay over."""
    store(lanes.marks, 0, terminal)
    store(lanes.marks, BYTES, stopped)
    store(lanes.marks, 2 * BYTES, playing)
    for lane in range(count):
        if get_lane(lanes.marks, 2 * LANES + lane) == 0:
            continue
        over = get_lane(lanes.marks, lane)
        cut = get_lane(lanes.marks, LANES + lane)
        put(rows.terminated, first + lane, over)
        put(rows.truncated, first + lane, cut)
        put(rows.done, first + lane, over | cut)


@inner
def _begin(args: KernelArgs, wires: Words, lanes: _MatchLanes, begun: Vector) -> None:
    """Put the initial state into these lanes."""
    for base in range(sizes_of(args).bases):
        at = (1 + base) * BYTES
        store(wires, at, (load(wires, at) & ~begun) | (begun & splat(item(lanes.start, base))))


@kernel(nogil=True)
def random_moves(masks: Words, starts: Ints, state: Words, moves: Int32s) -> None:
    """Write a random legal move id for each role of each match, int32 (n, roles); -1 for a role without one.

    ``masks`` (n, mask words) are the legal moves, role r's from word ``starts[r]`` on. ``state`` (1,) is that
    of splitmix64."""
    rows, chosen, bounds = raw(masks), raw(moves), raw(starts)
    words = np.int64(masks.shape[1])
    roles = np.int64(moves.shape[1])
    for row in range(moves.shape[0]):
        at = row * words
        for role in range(roles):
            low, high = item(bounds, role), item(bounds, role + 1)
            count = np.int64(0)
            for word in range(at + low, at + high):
                count += count_bits(item(rows, word))
            rank = np.int64(0)
            if count > 1:
                rank = _below(count, state)
            move = np.int64(-1)
            if count > 0:
                word = at + low
                left = item(rows, word)
                here = count_bits(left)
                while here <= rank:
                    rank -= here
                    word += 1
                    left = item(rows, word)
                    here = count_bits(left)
                for _ in range(rank):
                    left &= left - np.uint64(1)
                move = 64 * (word - at - low) + lowest_bit(left)
            put(chosen, row * roles + role, move)


@inner
def _below(count: Index, state: Words) -> np.int64:
    """A random number from 0 to ``count`` - 1, for counts below 2**32."""
    wide = np.uint64(count)
    low_half = np.uint64(0xFFFFFFFF)
    product = (next_random(state) >> np.uint64(32)) * wide
    if (product & low_half) < wide:
        threshold = (np.uint64(1) << np.uint64(32)) % wide
        while (product & low_half) < threshold:
            product = (next_random(state) >> np.uint64(32)) * wide
    return np.int64(product >> np.uint64(32))


AUTORESET: Final = {"next-step": _NEXT_STEP, "same-step": _SAME_STEP, "disabled": _DISABLED}
"""When a finished match restarts: with the next step, whose moves are then ignored; within the last step; or
at a call of :meth:`VectorMatch.reset`."""
MEMORY_LIMIT = 1 << 30
"""The default limit of the bytes of wires of a `VectorMatch`."""


class VectorStep(NamedTuple):
    """The result of a step: views of the buffers of a :class:`VectorMatch`, overwritten by its next step.

    Attributes:
        bits: uint64, shape (n, words): the states as packed records, like those of the machine.
        masks: uint64, shape (n, mask_words): the legal moves, role r's from word ``mask_starts[r]`` on.
        rewards: float32, shape (n, roles): goals / 100 if a match has just ended, else 0.
        done: bool, shape (n,): whether the match is over.
    """

    bits: Words
    masks: Words
    rewards: NDArray[np.float32]
    done: Flags


class VectorMatch:
    """n matches of one game side by side, each in a lane of its own. In a step all roles act in all matches.

    It may be used by only one thread at a time. Several instances may share a machine: each has its own
    wires.

    Attributes:
        machine: the machine that defines the ids of moves and propositions.
        environments: the number of matches.
        roles: the number of roles.
        words, mask_words: 64-bit words of a state and of a row of legal moves.
        mask_starts: int64, shape (roles + 1,): the word at which each role's legal moves begin.
        bits, masks, rewards, done: as in :class:`VectorStep`.
        terminated, truncated: bool, shape (n,): over by the rules; over because a role has no legal move or
            ``max_steps`` were made. Rewards are 0 for the latter.
        lengths: int32, shape (n,): steps since each match began.
        final_bits: uint64, shape (n, words): with ``same-step``, the last states of matches that are done.
    """

    def __init__(
        self,
        machine: Machine,
        environments: int,
        *,
        autoreset: str = "next-step",
        max_steps: int = 0,
        memory_limit: int = MEMORY_LIMIT,
    ) -> None:
        """Create the matches and begin them.

        Args:
            machine: of level ``propnet`` or ``native``.
            environments: the number of matches; multiples of 512 leave no lane empty.
            autoreset: one of :data:`AUTORESET`.
            max_steps: matches are cut after this number of steps; 0 for never.
            memory_limit: bytes of wires.

        Raises:
            GdlError: the machine has no lanes, or an argument is invalid.
            TooLargeError: the wires would not fit into ``memory_limit``.
        """
        fast = lane_machine(machine) if isinstance(machine, Machine) else None
        if fast is None:
            raise GdlError(
                f"{machine!r:.60} is not a machine with a network",
                remedy="give ggp.load(game).machine('native'); of games that do not ground there is none",
            )
        if autoreset not in AUTORESET:
            raise GdlError(
                f"there is no autoreset mode {autoreset!r}", remedy=f"choose {', '.join(AUTORESET)}"
            )
        environments, max_steps = (
            whole_number(environments, "environments", 1),
            whole_number(max_steps, "max_steps"),
        )
        memory_limit = whole_number(memory_limit, "memory_limit")
        blocks = -(-environments // LANES)
        each = fast.plan.wires * BYTES
        if blocks * each > memory_limit:
            raise TooLargeError(
                f"{counted(environments, 'environment')} take {blocks * each / 2**20:,.0f} MiB of wires,"
                f" {memory_limit / 2**20:,.0f} MiB are allowed",
                remedy=f"ask for at most {memory_limit // each * LANES} environments, or raise memory_limit",
            )
        self.machine = fast
        self.environments = n = environments
        self.roles = roles = len(fast.roles)
        self.max_steps = max_steps
        self._settings = {"autoreset": autoreset, "max_steps": max_steps, "memory_limit": memory_limit}
        self._autoreset = AUTORESET[autoreset]
        self.words = fast.words
        bounds = list(pairwise(fast.role_moves.tolist()))
        widths = [-(-(high - low) // 64) for low, high in bounds]
        self.mask_starts = np.cumsum([0, *widths])
        self.mask_words = int(self.mask_starts[-1])
        self.move_counts = tuple(high - low for low, high in bounds)

        # Bits past a role's last move read the constant wire, negated.
        offsets = np.zeros(64 * self.mask_words, np.uint32)
        signs = np.full(64 * self.mask_words, -1, np.int64)
        for start, (low, high) in zip(self.mask_starts.tolist(), bounds, strict=False):
            offsets[64 * start : 64 * start + high - low] = fast.plan.legal_offsets[low:high]
            signs[64 * start : 64 * start + high - low] = fast.plan.legal_signs[low:high]
        bases = fast.plan.bases
        initial = unpack(fast.records([fast.initial_state()]), bases)[0]
        wires = aligned(blocks * fast.plan.wires).reshape(blocks, fast.plan.wires, WORDS)
        wires[:, 0] = np.iinfo(np.uint64).max
        used = np.zeros((blocks * LANES,), np.bool_)
        used[:n] = True
        self._lanes = _MatchLanes(
            wires=wires,
            used=_as_lanes(used),
            over=aligned(blocks),
            lengths=np.zeros(n, np.int32),
            start=-initial.astype(np.int64),
            base_offsets=((1 + np.arange(bases)) * BYTES).astype(np.uint32),
            base_signs=np.zeros(bases, np.int64),
            mask_offsets=offsets,
            mask_signs=signs,
            following=aligned(max(1, bases)),
            marks=aligned(3),
            lane_of=np.zeros(LANES, np.int64),
            rows=np.zeros(LANES, np.int32),
            goals=np.zeros((LANES, roles), np.int16),
        )
        self._rows = _MatchRows(
            bits=np.zeros((n, self.words), np.uint64),
            masks=np.zeros((n, self.mask_words), np.uint64),
            rewards=np.zeros((n, roles), np.float32),
            done=np.zeros(n, np.uint8),
            terminated=np.zeros(n, np.uint8),
            truncated=np.zeros(n, np.uint8),
            final_bits=np.zeros((n, self.words), np.uint64),
        )
        self.bits, self.masks, self.rewards, done, terminated, truncated, self.final_bits = self._rows
        self.done, self.terminated = done.view(np.bool_), terminated.view(np.bool_)
        self.truncated = truncated.view(np.bool_)
        self.lengths = self._lanes.lengths
        self._step = VectorStep(self.bits, self.masks, self.rewards, self.done)
        self._random = np.zeros(1, np.uint64)
        # Unused lanes have states too: the initial one.
        begin_lanes(fast.kernel_args, self._lanes, self._rows, np.full((blocks, WORDS), ~np.uint64(0)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies of each array would lose views, and the alignment that kernels need for vectors.
        return _rebuilt, (self.machine, self.environments, self._settings, self._buffers())

    def _buffers(self) -> list[NDArray[Any]]:
        """The arrays that hold the state of the matches."""
        return [self._lanes.wires, self._lanes.over, self._lanes.lengths, *self._rows, self._random]

    def reset(self, which: Flags | None = None, seed: int | None = None) -> VectorStep:
        """Restart the matches in ``which``, bool (n,), by default all; ``seed`` is for
        :meth:`random_actions`."""
        if seed is not None:
            self._random[0] = whole_number(seed, "seed")
        begun = np.zeros(self._lanes.used.shape[0] * LANES, np.bool_)
        begun[: self.environments] = True if which is None else which
        begin_lanes(self.machine.kernel_args, self._lanes, self._rows, _as_lanes(begun))
        return self._step

    def step(self, actions: NDArray[np.integer]) -> VectorStep:
        """Make one joint move in each match.

        Args:
            actions: int32, shape (n, roles), in C order (else it is copied): a move id per role, or -1 for a
                role that has a single legal move. Actions of finished matches are ignored.

        Raises:
            MoveError: a move is not legal, or -1 stands for one of several; then nothing is changed.
        """
        actions = np.ascontiguousarray(actions, np.int32)
        if actions.shape != (self.environments, self.roles):
            raise MoveError(
                f"actions of shape {actions.shape}", remedy=f"give ({self.environments}, {self.roles})"
            )
        if not actions.flags.writeable:
            actions = actions.copy()  # the kernel is compiled for arrays that may be written
        bad = step_lanes(
            self.machine.kernel_args, self._lanes, self._rows, actions, self._autoreset, self.max_steps
        )
        if bad >= 0:
            raise self._illegal(*divmod(int(bad), self.roles), actions)
        return self._step

    def random_actions(self, actions: Int32s | None = None) -> Int32s:
        """A uniformly random legal move for each role of each match: int32 (n, roles), written to ``actions``
        if given; -1 for a role without a legal move. Reads the masks, so call it before you change those."""
        if actions is None:
            actions = np.empty((self.environments, self.roles), np.int32)
        random_moves(self.masks, self.mask_starts, self._random, actions)
        return actions

    def legal(self, role: int) -> Flags:
        """The legal moves of a role, bool (n, moves), as a new array."""
        low, high = self.mask_starts[role : role + 2]
        return unpack(self.masks[:, low:high], self.move_counts[role])

    @property
    def memory(self) -> int:
        """Bytes of the wires."""
        return self._lanes.wires.nbytes

    def _illegal(self, environment: int, role: int, actions: NDArray[Any]) -> MoveError:
        move = int(actions[environment, role])
        spell = self.machine.rules.spell
        name = spell(self.machine.roles[role])
        options = int(self.legal(role)[environment].sum())
        where = f"environment {environment}"
        legal = f"its {counted(options, 'legal move')} there: see masks"
        if move == -1:
            return MoveError(
                f"{where}: -1 for {name}, which has {counted(options, 'legal move')}", remedy=legal
            )
        if not 0 <= move < self.move_counts[role]:
            return MoveError(
                f"{where}: {name} has no move {move}", remedy=f"ids below {self.move_counts[role]}"
            )
        text = spell(self.machine.move(role, move))
        return MoveError(f"{where}: {text}, {move}, is not legal for {name}", remedy=legal)


def _rebuilt(
    machine: Machine, environments: int, settings: dict[str, Any], buffers: list[NDArray[Any]]
) -> VectorMatch:
    """A copy of the matches, each at the same point."""
    copy = VectorMatch(machine, environments, **settings)
    for mine, given in zip(copy._buffers(), buffers, strict=True):
        mine[:] = given
    return copy


def _as_lanes(flags: Flags) -> Words:
    """Flags of lanes (blocks * 512,) as vectors (blocks, 8)."""
    return pack(flags.reshape(-1, LANES))


_MATCHES, _STEPS = 512, 64
_FORCED_STEPS = 10_000


class TurnTaking:
    """Turns of one game.

    Attributes:
        waiting: per role, the ids of moves that it was forced to make while another role had a choice.
        several: whether two roles, other than chance, had a choice in one state.
    """

    def __init__(self, machine: PropnetMachine) -> None:
        self.machine = machine
        self.waiting: list[set[int]] = [set() for _ in machine.roles]
        self.several = False
        if len(machine.roles) == 1:
            return
        players = playing(machine.roles)
        matches = VectorMatch(machine, _MATCHES, memory_limit=1 << 34)
        matches.reset(seed=1)
        bounds = list(pairwise(machine.role_moves.tolist()))
        seen = [np.zeros(high - low, np.bool_) for low, high in bounds]
        actions = matches.random_actions()
        for _ in range(_STEPS):
            if (actions[~matches.done] < 0).any():
                break  # the initial state leaves a role without a move
            counts = np.stack([matches.legal(role).sum(axis=1) for role in range(len(seen))], axis=1)
            choosing = (counts > 1) & ~matches.done[:, None]
            self.several = self.several or bool((choosing[:, players].sum(axis=1) > 1).any())
            busy = choosing.any(axis=1)
            for role, moves in enumerate(seen):
                waits = busy & ~choosing[:, role] & (actions[:, role] >= 0)
                moves[actions[waits, role]] = True
            matches.step(actions)
            matches.random_actions(actions)
        self.waiting = [set(np.flatnonzero(moves).tolist()) for moves in seen]

    def acting(self, options: Sequence[Sequence[int]]) -> Sequence[int]:
        """The roles that act, in role order; none if all only wait, or if one has no legal move."""
        if len(options) == 2:  # nearly always, and this runs at every step
            first, second = map(len, options)
            if first > 1 and second:
                return (0, 1) if second > 1 else (0,)
            if second > 1 and first:
                return (1,)
        if not all(options):
            return ()
        choosing = [role for role, moves in enumerate(options) if len(moves) > 1]
        if choosing or len(options) == 1:
            return choosing or (0,)
        return [r for r, moves in enumerate(options) if moves[0] not in self.waiting[r]]

    def settle(
        self, state: State, most: int = _FORCED_STEPS
    ) -> tuple[State, tuple[tuple[int, ...], ...], Sequence[int], int]:
        """The first state, from this one on, in which a role acts or the match cannot go on. Returns the
        state, its legal moves, the roles that act there, and the number of forced steps. After ``most`` such
        steps it stops; then no role acts."""
        machine = self.machine
        steps = 0
        while True:
            one = machine.at(state.key)
            options = one.legal
            if one.terminal:
                return state, options, (), steps
            acting = self.acting(options)
            if acting or not all(options) or steps >= most:
                return state, options, acting, steps
            state = machine.next_state(state, [moves[0] for moves in options])
            steps += 1
