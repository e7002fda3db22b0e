"""The process of one table: ``python -m ggp.web.play.table_process``.

Its first request is ``open``: the game's name or its rules, ``seats``, ``playclock`` and so on. It answers
with ``refused`` where that cannot be, and else with the ``rules`` and what :class:`ggp.web.play.table.Table`
says.
"""

from __future__ import annotations

from gdl.information import hides
from ggp.game import Game
from ggp.processes.parent import Inbox, JsonMessage, Parent, explain
from ggp.web.play.blind_table import BlindTable
from ggp.web.play.opening import TableRequest
from ggp.web.play.table import Table
from players.processes.limits import limit_memory

MEMORY_BYTES = 3 * 1024**3


def main() -> None:
    """Serve one table, and end."""
    limit_memory(MEMORY_BYTES)
    inbox = Inbox()
    send = Parent(inbox.put, end_seconds=2.0).send
    try:
        request = _request(inbox.get())
        send("rules", text=request.game.text)
        kind = BlindTable if hides(request.game.rules) else Table
        kind(request, inbox, send).run()
    except BrokenPipeError:
        return
    except Exception as error:
        send("refused", error=explain(error, "table"))


def _request(told: JsonMessage) -> TableRequest:
    rules = told.get("rules")
    game = Game(str(told.get("game") or "game"), rules) if rules else Game.load(str(told["game"]))
    return TableRequest(
        game,
        told.get("seats", ()),
        told.get("others") or "uct",
        told.get("playclock", 2.0),
        told.get("patience", 0.0),
        told.get("seed", 0),
        told.get("workers", 0),
        told.get("allowed", ()),
        str(told.get("title", "")),
        str(told.get("card", "")),
        str(told.get("next_card", "")),
    )


if __name__ == "__main__":
    main()
