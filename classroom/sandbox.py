"""Where the kernels of graded notebooks run, and what they may see and use.

A graded notebook is somebody else's program. There are three levels, the first that works on a machine is taken:

"bubblewrap"  it sees the system's libraries, this Python and `tiles`, all read-only, and empty folders of its own, in
              memory: no network, no home, no course, no other student, no other process
"user"        for root without bubblewrap (a container, Gradescope): a user of its own, who reads what every user may
"limits"      the rights of whoever grades

On each level it has a private home, scratch folder and Triton cache, and limits on time, memory, processes, file size
and output; `note` says in a sentence what is not protected. Linux alone has levels; elsewhere a kernel has a private
home, and nothing more.

Kernels are forked from a warm process: see `classroom.nursery`.
"""

from __future__ import annotations

import atexit
import functools
import glob
import json
import os
import shutil
import site
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from classroom import nursery

LEVELS = ("bubblewrap", "user", "limits")
MEMORY_BYTES, MEMORY_BYTES_GPU = 6 << 30, 16 << 30  # of a kernel and what it starts; CUDA takes some of it
PROCESSES = 512  # and threads
DISK_BYTES = 1 << 30  # of /tmp and of /dev/shm, which are in memory; under bubblewrap only
FILE_BYTES = 256 << 20  # of one file
_FIRST_USER, _USERS = 20_000, 40_000  # where the user of level "user" is taken from

_ENVIRONMENT = ("PATH", "LANG", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT", "VIRTUAL_ENV", "PYTHONPATH")
_ENVIRONMENT_PREFIXES = ("LC_", "CUDA_", "NVIDIA_")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix", "/gnu", "/sys")
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "passwd", "group", "nsswitch.conf", "localtime", "fonts")
_DEVICES = ("/dev/nvidia*", "/dev/dri", "/dev/kfd", "/dev/dxg")
_PROGRAM = Path(nursery.__file__).read_text(encoding="utf-8")

# Run in the warm process after a lesson's imports: what each kernel would do anew.
_AFTER_IMPORTS = (
    "import ipykernel.debugger, IPython.core.completerlib, IPython.extensions.storemagic, tornado.platform.asyncio",
    "import sys; 'numpy' in sys.modules and __import__('numpy.random')",
    "import sys; 'triton' in sys.modules and __import__('triton.runtime.cache').runtime.cache.triton_key()",
    # The first kernel that a process interprets, and the first that it compiles, take longer than the next ones.
    "import sys; {'tiles', 'triton'} <= sys.modules.keys() and [__import__('tiles.launchers'), __import__('tiles.doctor')]",
    "import sys; 'tiles.doctor' in sys.modules and (sys.modules['tiles.doctor'].interpreter(), sys.modules['tiles.doctor'].compiler())",
)


# Levels


@functools.cache
def level(mode: str) -> str:
    """The level at which kernels run here. `mode` is "auto", "on" (bubblewrap or nothing) or "off" (limits alone)."""
    if mode != "off" and sandbox_problem() is None:
        return "bubblewrap"
    return "user" if mode == "auto" and user_problem() is None else "limits"


@functools.cache
def sandbox_problem() -> str | None:
    """Why bubblewrap cannot be used on this machine, or None. Tried once, with the options that a kernel gets."""
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    trial = subprocess.run([*_bubblewrap(), sys.executable, "-c", _PROGRAM], capture_output=True, text=True)
    reason = (trial.stderr.strip().splitlines() or ["no reason given"])[0]
    return None if trial.returncode == 0 else f"bubblewrap does not work here ({reason})"


