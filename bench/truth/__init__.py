"""Is what solvers call proven true? Random small instances, drawn to be odd, against plain brute force.

``python -m bench.truth --minutes 30`` is for a night; the tests run a part of it. A *field* makes instances,
and checks all that our solvers claim of them. Its brute force shares no code with any solver. To add a field,
write a module with a :class:`~bench.truth.field.Field`, and a row in ``__main__``.
"""
