"""The kaskade of machines: prover, propositional network, native code, each as soon as it is built.

The prover answers at once. Processes of their own build the faster machines, one stage after the other, while
the player already plays. A stage that fails, is killed, hangs or exceeds its limits ends the climb; the
player stays on the stage before.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Final

from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from players.kaskade.builder import Builder, BuildError, KilledError
from players.kaskade.stages import STAGES, Stage, exercise
from players.processes.limits import describe

AUTO: Final = "auto"
BOTTOM: Final = "prover"
BEGUN: Final = "begun"
READY: Final = "ready"
FAILED: Final = "failed"


@dataclass(frozen=True, slots=True)
class Event:
    """A change in the state of a stage.

    Attributes:
        level: the stage's machine.
        what: ``begun``, ``ready`` (again whenever more of it is compiled) or ``failed``.
        seconds: time since the stage was begun.
        detail: the reason of a failure; otherwise empty.
    """

    level: str
    what: str
    seconds: float
    detail: str = ""

    def __str__(self) -> str:
        if self.what == BEGUN:
            return f"building the {self.level} machine"
        if self.what == READY:
            return f"the {self.level} machine is ready after {self.seconds:.1f} s"
        return f"no {self.level} machine: {self.detail}"


class Kaskade:
    """The machines of one game up to a level, each available once it is built; ``auto`` is the last stage.

    The constructor starts the builders, which import their modules; :meth:`begin` gives them the rules. A
    machine serves one thread at a time, the one that calls :meth:`best`. ``on_event`` is called with each
    event of a stage, mostly in a thread of the kaskade. ``exercise`` is called with each machine before it is
    ready, so that its first answers wait for no kernel. Raises GdlError if there is no such level.
    """

    def __init__(
        self,
        level: str = AUTO,
        *,
        on_event: Callable[[Event], None] | None = None,
        stages: Sequence[Stage] = STAGES,
        exercise: Callable[[Machine], None] = exercise,
    ) -> None:
        levels = [stage.level for stage in stages]
        if level not in (AUTO, BOTTOM, *levels):
            raise GdlError(
                f"there is no machine {level!r}", remedy=f"choose {', '.join((BOTTOM, *levels, AUTO))}"
            )
        count = {AUTO: len(levels), BOTTOM: 0}.get(level)
        self._stages = tuple(stages[: levels.index(level) + 1 if count is None else count])
        self._on_event = on_event
        self._exercise = exercise
        self._changed = threading.Condition()
        self._ready: dict[str, Machine] = {}
        self._prover: Machine | None = None
        self._rules: Rules | None = None
        self._rising = bool(self._stages)
        self._thread: threading.Thread | None = None
        self._builders: list[Builder] = []
        self._fault = ""
        self._close = weakref.finalize(self, _kill, self._builders)
        try:
            for stage in self._stages:
                self._builders.append(Builder(stage.job))
        except OSError as error:
            # The stages that have a builder are built; then this error is reported.
            self._fault = describe(error)

    @property
    def levels(self) -> tuple[str, ...]:
        """The machines above the prover, in the order in which they are built."""
        return tuple(stage.level for stage in self._stages)

    @property
    def rising(self) -> bool:
        """Whether a faster machine may still become ready."""
        return self._rising

    @property
    def newest(self) -> Machine | None:
        """The furthest machine above the prover that is ready."""
        with self._changed:
            return next(reversed(self._ready.values()), None)

    def begin(self, text: str, rules: Rules | None = None) -> None:
        """Begin to build the machines of these rules, given as text and, if they are parsed, also as rules.
        Call it once. Raises ParseError if the text is not valid rules."""
        self._rules = rules if rules is not None else parse_rules(text)
        if self._stages:
            run = partial(self._run, text, self._rules)
            self._thread = threading.Thread(target=run, daemon=True, name="kaskade")
            self._thread.start()

    def best(self) -> Machine:
        """The furthest machine that is ready. Raises RulesError as :meth:`prover`."""
        return self.newest or self.prover()

    def prover(self) -> Machine:
        """The machine that needs no building, created on the first call. Raises RulesError if the rules
        cannot be played."""
        if self._prover is None:
            from gdl.prover.machine import ProverMachine

            if self._rules is None:
                raise GdlError("the kaskade was given no rules yet", remedy="call begin()")
            self._prover = ProverMachine(self._rules)
        return self._prover

    def wait(self, level: str, seconds: float | None = None) -> bool:
        """Wait at most ``seconds`` until the machine of a level is ready, or can no longer become ready.
        Returns whether it is ready. A machine above the cap never becomes ready."""
        with self._changed:
            self._changed.wait_for(lambda: level in self._ready or not self._rising, seconds)
            return level in self._ready

    def settle(self, seconds: float) -> bool:
        """Wait at most ``seconds`` until nothing is being built. Returns whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._rising, seconds)

    def reject(self, machine: Machine, reason: str) -> None:
        """Drop this machine, which answers wrongly, and those above it, and stop building."""
        with self._changed:
            levels = list(self._ready)
            place = next((i for i, level in enumerate(levels) if self._ready[level] is machine), len(levels))
            for level in levels[place:]:
                del self._ready[level]
            self._end_climb()
        if levels[place:]:
            self._tell(Event(machine.level, FAILED, 0.0, reason))

    def close(self, seconds: float = 5.0) -> None:
        """End all processes that still build; machines that are ready stay. Waits at most ``seconds`` for a
        machine that is being loaded."""
        with self._changed:
            self._end_climb()
        self._close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(seconds)
        else:
            for builder in self._builders:
                builder.close()

    def __enter__(self) -> Kaskade:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _end_climb(self) -> None:
        """Stop the climb: no faster machine will become ready. The caller holds the lock."""
        self._rising = False
        self._changed.notify_all()

    def _run(self, text: str, rules: Rules) -> None:
        try:
            self._climb(text, rules)
        finally:
            for builder in self._builders:
                builder.close()
            with self._changed:
                self._end_climb()

    def _climb(self, text: str, rules: Rules) -> None:
        """Build one stage after the other, until one fails."""
        product = b""
        machine: Machine | None = None
        for stage, builder in zip_longest(self._stages, list(self._builders)):
            if not self._rising:
                return
            began = time.monotonic()
            self._tell(Event(stage.level, BEGUN, 0.0))
            try:
                if builder is None:
                    raise BuildError(f"its process could not be started: {self._fault}")
                build = partial(self._build, stage, text, rules, product, machine, began)
                try:
                    product, machine = build(builder)
                except KilledError:
                    if not self.rising:
                        return
                    product, machine = build(self._another(stage))
                continue
            except GdlError as error:
                reason = str(error)
            except MemoryError:
                reason = "there is no memory for it here"
            except Exception as error:
                reason = describe(error)
            if self._rising:
                self._tell(Event(stage.level, FAILED, time.monotonic() - began, reason))
            return

    def _build(
        self,
        stage: Stage,
        text: str,
        rules: Rules,
        previous: bytes,
        before: Machine | None,
        began: float,
        builder: Builder,
    ) -> tuple[bytes, Machine]:
        """The last product of one builder, and the machine made from it."""
        machine = None
        for product in builder.build(text, previous):
            machine = stage.load(rules, product, before)
            self._exercise(machine)
            with self._changed:
                if not self._rising:
                    raise BuildError("the machine is no longer needed")
                self._ready[stage.level] = machine
                self._changed.notify_all()
            self._tell(Event(stage.level, READY, time.monotonic() - began))
        if machine is None:
            raise BuildError("its builder has delivered nothing")
        return product, machine

    def _another(self, stage: Stage) -> Builder:
        """A builder that replaces one that was killed."""
        builder = Builder(stage.job)
        with self._changed:
            self._builders.append(builder)
            if not self._rising:
                builder.kill()
        return builder

    def _tell(self, event: Event) -> None:
        if self._on_event is not None:
            self._on_event(event)


def _kill(builders: list[Builder]) -> None:
    for builder in builders:
        builder.kill()
