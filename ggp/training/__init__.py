"""Games are learnt offline: ``ggp train``.

:mod:`~ggp.training.ladder` takes a game up from rung to rung, and keeps what each has taught,
:mod:`~ggp.training.trial` finds by matches whether a search should use it, :mod:`~ggp.training.report` tells
of it all on a page.
"""
