"""The grounder: a program becomes rules without variables.

:mod:`~gdl.grounding.pipeline` runs the steps. Read the types that these share first: ``limits`` and
``ground_rules`` (the result). The steps: ``reachability`` finds the atoms that can hold, by semi-naive
evaluation; ``instantiate`` makes the rules, with ``unfold`` where a relation is too large to be listed;
``pipeline`` itself numbers them, with ``simplify`` and ``graph``. The first two join relations: ``keys``
(rows as integers), ``relation`` (sets of rows with indexes), ``join`` (tables of bindings).
"""
