"""``ggp cluster status`` shows nodes, and workers that other programs have started on them."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
from functools import partial

import pytest

from players.fleet.ray_fleet import RayFleet
from players.fleet.ray_nodes import ray_nodes
from players.fleet.survey import PROBE
from tests.ggp.program import ggp

status = partial(ggp, "cluster")


@pytest.mark.parametrize("words", [("status", "nowhere"), ("stop", "local-ray:1"), ("status", "local-ray:0")])
def test_what_cannot_be_shown_is_one_readable_line(words: tuple[str, str]) -> None:
    shown = status(*words)
    assert shown.returncode != 0
    assert "Traceback" not in shown.stderr and shown.stderr.strip()


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray, the extra cluster, is missing")
def test_workers_of_other_programs_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED"):
        monkeypatch.setenv(key, "0")
        monkeypatch.delenv(key)

    async def run(address: str) -> None:
        fleet = RayFleet(address)
        try:
            node = (await fleet.nodes())[0]
            worker = await fleet.start(node, PROBE, 1)  # Ray ends what nobody holds
            shown = await asyncio.to_thread(status, "status", address, "--json")
            assert shown.returncode == 0, shown.stderr
            nodes = {told["node"]: told for told in map(json.loads, shown.stdout.splitlines())}
            assert len(nodes) == 2 and nodes[node.id]["doing"] == ["probe: ready"]
            await fleet.stop(worker)
        finally:
            await fleet.close()

    with ray_nodes(2) as address:
        assert len(os.environ["RAY_AUTH_TOKEN"]) == 64
        asyncio.run(run(address))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cluster", "nowhere"], "not an address of a cluster"),
        (["--cluster", "local-ray:2", "--player", "random"], "searches on no cluster"),
    ],
)
def test_a_server_that_cannot_use_its_cluster_says_so(words: list[str], said: str) -> None:
    ended = ggp("serve", "--port", "0", *words)
    assert ended.returncode == 2 and said in ended.stderr and "Traceback" not in ended.stderr
