"""A Ray cluster as a fleet (https://docs.ray.io): an actor for each worker, bound to its node.

Needs the extra ``cluster``. Ray is imported only when a fleet is opened.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from contextlib import suppress
from typing import Any

from gdl.errors import GdlError
from players.fleet.fleet import Fleet, FleetNode, FleetWorker, LostWorkerError, answer, load
from players.fleet.ray_nodes import LOCAL_RAY, LOOPBACK, close_doors, installed, local_cluster, own_path


class RayWorker:
    """A service in an actor's process. It receives and sends bytes, so Ray has nothing to unpickle."""

    def __init__(self, service: str) -> None:
        self._service = load(service)

    async def answer(self, frame: bytes) -> bytes:
        """The frame of the answer."""
        return await answer(self._service, frame)


START_SECONDS = 60.0
"""Seconds in which an actor must answer for the first time."""


class RayFleet(Fleet):
    """A cluster that is reached through Ray.

    Args:
        address: ``HOST:PORT`` of a cluster's head, or ``local-ray:N`` to start N nodes on this computer,
            which divide its cores and communicate over loopback. Ray still opens some of their ports on all
            interfaces: use a firewall in addition to the token if others are on the network.

    Raises:
        GdlError: Ray is not installed, the token is missing, or nothing answers at the address.
    """

    def __init__(self, address: str) -> None:
        installed()
        local = LOCAL_RAY.fullmatch(address)
        close_doors(own=local is not None)
        import ray.util.scheduling_strategies

        self._ray: Any = ray
        self.cluster = local_cluster(int(local[1])) if local else None
        """The nodes that this fleet has started, if any: Ray's ``cluster_utils.Cluster``."""
        here = self.cluster is not None or address.startswith(f"{LOOPBACK}:")
        try:
            ray.init(
                address=self.cluster.address if self.cluster else address,
                log_to_driver=False,
                logging_level=logging.ERROR,
                namespace="kaskade",
                _node_ip_address=LOOPBACK if here else None,
                runtime_env={"env_vars": {"PYTHONPATH": own_path()}} if here else None,
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            self._leave()
            text = str(error).strip().splitlines()
            raise GdlError(
                f"no cluster answers at {address}: {text[0] if text else type(error).__name__}",
                remedy="see `ray status`; is the token the cluster's?",
            ) from None

    async def nodes(self) -> list[FleetNode]:
        listed = await asyncio.to_thread(self._ray.nodes)
        return [_node(node) for node in listed if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]

    async def workers(self) -> list[FleetWorker]:
        return await asyncio.to_thread(self._listed)

    def _listed(self) -> list[FleetWorker]:
        nodes = {node["NodeID"]: node for node in self._ray.nodes() if node["Alive"]}
        workers = []
        for name in sorted(self._ray.util.list_named_actors()):
            node_id, _, rest = name.partition(" ")
            if (node := nodes.get(node_id)) is not None:
                with suppress(ValueError):  # it has just ended
                    handle = self._ray.get_actor(name)
                    workers.append(FleetWorker(_node(node), rest.partition(" ")[0], handle))
        return workers

    async def start(self, node: FleetNode, service: str, cores: int) -> FleetWorker:
        affinity = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node.id, soft=False)
        name = f"{node.id} {service} {secrets.token_hex(4)}"
        actor = self._ray.remote(RayWorker).options(num_cpus=cores, scheduling_strategy=affinity, name=name)
        worker = FleetWorker(node, service, actor.remote(service))
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._wait(worker.handle.__ray_ready__.remote())
        except TimeoutError:
            await self.stop(worker)
            raise GdlError(f"{cores} cores of {node.host} are not free, or nothing starts there") from None
        return worker

    async def _ask(self, worker: FleetWorker, frame: bytes) -> bytes:
        reply: bytes = await self._wait(worker.handle.answer.remote(frame))
        return reply

    async def stop(self, worker: FleetWorker) -> None:
        with suppress(self._ray.exceptions.RayError):
            await asyncio.to_thread(self._ray.kill, worker.handle)

    async def close(self) -> None:
        await asyncio.to_thread(self._leave)

    async def _wait(self, reference: Any) -> Any:
        try:
            return await reference
        except self._ray.exceptions.RayError as error:
            text = str(error).strip().splitlines()
            raise LostWorkerError(f"a worker is lost: {text[0] if text else type(error).__name__}") from None

    def _leave(self) -> None:
        self._ray.shutdown()
        if self.cluster is not None:
            self.cluster.shutdown()


def _node(listed: dict[str, Any]) -> FleetNode:
    """A node as Ray describes it."""
    return FleetNode(listed["NodeID"], listed["NodeManagerHostname"], int(listed["Resources"]["CPU"]))
