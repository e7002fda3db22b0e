"""What goes wrong with coded keys."""

from __future__ import annotations

from gdl.errors import GdlError


class DamagedKeysError(GdlError):
    """Coded keys that no keys have."""

    def __init__(self) -> None:
        super().__init__(
            "stored states of a search are damaged",
            remedy="begin the search anew with an empty --scratch DIR",
        )
