"""The room of puzzles: games of one role, solved while one looks on, and their lines played on the board.

``puzzles`` keeps what is being solved, ``solve_process`` solves and draws, ``routes`` answers pages.
"""
