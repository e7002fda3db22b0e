"""The passes that turn ground rules into a small circuit; :mod:`propnet.build` runs them in order.

Read :mod:`~propnet.passes.circuit` first, then the frame: ``prune`` (ground rules), ``construct`` (with
``cuts`` and ``factor``), ``constant_latches``, ``finish``. The passes between, each ``Circuit -> Circuit``:
``simplify``, ``select`` (one multiplexer for many sums), ``onehot`` (one move per role), ``overlap``,
``extract``, ``dead``. ``graph`` sorts nodes topologically.
"""
