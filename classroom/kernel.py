"""The kernel process that a notebook runs in: started in a sandbox, limited, and watched while it works.

A graded notebook is somebody else's program. Where bubblewrap is installed its kernel sees the system's libraries, this
Python, `tiles` and an empty folder of its own: no network, no home, no course, no other student. Everywhere it has a
private home, scratch folder and Triton cache, and limits on memory, processes and file size. Whoever asks for a cell
to be executed gets an `Outcome`, also when the kernel dies, hangs or prints without end.

Without a sandbox the limits still hold, and the program can read the user's files and use the network: `sandbox_note`
says so. With a GPU the memory limit is left out, because CUDA reserves far more addresses than it uses.
"""

from __future__ import annotations

import functools
import glob
import json
import os
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from queue import Empty

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from nbformat import NotebookNode

KEPT_BYTES = 1_000_000  # of one cell's output; what follows is dropped
FLOOD_BYTES = 64_000_000  # of one cell's output; then the kernel is killed
SETTLE_SECONDS = 5.0  # between the reply of a cell and the last of its output
POLL_SECONDS = 0.2  # how soon a death is noticed

_ENVIRONMENT = ("PATH", "LANG", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT", "VIRTUAL_ENV", "PYTHONPATH")
_ENVIRONMENT_PREFIXES = ("LC_", "CUDA_", "NVIDIA_")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix", "/gnu", "/sys")
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "passwd", "group", "nsswitch.conf", "localtime", "fonts")
_DEVICES = ("/dev/nvidia*", "/dev/dri", "/dev/kfd", "/dev/dxg")

# Runs inside the new process, before ipykernel: limits first, so that nothing escapes them.
_START = """
import json, os, sys
limits, connection = json.loads(sys.argv[1]), sys.argv[2]
try:
    import resource
    for name, value in limits.items():
        kind = getattr(resource, name, None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
except ImportError:
    pass
if sys.platform == "linux":
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL: no kernel outlives its grader
sys.argv = ["kernel", "-f", connection, "--HistoryManager.hist_file=:memory:"]
from ipykernel.kernelapp import launch_new_instance
launch_new_instance()
"""


class KernelStartError(RuntimeError):
    """The kernel did not start; the message holds the end of what it wrote to stderr."""


@dataclass
class Outcome:
    """What came of one cell. `status` is "ok", "error", "died", "timeout" or "flood"; after the last three the kernel is gone."""

    status: str = "error"
    outputs: list[NotebookNode] = field(default_factory=list)
    truncated: bool = False

    def add(self, output: NotebookNode, room: bool) -> None:
        """Keep an output while there is room; an error always, cut short."""
        self.truncated |= not room
        if output.output_type == "error":
            output.evalue = str(output.evalue)[:KEPT_BYTES]
        if room or output.output_type == "error":
            self.outputs.append(output)

    @property
    def ok(self) -> bool:
        return self.status == "ok" and self.error is None

    @property
    def gone(self) -> bool:
        return self.status in ("died", "timeout", "flood")

    @property
    def error(self) -> tuple[str, str] | None:
        """The name and the text of the exception that was shown, if any."""
        errors = [output for output in self.outputs if output.output_type == "error"]
        return (str(errors[-1].ename), str(errors[-1].evalue)) if errors else None


def limits() -> dict[str, int]:
    """Resource limits of a graded kernel, by their names in the module `resource`; sizes in bytes."""
    wanted = {"RLIMIT_FSIZE": 256 << 20, "RLIMIT_CORE": 0, "RLIMIT_NPROC": _threads_of_user() + 512}
    return wanted if _gpu_devices() else {**wanted, "RLIMIT_AS": 6 << 30}


def _threads_of_user() -> int:
    """How many threads the user runs now: RLIMIT_NPROC counts all of them."""
    count = 0
    for status in glob.glob("/proc/[0-9]*/task"):
        try:
            if os.stat(status).st_uid == os.getuid():
                count += len(os.listdir(status))
        except OSError:
            continue
    return count


def _gpu_devices() -> list[str]:
    return [path for pattern in _DEVICES for path in glob.glob(pattern)]


# The sandbox


@functools.cache
def sandbox_problem() -> str | None:
    """Why no sandbox can be had on this machine, or None. Tried once, with the options that a kernel gets."""
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed"
    with tempfile.TemporaryDirectory(prefix="tiles-") as work:
        trial = subprocess.run([*_sandbox(Path(work)), sys.executable, "-c", "pass"], capture_output=True, text=True)
    reason = (trial.stderr.strip().splitlines() or ["no reason given"])[0]
    return None if trial.returncode == 0 else f"bubblewrap does not work here ({reason})"


