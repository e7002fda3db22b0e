"""What is learnt of a game by play, kept, and found again when the game comes under other names.

:mod:`~players.knowledge.canonical_rules` has the fingerprint by which a game is known again, and the names by
which its propositions are kept; :mod:`~players.knowledge.knowledge` what is kept, as bytes, and
:mod:`~players.knowledge.store` where. :mod:`~players.knowledge.features` says which propositions share
weights, :mod:`~players.knowledge.n_tuples` what is looked at together,
:mod:`~players.knowledge.state_values` what states are worth by them, and
:mod:`~players.knowledge.training` learns the weights from :mod:`~players.knowledge.self_play`.
"""
