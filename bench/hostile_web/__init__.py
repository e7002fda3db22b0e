"""Attacks on ``ggp web`` and ``ggp serve``: ``python -m bench.hostile_web``.

``files`` sends malformed rules and states and tournaments of strangers, ``mutated`` sends mutated requests to
every route, ``crowds`` asks for too much at once or comes from the network, ``floods`` sends a table more
orders than it takes. Each has a list ``ATTACKS``.
"""
