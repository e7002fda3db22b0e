"""Games that have everything compiled once before a match needs it."""

from __future__ import annotations

WARM_UP_GAMES = (
    "(role a) (init (n 0)) (legal a x) (legal a y) (<= (next (n 1)) (true (n 0)) (does a x))"
    " (<= terminal (true (n 1))) (goal a 100)",
    "(role a) (role b) (init (n 0)) (legal a x) (legal a y) (legal b x) (legal b y)"
    " (<= (next (n 1)) (true (n 0)) (does a x)) (<= (next (n 0)) (does a y) (does b x))"
    " (<= terminal (true (n 1))) (goal a 100) (goal b 0)",
)

LEARNT_GAME = (
    "(role a) (role b) (init (turn a)) (item 1) (item 2)"
    " (<= (legal ?r (take ?i)) (true (turn ?r)) (item ?i))"
    " (<= (legal a wait) (true (turn b))) (<= (legal b wait) (true (turn a)))"
    " (<= (next (turn b)) (true (turn a))) (<= (next (turn a)) (true (turn b)))"
    " (<= (next (taken ?i)) (does ?r (take ?i))) (<= (next (taken ?i)) (true (taken ?i)))"
    " (<= terminal (true (taken 1)) (true (taken 2)))"
    " (<= (goal a 100) (true (turn a))) (<= (goal a 0) (true (turn b)))"
    " (<= (goal b 100) (true (turn b))) (<= (goal b 0) (true (turn a)))"
)
"""One that startclocks would learn: two roles choose in turn, and it is symmetric."""
