"""Files without a name, in memory if the system supports that: they vanish with the processes that use
them."""

from __future__ import annotations

import os
import tempfile


def nameless() -> int:
    """A descriptor of a new file without a name. Raises OSError if there are no more descriptors."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("kaskade")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def bytes_of(descriptor: int) -> bytes:
    """All bytes of a file, whatever its position; closes it."""
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        return file.read()


def shared_bytes(data: bytes) -> int:
    """A descriptor of a nameless file with these bytes, positioned at their end. Raises OSError if there is
    not enough space."""
    descriptor = nameless()
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(data)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
