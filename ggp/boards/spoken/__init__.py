"""Moves and ends in words: ``words`` gives each legal move a short text, in one of the ``notations`` or in
the words of a hint; ``questions`` asks the rules whether a condition of a hint holds; ``ends`` says why a
match is over."""
