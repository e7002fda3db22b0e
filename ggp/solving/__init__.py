"""`ggp solve`: a puzzle is solved without a match, by one process or several (`team`), and shown (`view`); a
whole game is solved, and its table asked (`strong`)."""
