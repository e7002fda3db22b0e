"""The error of a request or reply that is not the HTTP we speak."""

from __future__ import annotations

from gdl.errors import GdlError


class HttpError(GdlError):
    """A request or reply that is not the HTTP we speak; a server answers it with the HTTP ``status``."""

    def __init__(self, status: int, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.status = status
