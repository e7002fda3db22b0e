"""Trains on games offline: ``ggp train``.

:mod:`~ggp.training.lesson` trains a game and stores the results, :mod:`~ggp.training.trial` finds by matches
whether a search should use them, and :mod:`~ggp.training.report` presents the training on a page.
"""
