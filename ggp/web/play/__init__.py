"""The room where people play: a *table* is one match in the browser, against our players or each other.

:mod:`~ggp.web.play.table` is the match itself, :mod:`~ggp.web.play.table_process` the process that it runs
in; :mod:`~ggp.web.play.tables` keeps these processes, :mod:`~ggp.web.play.routes` is what a page asks.
"""
