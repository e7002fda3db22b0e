"""`ggp bench`: the speed of machines.

``measure`` measures (``steps`` the parts of a step), also for another benchmark's harness; ``results`` reads,
compares and prints files of measurements.
"""
