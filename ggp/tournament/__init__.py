"""Tournaments: many matches between players, played side by side, kept, rated and shown.

Read along the way of the data::

    settings: games, entrants -> schedule: fixtures, openings -> runner -> (referee -> players) -> store
    store -> statistics: scores -> standing, ratings -> tables, plots, report

``session`` is what ``ggp tournament`` does with all of it. The SQLite file may be a stranger's:
``database`` opens it within limits, ``store`` has what is in it.
"""
