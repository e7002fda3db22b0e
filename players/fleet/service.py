"""What a worker runs: a class of this program that answers messages."""

from __future__ import annotations

import importlib
from typing import Protocol

from gdl.errors import GdlError
from players.fleet.fleet import Arrays, Message
from players.fleet.frames import pack, unpack

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


async def answer(service: Service, frame: bytes, parcel: bytes = b"") -> bytes:
    """The frame that answers a frame; a refusal is a message of its own."""
    try:
        message, arrays = unpack(frame)
        if message == STATUS:
            return pack({"text": service.status()})
        more = unpack(parcel)[1] if parcel else []
        return pack(*await service.call(message, [*arrays, *more]))
    except GdlError as error:
        return pack({"refused": error.message, "remedy": error.remedy})
    except Exception as error:  # a fault of the service is told to whom it concerns, and ends no worker
        return pack({"refused": f"{type(error).__name__}: {error}", "remedy": ""})


def told(message: Message) -> Message:
    """The answer. Raises GdlError where it is a refusal."""
    if "refused" in message:
        raise GdlError(message["refused"], remedy=message["remedy"])
    return message
