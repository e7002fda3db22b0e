"""The rooms of the page: plugins, entry points of ``kaskade.rooms``. Other packages can add theirs.

A room adds its routes to the application, may have a link in the head of every page, and names the modules of
its processes, which are loaded before they are forked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol, TypeVar

from aiohttp import web

from ggp.processes.budget import WorkBudget
from players.plugins import plugins

_ORDER = ("play", "puzzles", "rules", "watch", "replay", "tournaments", "api", "docs")
"""The order of our links; rooms of other packages come last."""
BUDGET = web.AppKey("budget", WorkBudget)


@dataclass(frozen=True, slots=True)
class PageRoom:
    """A room.

    Attributes:
        add_routes: adds its routes to the application, which has the settings and the budget by then.
        path: of the page to which the head of every page links; empty for no link.
        title: of that link.
        processes: the modules of its processes.
    """

    add_routes: Callable[[web.Application], None]
    path: str = ""
    title: str = ""
    processes: tuple[str, ...] = ()


@cache
def rooms() -> dict[str, PageRoom]:
    """Name -> room, ours first."""
    found = plugins("rooms")
    names = sorted(found, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
    return {name: found[name].load() for name in names}


class _Closable(Protocol):
    def close(self) -> Awaitable[None]: ...


T = TypeVar("T", bound=_Closable)


def add_owner(app: web.Application, key: web.AppKey[T], make: Callable[[WorkBudget], T]) -> None:
    """Have ``make`` called with the budget when the application starts, and its result closed at the end."""

    async def owned(app: web.Application) -> AsyncIterator[None]:
        app[key] = owner = make(app[BUDGET])
        yield
        await owner.close()

    app.cleanup_ctx.append(owned)
