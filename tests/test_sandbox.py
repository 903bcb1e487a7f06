"""Kernels of graded notebooks: what they see, what they may use, and that nothing of them stays."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from classroom import sandbox
from classroom.kernel import Kernel, KernelStartError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="levels are for Linux")
needs_bubblewrap = pytest.mark.skipif(sandbox.sandbox_problem() is not None, reason=f"{sandbox.sandbox_problem()}")
LEVEL = sandbox.level("auto")


@pytest.fixture
def start():
    """start(**options) -> a kernel, ended after the test."""
    kernels = []

    def start(level=LEVEL, **options):
        kernels.append(Kernel(level=level, **options))
        return kernels[-1]

    yield start
    for kernel in kernels:
        kernel.stop()


def printed(kernel: Kernel, source: str, seconds: float = 20) -> str:
    """What a cell prints on stdout; it has to end well."""
    outcome = kernel.execute(textwrap.dedent(source), seconds)
    assert outcome.ok, (outcome.status, outcome.error)
    return "".join(output.text for output in outcome.outputs if output.get("name") == "stdout").strip()


def alive(number: int) -> bool:
    return Path(f"/proc/{number}").exists()


def wait_until(condition, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


@needs_bubblewrap
def test_what_is_seen(start):
    course = Path(sandbox.tiles_folder()).parent
    kernel = start("bubblewrap", prepare=["import numpy"])
    places = [
        str(course / "solutions"),
        str(course / "classroom"),
        str(Path.home() / ".ssh"),
        "/etc/shadow",
        "/var",
        "/root/.bashrc",
    ]
    seen = json.loads(printed(kernel, f"import json, os; print(json.dumps([p for p in {places} if os.path.exists(p)]))"))
    assert seen == []
    assert printed(kernel, "import tiles, numpy, os; print(os.path.basename(os.environ['HOME']), os.listdir('.'))") == "home []"
    assert len(printed(kernel, "print(*[p for p in os.listdir('/proc') if p.isdigit()])").split()) <= 3
    assert printed(kernel, "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('CapEff')])") == (
        "['0000000000000000']"
    )


@needs_bubblewrap
def test_nothing_can_be_written_but_what_is_its_own(start):
    kernel = start("bubblewrap")
    source = """
    import os
    for folder in ("/", "/dev", "/usr", "/etc", "/proc/sys/kernel", {tiles!r}, {prefix!r}, "/tmp", "/dev/shm", os.environ["HOME"]):
        try:
            open(os.path.join(folder, "written"), "w").close()
            print(folder)
        except OSError:
            pass
    """
    written = printed(kernel, source.format(tiles=str(sandbox.tiles_folder()), prefix=sys.prefix)).split()
    assert [path for path in written if "tiles/home" not in path] in (["/tmp", "/dev/shm"], ["/dev/shm"])
    assert printed(
        start("bubblewrap"), "import os; print(os.path.exists('/dev/shm/written'), os.path.exists('/tmp/written'))"
    ) == ("False False")


@needs_bubblewrap
def test_no_network_and_no_way_out(start):
    source = """
    import ctypes, os, socket
    libc = ctypes.CDLL(None)
    try:
        socket.create_connection(("1.1.1.1", 53), 2)
        print("network")
    except OSError:
        pass
    print(libc.unshare(0x10000000), libc.mount(b"none", b"/tmp", b"tmpfs", 0, None), libc.umount2(b"/proc", 2))
    for number in (1, os.getppid(), -1):
        try:
            os.kill(number, 9)
        except OSError:
            pass
    """
    kernel = start("bubblewrap")
    assert printed(kernel, source) == "-1 -1 -1"
    assert printed(kernel, "print('alive')") == "alive"


@needs_bubblewrap
@pytest.mark.parametrize("kind", ["bytes", "files"])
def test_the_private_disk_is_small(start, monkeypatch, kind):
    monkeypatch.setattr(sandbox, "DISK_BYTES", 30 << 20)
    kernel = start("bubblewrap")
    size = 1 << 20 if kind == "bytes" else 0
    source = f"""
    import itertools, os
    try:
        for count in itertools.count():
            with open(f"{{os.environ['HOME']}}/{{count}}", "wb") as file:
                file.write(bytes({size}))
    except OSError as error:
        print(error.errno, count)
    """
    number, count = printed(kernel, source).split()
    assert number == "28" and int(count) <= (30 if kind == "bytes" else 100_000)


@pytest.mark.parametrize(
    "source, status",
    [
        ("x = [bytes([1]) * (64 << 20) for _ in range(40)]; import time; time.sleep(5)", "memory"),
        (
            "import os, time\nfor _ in range(8):\n    os.fork() or (bytes([1]) * (300 << 20), time.sleep(9))\ntime.sleep(9)",
            "memory",
        ),
        ("import os, time\nfor _ in range(200):\n    os.fork() or time.sleep(9)\ntime.sleep(9)", "processes"),
        (
            "import threading, time\nfor _ in range(200):\n    threading.Thread(target=time.sleep, args=(9,)).start()\ntime.sleep(9)",
            "processes",
        ),
    ],
    ids=["one process", "memory of children", "processes", "threads"],
)
def test_too_much(start, monkeypatch, source, status):
    monkeypatch.setattr(sandbox, "memory_limit", lambda: 1 << 30 if status == "memory" else 64 << 30)
    monkeypatch.setattr(sandbox, "PROCESSES", 2000 if status == "memory" else 80)
    monkeypatch.setattr(sandbox, "limits", lambda: {})
    outcome = start().execute(source, 15)
    assert outcome.status == status or (outcome.error or ("",))[0] in ("RuntimeError", "BlockingIOError")


def test_a_process_cannot_hide_behind_its_name(start, monkeypatch):
    monkeypatch.setattr(sandbox, "PROCESSES", 80)
    source = """
    import os, time
    for _ in range(200):
        if os.fork() == 0:
            open("/proc/self/comm", "wb").write(b"\\xff)")
            time.sleep(9)
    time.sleep(9)
    """
    assert start().execute(textwrap.dedent(source), 15).status == "processes"


def test_no_open_file_has_a_name_outside(start):
    """Whoever may write to a file may change its mode; under a name, another user could then run it as its owner."""
    source = """
    import os, stat
    for number in os.listdir("/proc/self/fd"):
        if os.path.exists(path := f"/proc/self/fd/{number}") and stat.S_ISREG(os.stat(path).st_mode):
            print(os.readlink(path))
    """
    assert all(name.endswith(" (deleted)") for name in printed(start(), source).splitlines())


@needs_bubblewrap
def test_what_the_session_of_the_user_holds(start):
    """The keyring that a login gives, the first process of the namespace, the mode of a device."""
    source = """
    import ctypes, os
    libc = ctypes.CDLL(None)
    print(libc.ptrace(16, 1, 0, 0))
    try:
        os.chmod("/dev/null", 0o666)
        print("changed")
    except OSError:
        print(open("/proc/self/oom_score_adj").read().strip(), open("/dev/null", "w").write("x"))
    print(libc.syscall(250, 11, -3, 0, 0) if os.uname().machine == "x86_64" else 0)  # the length of the keyring
    """
    assert printed(start("bubblewrap"), source).split() == ["-1", "1000", "1", "0"]


def test_what_is_no_message_ends_the_kernel(start, monkeypatch):
    kernel = start()
    monkeypatch.setattr(kernel, "_messages", lambda: iter([{"parent_header": None}]))
    assert kernel.execute("print(1)", 5).status == "died" and not kernel.alive()


def test_a_huge_output_is_not_kept(start):
    kernel = start()
    assert kernel.execute("print('x' * (150 << 20))", 20).gone


@pytest.mark.skipif(bool(sandbox.gpu_devices()), reason="CUDA reserves more addresses than there is memory")
def test_a_limit_on_addresses_is_an_ordinary_error(start):
    outcome = start().execute("bytearray(50 << 30)", 15)
    assert outcome.status == "error" and outcome.error[0] == "MemoryError"


@pytest.mark.parametrize("end", ["stop", "death", "owner killed"])
def test_what_a_kernel_started_ends_with_it(start, tmp_path, end):
    """Also what has left its session and was born twice."""
    name = f"daemon-{os.getpid() % 100_000}"  # other tests start daemons beside this one
    daemon = f"""
    import os, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            open("/proc/self/comm", "w").write({name!r})
            time.sleep(100)
        os._exit(0)
    os.wait()
    """
    program = f"""
    import sys
    from classroom.kernel import Kernel
    kernel = Kernel(level={LEVEL!r})
    kernel.execute({textwrap.dedent(daemon)!r}, 10)
    print("ready", flush=True)
    sys.stdin.readline()
    kernel.{"stop()" if end == "stop" else "execute('import os; os._exit(1)', 10)"}
    print("ended", flush=True)
    sys.stdin.readline()
    """
    owner = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout.readline() == "ready\n"
    assert wait_until(lambda: called(name))
    daemons = called(name)
    if end == "owner killed":
        owner.send_signal(signal.SIGKILL)
    else:
        owner.stdin.write("\n")
        owner.stdin.flush()
        assert owner.stdout.readline() == "ended\n"
    assert wait_until(lambda: not any(map(alive, daemons)))
    owner.kill()
    owner.communicate()


def called(name: str) -> list[str]:
    """The processes that gave themselves this name."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if (path / "comm").read_text().strip() == name:
                found.append(path.name)
        except OSError:
            continue
    return found


