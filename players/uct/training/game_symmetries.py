"""`find_symmetries`: the symmetries of a game, both proven ones and those that only play shows.

:mod:`propnet.symmetries` proves automorphisms gate by gate. It depends on the form of the rules. It does not
see that a chain of stones joins left to right exactly if it joins right to left, or that the number of discs
does not depend on the order in which they are counted. So turns of the board are also tested in some
thousands of states. A turn that passes is good enough to learn by, but not for a search, which may rely on
proven symmetries only.

`renamings` proposes the turns: renamings of a game's propositions and moves, found from the rules'
coordinates.

Argument places such as those of columns in ``(cell a 1 red)`` and ``(place a 1)`` belong together if a rule
gives them the same variable, or if rules of relations between them do. If the constants of such a class have
an order, it may be reversed. Two classes with equally many constants may be exchanged. Roles may change their
names. Whether the game notices is tested afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.grounding.ground_rules import GroundRules
from gdl.grounding.limits import GroundLimits
from gdl.grounding.pipeline import ground as instantiated
from gdl.rules import Rule, Rules, literals
from gdl.terms import Term
from players.knowledge.variables import Coordinates
from players.move_lists import draw_moves, unpack_moves
from propnet.jit.arrays import Int32s, Words
from propnet.jit.decorators import kernel
from propnet.jit.vector512 import lowest_bit
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.symmetries.group import EFFORT, MOST_INPUTS, Automorphism, automorphisms, closure

Place = tuple[str, str, int, int]
"""An argument: its kind (``state``, ``move`` or ``relation``), the name, the number of arguments, its
place."""

_STATE, _MOVE = frozenset({"true", "next", "base", "init"}), frozenset({"does", "legal", "input"})
_FEWEST = 3
"""Fewest constants of a class that counts as coordinates."""


@dataclass(frozen=True)
class _Axis:
    """A class of places, and its constants in order."""

    places: frozenset[Place]
    constants: tuple[Term, ...]

    @cached_property
    def rank(self) -> dict[Term, int]:
        """The place of each constant in the order."""
        return {term: rank for rank, term in enumerate(self.constants)}

    @cached_property
    def where(self) -> dict[tuple[str, str, int], list[int]]:
        """The places of arguments in this class, by kind, name and number of arguments."""
        found: dict[tuple[str, str, int], list[int]] = defaultdict(list)
        for kind, name, arguments, place in sorted(self.places):
            found[kind, name, arguments].append(place)
        return dict(found)


@dataclass(frozen=True)
class _Turn:
    """A turn of the board: which of two axes are reversed, whether they are then exchanged, and the new names
    of other constants."""

    axes: tuple[_Axis, ...]
    reversed_: tuple[bool, ...]
    exchanged: bool
    names: dict[Term, Term]

    def of(self, kind: str, term: Term) -> Term:
        """The image of a proposition or a move; the term itself if it has no image."""
        arguments = [self._renamed(argument) for argument in term.args]
        where = [axis.where.get((kind, term.name, len(term.args)), []) for axis in self.axes]
        for number, axis in enumerate(self.axes):
            target = 1 - number if self.exchanged else number
            if len(where[number]) != len(where[target]):
                return term
            for place, to in zip(where[number], where[target], strict=True):
                rank = axis.rank.get(term.args[place])
                if rank is None:
                    return term
                if self.reversed_[number]:
                    rank = len(axis.constants) - 1 - rank
                arguments[to] = self.axes[target].constants[rank]
        return Term(self.names.get(term, term).name, *arguments)

    def _renamed(self, term: Term) -> Term:
        if not term.args:
            return self.names.get(term, term)
        return Term(term.name, *map(self._renamed, term.args))


def renamings(rules: Rules, network: Network) -> Iterator[Automorphism]:
    """Permutations that may be automorphisms of the game, 23 at most, none the identity; roles 0 and 1 are
    exchanged in some if there are two."""
    axes = _axes(rules, network)[:2]
    exchanges = (False, True) if len(axes) == 2 and _alike(axes) else (False,)
    names = [{}, *_names_exchanged(network)]
    reversals = product((False, True), repeat=len(axes))
    for exchanged, renamed, reversed_ in product(exchanges, names, reversals):
        if exchanged or renamed or any(reversed_):
            found = _permutation(network, _Turn(tuple(axes), reversed_, exchanged, renamed))
            if found is not None:
                yield found


def _names_exchanged(network: Network) -> list[dict[Term, Term]]:
    """New names of constants if the two roles are exchanged: of the roles alone, or also of names that begin
    with their letters, such as ``wp`` and ``bp``."""
    if len(network.roles) != 2:
        return []
    first, second = network.roles
    roles = {first: second, second: first}
    if first.name[0] == second.name[0]:
        return [roles]
    letters = {first.name[0]: second.name[0], second.name[0]: first.name[0]}
    constants = {argument for term in network.bases for argument in term.args if not argument.args}
    others = {
        term: Term(letters[term.name[0]] + term.name[1:]) for term in constants if term.name[0] in letters
    }
    pairs = {term: other for term, other in others.items() if other in constants and term not in roles}
    return [roles, pairs | roles] if pairs else [roles]


def _alike(axes: list[_Axis]) -> bool:
    return len(axes[0].constants) == len(axes[1].constants)


def _permutation(network: Network, turn: _Turn) -> Automorphism | None:
    """The renaming as a permutation; None if it is not one."""
    roles = (1, 0) if turn.names else tuple(range(len(network.roles)))
    bases = _images("state", network.bases, network.bases, turn)
    if bases is None:
        return None
    moves, first = [], np.cumsum([0, *map(len, network.moves)])
    for role, mine in enumerate(network.moves):
        found = _images("move", mine, network.moves[roles[role]], turn)
        if found is None:
            return None
        moves.append(found + int(first[roles[role]]))
    return Automorphism(bases, np.concatenate(moves).astype(np.int32), roles)


def _images(
    kind: str, terms: tuple[Term, ...], targets: tuple[Term, ...], turn: _Turn
) -> NDArray[np.int32] | None:
    """The places of the terms' images among the targets, int32, shape (terms,); None if a term has none."""
    if len(terms) != len(targets):
        return None
    place = {term: number for number, term in enumerate(targets)}
    found: list[int] = []
    for term in terms:
        image = place.pop(turn.of(kind, term), -1)
        if image < 0:
            return None
        found.append(image)
    return np.array(found, np.int32)


