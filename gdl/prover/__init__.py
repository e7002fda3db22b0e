"""The bottom-up prover: a program becomes Python code that computes what is true in a state.

Read in this order:
    machine: questions about states, answered from a cache of states or by the evaluator, and random
        games to their end, one function.
    evaluator: relations on demand, within the limits of ``limits``, and the functions that compute a
        relation, whole or key by key.
    schema: the evaluator's knowledge of relations, and the way code reads them.
    conditions: the order of literals in a join, their tests, and the source as it grows.
    table_slots: the places in which relations are stored.
    estimates: the expected costs on which all these plans are based.
"""
