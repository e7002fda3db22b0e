"""The questions of tools about games: requests and answers as JSON, answered by processes with limits.

Read ``operations`` first: each question with the schemas of its request and reply, and the desk that keeps
the processes. ``catalogue`` lists the bundled games and finds the game of a request, ``answer_process``
answers. The JSON API of ``ggp web`` and ``ggp mcp`` both use this desk.
"""