def sandbox_note(mode: str) -> str | None:
    """One sentence for the report of a run without a sandbox, or None. `mode` is "auto", "on" or "off"."""
    reason = "--sandbox off was given" if mode == "off" else sandbox_problem()
    return (
        f"{reason}: the notebook's code ran with your rights, it could read your files and use the network." if reason else None
    )


def _sandbox(work: Path) -> list[str]:
    """The bubblewrap command in front of a kernel whose folder is `work`."""
    command = ["bwrap", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    for path in [*_SYSTEM, *(f"/etc/{name}" for name in _ETC), *_visible()]:
        command += ["--ro-bind-try", path, path]
    for path in _gpu_devices():
        command += ["--dev-bind-try", path, path]
    isolation = ["--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--unsetenv", "JPY_PARENT_PID"]
    return [*command, "--bind", str(work), str(work), *isolation, "--chdir", str(work)]


def _visible() -> list[str]:
    """This Python with its packages, and `tiles`; not the course around it."""
    python = Path(os.path.realpath(sys.executable)).parent.parent
    libraries = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if os.path.isdir(path)]
    folders = [sys.base_prefix, sys.prefix, str(python), *site.getsitepackages(), site.getusersitepackages(), *libraries]
    tiles = _tiles_folder()
    return [path for path in dict.fromkeys([*folders, *([str(tiles)] if tiles else [])]) if path not in ("/", str(Path.home()))]


def _tiles_folder() -> Path | None:
    spec = find_spec("tiles")
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


# The process


class Kernel:
    """A running kernel. With `environment` left out it is a graded one: private folders and limits, and a sandbox if asked for.

    `cwd` is its working folder (default: an empty one); `keep_bytes` of a cell's output are kept.
    Raises KernelStartError when it does not answer in `startup_seconds`.
    """

    def __init__(
        self,
        *,
        sandbox: bool = False,
        startup_seconds: float = 60,
        environment: dict[str, str] | None = None,
        cwd: Path | None = None,
        keep_bytes: int = KEPT_BYTES,
    ):
        self.keep_bytes = keep_bytes
        temporary = tempfile.gettempdir()
        # The path of a unix socket has at most 107 characters.
        self.work = Path(tempfile.mkdtemp(prefix="tiles-", dir=temporary if len(temporary) < 70 else "/tmp")).resolve()
        for folder in ("home", "tmp", "cwd"):
            (self.work / folder).mkdir()
        self._client = None
        self._process = None
        try:
            self._start(sandbox, environment, cwd or self.work / "cwd")
            self._wait_until_ready(time.monotonic() + startup_seconds)
        except BaseException:
            self.stop()
            raise

    def _start(self, sandbox: bool, environment: dict | None, cwd: Path) -> None:
        connection = str(self.work / "connection.json")
        transport = {"transport": "ipc", "ip": str(self.work / "k")} if os.name == "posix" else {"transport": "tcp"}
        write_connection_file(connection, key=uuid.uuid4().hex.encode(), **transport)
        command = [sys.executable, "-c", _START, json.dumps(limits() if environment is None else {}), connection]
        if sandbox:
            command = [*_sandbox(self.work), "--chdir", str(cwd), *command]
        env = _private_environment(self.work) if environment is None else dict(environment)
        if not sandbox and sys.platform != "linux":
            env["JPY_PARENT_PID"] = str(os.getpid())
        with open(self.work / "stderr", "w") as stderr:
            self._process = subprocess.Popen(
                command,
                cwd=self.work if sandbox else cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            )
        self._client = BlockingKernelClient(connection_file=connection)
        self._client.load_connection_file()
        self._client.start_channels(stdin=False, hb=False)

    def _wait_until_ready(self, deadline: float) -> None:
        """Until both channels have answered one and the same request: then no output can be lost."""
        while time.monotonic() < deadline and self.alive():
            request = self._client.kernel_info()
            if self._answered(request, min(deadline, time.monotonic() + 1)):
                return
        tail = (self.work / "stderr").read_text(errors="replace")[-500:]
        raise KernelStartError(f"the kernel did not start: {tail.strip() or 'it wrote nothing'}")

    def _answered(self, request: str, deadline: float) -> bool:
        replied = idle = False
        while not (replied and idle) and time.monotonic() < deadline and self.alive():
            for message in self._messages():
                if message["parent_header"].get("msg_id") == request:
                    replied |= message["msg_type"] == "kernel_info_reply"
                    idle |= message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"
        return replied and idle

    def _messages(self):
        """What has arrived on both channels, waiting a moment for the first message."""
        for channel, wait in ((self._client.iopub_channel, POLL_SECONDS), (self._client.shell_channel, 0)):
            while True:
                try:
                    yield channel.get_msg(timeout=wait)
                except Empty:
                    break
                wait = 0

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def execute(self, source: str, seconds: float) -> Outcome:
        """Run one cell for at most `seconds`. After a death, a timeout or a flood the kernel is stopped."""
        outcome, size, status, idle, exiting = Outcome(), 0, None, False, False
        if not self.alive():
            return Outcome("died")
        request = self._client.execute(source, store_history=False, allow_stdin=False, stop_on_error=False)
        deadline = time.monotonic() + seconds
        while status is None or not idle:
            for message in self._messages():
                if message["parent_header"].get("msg_id") != request:
                    continue
                if message["msg_type"] == "execute_reply":
                    status = message["content"]["status"]
                    exiting = any(payload.get("source") == "ask_exit" for payload in message["content"].get("payload", []))
                    deadline = time.monotonic() + SETTLE_SECONDS
                elif message["msg_type"] == "status":
                    idle |= message["content"]["execution_state"] == "idle"
                elif (output := _output(message)) is not None:
                    size += _size(output)
                    outcome.add(output, size <= self.keep_bytes)
                if size > FLOOD_BYTES or time.monotonic() > deadline or (status and idle):
                    break
            gone = "flood" if size > FLOOD_BYTES else "died" if exiting or not self.alive() else None
            if not gone and time.monotonic() > deadline:
                gone = "timeout"
            if gone:
                self.stop()
                outcome.status = gone
                return outcome
        outcome.status = status
        return outcome

    def stop(self) -> None:
        """Kill the kernel and what it started, and remove its folder."""
        if self._client is not None:
            self._client.stop_channels()
            self._client.context.destroy(linger=0)
            self._client = None
        if self._process is not None:
            _kill_group(self._process)
        shutil.rmtree(self.work, ignore_errors=True)


