"""``ggp ground``: the ground rules of a game, as text or as counts of each pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ggp.commands import GameName
from ggp.printing import show

if TYPE_CHECKING:
    from gdl.grounding.ground_rules import GroundRules
    from gdl.rules import Rules


def command(
    game: GameName,
    stats: Annotated[bool, typer.Option("--stats", help="Counts and CPU seconds per pass only.")] = False,
) -> None:
    """Show the ground rules of a game, or their statistics.

    Rules without variables, one per line. Static relations are solved and gone; `part;` atoms come
    from splitting large rules.
    """
    from gdl.grounding.ground_rules import MEANINGS, counts_of
    from gdl.grounding.pipeline import ground
    from ggp.game import Game

    loaded = Game.load(game)
    grounded = ground(loaded.rules, names=not stats)
    if stats:
        for name, value in counts_of(grounded).items():
            shown = f"{value:10.3f}" if isinstance(value, float) else f"{value:10,}"
            show(f"{name:17} {shown}  {MEANINGS.get(name, '')}".rstrip())
    else:
        for line in lines(grounded, loaded.rules):
            show(line)


def lines(grounded: GroundRules, rules: Rules) -> Iterator[str]:
    """The ground rules as GDL text, one rule per line."""
    spell = rules.spell
    names = dict(grounded.names)
    for i, base in enumerate(grounded.bases):
        names[i] = f"(true {spell(base)})"
    for r, (role, moves) in enumerate(zip(grounded.roles, grounded.moves, strict=True)):
        for m, move in enumerate(moves):
            names[grounded.does_atom(r, m)] = f"(does {spell(role)} {spell(move)})"
    for role in grounded.roles:
        yield f"(role {spell(role)})"
    for base, holds in zip(grounded.bases, grounded.initial.tolist(), strict=True):
        if holds:
            yield f"(init {spell(base)})"
    bodies = grounded.bodies.tolist()
    starts = grounded.body_start.tolist()
    for i, head in enumerate(grounded.heads.tolist()):
        body = [
            f"(not {names[x >> 1]})" if x & 1 else names[x >> 1] for x in bodies[starts[i] : starts[i + 1]]
        ]
        yield f"(<= {' '.join([names[head], *body])})" if body else names[head]
