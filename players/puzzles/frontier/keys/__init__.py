"""Arrays of sorted keys, and their encoding as bytes.

``kinds`` is the interface for searches, ``kernels`` implement it, ``sorting`` sorts keys, ``codes`` writes
them as bytes.
"""
