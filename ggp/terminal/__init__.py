"""`ggp play`: a match in this process, shown to a person or written for a program.

Read ``human`` (a person as a player), ``drawing`` (states as text, with boards from :mod:`ggp.boards`), and
``setup``: the match and what is shown of it.
"""
