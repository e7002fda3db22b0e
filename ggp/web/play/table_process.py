"""The process of one table: ``python -m ggp.web.play.table_process``.

Its first request is ``open``: the game's name or its rules, ``seats``, ``playclock`` and so on. If the table
cannot be opened, it answers ``refused``. Otherwise it sends the ``rules``, followed by the messages of
:class:`ggp.web.play.table.Table`.
"""

from __future__ import annotations

from dataclasses import fields

from gdl.information import hides
from ggp.game import Game
from ggp.processes.parent import Inbox, JsonMessage, Parent, explain
from ggp.web.play.blind_table import BlindTable
from ggp.web.play.table import Table, TableRequest
from players.processes.limits import limit_memory

MEMORY_BYTES = 3 * 1024**3


def main() -> None:
    """Serve one table until it ends."""
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


def _request(message: JsonMessage) -> TableRequest:
    rules = message.get("rules")
    game = Game(str(message.get("game") or "game"), rules) if rules else Game.load(str(message["game"]))
    names = {field.name for field in fields(TableRequest)} - {"game"}
    return TableRequest(game, **{name: message[name] for name in names if message.get(name)})


if __name__ == "__main__":
    main()
