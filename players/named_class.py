"""Classes that people name as ``module:Class``: players and puzzle solvers of their own."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TypeVar, cast

from gdl.errors import GdlError

T = TypeVar("T")


def class_named(name: str, base: Callable[..., T], what: str) -> type[T]:
    """The class that ``module:Class`` names, a subclass of ``base``, which may be abstract; the module is
    imported. So only whoever runs the program may name one. ``what`` is the word for it in messages.

    Modules are looked for where Python looks for them, and last of all in the current folder: the program
    ``ggp`` does not look there by itself. Raises GdlError if there is no such class, its module has a fault
    (told with file and line), or the class is abstract or no such subclass.
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
    """What to do where the module has no such class: it may be another one than was meant."""
    first = module.partition(".")[0]
    spec = PathFinder.find_spec(first, [here])
    ours = spec.origin if spec is not None else None
    if ours is not None and Path(ours) != Path(getattr(sys.modules[first], "__file__", None) or ""):
        return f"another module is called {first} too: rename {Path(ours).name} in this folder"
    return "upper and lower case count"


def _fault(error: Exception) -> str:
    """What went wrong during an import, with the place in the innermost file that is not Python's own."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {error.msg}"
    text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<frozen")]
    frames = [f for f in frames if Path(f.filename) != Path(__file__)]
    return f"{frames[-1].filename}:{frames[-1].lineno}: {text}" if frames else text
