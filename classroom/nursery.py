"""The warm process that graded kernels are forked from: it has imported what lessons import, and never runs an answer.

Importing torch takes longer than grading most notebooks, so it is done once. For each kernel that is asked for, the
nursery forks a *warden*, and the warden a kernel:

    nursery ─ fork ─ warden ─ fork ─ [init, process 1 of a namespace of its own] ─ fork ─ kernel

The warden stays outside. It ends the kernel, and all that the kernel started, when whoever asked hangs up, when the
kernel uses too much memory or starts too many processes; it hangs up itself when the kernel has ended, with one word
that says why.

Under bubblewrap the nursery already sees nothing but the system, Python and `tiles`, all of it read-only, and has no
network. Each kernel gets in addition namespaces of its own (users, processes, mounts, IPC, network), a private /tmp and /dev/shm
of limited size, and no capability. So nothing that one kernel writes, starts or locks is there for the next one.

This file is run as a program, from its text, where the course is not visible: it imports the standard library and
ipykernel alone. `classroom.sandbox` starts it and says what a request holds.
"""

from __future__ import annotations

import array
import ctypes
import fcntl
import gc
import json
import os
import random
import select
import signal
import socket
import struct
import sys
import tempfile
import time
from pathlib import Path

CHANNELS = ("shell", "iopub", "stdin", "control", "hb")  # the listening sockets of a request, in this order
POLL_SECONDS = 0.1
POLLS_ABOVE = 3  # the limit of memory, one after the other: a program that is being started counts as a second one as large
MOST_REQUEST = 1 << 20  # bytes

_NEW = {"mount": 0x20000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000}  # CLONE_NEW…
_NOSUID, _NODEV, _NOEXEC, _READ_ONLY, _REMOUNT, _BIND, _PRIVATE = 2, 4, 8, 1, 32, 4096, 0x44000  # MS_…
_PDEATHSIG, _DUMPABLE, _CAPBSET_DROP, _SUBREAPER, _NO_NEW_PRIVS = 1, 4, 24, 36, 38  # PR_SET_…
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Serve requests on the listening socket whose number is the argument, until the parent is gone.

    Without a number: try whether kernels can be isolated here; the exit status is 0 when they can.
    """
    _die_with_parent()
    if len(sys.argv) < 2:
        _run(_try_isolation)
    import ipykernel.kernelapp  # noqa: F401  the slow imports, once

    listener = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for wardens
    while True:
        connection, _ = listener.accept()
        request, descriptors = _receive(connection)
        if request is not None:
            for statement in request["prepare"]:
                _prepare(statement)
            gc.collect()
            gc.freeze()
            if os.fork() == 0:
                listener.close()
                _run(lambda: _guard(connection, request, descriptors))  # noqa: B023
        connection.close()
        for descriptor in descriptors:
            os.close(descriptor)


def _receive(connection: socket.socket) -> tuple[dict | None, list[int]]:
    """A request and the descriptors that came with it: stderr, then one listening socket for each channel."""
    most = (1 + len(CHANNELS)) * array.array("i").itemsize
    text, ancillary, _, _ = connection.recvmsg(MOST_REQUEST, socket.CMSG_SPACE(most))
    descriptors = array.array("i")
    for _, _, data in ancillary:
        descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    return (json.loads(text) if text else None), list(descriptors)


_prepared: set[str] = set()


def _prepare(statement: str) -> None:
    """Run a line of the lesson's own imports once; one that fails here fails in the student's kernel, and is told there."""
    if statement not in _prepared:
        _prepared.add(statement)
        try:
            exec(statement, {})
        except BaseException:
            pass


def _run(function) -> None:
    """Ends this process with what `function` returns; nothing of the process it was forked from runs on."""
    status = 70
    try:
        status = function() or 0
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


# The warden


def _guard(connection: socket.socket, request: dict, descriptors: list[int]) -> int:
    _die_with_parent()
    os.dup2(descriptors[0], 2)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    _new_keyring()
    if request["isolated"]:
        _leave_namespaces()
    parent = os.getpid()
    kernel = os.fork()
    if kernel == 0:
        connection.close()
        _run(lambda: _isolate(request, descriptors) if request["isolated"] else _become_kernel(request, descriptors, parent))
    for descriptor in descriptors[1:]:
        os.close(descriptor)
    reason = _watch(connection, kernel, request)
    _end(kernel, request)
    try:
        connection.sendall(reason.encode())
    except OSError:
        pass  # nobody is there to read it
    return 0


def _new_keyring() -> None:
    """A session keyring of its own: the one that is inherited holds the user's keys, and all kernels could write to it."""
    number = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)  # of keyctl
    if number:
        _libc.syscall(number, 1, None)  # KEYCTL_JOIN_SESSION_KEYRING


