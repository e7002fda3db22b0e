"""`ggp bench`: how fast machines are.

``measure`` takes the figures (``steps`` those of a step's parts), ``results`` reads and compares files of
them, ``view`` prints them; ``gdl_perf`` is the same for another benchmark's harness.
"""
