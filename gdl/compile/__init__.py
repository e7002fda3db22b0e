"""Rules to function-free Datalog: the front half that the prover and the grounder share.

The passes in the order in which :mod:`~gdl.compile.pipeline` runs them:
    normalize: rules to clauses of positive and negative literals.
    flatten: function terms become columns, by the shapes that :mod:`~gdl.compile.shapes` infers.
    specialize: predicates in negative cycles are split by the constants of a column.
    stratify: the order of evaluation.
Between them goes a ``Program`` (:mod:`~gdl.compile.program`). Then, for some callers:
    split_by_role: each role gets its own ``legal`` and ``goal`` (the prover).
    magic_sets: recursive clauses that derive only what is asked for (the prover).
    value_flow: which constants can come to which argument (checks, scrambling).
"""
