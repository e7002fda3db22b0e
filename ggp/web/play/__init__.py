"""The pages for playing: a *table* is one match in the browser, against our players or between people.

:mod:`~ggp.web.play.table` plays the match in a process of its own, :mod:`~ggp.web.play.seats` checks and asks
players, :mod:`~ggp.web.play.view` draws the match. In the server :mod:`~ggp.web.play.routes` manages these
processes and answers the requests of pages.
"""
