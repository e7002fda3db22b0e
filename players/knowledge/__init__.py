"""Knowledge of games, learnt by play, saved, and found again when a game comes under other names.

:mod:`~players.knowledge.canonical_rules` computes the fingerprint that identifies a game, and the canonical
names of its propositions. :mod:`~players.knowledge.knowledge` has the learnt weights and their form as bytes,
and :mod:`~players.knowledge.store` keeps them on disk.

:mod:`~players.knowledge.features` determines which propositions share weights.
:mod:`~players.knowledge.state_values` computes the values of states from linear weights, and from nets that
add to them.
:mod:`~players.knowledge.training` learns the weights from :mod:`~players.knowledge.self_play`,
:mod:`~players.knowledge.net_training` those of nets.
"""
