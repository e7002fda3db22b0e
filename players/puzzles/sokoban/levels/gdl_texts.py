"""The GDL rules that all levels share."""

STEPS = """
; --- What can be true, what can be done ---

(<= (base (at ?x ?y))
  (floor ?x ?y))
(<= (base (box ?x ?y))
  (floor ?x ?y))
STEP_BASE

(<= (input keeper (move ?d))
  (direction ?d))

INITIAL

; --- Moves ---

(<= (legal keeper (move ?d))
  (can_walk ?d ?x ?y))
(<= (legal keeper (move ?d))
  (can_push ?d ?x ?y))

; The keeper can go in direction D to this square, or can push the box on it on.
(<= (can_walk ?d ?x2 ?y2)
  (ahead ?d ?x2 ?y2)
  (not (true (box ?x2 ?y2))))
(<= (can_push ?d ?x2 ?y2)
  (ahead ?d ?x2 ?y2)
  (true (box ?x2 ?y2))
  (adjacent ?d ?x2 ?y2 ?x3 ?y3)
  (not (true (box ?x3 ?y3))))

(<= (ahead ?d ?x2 ?y2)
  (true (at ?x1 ?y1))
  (adjacent ?d ?x1 ?y1 ?x2 ?y2))

(<= (enters ?x ?y)
  (does keeper (move ?d))
  (ahead ?d ?x ?y))
(<= (receives ?x3 ?y3)
  (does keeper (move ?d))
  (can_push ?d ?x2 ?y2)
  (adjacent ?d ?x2 ?y2 ?x3 ?y3))

(<= (next (at ?x ?y))
  (enters ?x ?y))
(<= (next (box ?x ?y))
  (receives ?x ?y))
(<= (next (box ?x ?y))
  (true (box ?x ?y))
  (not (enters ?x ?y)))
"""
"""Base propositions, moves and their effects, one step per move. STEP_BASE and INITIAL are replaced for each
level."""

COUNTING_STEPS = """(<= (next (step ?n))
  (true (step ?m))
  (succ ?m ?n))
"""

EVERY_GOAL = """
(<= solved
  (not wanting))
(<= wanting
  (goal_square ?x ?y)
  (not (true (box ?x ?y))))
"""
"""The condition for a solution if there are as many goals as boxes."""

EVERY_BOX = """
; There are more goals than boxes.
(<= solved
  (not wanting))
(<= wanting
  (true (box ?x ?y))
  (not (goal_square ?x ?y)))
"""

DIRECTIONS = """
(direction up)
(direction down)
(direction left)
(direction right)
"""

COMMON = """
; What can be walked to, walls alone in the way.
(<= (floor ?x ?y)
  (start_column ?x)
  (start_row ?y))
(<= (floor ?x2 ?y2)
  (floor ?x1 ?y1)
  (shift ?d ?x1 ?y1 ?x2 ?y2)
  (not (wall ?x2 ?y2)))

; One step from a floor square to the next.
(<= (adjacent ?d ?x1 ?y1 ?x2 ?y2)
  (shift ?d ?x1 ?y1 ?x2 ?y2)
  (floor ?x1 ?y1)
  (floor ?x2 ?y2))

(<= (shift up ?x ?y1 ?x ?y2)
  (column ?x)
  (next_row ?y1 ?y2))
(<= (shift down ?x ?y2 ?x ?y1)
  (column ?x)
  (next_row ?y1 ?y2))
(<= (shift right ?x1 ?y ?x2 ?y)
  (row ?y)
  (next_column ?x1 ?x2))
(<= (shift left ?x2 ?y ?x1 ?y)
  (row ?y)
  (next_column ?x1 ?x2))
"""
"""The geometry of the map; the facts of the level come before and after it."""