def test_a_nursery_that_has_died_is_replaced(start):
    start()
    nursery = sandbox.shared_nursery(LEVEL)
    os.killpg(nursery._process.pid, signal.SIGKILL)
    nursery._process.wait()
    assert printed(start(), "print(1)") == "1"


def test_a_nursery_that_does_not_start_says_why(monkeypatch):
    monkeypatch.setattr(sandbox, "_nurseries", {})
    monkeypatch.setattr(sandbox, "_PROGRAM", "import sys; sys.exit('no room')")
    with pytest.raises(KernelStartError, match="no room"):
        Kernel(level="limits")


def test_kernels_share_no_memory_and_no_chance(start):
    """Forks of one process: what one changes is not there for the next, and their random numbers differ."""
    draw = "import random, numpy; print(random.random(), numpy.random.rand())"
    first, second = start(prepare=["import numpy"]), start(prepare=["import numpy"])
    first.execute("numpy.float32 = float; import numpy; numpy.pi = 3", 10)
    assert printed(second, "import numpy; print(numpy.pi > 3)") == "True"
    assert set(printed(first, draw).split()).isdisjoint(printed(second, draw).split())


def test_prepared_imports_are_there_already(start):
    assert (
        printed(start(prepare=["import colorsys", "import no_such_module"]), "import sys; print('colorsys' in sys.modules)")
        == "True"
    )


