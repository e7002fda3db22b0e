"""The passes that turn ground rules into a small circuit; :mod:`propnet.build` runs them in order.

Read :mod:`~propnet.passes.circuit` first, then the frame: ``construct`` (with the ground rules pruned),
``finish``. The passes between, each ``Circuit -> Circuit``: ``simplify`` (and factoring), ``select`` (one
multiplexer for many sums), ``onehot`` (one move per role, and values that never change), ``extract`` (common
parts of gates).
"""
