"""Tournaments: many matches between players, played side by side, kept, rated and shown.

The way of the data::

    entrants, games -> schedule -> runner -> (referee -> seats) -> store -> scores -> ratings, sprt
                                                                                   -> report, export
"""
