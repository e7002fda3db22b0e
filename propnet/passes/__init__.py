"""The passes that turn ground rules into a small circuit; :mod:`propnet.build` runs them in order.

Read :mod:`~propnet.passes.circuit` first, then the frame: ``construct`` (with the ground rules pruned),
``finish``. The passes between, each ``Circuit -> Circuit``: ``simplify`` (and factoring), ``onehot`` (one
multiplexer for many sums, one move per role, and values that never change), ``extract`` (common parts of
gates).
"""
