"""Families of pieces that people know by letters: tetrominoes, pentominoes, and the pieces of P. Hein's
Soma cube.

The letters of the pentominoes are S. Golomb's.
"""

from __future__ import annotations

FAMILIES: dict[str, dict[str, list[list[str]]]] = {
    "tetrominoes": {
        "I": [["####"]],
        "L": [["###", "#.."]],
        "O": [["##", "##"]],
        "S": [[".##", "##."]],
        "T": [["###", ".#."]],
    },
    "pentominoes": {
        "F": [[".##", "##.", ".#."]],
        "I": [["#####"]],
        "L": [["####", "#..."]],
        "N": [["##..", ".###"]],
        "P": [["##", "##", "#."]],
        "T": [["###", ".#.", ".#."]],
        "U": [["#.#", "###"]],
        "V": [["#..", "#..", "###"]],
        "W": [["#..", "##.", ".##"]],
        "X": [[".#.", "###", ".#."]],
        "Y": [["####", ".#.."]],
        "Z": [["##.", ".#.", ".##"]],
    },
    "soma": {
        "V": [["##", "#."]],
        "L": [["###", "#.."]],
        "T": [["###", ".#."]],
        "Z": [["##.", ".##"]],
        "P": [["##", "#."], ["#.", ".."]],
        "A": [["##", "#."], [".#", ".."]],
        "B": [["##", "#."], ["..", "#."]],
    },
}
"""By family and letter: layers of rows."""
