"""`ggp bench`: how fast machines are.

``measure`` takes the figures (``steps`` those of a step's parts), also for another benchmark's harness;
``results`` reads, compares and prints files of them.
"""
