"""Plugins: players, solvers, commands and others, found by name among the entry points of installed packages.

A part of this program that is found only by its name is an entry point in ``pyproject.toml``. Other packages
add parts in the same way; the author writes, for example::

    [project.entry-points."kaskade.players"]
    patient = "my_package.patient:PatientPlayer"

The code that asks for a plugin does not know the list of plugins. A module is imported when its plugin is
loaded. An unregistered class is named ``module:Class`` (:func:`class_named`).

>>> plugins("players")["random"].load()
<class 'players.baselines.RandomPlayer'>
"""

from __future__ import annotations

import inspect
import os
import sys
import tomllib
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from gdl.errors import GdlError

Kind = Literal["players", "solvers", "levels", "painters", "commands", "services", "rooms"]
"""The kinds of plugins; each is a group of entry points, ``kaskade.players`` and so on."""
_DISTRIBUTION = "kaskade-ggp"


@dataclass(frozen=True, slots=True)
class Plugin:
    """The name of an object that is imported when it is needed.

    Attributes:
        name: the name by which people select it.
        module: the module to import.
        attribute: the object's name in the module.
        ours: whether it belongs to this program, and not to another package.
    """

    name: str
    module: str
    attribute: str
    ours: bool = True

    def load(self) -> Any:
        """The object. Raises ImportError or AttributeError if the plugin is broken."""
        return getattr(import_module(self.module), self.attribute)


@cache
def plugins(kind: Kind) -> Mapping[str, Plugin]:
    """All plugins of a kind by name: ours first, then those of other packages, each group in alphabetical
    order. A plugin of another package never replaces one of ours."""
    group = f"kaskade.{kind}"
    others = [point for point in entry_points(group=group) if not _is_ours(point.dist)]
    ours = _of_checkout(group)
    if ours is None:
        ours = {point.name: point.value for point in entry_points(group=group) if _is_ours(point.dist)}
    places = [(*place, True) for place in sorted(ours.items())]
    places += sorted((point.name, point.value, False) for point in others)
    found: dict[str, Plugin] = {}
    for name, place, own in places:
        module, _, attribute = place.partition(":")
        found.setdefault(name, Plugin(name, module, attribute, own))
    return found


def _is_ours(distribution: Any) -> bool:
    return distribution is not None and distribution.name == _DISTRIBUTION


def _of_checkout(group: str) -> dict[str, str] | None:
    """Our entry points if the program runs from a checkout, installed or not; otherwise None. An editable
    installation only records the entry points of the time when it was made."""
    try:
        with (Path(__file__).resolve().parents[1] / "pyproject.toml").open("rb") as file:
            project = tomllib.load(file)["project"]
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return None
    if project.get("name") != _DISTRIBUTION:
        return None
    return dict(project.get("entry-points", {}).get(group, {}))


T = TypeVar("T")


def class_named(name: str, base: Callable[..., T], what: str) -> type[T]:
    """The class that ``module:Class`` names, a subclass of ``base``, which may be abstract.

    This imports the module, so only the person who runs the program may choose the name. ``what`` is the word
    for the class in messages.

    Modules are searched for where Python searches, and last in the current folder, which the program ``ggp``
    does not search by itself. Raises GdlError if there is no such class, if its module has a fault (reported
    with file and line), or if the class is abstract or not a subclass of ``base``.
    """
    module, _, attribute = name.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), attribute)):
        raise GdlError(f"there is no {what} {name!r}", remedy="a class of yours is named module:Class")
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    try:
        found = getattr(import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise GdlError(f"{module} cannot be imported: {_fault(error)}") from None
        raise GdlError(
            f"there is no {what} {name}: no module {error.name} in {here}, nor among Python's",
            remedy="name a file of this folder without .py",
        ) from None
    except Exception as error:
        raise GdlError(f"{module} cannot be imported: {_fault(error)}") from None
    if found is None:
        raise GdlError(
            f"there is no {what} {name}: {_where(module)} has no {attribute}", remedy=_hint(module, here)
        )
    assert isinstance(base, type)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise GdlError(
            f"{name} is no {what}", remedy=f"name a subclass of {base.__module__}.{base.__qualname__}"
        )
    if inspect.isabstract(found):
        missing = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
        raise GdlError(f"{name} lacks {missing}", remedy=f"write the method {missing}")
    return cast(type[T], found)


def _where(module: str) -> str:
    return getattr(sys.modules[module], "__file__", None) or f"Python's module {module}"


def _hint(module: str, here: str) -> str:
    """Advice if the module has no such class: another module of the same name may have been meant."""
    first = module.partition(".")[0]
    spec = PathFinder.find_spec(first, [here])
    ours = spec.origin if spec is not None else None
    if ours is not None and Path(ours) != Path(getattr(sys.modules[first], "__file__", None) or ""):
        return f"another module is called {first} too: rename {Path(ours).name} in this folder"
    return "upper and lower case count"


def _fault(error: Exception) -> str:
    """The fault of an import, with its place in the innermost file that is not Python's own."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {error.msg}"
    text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<frozen")]
    frames = [f for f in frames if Path(f.filename) != Path(__file__)]
    return f"{frames[-1].filename}:{frames[-1].lineno}: {text}" if frames else text
