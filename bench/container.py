"""Does the container build and serve, where no registry of images can be reached? ``python -m
bench.container`` runs the Dockerfile's steps in a chroot, then a match served from it. Needs root, on
Linux.

It makes a root of the distribution's packages (mmdebstrap), runs the steps in it as their users, and serves
from it. Shown so: every step works as its user, and a player serves with all files read-only but its cache,
with no right that root has. Not shown: the base image itself (Python comes from the distribution), the
limits of a container engine, its networks and signals.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.scripts import command_line

KNOWN = frozenset(
    ("FROM", "WORKDIR", "COPY", "RUN", "ENV", "ARG", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD")
)


@dataclass(slots=True)
class Stage:
    """What one FROM begins.

    Attributes:
        name: as others copy from it; "" for none.
        steps: instructions and their arguments, in order.
    """

    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def last(self, instruction: str) -> str:
        """The arguments of the last such instruction. Raises ValueError for none."""
        for name, arguments in reversed(self.steps):
            if name == instruction:
                return arguments
        raise ValueError(f"the Dockerfile has no {instruction}")

    def command(self, instruction: str) -> list[str]:
        """The words of the last such instruction, which is in JSON; options before the words are left out."""
        text = self.last(instruction)
        words: list[str] = json.loads(text[text.index("[") :])
        return words


def stages(path: Path) -> list[Stage]:
    """The stages of a Dockerfile. Raises ValueError for an instruction that is not known here: what is not
    run must not count as shown."""
    found: list[Stage] = []
    lines = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]
    text = "\n".join(lines).replace("\\\n", " ")
    for line in text.splitlines():
        name, _, arguments = line.strip().partition(" ")
        if name not in KNOWN:
            raise ValueError(f"{path}: {name} is not known here")
        if name == "FROM":
            words = arguments.split()
            found.append(Stage(words[2] if len(words) == 3 else ""))
        elif found:
            found[-1].steps.append((name, arguments.strip()))
    return found


def assignments(text: str) -> dict[str, str]:
    """The variables of an ENV instruction."""
    return dict(word.split("=", 1) for word in shlex.split(text))


PORT = 9147
SUITE = "bookworm"
PACKAGES = "python3,python3-pip,python3-venv,ca-certificates"
_CAPABILITIES = "-all"
_READY_SECONDS = 60.0
_STOP_SECONDS = 10.0
"""What engines wait before they kill."""


class Image:
    """A root directory and what the instructions have set so far."""

    def __init__(self, root: Path, environment: dict[str, str]) -> None:
        self.root, self.environment = root, environment
        self.user, self.directory = "0", "/"

    def inside(self, path: str) -> Path:
        """The file of this name in the image."""
        return self.root / os.path.join(self.directory, path).lstrip("/")

    def prefix(self) -> list[str]:
        """The words that run a command as the user of the image; the directory is entered by a shell."""
        ids = ["--reuid", self.user, "--regid", self.user, "--clear-groups"] if self.user != "0" else []
        rights = ["--no-new-privs", "--bounding-set", _CAPABILITIES] if ids else []
        enter = f'cd {self.directory} && exec "$@"'
        return ["chroot", str(self.root), "setpriv", *ids, *rights, "sh", "-c", enter, "sh"]

    def run(self, text: str) -> None:
        """A RUN instruction, with the system's pseudo files mounted."""
        script = f'mount -t proc proc {self.root}/proc; mount --rbind /dev {self.root}/dev; exec "$@"'
        words = ["unshare", "--mount", "sh", "-c", script, "sh", *self.prefix(), "sh", "-c", text]
        subprocess.run(words, env=self.environment, check=True)

    def copy(self, arguments: str, context: Path, built: dict[str, Image]) -> None:
        """A COPY instruction."""
        words = arguments.split()
        source = context
        if words[0].startswith("--from="):
            source = built[words.pop(0).removeprefix("--from=")].root
        *names, target = words
        there = self.inside(target)
        for name in names:
            one = source / name.lstrip("/")
            if one.is_dir():
                shutil.copytree(one, there, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                there.mkdir(parents=True, exist_ok=True)
                shutil.copy(one, there)


def base_root(place: Path, certificates: Path | None) -> None:
    """A root of the distribution with Python, under the names that Python's image has."""
    subprocess.run(
        ["mmdebstrap", "--mode=root", "--variant=apt", f"--include={PACKAGES}", SUITE, str(place)], check=True
    )
    (place / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    for marker in place.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
        marker.unlink()
    if certificates is not None:
        shutil.copy(certificates, place / "etc/ssl/certs/ca-certificates.crt")
    shutil.copy("/etc/resolv.conf", place / "etc/resolv.conf")
    hosts = Path("/etc/hosts").read_text(encoding="utf-8")
    (place / "etc/hosts").write_text(hosts)


def build(stage: Stage, base: Path, place: Path, context: Path, built: dict[str, Image]) -> Image:
    """Run the instructions of a stage on a copy of the base."""
    subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(place)], check=True)
    usual = {"PATH": "/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/root"}
    image = Image(
        place, usual | {"PIP_CERT": "/etc/ssl/certs/ca-certificates.crt", "PIP_ROOT_USER_ACTION": "ignore"}
    )
    for name, arguments in stage.steps:
        began = time.monotonic()
        match name:
            case "WORKDIR":
                image.directory = arguments
                image.inside("").mkdir(parents=True, exist_ok=True)
            case "COPY":
                image.copy(arguments, context, built)
            case "ENV":
                image.environment |= assignments(arguments)
            case "ARG":
                image.environment |= {arguments.partition("=")[0]: arguments.partition("=")[2].strip('"')}
            case "USER":
                image.user = arguments
                image.environment["HOME"] = "/home/ggp"
            case "RUN":
                image.run(arguments)
        print(f"{time.monotonic() - began:7.1f} s  {name} {arguments[:80]}", flush=True)
    return image


