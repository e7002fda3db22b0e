"""Matches looked on as they are played, wherever that is.

``source`` follows what a program tells of its matches (:mod:`ggp.events`), ``live_match`` is one of them with
its spectators, ``watch_process`` draws it, ``routes`` answers.
"""
