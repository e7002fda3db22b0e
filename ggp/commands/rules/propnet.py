"""``ggp propnet``: the propositional network of a game, as counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ggp.commands import GameName
from ggp.printing import show

if TYPE_CHECKING:
    from gdl.grounding.ground_rules import GroundRules
    from propnet.network import Network


def command(
    game: GameName,
    as_json: Annotated[bool, typer.Option("--json", help="The counts as one JSON object.")] = False,
) -> None:
    """Show the size of a game's propositional network, pass by pass.

    Gates are ANDs of any number of inputs, each plain or negated. The number of gate inputs
    measures the cost of evaluating the network. Base gates need no move; they give legal,
    terminal and goal. The page of `ggp web` on which rules are written draws networks.
    """
    from gdl.grounding.pipeline import ground
    from ggp.game import Game
    from propnet.build import build

    loaded = Game.load(game)
    grounded = ground(loaded.rules)
    counts = _counts(loaded.name, grounded, build(grounded))
    if as_json:
        import orjson

        show(orjson.dumps(counts, option=orjson.OPT_INDENT_2))
    else:
        show(_table(counts, loaded.name), end="")


def _counts(name: str, grounded: GroundRules, network: Network) -> dict[str, object]:
    """All counts of a network and of how it came to be."""
    passes: dict[str, dict[str, float]] = {}
    for key, value in network.stats.items():
        title, what = key.rsplit(".", 1)
        passes.setdefault(title, {})[what] = round(value, 4) if what == "cpu_s" else int(value)
    total = passes.pop("build")
    return {
        "game": name,
        "roles": len(network.roles),
        "base_propositions": len(network.bases),
        "moves": network.move_count,
        "ground_rules": len(grounded.heads),
        "ground_literals": len(grounded.bodies),
        "gates": network.gates,
        "gate_inputs": len(network.gate_inputs),
        "base_gates": network.base_gates,
        "loops": len(network.loops),
        "loop_gates": int((network.loops[:, 1] - network.loops[:, 0]).sum()),
        "ground_s": round(grounded.stats.get("ground_s", 0.0), 4),
        "build_s": total["cpu_s"],
        "passes": [{"name": title, **values} for title, values in passes.items()],
    }


def _table(counts: dict[str, object], name: str) -> str:
    """The counts as a table for people."""
    from rich.table import Table

    from ggp.console import new_console

    console = new_console(width=100, color_system=None)
    table = Table("pass", "gates", "gate inputs", "CPU s", title=name, box=None, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    passes = counts.pop("passes")
    assert isinstance(passes, list)
    for values in passes:
        table.add_row(
            values["name"].replace("_", " "),
            f"{values['gates']:,}" if "gates" in values else "",
            f"{values['inputs']:,}" if "inputs" in values else f"{values.get('rules', 0):,} rules",
            f"{values['cpu_s']:.3f}",
        )
    with console.capture() as captured:
        console.print(table)
        for key, value in counts.items():
            if key != "game":
                shown = f"{value:,}" if isinstance(value, int) else str(value)
                console.print(f"{key.replace('_', ' '):18s} {shown}")
    return captured.get()
