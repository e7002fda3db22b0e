"""Is a server that is starved, and whose processes are killed and stopped at random, ever late?

    python -m bench.soak --turns 2000 --playclock 1 --matches 2 --burners 2 --kill-every 2

See :mod:`bench.soak.run`.
"""

import sys

from bench.soak.run import main

sys.exit(main())
