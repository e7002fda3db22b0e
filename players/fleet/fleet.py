"""The interface to several computers: workers on nodes, calls to them, and their loss. A worker runs a
*service*, a plugin that answers messages: an entry point of the group ``kaskade.services``.

Messages are JSON and arrays. As bytes they are a line of JSON that describes the arrays, then the arrays'
bytes. Nothing is pickled. Rules travel as text. No code is sent: every node has this program installed, and
compiles for its own processor.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gdl.errors import GdlError
from players.plugins import plugins

Message = dict[str, Any]
"""A JSON object."""
Arrays = Sequence[npt.NDArray[np.generic]]
"""Arrays of numbers or truth values, of any shape."""


class LostWorkerError(GdlError):
    """A worker is gone, and with it the answer to a request: its process or its node ended, or cannot be
    reached."""


@dataclass(frozen=True, slots=True)
class FleetNode:
    """A computer that takes part, or a part of one.

    Attributes:
        id: unique in the fleet, and never used again.
        host: the name of the computer.
        cores: number of cores that it offers.
    """

    id: str
    host: str
    cores: int


@dataclass(frozen=True, slots=True)
class FleetWorker:
    """A service that runs on a node; ``handle`` belongs to the fleet that started it."""

    node: FleetNode
    service: str
    handle: Any


class Fleet(ABC):
    """Nodes with workers on them."""

    @abstractmethod
    async def nodes(self) -> list[FleetNode]:
        """The nodes that are available now."""

    @abstractmethod
    async def workers(self) -> list[FleetWorker]:
        """The workers on the nodes, of all users, as far as this fleet can know them."""

    @abstractmethod
    async def start(self, node: FleetNode, service: str, cores: int) -> FleetWorker:
        """Start a service on a node, and wait until it answers.

        Args:
            node: the node.
            service: the name of a plugin: ``probe``, ``search`` or ``match``.
            cores: number of the node's cores that it reserves: while it runs, no other worker gets them.

        Raises:
            LostWorkerError: the node is gone, or the service ends at once.
            GdlError: the node does not have that many free cores.
        """

    async def call(
        self, worker: FleetWorker, message: Message, arrays: Arrays = ()
    ) -> tuple[Message, list[npt.NDArray[np.generic]]]:
        """Ask a worker; several calls may be under way.

        Args:
            worker: the worker to ask.
            message: the question.
            arrays: the arrays of the question.

        Raises:
            LostWorkerError: there will be no answer.
            GdlError: the service refuses; the message says why.
        """
        reply, result = unpack(await self._ask(worker, pack(message, arrays)))
        if "refused" in reply:
            raise GdlError(reply["refused"], remedy=reply["remedy"])
        return reply, result

    @abstractmethod
    async def _ask(self, worker: FleetWorker, frame: bytes) -> bytes:
        """The frame that answers a frame. Raises LostWorkerError if there will be none."""

    @abstractmethod
    async def stop(self, worker: FleetWorker) -> None:
        """End a worker, whatever it is doing; this frees its cores. Does nothing if it is gone."""

    @abstractmethod
    async def close(self) -> None:
        """End all workers, and disconnect."""


_KINDS = "biuf"
"""Kinds of dtype that may be sent: truth values and numbers, no objects."""


def pack(message: Message, arrays: Arrays = ()) -> bytes:
    """A message with its arrays, in little-endian order, as bytes. Raises GdlError if an array holds neither
    numbers nor truth values.

    >>> unpack(pack({"layer": 3}, [np.arange(3, dtype=np.uint8)]))
    ({'layer': 3}, [array([0, 1, 2], dtype=uint8)])
    """
    shapes, parts = [], []
    for array in arrays:
        if array.dtype.kind not in _KINDS:
            raise GdlError(f"an array of {array.dtype} cannot be sent", remedy="send numbers")
        dtype = array.dtype.newbyteorder("<")
        shapes.append([dtype.str, list(array.shape)])
        parts.append(np.ascontiguousarray(array, dtype).tobytes())
    head = json.dumps([message, shapes], ensure_ascii=False).encode()
    return b"".join([head, b"\n", *parts])


def unpack(frame: bytes) -> tuple[Message, list[npt.NDArray[np.generic]]]:
    """The message and the arrays of a frame; the arrays are writable. Raises GdlError for invalid bytes."""
    head, _, body = frame.partition(b"\n")
    arrays: list[npt.NDArray[np.generic]] = []
    start = 0
    try:
        message, shapes = json.loads(head)
        for code, shape in shapes:
            dtype = np.dtype(code)
            if dtype.kind not in _KINDS:
                raise ValueError(code)
            end = start + dtype.itemsize * int(np.prod(shape, dtype=np.int64))
            arrays.append(np.frombuffer(body[start:end], dtype).reshape(shape).copy())
            start = end
    except (ValueError, TypeError):
        raise GdlError("a message of another node cannot be read", remedy="install one version") from None
    if not isinstance(message, dict) or start != len(body):
        raise GdlError("a message of another node cannot be read", remedy="install one version")
    return message, arrays


STATUS: Message = {"do": "status"}
"""A message that every worker accepts; the answer has a ``text``."""


class Service(Protocol):
    """Created without arguments where the worker runs; may have to answer several messages at once."""

    def status(self) -> str:
        """Its current activity, for people to read."""

    async def call(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """The answer to a message. Raises GdlError to refuse."""


def load(name: str) -> Service:
    """The service of this name. Raises GdlError if there is none. Only installed services can run, whatever
    the message."""
    if (plugin := plugins("services").get(name)) is None:
        raise GdlError(f"there is no service {name} here", remedy="install one version on all nodes")
    service: Service = plugin.load()()
    return service


async def answer(service: Service, frame: bytes) -> bytes:
    """The frame that answers a frame; a refusal is a message of its own."""
    try:
        message, arrays = unpack(frame)
        if message == STATUS:
            return pack({"text": service.status()})
        return pack(*await service.call(message, arrays))
    except GdlError as error:
        return pack({"refused": error.message, "remedy": error.remedy})
    except (
        Exception
    ) as error:  # a fault of the service is reported to the caller, and does not end the worker
        return pack({"refused": f"{type(error).__name__}: {error}", "remedy": ""})
