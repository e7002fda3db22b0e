"""What is learnt of a game by play, kept, and found again when the game comes under other names.

:mod:`~players.knowledge.canonical_rules` has the fingerprint by which a game is known again, and the names by
which its propositions are kept. :mod:`~players.knowledge.knowledge` is what is kept, as bytes, and
:mod:`~players.knowledge.store` says where.

:mod:`~players.knowledge.features` says which propositions share weights;
:mod:`~players.knowledge.n_tuples` what is looked at together, found by :mod:`~players.knowledge.tuple_finder`
from the form of propositions (:mod:`~players.knowledge.variables`);
:mod:`~players.knowledge.derived_propositions` what rules derive besides. By all these
:mod:`~players.knowledge.state_values` tells what states are worth, by linear weights, and by the tables and
nets that add to them, with :mod:`~players.knowledge.value_kernels` and
:mod:`~players.knowledge.state_values`. :mod:`~players.knowledge.training` learns the weights from
:mod:`~players.knowledge.self_play`, those of nets by :mod:`~players.knowledge.net_training`.
"""
