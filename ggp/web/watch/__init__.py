"""The pages for watching: the matches of players' servers, with the searches in progress.

:mod:`~ggp.web.watch.follow` reads the events of a server (:mod:`ggp.server.match_news`) and reconnects after
an interruption. :mod:`~ggp.web.watch.watched` stores each match and answers pages.
"""
