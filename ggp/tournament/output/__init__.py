"""Tournaments for people and programs: ``tables`` in the terminal, ``plots``, ``report`` (one HTML page with
both), ``export`` (JSON and CSV)."""
