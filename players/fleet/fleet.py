"""The interface to several computers: what runs on them, how it is asked, and how it is lost.

Messages are JSON and arrays; rules travel as text. No code is sent: every node has this program installed,
and compiles for its own processor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Parcel:
    """Arrays that were put into the fleet's store; ``handle`` belongs to the fleet."""

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
            service: ``module:Class``, as :func:`players.fleet.service.load` reads it.
            cores: how many of the node's cores it reserves: while it runs, no other worker has them.

        Raises:
            LostWorkerError: the node is gone, or the service ends at once.
            GdlError: the node's cores are not all there.
        """

    @abstractmethod
    async def call(
        self, worker: FleetWorker, message: Message, arrays: Arrays = (), parcel: Parcel | None = None
    ) -> tuple[Message, list[npt.NDArray[np.generic]]]:
        """Ask a worker; several calls may be under way.

        Args:
            worker: whom.
            message: the question.
            arrays: what goes with it.
            parcel: more arrays, which were put into the store; they come after the others.

        Raises:
            LostWorkerError: there will be no answer.
            GdlError: the service refuses, and says why.
        """

    @abstractmethod
    async def put(self, *arrays: npt.NDArray[np.generic]) -> Parcel:
        """Keep arrays for calls that come; sent once to each node, where the fleet can."""

    @abstractmethod
    async def get(self, parcel: Parcel) -> list[npt.NDArray[np.generic]]:
        """The arrays of a parcel. Raises LostWorkerError where they went with a node."""

    @abstractmethod
    async def stop(self, worker: FleetWorker) -> None:
        """End a worker, whatever it does; its cores are free then. Nothing happens if it is gone."""

    @abstractmethod
    async def close(self) -> None:
        """End all workers, and leave."""
