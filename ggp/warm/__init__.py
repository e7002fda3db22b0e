"""Compiling everything once, so that no match waits for it.

Read ``compile`` first (what is compiled, in one process), then ``view`` (several such processes and what a
terminal shows of them: ``ggp warm``).
"""
