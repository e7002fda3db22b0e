"""The subcommands of ``ggp``, one module each: see :mod:`ggp.cli` for what a module declares.

Modules import heavy things inside their functions, for ``ggp --help`` loads them all. What several of them
need is in ``_common``.
"""
