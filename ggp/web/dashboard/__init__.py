"""The room of tournaments: ratings with intervals, who beat whom, the sequential test and all matches, kept
up to date while they are played.

:mod:`~ggp.web.dashboard.tables` is what a tournament's file says, :mod:`~ggp.web.dashboard.live` looks at it
again when it changes.
"""
