"""Tournaments: many matches between players, played side by side, stored, rated and shown.

Read in the order of the data::

    settings: games, entrants -> schedule: fixtures, openings -> runner -> (referee -> players) -> store
    store -> statistics: scores -> standing, ratings -> tables

``session`` runs all of it for ``ggp tournament``. The SQLite file may be a stranger's: ``store`` opens it
within limits, reads and writes it.
"""
