"""Cover problems in files: JSON of ours, and DLX text.

:mod:`~players.puzzles.cover.files.read` knows which is which.
"""
