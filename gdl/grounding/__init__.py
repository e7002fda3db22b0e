"""The grounder: a program becomes rules without variables.

Read :mod:`~gdl.grounding.pipeline` first: it runs the steps. Then what passes between them: ``limits`` and
``ground_rules`` (the result). The steps: ``reachability`` (with ``demand``) finds the atoms that can hold, by
semi-naive evaluation; ``instantiate`` (with ``split`` and ``decompose``) makes the rules; ``assemble`` (with
``simplify``, ``term_order`` and ``graph``) numbers them. The first two steps join relations:
:mod:`gdl.grounding.joins`.
"""
