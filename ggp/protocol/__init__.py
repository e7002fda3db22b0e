"""What game managers and players say to each other: the messages, the HTTP that carries them, match
records. Read :mod:`~ggp.protocol.messages` first, then :mod:`~ggp.protocol.dialect`.
"""
