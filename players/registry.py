"""The players by name, with options: ``uct``, ``uct:workers=2,exploration=0.4``.

A name is a kind, or a kind, a colon and options as ``key=value`` with commas between them
(:mod:`players.options`); or ``module:Class``, also of a module in the current folder. A player's module is
imported when it is first needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable

from gdl.errors import GdlError
from gdl.information import hides, playing
from gdl.machine import Machine
from players.options import PlayerSpec, by_name, read_options, read_spec
from players.player import Player
from players.plugins import Plugin, class_named, plugins

_PLUGINS = plugins("players")

NAMES: tuple[str, ...] = tuple(_PLUGINS)
"""The kinds that :func:`make_player` knows."""


def make_player(name: str, seed: int = 0, **defaults: object) -> Player:
    """A new player whose random choices depend on ``seed``.

    ``name`` is a kind of :data:`NAMES`, with or without options; or ``module:Class``, any subclass of
    :class:`~players.player.Player` whose constructor takes a seed, also in the current folder. ``defaults``
    are values of options that the name does not set; kinds without such an option ignore them. Raises
    GdlError if there is no such kind or option, or the text is not a valid value of the option.
    """
    if _is_class(name):
        return find_class(name)(seed=seed)
    kind, options = _kind_of(name)
    values = {key: value for key, value in defaults.items() if key in by_name(kind.OPTIONS)}
    return kind(seed=seed, **values | read_options(kind.name, kind.OPTIONS, options, name))


def fitting(name: str, machine: Machine) -> str:
    """The name itself, or a player for hidden information if the game hides some and ``uct`` would ignore
    that."""
    if not hides(machine.rules) or _is_class(name) or read_spec(name).kind != "uct":
        return name
    return {1: "expectimax", 2: "cfr"}.get(len(playing(machine.roles)), "ismcts")


def check_name(name: str) -> None:
    """Raises GdlError for a name that :func:`make_player` would refuse. It creates no player, and does not
    import our players that have no options."""
    if _is_class(name):
        find_class(name)
        return
    spec = read_spec(name)
    _plugin_of(spec, name)
    if spec.options:
        kind, options = _kind_of(name)
        read_options(kind.name, kind.OPTIONS, options, name)


def check_public(name: str, allowed: Collection[str] = ()) -> None:
    """Checks a name that a stranger has chosen, on a page or in a file.

    Args:
        name: as :func:`make_player` takes it.
        allowed: names that the operator has given, in the same spelling. They may be any name.

    Raises:
        GdlError: :func:`make_player` would refuse the name; or the operator has not given it, and it is a
            class, an address or a plugin of another package, or sets an option that is not public
            (:attr:`players.options.Option.public`).
    """
    if name in allowed:
        check_name(name)
        return
    plugin = None if _is_class(name) else _plugin_of(read_spec(name), name)
    if plugin is None or not plugin.ours:
        ours = [known for known in NAMES if _PLUGINS[known].ours]
        raise GdlError(
            f"the player {name!r} is not offered here",
            remedy=f"the players are {', '.join((*ours, *allowed))}",
        )
    kind, options = _kind_of(name)
    read_options(kind.name, kind.OPTIONS, options, name, public=True)


def clusters_of(names: Iterable[str]) -> list[str]:
    """The addresses of clusters that these names choose (``uct:cluster=HOST:PORT``)."""
    specs = (read_spec(name) for name in names if is_registered(name))
    return [address for spec in specs if (address := spec.option("cluster"))]


def is_registered(name: str) -> bool:
    """Whether the name belongs to this registry, and is not ``module:Class``."""
    kind, _, options = name.partition(":")
    return kind.strip().lower() in _PLUGINS and ("=" in options or not options)


def with_option(name: str, key: str, value: object) -> str:
    """The name with one more option, unless it sets that option already or its kind has no such option.
    Raises GdlError if there is no such kind."""
    if _is_class(name):
        return name
    kind, options = _kind_of(name)
    if key not in by_name(kind.OPTIONS) or key in dict(options):
        return name
    return f"{name}{',' if options else ':'}{key}={value}"


def _is_class(name: str) -> bool:
    kind, colon, _ = name.partition(":")
    return bool(colon) and kind.strip().lower() not in _PLUGINS


def _kind_of(name: str) -> tuple[type[Player], tuple[tuple[str, str], ...]]:
    spec = read_spec(name)
    player: type[Player] = _plugin_of(spec, name).load()
    return player, spec.options


def _plugin_of(spec: PlayerSpec, name: str) -> Plugin:
    """The plugin of a kind of player; ``name`` is for the message."""
    if (plugin := _PLUGINS.get(spec.kind)) is None:
        raise GdlError(
            f"there is no player {name!r}",
            remedy=f"the players are {', '.join(NAMES)}; a class of yours is named module:Class",
        )
    return plugin


def find_class(name: str) -> type[Player]:
    """The class that ``module:Class`` names. Raises GdlError as :func:`players.plugins.class_named` does, and
    if the class cannot be constructed with a seed alone."""
    if name.partition(":")[2].startswith("//"):
        raise GdlError(
            f"{name} is an address, and no player of this process",
            remedy="`ggp host` and `ggp tournament` play against addresses",
        )
    player = class_named(name, Player, "player")
    try:
        inspect.signature(player).bind(seed=0)
    except TypeError as error:
        raise GdlError(
            f"{name} cannot be made with a seed alone: {error}",
            remedy="let __init__ take seed by name, and give the rest defaults",
        ) from None
    return player