def _watch(connection: socket.socket, kernel: int, request: dict) -> str:
    """Why the kernel has to end: "stopped" by whoever asked, "died", or too much "memory" or "processes"."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    above = 0
    while not poll.poll(1000 * POLL_SECONDS):
        if os.waitpid(kernel, os.WNOHANG)[0]:
            return "died"
        memory, processes = _usage(request["isolated"])
        if processes > request["processes"]:
            return "processes"
        above = above + 1 if memory > request["memory"] else 0
        if above == POLLS_ABOVE:
            return "memory"
    return "stopped"


def _usage(isolated: bool) -> tuple[int, int]:
    """Bytes of memory and the number of processes and threads of a kernel; a page that two processes share counts twice."""
    if isolated and os.path.exists("/proc/self"):
        return 0, 0  # the namespace has no /proc of its own yet; when it has, this process, which is outside, is not in it
    numbers = filter(str.isdigit, _listed("/proc")) if isolated else _descendants(os.getpid())
    memory = processes = 0
    for number in numbers:
        try:
            lines = Path("/proc", str(number), "status").read_bytes().decode("latin-1").split("\n")  # a name may hold any byte
            status = dict(line.partition(":")[::2] for line in lines)
        except OSError:
            continue  # it has just ended
        processes += int(status.get("Threads", 1))
        memory += 1024 * sum(int(status[name].split()[0]) for name in ("RssAnon", "RssShmem") if name in status)
    return memory, processes


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _descendants(ancestor: int) -> list[int]:
    """The processes that descend from one, itself left out."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, _listed("/proc")):
        try:
            fields = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(name))
    found, waiting = [], [ancestor]
    while waiting:
        born = children.get(waiting.pop(), [])
        found += born
        waiting += born
    return found


def _end(kernel: int, request: dict) -> None:
    """Kill a kernel and all that it started. With process 1 of a namespace the whole namespace ends."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        alive = _descendants(os.getpid()) if not request["isolated"] else [kernel]
        for number in alive:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while True:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
        except ChildProcessError:
            return
        time.sleep(0.005)


# Isolation


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _leave_namespaces() -> None:
    """New namespaces for users, mounts, IPC and network, and for the processes that are forked from here on."""
    user, group = os.getuid(), os.getgid()
    _check(_libc.unshare(sum(_NEW.values())), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(descriptor, text.encode())
        os.close(descriptor)
    _loopback()


def _loopback() -> None:
    """Bring up the one network device there is, through which a program may talk to itself."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    arguments = [None if text is None else text.encode() for text in (source, target, kind)]
    _check(_libc.mount(*arguments, flags, options.encode() if options else None), f"mount {target}")


def _try_isolation() -> int:
    _leave_namespaces()
    first = os.fork()
    if first == 0:
        _run(lambda: _make_private(["/tmp", "/dev/shm"], 1 << 20))
    return os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])


def _isolate(request: dict, descriptors: list[int]) -> int:
    """Process 1 of the new namespace: makes its folders, forks the kernel, and ends with it."""
    _die_with_parent()
    _make_private(request["mounts"], request["disk"])
    kernel = os.fork()
    if kernel == 0:
        _run(lambda: _become_kernel(request, descriptors, os.getppid()))
    _drop_capabilities()
    _libc.prctl(_DUMPABLE, 0, 0, 0, 0)  # the kernel may not attach to this process, which has no limits
    for descriptor in descriptors:
        os.close(descriptor)
    while True:
        ended, status = os.wait()
        if ended == kernel:
            return os.waitstatus_to_exitcode(status) & 0xFF


