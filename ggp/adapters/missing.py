"""The error for a framework that is not installed: it names the package to install."""

from __future__ import annotations

from gdl.errors import GdlError


class MissingPackageError(GdlError, ImportError):
    """A package of an extra is not installed."""


def missing(package: str, what: str, extra: str = "rl") -> MissingPackageError:
    """The error which says that ``what`` need a package that an extra installs."""
    return MissingPackageError(
        f"{what} need the package {package}", remedy=f"pip install 'kaskade-ggp[{extra}]'"
    )
