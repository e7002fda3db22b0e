"""Fleets: messages that arrive as they were, lost workers, tokens, what nodes are; Ray only when wanted."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from gdl.errors import GdlError
from players.fleet import open_fleet as fleets
from players.fleet import survey as surveying
from players.fleet.fleet import Arrays, Fleet, FleetWorker, LostWorkerError, Message, load, pack, unpack
from players.fleet.open_fleet import check_permitted, is_permitted, open_fleet, permit_only, standing
from players.fleet.ray_fleet import RayFleet
from players.fleet.ray_nodes import close_doors
from players.fleet.survey import PROBE, NodeProbe, survey
from tests.players.fleet.here import HereFleet

KINDS = arrays_of.integer_dtypes() | arrays_of.unsigned_integer_dtypes() | arrays_of.boolean_dtypes()
SHAPES = arrays_of.array_shapes(min_dims=0, min_side=0)
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray, the extra cluster, is missing"
)


@given(st.dictionaries(st.text(), st.integers() | st.text()), st.lists(arrays_of.arrays(KINDS, SHAPES)))
def test_messages_arrive_as_they_were_sent(message: dict[str, object], arrays: list[np.ndarray]) -> None:
    told, came = unpack(pack(message, arrays))
    assert told == message
    assert len(came) == len(arrays)
    for before, after in zip(arrays, came, strict=True):
        assert np.array_equal(before, after)
        assert before.dtype == after.dtype.newbyteorder(before.dtype.byteorder)


@given(st.binary())
def test_bytes_that_are_no_message_are_refused(frame: bytes) -> None:
    with pytest.raises(GdlError):
        unpack(frame)


def test_objects_do_not_travel_and_a_frame_that_is_cut_is_refused() -> None:
    with pytest.raises(GdlError, match="cannot be sent"):
        pack({}, [np.array([object()])])
    whole = pack({"a": 1}, [np.arange(9)])
    for cut in (whole[:-1], whole + b"\0", whole[:5]):
        with pytest.raises(GdlError, match="cannot be read"):
            unpack(cut)


@pytest.mark.parametrize("name", ["os:getpid", "players.nothing:NodeProbe", "players.fleet.survey:Nothing"])
def test_only_services_of_this_program_run(name: str) -> None:
    with pytest.raises(GdlError, match="service"):
        load(name)


async def _works(fleet: Fleet) -> None:
    """What holds of every fleet."""
    node = (await fleet.nodes())[0]
    worker = await fleet.start(node, PROBE, node.cores)
    board = np.arange(12, dtype=np.uint16).reshape(3, 4)
    answer, (first, second) = await fleet.call(worker, {}, [board, board + 1])
    assert answer["process"] != os.getpid()
    assert np.array_equal(first, board)
    assert np.array_equal(second, board + 1)
    with pytest.raises(GdlError, match="nothing but answer"):
        await fleet.call(worker, {"do": "harm"})
    both = await asyncio.gather(*(fleet.call(worker, {}, [board * k]) for k in range(20)))
    assert all(np.array_equal(came[0], board * k) for k, (_, came) in enumerate(both))
    os.kill(answer["process"], signal.SIGKILL)
    with pytest.raises(LostWorkerError):
        await fleet.call(worker, {})
    await fleet.stop(worker)
    again = await fleet.start(node, PROBE, node.cores)
    assert (await fleet.call(again, {}))[0]["process"] != answer["process"]


async def _with(fleet: Fleet) -> None:
    try:
        await _works(fleet)
    finally:
        await fleet.close()


@pytest.mark.slow
@needs_ray
def test_actors_of_ray_answer_are_lost_and_are_started_again() -> None:
    asyncio.run(_with(RayFleet("local-ray:1")))


def test_no_module_imports_ray_before_a_fleet_of_it_is_opened() -> None:
    names = "players.fleet.ray_fleet, players.fleet.open_fleet, ggp.cli"
    code = f"import sys, {names}; assert not any(n.split('.')[0] == 'ray' for n in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_ray_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(GdlError, match=r"pip install 'kaskade-ggp\[cluster\]'"):
        RayFleet("local-ray:2")


def test_a_cluster_of_others_is_not_entered_without_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", "")
    monkeypatch.setenv("HOME", "/nonexistent")
    with pytest.raises(GdlError, match="RAY_AUTH_TOKEN"):
        close_doors(own=False)
    close_doors(own=True)
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64
    assert os.environ["RAY_AUTH_MODE"] == "token"


def test_all_clusters_that_a_process_starts_have_one_token(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = set()
    for _ in range(2):
        monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
        monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
        monkeypatch.setenv("HOME", "/nonexistent")
        close_doors(own=True)
        tokens.add(os.environ["RAY_AUTH_TOKEN"])
    assert len(tokens) == 1, "Ray reads it once in a process"


# --- What nodes are and do is told; what is silent or another version is told as that
def surveyed(nodes: int, look: Callable[[HereFleet], Awaitable[None]]) -> None:
    """Look at a fleet of so many nodes, and close it."""

    async def run() -> None:
        fleet = HereFleet(nodes)
        try:
            await look(fleet)
        finally:
            await fleet.close()

    asyncio.run(run())


def test_each_node_says_what_it_is_and_its_workers_what_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveying, "ANSWER_SECONDS", 60.0)

    async def look(fleet: HereFleet) -> None:
        first, second = await fleet.nodes()
        await fleet.start(first, "search", 1)
        reports = {report.node.id: report for report in await survey(fleet)}
        assert list(reports[first.id].doing) == ["search: no match"]
        assert list(reports[second.id].doing) == []
        assert all(not report.fault and report.seconds > 0 for report in reports.values())
        assert len(await fleet.workers()) == 1, "the probes have ended"

    surveyed(2, look)


def test_a_worker_that_hangs_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surveying, "ANSWER_SECONDS", 0.5)

    async def look(fleet: HereFleet) -> None:
        worker = await fleet.start((await fleet.nodes())[0], PROBE, 1)
        hangs = fleet._ask

        async def ask(asked: FleetWorker, frame: bytes) -> bytes:
            await asyncio.sleep(60.0 if asked is worker else 0.0)
            return await hangs(asked, frame)

        monkeypatch.setattr(fleet, "_ask", ask)
        (report,) = await survey(fleet)
        assert list(report.doing) == ["probe: silent"]

    surveyed(1, look)


def test_a_node_with_another_version_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = NodeProbe.call

    async def call(probe: NodeProbe, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        about, same = await usual(probe, message, arrays)
        return {**about, "version": "9.9"}, same

    monkeypatch.setattr(NodeProbe, "call", call)

    async def look(fleet: HereFleet) -> None:
        (report,) = await survey(fleet)
        assert "runs 9.9" in report.fault

    surveyed(1, look)


# --- A cluster's token goes to the addresses that the operator named, whatever asks for another
@pytest.fixture(autouse=True)
def _unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(fleets._VARIABLE, "")  # so that it is put back
    monkeypatch.delenv(fleets._VARIABLE)


def test_any_cluster_may_be_called_until_a_command_limits_itself() -> None:
    check_permitted("a:1")
    permit_only(["a:1", "local-ray:2"])
    assert [is_permitted(address) for address in ("a:1", "local-ray:2", "a:12", "a", "")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    permit_only(["b:1", "a:1"])
    assert not is_permitted("b:1")  # limits are never widened
    assert is_permitted("a:1")


def test_processes_that_are_started_inherit_the_limits() -> None:
    permit_only(["a:1"])
    code = "from players.fleet.open_fleet import is_permitted as p; print(p('a:1'), p('b:1'))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["True", "False"]


def test_an_address_that_is_not_permitted_hears_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    permit_only([])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.5)
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(GdlError, match="may not be called"):
            open_fleet(address)
        with pytest.raises(GdlError, match="may not be called"), standing(address):
            pass
        with pytest.raises(TimeoutError):
            listening.accept()
    with pytest.raises(GdlError, match="may not be called"):
        open_fleet("local-ray:2")
