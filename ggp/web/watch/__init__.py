"""The pages for watching: the matches of players' servers, with the searches in progress.

:mod:`~ggp.web.watch.watched` reads the events of a server (:mod:`ggp.server.match_news`) and reconnects after
an interruption; it stores each match and answers pages.
"""
