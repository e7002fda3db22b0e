"""Rules to function-free Datalog: the front half that the prover and the grounder share.

The passes in the order in which :mod:`~gdl.compile.pipeline` runs them:
    normalize: rules to clauses of positive and negative literals.
    flatten: function terms become columns, by the shapes of arguments (:mod:`~gdl.compile.program`); in
        ``pipeline`` itself.
    specialize: predicates in negative cycles are split by the constants of a column.
    stratify: the order of evaluation; the terms that can reach an argument.
A ``Program`` (:mod:`~gdl.compile.program`) passes between them. Then, for the prover:
    specialize: each role gets its own ``legal`` and ``goal``.
    magic_sets: recursive clauses that derive only the rows asked for.
"""
