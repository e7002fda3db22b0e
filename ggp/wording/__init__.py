"""Words for people: ``moves`` gives each move of a state a short text, ``turns`` finds whose turn it is,
``endings`` says why a match is over.

All three read the rules and the board. No name of a game plays a part.
"""
