"""A network of its own for what rules say of a state besides what is true in it: where a piece can go.

:mod:`~propnet.derived.relations` finds the relations that depend on the state alone,
:mod:`~propnet.derived.network` builds a network that tells them.
"""
