"""Files: cover problems as JSON and DLX text, and BurrTools' packing puzzles (.xmpuzzle).

:func:`~players.puzzles.cover.files.texts.problem_of` knows JSON from DLX.
"""
