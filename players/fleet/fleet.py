"""The interface to several computers: what runs on them, how it is asked, and how it is lost; and what a
worker runs: a class of this program that answers messages.

Messages are JSON and arrays: as bytes, a line of JSON that says what arrays follow, then their bytes. Nothing
is pickled. Rules travel as text. No code is sent: every node has this program installed, and compiles for its
own processor.
"""

from __future__ import annotations

import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gdl.errors import GdlError

Message = dict[str, Any]
"""What JSON holds."""
Arrays = Sequence[npt.NDArray[np.generic]]
"""Arrays of numbers or truth values, of any shape."""


class LostWorkerError(GdlError):
    """A worker is gone, and what it was asked with it: its process or its node ended, or cannot be
    reached."""


@dataclass(frozen=True, slots=True)
class FleetNode:
    """A computer, or the part of one that takes part.

    Attributes:
        id: no two nodes of a fleet share one, and none is given twice.
        host: the name of the computer.
        cores: how many it offers.
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
        """The nodes that are there now."""

    @abstractmethod
    async def workers(self) -> list[FleetWorker]:
        """The workers that run on the nodes, whoever started them, as far as that can be known here."""

    @abstractmethod
    async def start(self, node: FleetNode, service: str, cores: int) -> FleetWorker:
        """Start a service on a node, and wait until it answers.

        Args:
            node: where.
            service: ``module:Class``, as :func:`players.fleet.fleet.load` reads it.
            cores: how many of the node's cores it reserves: while it runs, no other worker has them.

        Raises:
            LostWorkerError: the node is gone, or the service ends at once.
            GdlError: the node's cores are not all there.
        """

    @abstractmethod
    async def call(
        self, worker: FleetWorker, message: Message, arrays: Arrays = ()
    ) -> tuple[Message, list[npt.NDArray[np.generic]]]:
        """Ask a worker; several calls may be under way.

        Args:
            worker: whom.
            message: the question.
            arrays: what goes with it.

        Raises:
            LostWorkerError: there will be no answer.
            GdlError: the service refuses, and says why.
        """

    @abstractmethod
    async def stop(self, worker: FleetWorker) -> None:
        """End a worker, whatever it does; its cores are free then. Nothing happens if it is gone."""

    @abstractmethod
    async def close(self) -> None:
        """End all workers, and leave."""


_KINDS = "biuf"
"""Kinds of dtype that may travel: truth values and numbers, no objects."""


def pack(message: Message, arrays: Arrays = ()) -> bytes:
    """A message with its arrays, which travel in little-endian order. Raises GdlError where an array is not
    of numbers or truth values.

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
    """The message and the arrays of a frame; the arrays can be written to. Raises GdlError for other
    bytes."""
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


_HOMES = "players", "ggp"


STATUS: Message = {"do": "status"}
"""What anybody may ask any worker; the answer has a ``text``."""


class Service(Protocol):
    """Made without arguments where the worker runs; may be asked several things at once."""

    def status(self) -> str:
        """What it does now, for people to read."""

    async def call(self, message: Message, arrays: Arrays) -> tuple[Message, Arrays]:
        """The answer. Raises GdlError where there is none."""


def load(name: str) -> Service:
    """The service ``module:Class`` of this program. Raises GdlError if there is none: a message from
    elsewhere runs nothing but what is installed here."""
    module, _, attribute = name.partition(":")
    if module.split(".")[0] not in _HOMES:
        raise GdlError(f"{name} is no service of this program")
    try:
        service: Service = getattr(importlib.import_module(module), attribute)()
    except (ImportError, AttributeError):
        raise GdlError(
            f"there is no service {name} here", remedy="install one version on all nodes"
        ) from None
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
    except Exception as error:  # a fault of the service is told to whom it concerns, and ends no worker
        return pack({"refused": f"{type(error).__name__}: {error}", "remedy": ""})


def accepted(message: Message) -> Message:
    """The answer. Raises GdlError where it is a refusal."""
    if "refused" in message:
        raise GdlError(message["refused"], remedy=message["remedy"])
    return message
