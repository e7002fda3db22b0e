"""The stages of the kaskade: functions that build each machine in a process of its own, and load it here.

Builders take turns. A builder whose product another builder is already making waits for the result, and at
most one builder per processor compiles at a time: four matches of one game need one network, and four
compilers on one processor finish no sooner than one after another. The turns are locks on files in the folder
of the caches. All processes of a user share them, and the system releases the locks of a killed builder.
Every wait has a limit, because a builder may be stopped.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final, Self

from gdl.errors import GdlError, TooLargeError
from gdl.machine import Machine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from players.kaskade.builder import BuildJob
from players.kaskade.make_machine import compile_budget
from players.processes.limits import cores, processors
from propnet.private_files import default_directory, make_directory
from propnet.storage.network_bytes import keep, load
from propnet.storage.process_lock import ProcessLock

PATIENCE_SECONDS = 90.0, 10.0
"""Seconds to wait for a builder of the same product, and for a processor: others may compile for long."""
LOOK_SECONDS = 0.25
_NAMES = 64
"""Number of lock files for products; two products that share a file wait for each other."""


class BuildTurn:
    """A turn to build the product of this name, on one of some processors if they are given. It ends with the
    block, or with the process."""

    def __init__(self, name: str, processors: Sequence[int] = ()) -> None:
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little") % _NAMES
        self._locks: list[list[ProcessLock]] = []
        self._began = time.monotonic()
        try:
            folder = default_directory() / "building"
            make_directory(folder)
        except (OSError, RuntimeError):  # no folder for caches: each process builds for itself
            return
        self._locks = [[ProcessLock(str(folder / f"thing-{number}"))]]
        if processors:
            self._locks += [[ProcessLock(str(folder / f"processor-{each}")) for each in processors]]
        self._taken = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for locks in self._locks:
            for lock in locks:
                lock.leave()

    def come(self) -> bool:
        """Wait a moment for the turn. Returns whether it has come; another builder may have stored the
        product by then."""
        while self._locks and self._taken < len(self._locks):
            has = any(lock.take(0.0) for lock in self._locks[self._taken])
            if not has and time.monotonic() - self._began < PATIENCE_SECONDS[self._taken]:
                time.sleep(LOOK_SECONDS)
                return False
            self._taken += 1
            self._began = time.monotonic()
        return True


KEEP_SECONDS = 0.1
"""A network that took less CPU time than this is not stored on disk."""
COMPILE_SECONDS = 60.0
"""Wall time after which no more native code is compiled; the rest is interpreted."""
_MOST_JOBS = 4
"""Maximum number of processes that compile native code together."""
Load = Callable[[Rules, bytes, Machine | None], Machine]
WARM_UP_GAMES = (
    "(role a) (init (n 0)) (legal a x) (legal a y) (<= (next (n 1)) (true (n 0)) (does a x))"
    " (<= terminal (true (n 1))) (goal a 100)",
    "(role a) (role b) (init (n 0)) (legal a x) (legal a y) (legal b x) (legal b y)"
    " (<= (next (n 1)) (true (n 0)) (does a x)) (<= (next (n 0)) (does a y) (does b x))"
    " (<= terminal (true (n 1))) (goal a 100) (goal b 0)",
)
"""Games for which everything is compiled once before a match needs it."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the climb.

    Attributes:
        level: the name of its machine.
        job: the work of the builder.
        load: creates the machine in the process that plays, from the rules, the product and the machine of
            the stage before. May raise any exception.
    """

    level: str
    job: BuildJob
    load: Load


def build_propnet(text: str, previous: bytes) -> Iterator[bytes]:
    """The network of these rules, as bytes: the one stored on disk, or a new one if there is none."""
    rules = parse_rules(text, "rules")
    with BuildTurn(f"network {text}") as turn:
        stored = load(rules)
        while stored is None and not turn.come():
            stored = load(rules)
        # The builder that had the turn before has stored its network at the end.
        stored = stored or load(rules)
        if stored is not None:
            yield stored
            return
        began = time.process_time()
        network = _network(rules)
        yield network
        if time.process_time() - began > KEEP_SECONDS:
            keep(rules, network)


def _network(rules: Rules) -> bytes:
    from gdl.grounding.pipeline import ground
    from propnet.build import build
    from propnet.storage.network_bytes import to_bytes

    return to_bytes(build(ground(rules)))


def warm_up_propnet() -> None:
    """Import and compile everything that :func:`build_propnet` needs."""
    for game in WARM_UP_GAMES:
        rules = parse_rules(game, "rules")
        load(rules)
        _network(rules)


def load_propnet(rules: Rules, product: bytes, before: Machine | None) -> Machine:
    """The machine that interprets the network."""
    from propnet.machine import PropnetMachine
    from propnet.storage.network_bytes import from_bytes

    return PropnetMachine(rules, from_bytes(product))


def build_native(text: str, previous: bytes) -> Iterator[bytes]:
    """The native code of a network: as soon as it is worth using, when all of it is compiled, and then with
    the code of the guide for playouts, or of the network with registers for playouts, if the game has one.
    Raises TooLargeError if too little is compiled in time."""
    from players.kaskade.guided_machine import compiled_guide
    from propnet.machine import PropnetMachine
    from propnet.native.machine import PAYS, NativeCode, NativeMachine, compile_network
    from propnet.native.object_cache import ObjectCache, host, to_bytes
    from propnet.recoding.registers import RegisterMachine, register_bytes, with_registers
    from propnet.storage.network_bytes import from_bytes
    from propnet.storage.network_bytes import to_bytes as network_to_bytes

    share, seconds = 0.0, compile_budget(COMPILE_SECONDS)
    network, cache = from_bytes(previous), ObjectCache()
    jobs = min(cores(), _MOST_JOBS)
    with BuildTurn(f"native {text}", processors()) as turn:
        while not turn.come():
            stored = cache.get(network, host())
            if stored is not None and (code := NativeCode(stored[0], host(), stored[1])).share() > share:
                share = code.share()
                yield _joined(to_bytes(*stored))
        for code in compile_network(network, seconds=seconds, jobs=jobs, cache=cache):
            share = code.share()
            if share >= PAYS:
                yield _joined(to_bytes(code.straight, code.objects))
                if not code.complete():  # the match may be over before the rest is compiled
                    cache.put(network, code.target, code.straight, code.objects)
    if share < PAYS:
        raise TooLargeError(f"only {share:.0%} of the network could be compiled in {seconds:g} s")
    if not code.complete():
        return
    machine = PropnetMachine(parse_rules(text, "rules"), network)
    guide = compiled_guide(machine, seconds, jobs)
    if guide is not None:
        guide_net, guide_code = guide
        yield _joined(
            to_bytes(code.straight, code.objects),
            network_to_bytes(guide_net),
            to_bytes(guide_code.straight, guide_code.objects),
        )
        return
    faster = with_registers(NativeMachine(machine.rules, network, code), seconds=seconds, cache=cache)
    if isinstance(faster, RegisterMachine) and (other := faster.registers.code) is not None:
        yield _joined(
            to_bytes(code.straight, code.objects),
            register_bytes(faster.registers.network, faster.coding),
            to_bytes(other.straight, other.objects),
            b"registers",
        )


def _joined(*parts: bytes) -> bytes:
    """The parts in one: their lengths, then the parts."""
    return b" ".join(b"%d" % len(part) for part in parts) + b"\n" + b"".join(parts)


def _parted(product: bytes) -> list[bytes]:
    """The parts that :func:`_joined` combined."""
    head, _, body = product.partition(b"\n")
    return [body[a:b] for a, b in pairwise(accumulate(map(int, head.split()), initial=0))]


def warm_up_native() -> None:
    """Import and compile everything that :func:`build_native` needs."""
    from gdl.grounding.pipeline import ground
    from propnet.build import build
    from propnet.native.machine import compile_network

    for game in WARM_UP_GAMES:
        for _ in compile_network(build(ground(parse_rules(game)))):
            pass


def load_native(rules: Rules, product: bytes, before: Machine | None) -> Machine:
    """The machine that runs the code on the network of the machine before, with the guide if there is one."""
    from players.kaskade.guided_machine import GuidedMachine
    from propnet.machine import PropnetMachine
    from propnet.native.machine import NativeCode, NativeMachine
    from propnet.native.object_cache import from_bytes, host
    from propnet.recoding.registers import RegisterMachine, read_registers
    from propnet.storage.network_bytes import from_bytes as network_from_bytes

    if not isinstance(before, PropnetMachine):
        raise GdlError("native code needs the machine of its network")
    network = before.network

    def native_code(data: bytes) -> NativeCode:
        straight, objects = from_bytes(data)
        return NativeCode(straight, host(), objects)

    first, *more = _parted(product)
    code = native_code(first)
    machine: NativeMachine
    match more:
        case [guide, guide_code]:
            guide_net = network_from_bytes(guide)
            machine = GuidedMachine(rules, network, code, guide_net, native_code(guide_code))
        case [other, other_code, _]:
            registers, coding = read_registers(other)
            machine = RegisterMachine(rules, network, code, registers, native_code(other_code), coding)
        case _:
            machine = NativeMachine(rules, network, code)
    if code.objects and not machine.compiled:
        raise GdlError("native code is not faster than the interpreter here, or cannot be loaded")
    return machine


def exercise(machine: Machine) -> None:
    """Warm a machine up, so that its first answers and its first playouts need not wait."""
    from players.batch_machine import batch_machine_of

    batch_machine_of(machine).warm_up()


def exercise_answers(machine: Machine) -> None:
    """As :func:`exercise`, without playouts, whose kernel takes the longest to compile."""
    from players.batch_machine import batch_machine_of

    batch_machine_of(machine).ask_once()


STAGES: Final[tuple[Stage, ...]] = (
    Stage("propnet", BuildJob(f"{__name__}:build_propnet", f"{__name__}:warm_up_propnet"), load_propnet),
    Stage("native", BuildJob(f"{__name__}:build_native", f"{__name__}:warm_up_native"), load_native),
)
"""The stages, from the first to the furthest.

Builders have the same priority on the processors as the search. Suppose that a builder needs C seconds of a
processor, gets the share b of it, and makes n search processes s times as fast. Then it costs them C * (n *
(s - 1) / b + 1) seconds of search. So a larger share is always better if s > 1."""
