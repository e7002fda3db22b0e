"""Tournaments: many matches between players, played side by side, kept, rated and shown.

Read along the way of the data::

    settings: games, entrants -> schedule, openings -> runner -> (referee -> players) -> store
    store -> statistics: scores -> ratings, sprt -> output: tables, plots, report, export

``session`` is what ``ggp tournament`` does with all of it.
"""
