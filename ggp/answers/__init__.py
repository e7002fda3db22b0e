"""What tools ask of games: questions and answers as JSON, worked out in processes with limits.

Read ``operations`` first: each question with the schemas of what it takes and gives. ``schema`` checks what
is asked, ``answer_process`` answers, ``desk`` keeps these processes. The JSON API of ``ggp web`` and
``ggp mcp`` are two doors to the same desk.
"""
