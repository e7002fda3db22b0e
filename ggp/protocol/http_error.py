"""The error of a request or reply that is not the HTTP we speak."""

from __future__ import annotations

from gdl.errors import GdlError


class HttpError(GdlError):
    """A request or reply that is not the HTTP we speak; a server answers it with the HTTP ``status``."""

    def __init__(self, status: int, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.status = status


RETRY_SECONDS = 5
"""After which a client that was sent away may try again."""


class BusyError(HttpError):
    """There is too much to do now: status 503. ``seconds`` after which it may be tried again."""

    def __init__(
        self, message: str, remedy: str = "try again in a moment", seconds: int = RETRY_SECONDS
    ) -> None:
        super().__init__(503, message, remedy)
        self.seconds = seconds
