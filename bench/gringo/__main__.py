"""How much CPU time does our grounder take beside gringo (PyPI ``clingo``)?

    python -m bench.gringo ../shared/corpus/games --out gringo.json --markdown gringo.md

See :mod:`bench.gringo.compare`.
"""

from bench.gringo.compare import main

main()
