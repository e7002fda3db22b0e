"""Words for people: ``moves`` gives each move of a state a short text, ``endings`` says why a match is over.

Both read the rules and the board. Names of games play no part.
"""
