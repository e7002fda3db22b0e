"""Files: cover problems as JSON and DLX text, and BurrTools' packing puzzles (.xmpuzzle).

:func:`~players.puzzles.cover.files.texts.problem_of` distinguishes JSON from DLX.
"""
