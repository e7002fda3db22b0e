"""The room where people play: a *table* is one match in the browser, against our players or each other.

:mod:`~ggp.web.play.table` is the match itself, in a process of its own, :mod:`~ggp.web.play.seats` who may
sit there, :mod:`~ggp.web.play.view` what is seen of it; :mod:`~ggp.web.play.tables` keeps these processes,
:mod:`~ggp.web.play.routes` is what a page asks.
"""
