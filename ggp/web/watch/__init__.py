"""The room where people watch: what the matches of players' servers are doing, the search as it goes on.

:mod:`~ggp.web.watch.follow` hears the events of a server (:mod:`ggp.server.match_news`), and again after it
or the way to it has broken; :mod:`~ggp.web.watch.watched` keeps each match and answers pages.
"""
