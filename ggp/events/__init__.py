"""What goes on in matches, told as it happens: by ``ggp serve`` on its port, by ``ggp host`` and tournaments
on one of their own.

``feed`` is what is told, ``stream`` sends events to many readers (server-sent events, HTML Living Standard).
"""
