"""The SQLite file of a tournament, which may be a stranger's.

``database`` opens one within limits, ``snapshot`` copies one that others are writing, ``store`` has what is
in it: settings, results, records.
"""
