"""A small net over base propositions, on top of their linear weights.

:mod:`~players.knowledge.net.layers` is how one machine's states go through it, by
:mod:`~players.knowledge.net.kernels` and :mod:`~players.knowledge.net.dense`;
:mod:`~players.knowledge.net.learner` learns it, by
:mod:`~players.knowledge.net.gradients`.
"""
