"""Fleets: messages that arrive as they were, workers that are lost, Ray only where it is asked for."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from gdl.errors import GdlError
from players.fleet.fleet import Fleet, LostWorkerError, load, pack, unpack
from players.fleet.ray_fleet import RayFleet
from players.fleet.ray_nodes import close_doors

PROBE = "probe"
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


@pytest.fixture
def _environment_of_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """What opening a fleet sets for Ray is undone."""
    for key in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED", "PYTHONPATH"):
        before = os.environ.get(key)
        monkeypatch.setenv(key, before or "")
        if before is None:
            del os.environ[key]


@pytest.mark.slow
@needs_ray
@pytest.mark.usefixtures("_environment_of_ray")
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


@pytest.mark.usefixtures("_environment_of_ray")
def test_a_cluster_of_others_is_not_entered_without_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_TOKEN", "")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", "")
    monkeypatch.setenv("HOME", "/nonexistent")
    with pytest.raises(GdlError, match="RAY_AUTH_TOKEN"):
        close_doors(own=False)
    close_doors(own=True)
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64
    assert os.environ["RAY_AUTH_MODE"] == "token"


@pytest.mark.usefixtures("_environment_of_ray")
def test_all_clusters_that_a_process_starts_have_one_token(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = set()
    for _ in range(2):
        monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
        monkeypatch.delenv("RAY_AUTH_TOKEN_PATH", raising=False)
        monkeypatch.setenv("HOME", "/nonexistent")
        close_doors(own=True)
        tokens.add(os.environ["RAY_AUTH_TOKEN"])
    assert len(tokens) == 1, "Ray reads it once in a process"
