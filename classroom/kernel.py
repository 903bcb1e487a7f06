"""The kernel process that a notebook runs in, watched while it works.

Whoever asks for a cell to be executed gets an `Outcome`, also when the kernel dies, hangs, prints without end or uses
more than it may. A graded kernel is forked from a warm process and confined: see `classroom.sandbox`. The kernel of an
author's notebook is an ordinary process.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty

import zmq
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from nbformat import NotebookNode

from classroom import sandbox
from classroom.nursery import CHANNELS

KEPT_BYTES = 1_000_000  # of one cell's output; what follows is dropped
FLOOD_BYTES = 64_000_000  # of one cell's output; then the kernel is killed
SETTLE_SECONDS = 5.0  # between the reply of a cell and the last of its output
POLL_SECONDS = 0.2  # how soon a death is noticed
END_SECONDS = 10  # for a kernel that is told to end
GONE = ("died", "timeout", "flood", "memory", "processes")

_START = "from ipykernel.kernelapp import launch_new_instance; launch_new_instance()"


class KernelStartError(RuntimeError):
    """The kernel did not start; the message holds the end of what it wrote to stderr."""


@dataclass
class Outcome:
    """What came of one cell. `status` is "ok" or "error", or one of GONE, after which there is no kernel any more."""

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
        return self.status in GONE

    @property
    def error(self) -> tuple[str, str] | None:
        """The name and the text of the exception that was shown, if any."""
        errors = [output for output in self.outputs if output.output_type == "error"]
        return (str(errors[-1].ename), str(errors[-1].evalue)) if errors else None


# The process


class Kernel:
    """A running kernel. With `environment` left out it is a graded one, confined at a `level` of `classroom.sandbox`.

    `prepare` holds import statements, run in the warm process before the kernel is forked from it. `cwd` is the working
    folder of an author's kernel (default: an empty one); `keep_bytes` of a cell's output are kept.
    Raises KernelStartError when it does not answer in `startup_seconds`.
    """

    def __init__(
        self,
        *,
        level: str = "limits",
        prepare: Sequence[str] = (),
        startup_seconds: float = 60,
        environment: dict[str, str] | None = None,
        cwd: Path | None = None,
        keep_bytes: int = KEPT_BYTES,
    ):
        self.keep_bytes = keep_bytes
        self.work = sandbox.short_temporary_folder()
        # It has no name: who may write to a file may also make it a program that runs with its owner's rights.
        self._stderr = tempfile.TemporaryFile(dir=self.work)
        self._client: BlockingKernelClient | None = None
        self._process: subprocess.Popen | None = None
        self._warden: socket.socket | None = None
        self._nursery_words: Callable[[], str] = str
        try:
            connection = str(self.work / "connection.json")
            transport = {"transport": "ipc", "ip": str(self.work / "k")} if os.name == "posix" else {"transport": "tcp"}
            write_connection_file(connection, key=uuid.uuid4().hex.encode(), **transport)
            if environment is None and sys.platform == "linux":
                self._fork(connection, level, list(prepare))
            else:
                self._spawn(connection, environment, cwd)
            self._client = BlockingKernelClient(connection_file=connection)
            self._client.context.setsockopt(zmq.MAXMSGSIZE, FLOOD_BYTES)  # a larger one ends the connection, unread
            self._client.load_connection_file()
            self._client.start_channels(stdin=False, hb=False)
            self._wait_until_ready(time.monotonic() + startup_seconds)
        except BaseException:
            self.stop()
            raise

    def _fork(self, connection: str, level: str, prepare: list[str]) -> None:
        """Ask the nursery for a kernel. It gets sockets that are bound already, and sees nothing of the folder they lie in."""
        described = json.loads(Path(connection).read_text())
        nursery = sandbox.shared_nursery(level)
        self._nursery_words = nursery.complaint
        sockets = []
        try:
            for channel in CHANNELS:
                sockets.append(listener := socket.socket(socket.AF_UNIX))
                listener.bind(f"{described['ip']}-{described[f'{channel}_port']}")
                listener.listen(16)
            request = sandbox.request(nursery, self.work, described, prepare)
            self._warden = nursery.connect(request, [self._stderr.fileno(), *(listener.fileno() for listener in sockets)])
        except OSError as error:
            raise KernelStartError(f"the kernel did not start: {nursery.complaint() or error}") from None
        finally:
            for listener in sockets:
                listener.close()

    def _spawn(self, connection: str, environment: dict[str, str] | None, cwd: Path | None) -> None:
        """Start an ordinary process."""
        for folder in sandbox.private_folders(self.work / "private"):
            os.makedirs(folder)
        env = sandbox.environment(self.work / "private", sandbox.tiles_folder()) if environment is None else dict(environment)
        env["JPY_PARENT_PID"] = str(os.getpid())
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, "-f", connection, "--HistoryManager.hist_file=:memory:"],
            cwd=cwd or self.work / "private" / "cwd",
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            start_new_session=True,
        )

    def _wait_until_ready(self, deadline: float) -> None:
        """Until both channels have answered one and the same request: then no output can be lost."""
        while time.monotonic() < deadline and self.alive():
            request = self._client.kernel_info()
            if self._answered(request, min(deadline, time.monotonic() + 1)):
                return
        self._stderr.seek(0)
        words = self._stderr.read().decode(errors="replace")[-500:].strip() or self._nursery_words()
        raise KernelStartError(f"the kernel did not start: {words or 'it wrote nothing'}")

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
        """Whether it runs. A warden that hangs up, or says why it ended the kernel, has ended it."""
        if self._warden is not None:
            return not select.select([self._warden], [], [], 0)[0]
        return self._process is not None and self._process.poll() is None

    def _end(self) -> str:
        """The status of a kernel that is no longer alive."""
        try:
            reason = self._warden.recv(100).decode() if self._warden is not None else ""
        except OSError:  # the warden was killed
            return "died"
        return reason if reason in ("memory", "processes") else "died"

    def execute(self, source: str, seconds: float) -> Outcome:
        """Run one cell for at most `seconds`. After one of GONE the kernel is stopped.

        What is no message of a kernel comes from a program that pretends to be one: it ends like one that died.
        """
        try:
            return self._execute(source, seconds)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            self.stop()
            return Outcome("died")

    def _execute(self, source: str, seconds: float) -> Outcome:
        outcome, size, status, idle, exiting = Outcome(), 0, None, False, False
        if not self.alive():
            return Outcome(self._end())
        request = self._client.execute(source, store_history=False, allow_stdin=False, stop_on_error=False)
        deadline = time.monotonic() + seconds
        while status is None or not idle:
            for message in self._messages():
                if time.monotonic() > deadline:
                    break
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
                if size > FLOOD_BYTES or (status and idle):
                    break
            gone = "flood" if size > FLOOD_BYTES else "died" if exiting else None if self.alive() else self._end()
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
        if self._warden is not None:
            _hang_up(self._warden)
            self._warden = None
        if self._process is not None:
            _kill_group(self._process)
            self._process = None
        self._stderr.close()
        shutil.rmtree(self.work, ignore_errors=True)


def _hang_up(warden: socket.socket) -> None:
    """End a kernel, and wait until its warden says that it has ended."""
    try:
        warden.shutdown(socket.SHUT_WR)
        warden.settimeout(END_SECONDS)
        while warden.recv(100):
            pass
    except OSError:
        pass
    warden.close()


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
        + sum(len(str(line)) for line in output.get("traceback", []))
    )
