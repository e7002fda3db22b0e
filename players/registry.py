"""The players by name, with options: ``uct``, ``uct:workers=2,exploration=0.4``.

A name is a kind, or a kind, a colon and options as ``key=value`` with commas between them. A
player's module is imported when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module

from gdl.errors import GdlError
from players.options import by_name, read_options
from players.player import Player

_PLACES = {
    # A new player needs its own module and one line here.
    "legal": ("players.baselines.legal", "LegalPlayer"),
    "random": ("players.baselines.random", "RandomPlayer"),
    "greedy": ("players.baselines.greedy", "GreedyPlayer"),
    "montecarlo": ("players.baselines.montecarlo", "MonteCarloPlayer"),
    "uct": ("players.uct.player", "UctPlayer"),
    "uct-sequential": ("players.uct.sequential", "SequentialUctPlayer"),
}

NAMES: tuple[str, ...] = tuple(_PLACES)
"""The kinds that :func:`make_player` knows, the weakest first."""


def make_player(name: str, seed: int = 0, **defaults: object) -> Player:
    """A new player.

    Args:
        name: a kind of :data:`NAMES`, with options or without; or ``module:Class``, any subclass of
            :class:`~players.player.Player` whose constructor takes a seed.
        seed: what its randomness comes from.
        defaults: options of those kinds of players that have them, where the name does not say
            otherwise; others take no notice.

    Raises:
        GdlError: there is no such kind, or no such option, or its value is none.
    """
    if _is_class(name):
        return _player_class(name)(seed=seed)
    kind, options = _kind_of(name)
    given = {key: value for key, value in defaults.items() if key in by_name(kind.OPTIONS)}
    return kind(seed=seed, **{**given, **read_options(kind.name, kind.OPTIONS, options, name)})


def check_name(name: str) -> None:
    """Complain about a name that :func:`make_player` would refuse; makes no player.

    Raises:
        GdlError: as :func:`make_player`.
    """
    if _is_class(name):
        _player_class(name)
        return
    kind, options = _kind_of(name)
    read_options(kind.name, kind.OPTIONS, options, name)


def is_registered(name: str) -> bool:
    """Whether the name is meant for this registry, and not ``module:Class``."""
    kind, _, options = name.partition(":")
    return kind.strip().lower() in _PLACES and ("=" in options or not options)


def split_names(text: str) -> list[str]:
    """Names with commas between them: ``uct:workers=1,exploration=0.4,random`` is two players."""
    names: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        if names and "=" in part and ":" not in part.partition("=")[0]:
            names[-1] += f",{part}"
        elif part:
            names.append(part)
    return names


def with_option(name: str, key: str, value: object) -> str:
    """The name with one more option, unless it says something about that one already or its kind
    has no such option. Raises GdlError if there is no such kind."""
    if _is_class(name):
        return name
    kind, options = _kind_of(name)
    if key not in by_name(kind.OPTIONS) or key in dict(options):
        return name
    return f"{name}{',' if options else ':'}{key}={value}"


def _is_class(name: str) -> bool:
    return ":" in name and not is_registered(name) and name.partition(":")[0].strip().lower() not in _PLACES


def _player_class(name: str) -> type[Player]:
    module, _, kind = name.partition(":")
    try:
        found = getattr(import_module(module), kind)
    except (ImportError, AttributeError) as error:
        raise GdlError(f"there is no player {name}: {error}") from None
    if not (isinstance(found, type) and issubclass(found, Player)):
        raise GdlError(f"{name} is no player", remedy="name a subclass of players.player.Player")
    return found


def _kind_of(name: str) -> tuple[type[Player], list[tuple[str, str]]]:
    kind, _, rest = name.strip().partition(":")
    place = _PLACES.get(kind.strip().lower())
    if place is None:
        raise GdlError(f"there is no player {name!r}", remedy=f"the players are {', '.join(NAMES)}")
    options: list[tuple[str, str]] = []
    for part in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = part.partition("=")
        if not equals:
            raise GdlError(f"{part!r} in {name} is no option", remedy="options are written key=value")
        options.append((key.strip().lower(), value.strip()))
    found: type[Player] = getattr(import_module(place[0]), place[1])
    return found, options