def test_the_environment_is_not_the_users(start, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "1")
    assert printed(start(), "import os; print(os.environ.get('SECRET_TOKEN'), os.environ['USER'])") == "None student"


def test_note(monkeypatch):
    monkeypatch.setattr(sandbox, "sandbox_problem", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(sandbox, "level", lambda mode: "user")
    assert "a user of its own" in sandbox.note("auto") and "network" in sandbox.note("auto")
    monkeypatch.setattr(sandbox, "level", lambda mode: "limits")
    assert "with your rights" in sandbox.note("auto")
    monkeypatch.setattr(sandbox, "sandbox_problem", lambda: None)
    assert sandbox.note("auto") is None and sandbox.note("off").startswith("--sandbox off was given")


@pytest.mark.skipif(sandbox.user_problem() is not None, reason=f"{sandbox.user_problem()}")
def test_a_user_of_its_own(start, tmp_path):
    private = tmp_path / "grades"
    private.mkdir(mode=0o700)
    kernel = start("user")
    assert printed(kernel, "import os; print(os.getuid() >= 20000, os.getgroups(), os.access('.', os.W_OK))") == "True [] True"
    assert printed(kernel, "import tiles; print('ok')") == "ok"
    outcome = kernel.execute(f"import os; os.listdir({str(private)!r})", 10)
    assert outcome.error[0] == "PermissionError"
    assert printed(kernel, "import subprocess; print(subprocess.run(['kill', '-9', str(os.getppid())]).returncode)") == "1"
