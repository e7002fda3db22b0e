"""Attacks on ``ggp web`` and ``ggp serve``: ``python -m bench.hostile_web``.

``texts`` sends malformed rules and states, ``mutated`` sends mutated requests to every route,
``sites`` comes from pages of other sites, ``files`` brings tournaments of strangers, ``crowds`` asks for too
much at once, ``neighbours`` is another computer of the network at a player's server. Each has a list
``ATTACKS``.
"""
