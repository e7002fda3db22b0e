"""What to install where a framework is not there."""

from __future__ import annotations

from gdl.errors import GdlError


class MissingPackageError(GdlError, ImportError):
    """A package of an extra is not installed."""


def missing(package: str, what: str, extra: str = "rl") -> MissingPackageError:
    """The error that tells that ``what`` need a package, which an extra brings."""
    return MissingPackageError(
        f"{what} need the package {package}", remedy=f"pip install 'kaskade-ggp[{extra}]'"
    )