@functools.cache
def user_problem() -> str | None:
    """Why kernels cannot run as a user of their own, or None. Tried once: that user has to be able to read this Python."""
    if sys.platform != "linux" or os.getuid() != 0:
        return "only root can choose another user"
    try:
        trial = subprocess.run(
            [sys.executable, "-c", "import ipykernel, numpy"],
            capture_output=True,
            text=True,
            cwd="/",
            user=_FIRST_USER,
            group=_FIRST_USER,
            extra_groups=[],
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return None if trial.returncode == 0 else f"another user cannot run {sys.executable}"


def note(mode: str) -> str | None:
    """A sentence for the report of a run without bubblewrap, which says what is not protected; or None."""
    reason = "--sandbox off was given" if mode == "off" else sandbox_problem()
    if reason is None:
        return None
    if level(mode) == "user":
        return (
            f"{reason}: the notebook's code ran as a user of its own. "
            "It could use the network, read the files that every user may read, and fill the disk."
        )
    return f"{reason}: the notebook's code ran with your rights, it could read your files and use the network."


def limits() -> dict[str, int]:
    """Resource limits of a process of a graded kernel, by their names in the module `resource`; sizes in bytes.

    With a GPU addresses are not limited, because CUDA reserves far more than it uses; the warden measures memory.
    """
    wanted = {"RLIMIT_FSIZE": FILE_BYTES, "RLIMIT_CORE": 0, "RLIMIT_NOFILE": 1024, "RLIMIT_NPROC": _threads_of_user() + PROCESSES}
    return wanted if gpu_devices() else {**wanted, "RLIMIT_AS": memory_limit()}


def memory_limit() -> int:
    """Bytes that a graded kernel and what it starts may use together."""
    return MEMORY_BYTES_GPU if gpu_devices() else MEMORY_BYTES


def _threads_of_user() -> int:
    """How many threads the user runs now: RLIMIT_NPROC counts all of them."""
    count = 0
    for tasks in glob.glob("/proc/[0-9]*/task"):
        try:
            if os.stat(tasks).st_uid == os.getuid():
                count += len(os.listdir(tasks))
        except OSError:
            continue
    return count


def gpu_devices() -> list[str]:
    """The device files that a program needs to use a GPU."""
    return [path for pattern in _DEVICES for path in glob.glob(pattern)]


# The nursery


class Nursery:
    """A warm process that kernels are forked from, at one of the LEVELS. Linux only."""

    def __init__(self, where: str):
        self.level = where
        self._owner = os.getpid()
        self.folder = short_temporary_folder()
        self._address = str(self.folder / "nursery")
        self.course = _tiles_copy(self.folder) if where == "user" else tiles_folder()
        base = self.home(self.folder)
        fonts = _font_lists()
        if where == "bubblewrap":
            seen = [str(base / "home" / "matplotlib" / Path(path).name) for path in fonts]
            extra = [option for path, place in zip(fonts, seen) for option in ("--ro-bind", path, place)]
            command = _bubblewrap(*extra)
        else:
            command = []
            for path in private_folders(base):
                os.makedirs(path)
            for path in fonts:
                shutil.copy(path, base / "home" / "matplotlib")
        with socket.socket(socket.AF_UNIX) as listener, open(self.folder / "stderr", "w") as stderr:
            listener.bind(self._address)
            listener.listen(64)
            self._process = subprocess.Popen(
                [*command, sys.executable, "-c", _PROGRAM, str(listener.fileno())],
                pass_fds=[listener.fileno()],
                env=environment(base, self.course),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            )

    def home(self, work: Path) -> Path:
        """Where a kernel has its private folders: inside the sandbox, or in `work`."""
        return Path(_private_mount(), "tiles") if self.level == "bubblewrap" else work / "private"

    def connect(self, request: dict, descriptors: list[int]) -> socket.socket:
        """Ask for a kernel. Hanging up ends it, and it hangs up when it has ended. Raises OSError when the nursery is gone."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(self._address)
            text = json.dumps(request).encode()
            if len(text) > nursery.MOST_REQUEST // 8:
                raise ValueError("a request for a kernel is too long")
            socket.send_fds(connection, [text], descriptors)
        except BaseException:
            connection.close()
            raise
        return connection

    def complaint(self) -> str:
        """The end of what the nursery wrote to stderr."""
        try:
            return (self.folder / "stderr").read_text(errors="replace")[-500:].strip()
        except OSError:
            return ""

    def alive(self) -> bool:
        return self._owner != os.getpid() or self._process.poll() is None

    def stop(self) -> None:
        """End the process and its kernels; in a fork of the process that started it: nothing."""
        if self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
            shutil.rmtree(self.folder, ignore_errors=True)


_nurseries: dict[str, Nursery] = {}


def shared_nursery(where: str) -> Nursery:
    """This process's nursery for a level, started anew when it has died; forks of the process use it too."""
    if where not in _nurseries or not _nurseries[where].alive():
        _nurseries[where] = Nursery(where)
        atexit.register(_nurseries[where].stop)
    return _nurseries[where]


def warm(mode: str) -> None:
    """Start the nursery that kernels of this process and of its forks will use; `mode` as for `level`. Linux only."""
    if sys.platform == "linux":
        shared_nursery(level(mode))


def short_temporary_folder() -> Path:
    """A new folder with a short name: the path of a unix socket has at most 107 characters."""
    temporary = tempfile.gettempdir()
    folder = Path(tempfile.mkdtemp(prefix="tiles-", dir=temporary if len(temporary) < 70 else "/tmp")).resolve()
    folder.chmod(0o711)  # the user of a kernel passes through it to folders of its own
    return folder


# What a kernel sees


def _bubblewrap(*extra: str) -> list[str]:
    """The bubblewrap command in front of a nursery, with `extra` options for its /tmp.

    Its /tmp is what a kernel covers with one of its own; where this Python lies in /tmp, that is read-only instead.
    The nursery's /proc is the machine's: only with that may a kernel's namespace have one of its own. The capability is
    what root needs to stay root in it; kernels have none.
    """
    private = _private_mount()
    command = ["bwrap", "--dev", "/dev", "--tmpfs", "/dev/shm", "--bind", "/proc", "/proc", "--tmpfs", "/tmp"]
    command += [] if private == "/tmp" else ["--tmpfs", private]
    for path in private_folders(Path(private, "tiles")):
        command += ["--dir", path]
    for path in [*_SYSTEM, *(f"/etc/{name}" for name in _ETC), *_visible()]:
        command += ["--ro-bind-try", path, path]
    for path in gpu_devices():
        command += ["--dev-bind-try", path, path]
    isolation = ["--unshare-user-try", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    rights = ["--cap-drop", "ALL", *(["--cap-add", "CAP_SETFCAP"] if os.getuid() == 0 else [])]
    sealed = [option for path in ("/dev", "/", "/tmp")[: 2 if private == "/tmp" else 3] for option in ("--remount-ro", path)]
    return [*command, *extra, *sealed, *isolation, *rights, "--die-with-parent", "--new-session", "--chdir", private]


def _private_mount() -> str:
    """Where a kernel under bubblewrap has its folders: in /tmp, unless what it must see lies there."""
    return "/run/tiles" if any(path.startswith("/tmp/") for path in _visible()) else "/tmp"


def _visible() -> list[str]:
    """This Python with its packages, and `tiles`; not the course around it."""
    python = Path(os.path.realpath(sys.executable)).parent.parent
    added = [path for name in ("LD_LIBRARY_PATH", "PYTHONPATH") for path in os.environ.get(name, "").split(":")]
    folders = [sys.base_prefix, sys.prefix, str(python), *site.getsitepackages(), site.getusersitepackages(), *added]
    course = Path(__file__).resolve().parent
    hidden = {str(path) for path in (*course.parents, *Path.home().parents, Path.home())}  # each holds more than Python
    found = [path for path in folders if os.path.isdir(path) and os.path.realpath(path) not in hidden]
    return list(dict.fromkeys([*found, *map(str, filter(None, [tiles_folder()]))]))


def tiles_folder() -> Path | None:
    """Where the package `tiles` lies."""
    spec = find_spec("tiles")
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


def request(nursery_: Nursery, work: Path, connection: dict, prepare: Sequence[str]) -> dict:
    """What `Nursery.connect` sends for a kernel. `work` is its folder outside, `prepare` what to import before it is forked."""
    base = nursery_.home(work)
    isolated = nursery_.level == "bubblewrap"
    return {
        # A fork cannot use a GPU that was opened before.
        "prepare": [line for line in prepare if not gpu_devices() or "tiles" not in line] + list(_AFTER_IMPORTS),
        "isolated": isolated,
        "mounts": [_private_mount(), "/dev/shm"],
        "user": kernel_user() if nursery_.level == "user" else None,
        "folders": private_folders(base),
        "cwd": str(base / "cwd"),
        "environment": environment(base, nursery_.course),
        "limits": limits(),
        "memory": memory_limit(),
        "processes": PROCESSES,
        "disk": DISK_BYTES,
        "connection": connection,
    }


def _tiles_copy(folder: Path) -> Path | None:
    """A copy of `tiles` that every user may read."""
    source = tiles_folder()
    if source is None:
        return None
    copy = folder / "course" / "tiles"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [copy.parent, copy, *copy.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return copy


def private_folders(base: Path) -> list[str]:
    """The folders of a kernel, in `base`, parents first."""
    return [str(base), *(str(base / name) for name in ("home", "home/matplotlib", "tmp", "cwd"))]


def environment(base: Path, tiles: Path | None) -> dict[str, str]:
    """The environment of a graded kernel: what a program needs to run, and nothing of the user's."""
    kept = {k: v for k, v in os.environ.items() if k in _ENVIRONMENT or k.startswith(_ENVIRONMENT_PREFIXES)}
    home, scratch = str(base / "home"), str(base / "tmp")
    folders = {"HOME": home, "USERPROFILE": home, "IPYTHONDIR": f"{home}/ipython", "XDG_CACHE_HOME": f"{home}/cache"}
    scratches = {"TMPDIR": scratch, "TEMP": scratch, "TMP": scratch, "TRITON_CACHE_DIR": f"{home}/triton"}
    quiet = {"USER": "student", "NO_COLOR": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1", "PYTHONHASHSEED": "0"}
    quiet["MPLBACKEND"] = "agg"  # no check looks at a figure, so none is drawn
    # A submission has a core: threads that wait for small pieces of work take it from others, and addresses are limited.
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "4"}
    if tiles:
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(tiles.parent), kept.get("PYTHONPATH")]))
    return {**kept, **folders, **scratches, **quiet, **threads, "MPLCONFIGDIR": f"{home}/matplotlib"}


@functools.cache
def _font_lists() -> list[str]:
    """The user's lists of fonts, made on the first call where there are none, which takes seconds; empty without matplotlib."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(os.environ.get("MPLCONFIGDIR") or cache / "matplotlib")
    if not list(folder.glob("fontlist-*.json")) and find_spec("matplotlib"):
        make = "import matplotlib.font_manager"
        subprocess.run([sys.executable, "-c", make], capture_output=True, env={**os.environ, "MPLBACKEND": "agg"})
    return [str(path) for path in folder.glob("fontlist-*.json")]


def kernel_user() -> int:
    """The number of the user for level "user": one for each process that grades."""
    return _FIRST_USER + os.getpid() % _USERS
