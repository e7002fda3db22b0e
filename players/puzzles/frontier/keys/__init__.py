"""Arrays of sorted keys, and how they are written as bytes.

``kinds`` is what a search asks of keys, ``kernels`` do it, ``sorting`` sorts them, ``codes`` writes them
as bytes.
"""
