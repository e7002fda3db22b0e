"""Is a server that is starved, and whose processes are killed and stopped at random, ever late?

    python -m bench.soak --turns 2000 --playclock 1 --matches 2 --burners 2 --kill-every 2

prints counts as JSON. Exit status 1 if any reply was late or illegal, a match was lost, a process or a file
in /dev/shm is left, or the memory has grown by more than --growth percent.
"""

from __future__ import annotations

import json
import sys

from bench.soak.run import Soak, parser


def main() -> int:
    """Run, print and write the counts."""
    options = parser().parse_args()
    seen = Soak(options).run()
    if options.out:
        given = {name: str(value) for name, value in vars(options).items()}
        options.out.write_text(json.dumps({"options": given, **seen}, indent=1) + "\n")
    print(json.dumps({key: value for key, value in seen.items() if key != "memory_mb"}, indent=1))
    wrong = any(seen[key] for key in ("late", "illegal", "lost", "tracebacks", "exit_status"))
    wrong = wrong or bool(seen["left_processes"] or seen["left_shared"])
    return int(wrong or seen["memory"]["growth_percent"] > options.growth)


sys.exit(main())
