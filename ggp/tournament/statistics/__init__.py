"""Statistics of the players' results: ``scores`` (who did better), ``standing`` (who is rated), then
``ratings`` (Elo with intervals, and the test whether one of two is stronger). ``tables`` (for the terminal,
pages, and a report with plots) is for people."""
