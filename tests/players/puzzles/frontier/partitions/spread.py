"""Searches spread over workers that several tests share."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from players.fleet.fleet import Arrays, FleetWorker, Message
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import FrontierOptions, FrontierResult
from players.puzzles.frontier.partitions import crew as crew_module
from players.puzzles.frontier.partitions.crew import PartCrew
from propnet.machine import PropnetMachine
from tests.players.puzzles.frontier.plain import PLENTY, assert_lines, begun

PLAIN = FrontierOptions(PLENTY, symmetry=False)


def spread(machine: PropnetMachine, crew: PartCrew, options: FrontierOptions = PLAIN) -> FrontierSearch:
    """A search on a crew, from the initial state; :func:`let_go` ends it."""
    search = begun(machine, replace(options, cluster="local:1"))
    search._crew = crew
    return search


def let_go(search: FrontierSearch) -> None:
    """Close a search, but not its crew."""
    search._crew = None
    search.close()


def spread_result(
    machine: PropnetMachine, crew: PartCrew, options: FrontierOptions = PLAIN
) -> FrontierResult:
    """What it finds; its lines are replayed."""
    search = spread(machine, crew, options)
    try:
        while search.step(time.monotonic() + 1.0):
            pass
        result = search.result()
    finally:
        let_go(search)
    assert_lines(machine, result)
    return result


def assert_same(result: FrontierResult, other: FrontierResult) -> None:
    """Both found the same."""
    assert result.layers == other.layers
    assert result.lines == other.lines
    assert (result.value, result.complete, result.shortest) == (other.value, other.complete, other.shortest)


def process_of(worker: FleetWorker) -> int:
    """The process of a worker of this computer."""
    return int(worker.handle._process.pid)


class Harm:
    """Kills, or stops, a worker that is asked something in a layer, once for each that is named."""

    def __init__(
        self,
        patch: pytest.MonkeyPatch,
        killed: Sequence[tuple[str, int]],
        stopped: Sequence[tuple[str, int]] = (),
    ) -> None:
        self.left = [*killed, *stopped]
        ask = PartCrew.ask

        async def harmed(
            crew: PartCrew, worker: FleetWorker, message: Message, arrays: Arrays = ()
        ) -> tuple[Message, Arrays]:
            what = message["do"], message.get("layer")
            if what in self.left:
                self.left.remove(what)
                os.kill(process_of(worker), signal.SIGSTOP if what in stopped else signal.SIGKILL)
                if what in stopped:
                    patch.setattr(crew_module, "CALL_SECONDS", 2.0)
            else:
                patch.setattr(crew_module, "CALL_SECONDS", 300.0)
            return await ask(crew, worker, message, arrays)

        patch.setattr(PartCrew, "ask", harmed)
