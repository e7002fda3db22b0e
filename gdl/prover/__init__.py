"""The bottom-up prover: a program becomes Python code that computes what is true in a state.

Read in this order:
    machine: questions about states, answered from the cache (state_cache) or by the evaluator.
    numbering: numbers of propositions and moves.
    evaluator: relations on demand; schema and limits say what it knows and where it stops.
    strata_code: the functions that compute a relation, whole or key by key.
    join_code: the loops of one clause, with function_source, join_order and conditions.
    table_slots, access_path: where relations are stored and how code reads them.
    estimates: the expected costs by which all this is planned.
    depth_charge: one function that plays a whole game at random.
"""
