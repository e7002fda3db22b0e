"""Derived propositions: what rules say of a state besides what is true in it, such as where a piece can go.

They weigh something as base propositions do; how many hold of a kind is mobility, or progress.

:mod:`~players.knowledge.derived.relations` finds the relations that depend on the state alone,
:mod:`~players.knowledge.derived.network` builds a network that tells them,
:mod:`~players.knowledge.derived.propositions` adds what it tells to the records of states.
"""
