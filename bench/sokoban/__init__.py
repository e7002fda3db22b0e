"""What is measured of Sokoban; `python -m bench.sokoban` counts the levels that are solved."""
