"""Messages as bytes: a line of JSON that says what arrays follow, then their bytes. Nothing is pickled."""

from __future__ import annotations

import json

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
