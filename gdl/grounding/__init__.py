"""The grounder: a program becomes rules without variables.

Read :mod:`~gdl.grounding.pipeline` first: it runs the steps. Then what passes between them: ``limits`` and
``ground_rules`` (the result). The steps: ``reachability`` (with ``demand``) finds the atoms that can hold, by
semi-naive evaluation; ``instantiate`` (with ``decompose``) makes the rules; ``assemble`` (with ``simplify``
and ``graph``) numbers them. The first two join relations: ``keys`` (rows as integers), ``relation`` (sets of
rows with indexes), ``tuple_join`` (small ones, row by row in plain Python), ``join`` (large ones, in numpy).
"""
