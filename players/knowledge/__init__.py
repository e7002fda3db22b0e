"""What is learnt of a game by play, kept, and found again when the game comes under other names.

:mod:`~players.knowledge.canonical_rules` has the fingerprint by which a game is known again, and the names by
which its propositions are kept, from :mod:`~players.knowledge.rules_graph`.
:mod:`~players.knowledge.knowledge` is what is kept, as bytes, :mod:`~players.knowledge.learnt_net` what it
has of a net, and :mod:`~players.knowledge.store` says where.

:mod:`~players.knowledge.features` says which propositions share weights, some by
:mod:`~players.knowledge.coordinates`; :mod:`~players.knowledge.n_tuples` what is looked at together;
:mod:`~players.knowledge.derived_propositions` what rules derive besides, which
:mod:`~players.knowledge.deriving` makes in a process of its own. By all these
:mod:`~players.knowledge.state_values` tells what states are worth, with
:mod:`~players.knowledge.value_kernels`, and :mod:`~players.knowledge.training` learns the weights from
:mod:`~players.knowledge.self_play`.
"""
