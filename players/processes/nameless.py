"""Files without a name, in memory where the system can do that: nothing is left of one when all who have it
open are gone."""

from __future__ import annotations

import os
import tempfile


def nameless() -> int:
    """A file descriptor of a new one. Raises OSError where there are no more."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("kaskade")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def shared_bytes(data: bytes) -> int:
    """A file descriptor of one that holds these bytes; it stands at their end. Raises OSError where there is
    no room for them."""
    descriptor = nameless()
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(data)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
