"""Dead sets of one-player games: a few literals of which it is proven that no state in which they all hold
leads to the best goal. To read in this order: cases (what each move reads and changes, states of which a part
is known), variables (groups of mutually exclusive propositions), projections (retrograde analysis of a few
variables, and what projections tell each other), search (all projections of one, two, three variables)."""