def _kill_group(process: subprocess.Popen) -> None:
    """End a process and its group (it leads a session of its own)."""
    try:
        os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def _output(message: dict) -> NotebookNode | None:
    """The notebook output in a message, or None where it is none."""
    kind, content = message["msg_type"], message["content"]
    if kind == "stream":
        return NotebookNode(output_type=kind, name=content["name"], text=content["text"])
    if kind in ("display_data", "execute_result"):
        output = NotebookNode(output_type=kind, data=NotebookNode(content["data"]), metadata=NotebookNode(content["metadata"]))
        if kind == "execute_result":
            output["execution_count"] = content["execution_count"]
        return output
    if kind == "error":
        return NotebookNode(output_type=kind, ename=content["ename"], evalue=content["evalue"], traceback=content["traceback"])
    return None


def _size(output: NotebookNode) -> int:
    return (
        len(output.get("text", ""))
        + len(str(output.get("evalue", "")))
        + sum(len(str(value)) for value in output.get("data", {}).values())
    )


def _private_environment(work: Path) -> dict[str, str]:
    """The environment of a graded kernel: what a program needs to run, and nothing of the user's."""
    kept = {k: v for k, v in os.environ.items() if k in _ENVIRONMENT or k.startswith(_ENVIRONMENT_PREFIXES)}
    home, scratch = str(work / "home"), str(work / "tmp")
    folders = {"HOME": home, "USERPROFILE": home, "IPYTHONDIR": f"{home}/ipython", "XDG_CACHE_HOME": f"{home}/cache"}
    scratches = {"TMPDIR": scratch, "TEMP": scratch, "TMP": scratch, "TRITON_CACHE_DIR": f"{home}/triton"}
    quiet = {"USER": "student", "NO_COLOR": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1", "PYTHONHASHSEED": "0"}
    # Threads cost address space, which is limited: 64 cores would use it up.
    threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "MALLOC_ARENA_MAX": "4"}
    if tiles := _tiles_folder():
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(tiles.parent), kept.get("PYTHONPATH")]))
    return {**kept, **folders, **scratches, **quiet, **threads, "MPLCONFIGDIR": _matplotlib_folder(work)}


def _matplotlib_folder(work: Path) -> str:
    """A private matplotlib folder that already holds the list of fonts; making that list takes seconds."""
    folder = work / "home" / "matplotlib"
    folder.mkdir()
    for cache in _font_lists():
        shutil.copy(cache, folder)
    return str(folder)


@functools.cache
def _font_lists() -> list[str]:
    """The user's lists of fonts, made on the first call where there are none; empty without matplotlib."""
    if find_spec("matplotlib") is None:
        return []
    find = "import matplotlib.font_manager, matplotlib; print(matplotlib.get_cachedir())"
    made = subprocess.run([sys.executable, "-c", find], capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "agg"})
    folder = made.stdout.strip().splitlines()[-1:] or [""]
    return glob.glob(f"{glob.escape(folder[0])}/fontlist-*.json") if folder[0] else []
