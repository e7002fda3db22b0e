"""`ggp play`: a match in this process, shown to a person or written for a program.

Read ``local_match`` (the match), ``human`` (a person as a player), ``views`` (what is shown, with boards from
:mod:`ggp.boards`), and ``setup``, which puts them together.
"""