def _axes(rules: Rules, network: Network) -> list[_Axis]:
    """Classes of places of base propositions whose constants have an order, those with the most propositions
    first."""
    constants: dict[Place, dict[Term, None]] = defaultdict(dict)
    counts: dict[Place, int] = defaultdict(int)
    moves = dict.fromkeys(term for mine in network.moves for term in mine)
    for kind, terms in (("state", network.bases), ("move", moves)):
        for term in terms:
            for number, argument in enumerate(term.args):
                place = kind, term.name, len(term.args), number
                constants[place][argument] = None
                counts[place] += kind == "state" and len(term.args) > 1
    order = Coordinates(rules)
    found: list[tuple[int, _Axis]] = []
    for places in _classes(rules):
        inside = dict.fromkeys(term for place in places for term in constants.get(place, {}))
        weight = max((counts[place] for place in places), default=0)
        if weight and len(inside) >= _FEWEST and (ranks := order.order(inside)) is not None:
            ordered = tuple(sorted(ranks, key=lambda term: ranks[term]))
            found.append((weight, _Axis(frozenset(places), ordered)))
    found.sort(key=lambda entry: -entry[0])
    return [axis for _, axis in found]


def _classes(rules: Rules) -> list[list[Place]]:
    """Argument places to which rules give the same variables. Relations that do not change connect no places:
    a table of neighbours has rows and columns side by side."""
    changing = _changing(rules)
    leader: dict[Place, Place] = {}

    def lead(place: Place) -> Place:
        while leader.setdefault(place, place) != place:
            place = leader[place]
        return place

    for rule in rules:
        of: dict[Term, Place] = {}
        for place, variable in _variables(rule, changing):
            leader[lead(place)] = lead(of.setdefault(variable, place))
    classes: dict[Place, list[Place]] = defaultdict(list)
    for place in leader:
        classes[lead(place)].append(place)
    return list(classes.values())


def _changing(rules: Rules) -> set[str]:
    """The relations that depend on the state or on moves."""
    bodies: dict[str, set[str]] = defaultdict(set)
    for rule in rules:
        for formula in rule.body:
            bodies[rule.head.name] |= {literal.atom.name for literal, _ in literals(formula)}
    changing = {"true", "does"}
    while more := {name for name, read in bodies.items() if name not in changing and read & changing}:
        changing |= more
    return changing


def _variables(rule: Rule, changing: set[str]) -> Iterator[tuple[Place, Term]]:
    """The places of a rule's variables in states, moves and relations that change."""
    atoms = [rule.head, *(literal.atom for formula in rule.body for literal, _ in literals(formula))]
    for atom in atoms:
        kind = "relation"
        if (atom.name in _STATE or atom.name in _MOVE) and atom.args:
            kind = "state" if atom.name in _STATE else "move"
            atom = atom.args[-1]
        elif atom.name not in changing:
            continue
        for number, argument in enumerate(atom.args):
            if argument.is_variable:
                yield (kind, atom.name, len(atom.args), number), argument


