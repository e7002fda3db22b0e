"""Games that have everything compiled once before a match needs it."""

from __future__ import annotations

WARM_UP_GAMES = (
    "(role a) (init (n 0)) (legal a x) (legal a y) (<= (next (n 1)) (true (n 0)) (does a x))"
    " (<= terminal (true (n 1))) (goal a 100)",
    "(role a) (role b) (init (n 0)) (legal a x) (legal a y) (legal b x) (legal b y)"
    " (<= (next (n 1)) (true (n 0)) (does a x)) (<= (next (n 0)) (does a y) (does b x))"
    " (<= terminal (true (n 1))) (goal a 100) (goal b 0)",
)