def serve(image: Image, stage: Stage, cache: Path | None) -> subprocess.Popen[bytes]:
    """Start the image's command with its files read-only, in its own namespaces of processes and mounts;
    ``cache``: a folder that is mounted writable where the caches are."""
    root = image.root
    mounts = [
        f"mount --bind {root} {root}",
        f"mount -o remount,ro,bind {root}",
        f"mount -t proc proc {root}/proc",
        f"mount --rbind /dev {root}/dev",
        f"mount -t tmpfs tmpfs {root}/dev/shm",
        f"mount -t tmpfs tmpfs {root}/tmp",
    ]
    if cache is not None:
        mounts.append(f"mount --bind {cache} {root}/var/cache/ggp")
    words = [*stage.command("ENTRYPOINT"), *stage.command("CMD")]
    script = " && ".join([*mounts, 'exec "$@"'])
    unshared = ["unshare", "--mount", "--pid", "--fork", "--kill-child=SIGTERM", "--ipc"]
    return subprocess.Popen(
        [*unshared, "sh", "-c", script, "sh", *image.prefix(), *words], env=image.environment
    )


def healthy(image: Image, stage: Stage) -> bool:
    """Whether the image's own health check, run in it, says so in time."""
    words = stage.command("HEALTHCHECK")
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end:
        if not subprocess.run(
            [*image.prefix(), *words], env=image.environment, capture_output=True
        ).returncode:
            return True
        time.sleep(0.5)
    return False


def stop(server: subprocess.Popen[bytes]) -> float:
    """Send SIGTERM to the first process of the container, as engines do; the seconds until it has ended."""
    began = time.monotonic()
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text(encoding="utf-8").split()
    for child in children:
        os.kill(int(child), signal.SIGTERM)
    try:
        server.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        server.wait()
    return time.monotonic() - began


def files_of(place: Path) -> set[str]:
    """The names of all files below a folder, links not followed."""
    return {os.path.join(at, name) for at, _, names in os.walk(place) for name in names}


def try_serving(image: Image, stage: Stage, cache: Path | None) -> bool:
    """Serve, check the health, host a match against it, stop it by SIGTERM."""
    kind = "read-only" if cache is None else "read-only but the cache"
    before = files_of(image.root)
    server = serve(image, stage, cache)
    try:
        health = healthy(image, stage)
        words = [sys.executable, "-m", "ggp", "host", "tictactoe", "-p", f"http://127.0.0.1:{PORT},random"]
        hosted = subprocess.run([*words, "--clock", "10,3"], capture_output=True, text=True)
    finally:
        stopped = stop(server)
    changed = files_of(image.root) ^ before
    played = not hosted.returncode  # it is 1 where an answer had to be replaced
    print(f"\n{kind}: health {'holds' if health else 'DOES NOT HOLD'}")
    print(hosted.stdout[-600:], hosted.stderr[-600:])
    print(
        f"{kind}: the match {'was played' if played else 'WAS NOT PLAYED'}, "
        f"{len(changed)} files came or went, it ended {stopped:.1f} s after SIGTERM"
    )
    return health and played and not changed and stopped < _STOP_SECONDS


def main() -> int:
    """Build and try. Exit status 1 if something does not hold."""
    parser = command_line(__doc__)
    parser.add_argument("--base", type=Path, help="a root that an earlier call has kept")
    parser.add_argument("--keep", type=Path, help="keep the base's root here for the next call")
    parser.add_argument("--certificates", type=Path, help="of whom to trust, where a proxy needs that")
    options = parser.parse_args()
    context = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory(prefix="container") as folder:
        place = Path(folder)
        place.chmod(0o755)
        base = options.base or options.keep or place / "base"
        if not base.exists():
            base_root(base, options.certificates)
        built: dict[str, Image] = {}
        for number, stage in enumerate(every := stages(context / "Dockerfile")):
            built[stage.name or str(number)] = image = build(
                stage, base, place / f"stage{number}", context, built
            )
        last = every[-1]
        cache = place / "cache"
        for name in ("numba", "games"):
            (cache / name).mkdir(parents=True)
            shutil.chown(cache / name, int(image.user), int(image.user))
        return 0 if all([try_serving(image, last, None), try_serving(image, last, cache)]) else 1


if __name__ == "__main__":
    sys.exit(main())
