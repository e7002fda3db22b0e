"""What tools ask of games: questions and answers as JSON, worked out in processes with limits.

Read ``operations`` first: each question with the schemas of what it takes and gives, and the desk that keeps
the processes. ``catalogue`` says what comes along and which game is meant, ``answer_process`` answers. The
JSON API of ``ggp web`` and ``ggp mcp`` are two doors to the same desk.
"""
