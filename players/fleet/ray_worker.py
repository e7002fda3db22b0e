"""The Ray actor of a worker: frames in, frames out. Imported on the nodes, by name."""

from __future__ import annotations

from players.fleet.service import answer, load


class RayWorker:
    """A service in an actor's process. It is sent bytes, and sends bytes: Ray has nothing to unpickle."""

    def __init__(self, service: str) -> None:
        self._service = load(service)

    async def answer(self, frame: bytes, parcel: bytes) -> bytes:
        """The frame that answers."""
        return await answer(self._service, frame, parcel)
