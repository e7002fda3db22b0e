"""Games are learnt offline: ``ggp train``.

:mod:`~ggp.training.ladder` takes a game up from rung to rung, :mod:`~ggp.training.lesson` learns one
and keeps what it has learnt, :mod:`~ggp.training.trial` finds by matches whether a search should use it,
:mod:`~ggp.training.duel` plays these, :mod:`~ggp.training.report` tells of it all on a page.
"""
