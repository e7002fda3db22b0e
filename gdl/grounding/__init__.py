"""The passes of the grounder, in the order of :func:`gdl.ground.ground`."""
