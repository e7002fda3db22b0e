"""Rules are played at random, and what goes wrong is told as findings, as those of :mod:`gdl.checks`.

Read ``rehearse`` first (from rules to findings), then ``walks`` (the playouts, on lanes or on the prover),
``declared`` (what base and input rules allow) and ``findings`` (what is said).
"""
