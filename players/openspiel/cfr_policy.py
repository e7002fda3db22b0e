"""`cfr_policy`: the result of our CFR+ as a policy of OpenSpiel, for evaluation by OpenSpiel's own
algorithms."""

from __future__ import annotations

from typing import cast

from open_spiel.python.policy import TabularPolicy

from gdl.terms import Term
from players.hidden.cfr import Cfr
from players.openspiel.spiel_game import SpielGame


def cfr_policy(game: SpielGame, cfr: Cfr) -> TabularPolicy:
    """The average strategies of a tree that was grown on ``game.rules.machine``, as a policy of the
    sequential game: one row for each information state."""
    tree, average = cfr.tree, cfr.average()
    policy = TabularPolicy(game)
    for (player, history), place in tree.places.items():
        senses = game.rules.senses[player]
        turns = cast(tuple[tuple[int, frozenset[Term]], ...], history)
        observed = b"".join(senses.turn(move, percepts) for move, percepts in turns)
        row = policy.action_probability_array[policy.state_lookup[senses.text(observed)]]
        row[:] = 0
        for number in range(int(tree.first[place]), int(tree.first[place + 1])):
            row[tree.moves[number]] = average[number]
    return policy