def _make_private(folders: list[str], disk: int) -> None:
    """Mounts of this namespace's own: /proc with its processes alone, and `folders`, empty, in memory, of `disk` bytes each."""
    safe = _NOSUID | _NODEV
    _mount("none", "/", None, _PRIVATE)
    _mount("proc", "/proc", "proc", safe | _NOEXEC)
    with open("/proc/sys/user/max_user_namespaces", "w") as file:
        file.write("0")
    for name in ("sys", "sysrq-trigger", "irq", "bus", "fs", "scsi", "acpi", "dynamic_debug"):
        if os.path.exists(path := f"/proc/{name}"):
            _mount(path, path, None, _BIND)
            _mount("none", path, None, _REMOUNT | _BIND | _READ_ONLY | safe | _NOEXEC)
    for name in ("null", "zero", "full", "random", "urandom", "tty"):  # the machine's own: root could change their modes
        if os.path.exists(path := f"/dev/{name}"):
            _mount("none", path, None, _REMOUNT | _BIND | _READ_ONLY | os.statvfs(path).f_flag & (safe | _NOEXEC))
    for path in folders:
        _mount("tmpfs", path, "tmpfs", safe, f"size={disk},nr_inodes=100000,mode=0700")


def _drop_capabilities() -> None:
    for capability in range(64):
        _libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0)
    header, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    _check(_libc.capset(header, nothing), "capset")


def _die_with_parent() -> None:
    _libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


# The kernel


def _become_kernel(request: dict, descriptors: list[int], parent: int) -> int:
    """Limits first, so that nothing escapes them; then an ordinary ipykernel."""
    import resource

    os.setsid()
    Path("/proc/self/oom_score_adj").write_text("1000")  # where the machine's memory ends, a kernel's is freed first
    for folder in request["folders"]:
        os.makedirs(folder, mode=0o700)
        if request["user"] is not None:
            os.chown(folder, request["user"], request["user"])
    if request["isolated"]:
        _drop_capabilities()
    elif request["user"] is not None:
        os.setgroups([])
        os.setresgid(request["user"], request["user"], request["user"])
        os.setresuid(request["user"], request["user"], request["user"])
    os.nice(5)  # the warden comes first, also beside a fork bomb
    _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    _die_with_parent()  # a change of user forgets it
    if os.getppid() != parent:
        return 1
    for name, value in request["limits"].items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    tempfile.tempdir = None
    random.seed()
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()
    channels = dict(zip(CHANNELS, descriptors[1:], strict=True))
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    kept = {0, 1, 2, *channels.values()}
    for descriptor in [int(name) for name in os.listdir("/proc/self/fd")]:
        if descriptor not in kept:
            try:
                os.close(descriptor)
            except OSError:
                pass  # the one that listed them
    gc.set_threshold(20_000, 20, 50)  # checks make many small values, and few cycles
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _serve(request["connection"], channels)
    return 0


def _serve(connection: dict, channels: dict[str, int]) -> None:
    """Run ipykernel on sockets that are bound already: where they lie is not visible from here."""
    import zmq
    from ipykernel import heartbeat, kernelapp

    ports = {connection[f"{name}_port"]: channels[name] for name in CHANNELS}

    def bind(self, zmq_socket, port):
        zmq_socket.setsockopt(zmq.USE_FD, ports[port])
        zmq_socket.bind(f"ipc://{self.ip}-{port}")
        return port

    kernelapp.IPKernelApp._try_bind_socket = bind
    heartbeat.Heartbeat._try_bind_socket = lambda self: bind(self, self.socket, self.port)
    path = os.path.join(tempfile.gettempdir(), "connection.json")
    with open(path, "w") as file:
        json.dump(connection, file)
    sys.argv = ["kernel", "-f", path, "--HistoryManager.hist_file=:memory:"]
    kernelapp.launch_new_instance()


if __name__ == "__main__":
    main()
