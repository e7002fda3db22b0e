"""The grounder: a program becomes rules without variables.

Read :mod:`~gdl.grounding.pipeline` first: it runs the steps. Then read the types that the steps share:
``limits`` and ``ground_rules`` (the result). The steps: ``reachability`` finds the atoms that can hold, by
semi-naive evaluation; ``instantiate`` makes the rules; ``assemble`` (with ``simplify``
and ``graph``) numbers them. The first two join relations: ``keys`` (rows as integers), ``relation`` (sets of
rows with indexes), ``join`` (tables of bindings).
"""