_LANES, _STEPS = 256, 400
_EFFORT = 100_000_000
"""Gate inputs of random play, each for all lanes: about 0.1 seconds."""
_STATES = 4096
"""States that are compared: half of them terminal ones, if there are enough."""
_SPARSE = 4
"""Legal moves are compared in every n-th of these states only: there may be thousands of moves."""


class PlayTest:
    """Compares states of random play, of all depths, with their images."""

    def __init__(self, machine: PropnetMachine, seed: int = 0) -> None:
        self._machine = machine
        self._rng = np.random.default_rng(seed)
        self._records = self._sample()
        self._seen = machine.evaluate(self._records)
        counts, moves = unpack_moves(self._seen.legal, machine.role_moves)
        self._moves = draw_moves(counts, moves, self._rng)
        following = machine.successors(self._records, self._moves)
        bases = len(machine.network.bases)
        self._before, self._after = (unpack(records, bases) for records in (self._records, following))

    def __len__(self) -> int:
        """Number of states compared."""
        return len(self._records)

    def passes(self, renaming: Automorphism) -> bool:
        """Whether images have the images of legal moves, the goals, and the images of next states; False if
        no state was met."""
        if not len(self):
            return False
        machine, seen = self._machine, self._seen
        source, roles = np.argsort(renaming.bases), np.array(renaming.roles)
        images = pack(self._before[:, source])
        answer = machine.evaluate(images)
        if (answer.terminal != seen.terminal).any() or (answer.goals[:, roles] != seen.goals).any():
            return False
        going = ~seen.terminal
        moves, some = int(machine.role_moves[-1]), np.flatnonzero(going)[::_SPARSE]
        legal = unpack(seen.legal[some], moves)[:, np.argsort(renaming.moves)]
        if (unpack(answer.legal[some], moves) != legal).any():
            return False
        joint = np.empty_like(self._moves)
        for role, image in enumerate(renaming.roles):
            chosen = renaming.moves[machine.role_moves[role] + self._moves[:, role]]
            joint[:, image] = chosen - machine.role_moves[image]
        following = machine.successors(images, joint)
        return bool((following == pack(self._after[:, source]))[going].all())

    def _sample(self) -> Words:
        """States of random matches, one after the other in each lane."""
        machine = self._machine
        start = machine.records([machine.initial_state()])
        records = np.repeat(start, _LANES, axis=0)
        met, over = [], []
        for _ in range(max(16, min(_STEPS, _EFFORT // max(1, len(machine.network.gate_inputs))))):
            answer = machine.evaluate(records)
            counts, moves = unpack_moves(answer.legal, machine.role_moves)
            ended = answer.terminal | (counts == 0).any(axis=1)
            met.append(records[~ended])
            over.append(records[ended])
            records = machine.successors(records, draw_moves(counts, moves, self._rng))
            records[ended] = start
        ends = self._some(np.concatenate(over), _STATES // 2)
        return np.concatenate([self._some(np.concatenate(met), _STATES - len(ends)), ends])

    def _some(self, records: Words, most: int) -> Words:
        drawn = self._rng.permutation(len(records))[: 2 * most]
        different: Words = np.unique(records[drawn], axis=0)
        if len(different) > most:
            different = different[self._rng.choice(len(different), most, replace=False)]
        return different


MOST = 32
"""Default limit of elements."""
MOST_PROPOSITIONS = 2_000
"""Games with more propositions have the identity alone: a test costs more than a moment."""

_INPUTS, _SECONDS = 20_000, 0.5
"""Limit of gate inputs for making the ground rules if they are not at hand; networks with more are analysed
without them. CPU seconds to make them."""


@dataclass(frozen=True, eq=False)
class GameSymmetries:
    """A group of symmetries of a game, the identity first.

    Attributes:
        images: int32, shape (elements, bases): base proposition b becomes ``images[e, b]``.
        moves: int32, shape (elements, moves of all roles): the same for moves, numbered in role order.
        exchanged: bool, shape (elements,): whether roles 0 and 1 change places: the value of a state to one
            is the value of the image to the other.
        proven: bool, shape (elements,): whether it is verified; otherwise it has passed a test by play.
    """

    images: NDArray[np.int32]
    moves: NDArray[np.int32]
    exchanged: NDArray[np.bool_]
    proven: NDArray[np.bool_]

    def __len__(self) -> int:
        """Number of elements, the identity included."""
        return len(self.images)

    def __str__(self) -> str:
        """A description for people."""
        if len(self) == 1:
            return "no symmetries"
        tested = int((~self.proven).sum())
        parts = [f"{len(self)} symmetries"]
        if self.exchanged.any():
            parts.append(f"{int(self.exchanged.sum())} of them exchange the roles")
        if tested:
            parts.append(f"{tested} are shown by play alone")
        return ", ".join(parts)


def find_symmetries(
    machine: PropnetMachine,
    ground: GroundRules | None = None,
    effort: int = EFFORT,
    inputs: int = MOST_INPUTS,
) -> GameSymmetries:
    """The symmetries of a machine's game, at most :data:`MOST` elements; the identity alone if none is found
    or the game is too large. Raises no error.

    Args:
        ground: the rules that the network was built from. None: those that the machine has kept, or the
            ground rules made within half a second. They show symmetries that a network's passes hide.
        effort, inputs: see :func:`propnet.symmetries.group.automorphisms`. Some large networks need more:
            chess, whose roles can be exchanged, 40 million and a million, and two seconds.
    """
    network = machine.network
    exchange = len(network.roles) == 2
    if len(network.bases) > MOST_PROPOSITIONS:
        identity = Automorphism.identity(network)
        return _symmetries([identity], [identity])
    rules = _ground_rules(machine) if ground is None else ground
    if rules is not None and (rules.bases != network.bases or rules.moves != network.moves):
        rules = None
    proven = automorphisms(network, rules, MOST, exchange=exchange, effort=effort, inputs=inputs)
    try:
        group = _with_tested(machine, proven, MOST)
    except GdlError:
        group = proven
    return _symmetries(group, proven)


def _ground_rules(machine: PropnetMachine) -> GroundRules | None:
    """The ground rules of a machine, if they are at hand or quickly made."""
    if machine.ground is not None or len(machine.network.gate_inputs) > _INPUTS:
        return machine.ground
    try:
        return instantiated(machine.rules, GroundLimits(cpu_seconds=_SECONDS))
    except GdlError:
        return None


def _with_tested(machine: PropnetMachine, proven: list[Automorphism], most: int) -> list[Automorphism]:
    """The group extended by the renamings that pass the test, as far as there is room."""
    group, generators = proven, list(proven)
    test: PlayTest | None = None
    for renaming in renamings(machine.rules, machine.network):
        if any((renaming.bases == element.bases).all() for element in group):
            continue
        test = test or PlayTest(machine)
        if test.passes(renaming):
            closed = closure([*generators, renaming], proven[0], most)
            if closed is not None:
                generators.append(renaming)
                group = closed
    return group


def _symmetries(group: list[Automorphism], proven: list[Automorphism]) -> GameSymmetries:
    verified = {element.bases.tobytes() for element in proven}
    return GameSymmetries(
        np.array([element.bases for element in group], np.int32),
        np.array([element.moves for element in group], np.int32),
        np.array([element.roles != group[0].roles for element in group], np.bool_),
        np.array([element.bases.tobytes() in verified for element in group], np.bool_),
    )


Singles = NDArray[np.float32]


@kernel(nogil=True)
def images_of(records: Words, images: Int32s, chosen: Int32s, out: Words) -> None:
    """Fill in the image of each state under one element: ``records`` and ``out`` uint64, shape (n, words);
    ``images`` as in :class:`GameSymmetries`, ``chosen`` int32, shape (n,)."""
    one = np.uint64(1)
    for row in range(records.shape[0]):
        element = chosen[row]
        for word in range(records.shape[1]):
            out[row, word] = np.uint64(0)
        for word in range(records.shape[1]):
            bits = records[row, word]
            while bits:
                to = np.int64(images[element, 64 * word + np.int64(lowest_bit(bits))])
                out[row, to >> 6] |= one << np.uint64(to & 63)
                bits &= bits - one


def random_images(
    symmetries: GameSymmetries, records: Words, values: Singles, rng: np.random.Generator
) -> tuple[Words, Singles]:
    """Random images of states, uint64, shape (n, words), and the images' values, given the states'
    ``values``, 0..1, float32, shape (n, columns): a column for each of two roles, or one for role 0 if role 1
    has what role 0 has not."""
    if len(symmetries) == 1:
        return records, values
    chosen = rng.integers(0, len(symmetries), len(records)).astype(np.int32)
    found = np.empty_like(records)
    images_of(np.ascontiguousarray(records), symmetries.images, chosen, found)
    exchanged = symmetries.exchanged[chosen]
    turned = values.copy()
    turned[exchanged] = 1 - values[exchanged] if values.shape[1] == 1 else values[exchanged][:, ::-1]
    return found, turned
