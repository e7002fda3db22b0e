"""What a worker runs: a class of this program that answers messages; and messages as bytes.

A message is a line of JSON that says what arrays follow, then their bytes. Nothing is pickled.
"""

from __future__ import annotations

import importlib
import json
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gdl.errors import GdlError
from players.fleet.fleet import Arrays, Message

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
