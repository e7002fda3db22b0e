"""The language of game managers and players: the messages, the HTTP that carries them, match records. Read
:mod:`~ggp.protocol.messages` first, then :mod:`~ggp.protocol.dialect`.
"""
