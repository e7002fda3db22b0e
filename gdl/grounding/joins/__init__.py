"""Relations, and how a clause's body is joined over them: small ones row by row, large ones in numpy.

Read ``keys`` (rows as integers), ``tuple_index`` and ``relation`` (sets of rows with indexes),
``tuple_join`` (the join in plain Python), ``bindings`` (tables of bindings), ``join`` (the join in numpy).
"""
