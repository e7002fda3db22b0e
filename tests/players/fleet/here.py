"""A fleet whose workers are objects of this process."""

from __future__ import annotations

from players.fleet.fleet import Fleet, FleetNode, FleetWorker, LostWorkerError, answer, load


class HereFleet(Fleet):
    """``count`` nodes. Workers in ``lost`` are lost."""

    def __init__(self, count: int = 1) -> None:
        self._nodes = [FleetNode(f"here-{i}", "here", 1) for i in range(count)]
        self._workers: list[FleetWorker] = []
        self.lost: list[FleetWorker] = []

    async def nodes(self) -> list[FleetNode]:
        return list(self._nodes)

    async def workers(self) -> list[FleetWorker]:
        return list(self._workers)

    async def start(self, node: FleetNode, service: str, cores: int) -> FleetWorker:
        worker = FleetWorker(node, service, load(service))
        self._workers.append(worker)
        return worker

    async def _ask(self, worker: FleetWorker, frame: bytes) -> bytes:
        if worker in self.lost or worker not in self._workers:
            raise LostWorkerError("the worker is lost")
        return await answer(worker.handle, frame)

    async def stop(self, worker: FleetWorker) -> None:
        if worker in self._workers:
            self._workers.remove(worker)

    async def close(self) -> None:
        self._workers.clear()
