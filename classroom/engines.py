"""Where submissions are graded: on this machine, by Slurm, or by Dask.

An engine takes tasks and yields each with its outcome, in the order in which they come. All engines hand tasks to
processes of `classroom.worker`, so records and verdicts are the same. A worker that dies is started again; a submission
at which it dies is tried once more, then recorded as not graded.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import math
import os
import queue
import secrets
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

from classroom.lesson import LessonError, write_if_changed
from classroom.worker import FORKS, GRACE_SECONDS, Outcome, Task, give_up

Graded = Iterator[tuple[Task, Outcome]]
Engine = Callable[[Sequence[Task]], Graded]

TRIES = 2
END_SECONDS = 10  # for a worker that is told to end
COURSE = Path(__file__).resolve().parent.parent


class Stopped(Exception):
    """The engine ends, and so do its workers."""


class Worker:
    """A process of `classroom.worker`: started when it is first needed, and again when it has died."""

    command = (sys.executable, "-m", "classroom.worker")

    def __init__(self):
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None
        self._folder = ""
        self._stopped = False

    def grade(self, task: Task) -> Outcome:
        """Grade one submission. Raises Stopped, and LessonError where no worker can be started."""
        outcome = None
        for _ in range(TRIES):
            outcome = self._ask(task)
            if outcome is not None and outcome.final:
                return outcome
        return outcome or give_up(task, f"it ended its grader {TRIES} times")

    def _ask(self, task: Task) -> Outcome | None:
        """One try; None where the worker died over it."""
        process = self._running()
        try:
            process.stdin.write(json.dumps(asdict(task)) + "\n")
            process.stdin.flush()
            # A worker keeps to the limit itself; this one is for a worker that does not.
            if FORKS and not select.select([process.stdout], [], [], task.seconds + 3 * GRACE_SECONDS)[0]:
                raise OSError("no answer")
            return Outcome(**json.loads(process.stdout.readline()))
        except (OSError, ValueError):
            if self._stopped:
                raise Stopped from None
            self._end(process)
            return None

    def _running(self) -> subprocess.Popen:
        with self._lock:
            if self._stopped:
                raise Stopped
            if self._process is not None:
                return self._process
            self._folder = tempfile.mkdtemp(prefix="grade-")
            os.chmod(self._folder, 0o711)  # a kernel that runs as another user has its folder in it
            path = os.pathsep.join(filter(None, [str(COURSE), os.environ.get("PYTHONPATH")]))
            with open(Path(self._folder, "stderr"), "w") as stderr:
                self._process = process = subprocess.Popen(
                    [*self.command, self._folder],
                    cwd=self._folder,
                    env={**os.environ, "PYTHONPATH": path, "TMPDIR": self._folder},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    text=True,
                    start_new_session=True,  # Ctrl-C is for the engine, which closes stdin
                )
        if not process.stdout.readline():
            if self._stopped:
                raise Stopped
            words = Path(self._folder, "stderr").read_text(errors="replace").strip()[-1000:]
            self._end(process)
            raise LessonError(f"The grader does not start; `make doctor` says what is missing. Its last words:\n{words}")
        return process

    def _end(self, process: subprocess.Popen) -> None:
        """End a worker: it stops by itself when its stdin is closed."""
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._process = None

    def stop(self) -> None:
        """End the process, and whoever waits for it; there will be no other."""
        with self._lock:
            self._stopped = True
            if process := self._process:
                self._end(process)


# This machine


def local(tasks: Sequence[Task], *, jobs: int) -> Graded:
    """Grade on this machine, `jobs` submissions at once. Raises LessonError where no worker can be started."""
    if not tasks:
        return
    workers = [Worker() for _ in range(max(1, min(jobs, len(tasks))))]
    free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    for worker in workers:
        free.put(worker)

    def grade(task: Task) -> Outcome:
        worker = free.get()
        try:
            return worker.grade(task)
        finally:
            free.put(worker)

    pool = ThreadPoolExecutor(len(workers))
    futures = {pool.submit(grade, task): task for task in tasks}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.stop()
        pool.shutdown()


# Dask


_thread = threading.local()


def grade_here(task: Task) -> Outcome:
    """Grade a submission with the worker of this thread."""
    if not hasattr(_thread, "worker"):
        _thread.worker = Worker()
        atexit.register(_thread.worker.stop)
    return _thread.worker.grade(task)


def dask(tasks: Sequence[Task], *, jobs: int, scheduler: str | None = None) -> Graded:
    """Grade with Dask: a cluster of `jobs` processes here, or the one whose scheduler has the address. Raises LessonError.

    Workers elsewhere need the same Python, this course and all files under the same paths.
    """
    if not tasks:
        return
    try:
        import distributed
    except ImportError:
        raise LessonError("--engine dask: Dask is not installed. Run `pip install distributed`.") from None
    with contextlib.ExitStack() as stack:
        address = scheduler
        if scheduler is None:
            options = {"threads_per_worker": 1, "memory_limit": None, "dashboard_address": None}
            count = max(1, min(jobs, len(tasks)))
            cluster = distributed.LocalCluster(n_workers=count, silence_logs=logging.CRITICAL, **options)
            address = stack.enter_context(cluster).scheduler_address
        try:
            client = stack.enter_context(distributed.Client(address, timeout=30))
        except (OSError, ValueError) as error:
            raise LessonError(f"No Dask scheduler answers at {address} ({error}). Start one, or correct --scheduler.") from None
        futures = {client.submit(grade_here, task, pure=False): task for task in tasks}
        stack.callback(client.cancel, list(futures))
        for future in distributed.as_completed(list(futures)):
            task, error = futures[future], future.exception()
            if isinstance(error, distributed.KilledWorker):
                yield task, give_up(task, "each Dask worker that took it died")
            elif error is not None:
                raise LessonError(f"A Dask worker cannot grade: {type(error).__name__}: {error}") from error
            else:
                yield task, future.result()


# Slurm


POLL_SECONDS = 3.0
BEAT_SECONDS = 15.0  # between signs of life of a job
SILENT_SECONDS = 180.0  # after so long without one a job is lost, whatever the queue says
MOST_JOBS = 1000  # in one array: MaxArraySize is 1001 where nobody has changed it

SCRIPT = """\
#!/bin/bash
#SBATCH --array=0-{last}
#SBATCH --cpus-per-task={jobs}
#SBATCH --output=%a.log
#SBATCH --open-mode=append
#SBATCH --requeue
export PYTHONPATH={course}${{PYTHONPATH:+:$PYTHONPATH}}
exec {python} -m classroom.engines {folder}/"$SLURM_ARRAY_TASK_ID".tasks {jobs}
"""


def slurm(tasks: Sequence[Task], *, folder: Path, jobs: int = 1, chunk: int = 20, options: Sequence[str] = ()) -> Graded:
    """Grade with Slurm job arrays: `chunk` submissions a job, `jobs` of them at once. Raises LessonError.

    `folder` must be on a file system that all nodes share; `options` go to sbatch. An array that an earlier run left
    behind is followed to its end first.
    """
    waiting = dict.fromkeys(tasks)
    for left in sorted(folder.glob("grade-*")):
        yield from _followed(_Array(left, jobs), waiting)
    deaths: Counter[Task] = Counter()
    while waiting:
        array = _Array(folder / f"grade-{secrets.token_hex(4)}", jobs)
        array.submit(list(waiting), chunk, options)
        yield from _followed(array, waiting)
        if not array.heard:
            raise LessonError(f"Slurm took the jobs, and none of them has begun to grade. {array.words}")
        for task in array.suspects(waiting):
            deaths[task] += 1
            if deaths[task] == TRIES:
                del waiting[task]
                yield task, give_up(task, f"its Slurm job ended {TRIES} times without a grade. {array.words}".strip())
    with contextlib.suppress(OSError):
        folder.rmdir()


def _followed(array: _Array, waiting: dict[Task, None]) -> Graded:
    """What comes of an array until its end; then it is removed."""
    try:
        yield from array.follow(waiting)
    finally:
        array.remove()


class _Array:
    """A job array, named as its folder: there each job has `N.tasks`, what to grade, and `N.news`, where it says what it has."""

    def __init__(self, folder: Path, jobs: int):
        self.folder, self.name, self.jobs = folder.resolve(), folder.name, jobs
        self.chunks: dict[str, list[Task]] = {}
        self.heard: dict[str, tuple[int, float]] = {}  # of which job how many bytes, and when the last of them
        self.words = ""  # the last ones of a job

    def submit(self, tasks: list[Task], chunk: int, options: Sequence[str]) -> None:
        """Hand the array to Slurm. Raises LessonError with what sbatch says."""
        chunk = max(chunk, math.ceil(len(tasks) / MOST_JOBS))
        chunks = [tasks[start : start + chunk] for start in range(0, len(tasks), chunk)]
        self.folder.mkdir(parents=True)
        try:
            for number, some in enumerate(chunks):
                (self.folder / f"{number}.news").touch()
                write_if_changed(self.folder / f"{number}.tasks", json.dumps([asdict(task) for task in some]))
            folder, course, python = (shlex.quote(str(path)) for path in (self.folder, COURSE, sys.executable))
            numbers = {"last": len(chunks) - 1, "jobs": self.jobs}
            script = self.folder / "array.sh"
            script.write_text(SCRIPT.format(**numbers, folder=folder, course=course, python=python))
            sent = _call("sbatch", f"--job-name={self.name}", f"--chdir={self.folder}", *options, str(script))
            if sent.returncode != 0:
                raise LessonError(f"sbatch refuses the jobs: {sent.stderr.strip() or sent.stdout.strip()}")
        except BaseException:
            self.remove()
            raise

    def follow(self, waiting: dict[Task, None]) -> Graded:
        """Yield what the jobs have graded, and take it out of `waiting`, until all is graded or no job runs any more."""
        for path in self.folder.glob("*.tasks"):
            self.chunks[path.stem] = [Task(**task) for task in json.loads(path.read_text())]
        begun = time.monotonic()
        while True:
            queued = self._queued()  # asked first: what a job wrote before it left the queue is read below
            for number, tasks in self.chunks.items():
                size, outcomes = _news(self.folder / f"{number}.news")
                if size != self.heard.get(number, (0, 0))[0]:
                    self.heard[number] = size, time.monotonic()
                for task in tasks:
                    if task.record in outcomes and task in waiting:
                        del waiting[task]
                        yield task, outcomes[task.record]
            if not any(
                self._goes_on(number, queued, begun) for number, tasks in self.chunks.items() if waiting.keys() & set(tasks)
            ):
                break
            time.sleep(POLL_SECONDS)
        logs = [path.read_text(errors="replace").strip() for path in sorted(self.folder.glob("*.log"))]
        self.words = "".join(f"Its last words: {log[-500:]}" for log in [log for log in logs if log][:1])

    def _queued(self) -> dict[str, str]:
        """The states of the jobs in the queue, by number; of all of them "UNKNOWN" while Slurm does not answer."""
        asked = _call("squeue", "--noheader", "--array", f"--name={self.name}", "--format=%K %T")
        if asked.returncode != 0:
            return dict.fromkeys(self.chunks, "UNKNOWN")
        return dict(line.split() for line in asked.stdout.splitlines() if len(line.split()) == 2)

    def _goes_on(self, number: str, queued: dict[str, str], begun: float) -> bool:
        """Whether a job is still to be waited for. Slurm may take long to notice that one has died."""
        silent = time.monotonic() - self.heard.get(number, (0, begun))[1]
        return number in queued and (queued[number] != "RUNNING" or silent < SILENT_SECONDS)

    def suspects(self, waiting: dict[Task, None]) -> list[Task]:
        """What each job that ended too early was grading: it takes its tasks in order."""
        left = [[task for task in tasks if task in waiting] for tasks in self.chunks.values()]
        return [task for tasks in left for task in tasks[: self.jobs]]

    def remove(self) -> None:
        """Take what is left of the array out of the queue, and remove its folder."""
        with contextlib.suppress(LessonError):
            _call("scancel", f"--name={self.name}")
        shutil.rmtree(self.folder, ignore_errors=True)


def _call(*command: str) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise LessonError(
            f"--engine slurm: there is no {command[0]} here. Run this where jobs are submitted from, or take --engine local."
        ) from None


def _news(path: Path) -> tuple[int, dict[str, Outcome]]:
    """The size of a job's news, and the outcomes in it by record; half a line is no news."""
    data = path.read_bytes() if path.exists() else b""
    found = {}
    for line in data.splitlines():
        with contextlib.suppress(ValueError):
            record, outcome = json.loads(line)
            found[record] = Outcome(**outcome)
    return len(data), found


def run_chunk(path: Path, jobs: int) -> None:
    """Grade the tasks in a file on this machine, and tell of them in the file beside it: what a job of an array does."""
    news = path.with_suffix(".news")
    done = _news(news)[1]  # by this job, before it was put back into the queue
    tasks = [Task(**task) for task in json.loads(path.read_text()) if task["record"] not in done]
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    writing, ended = threading.Lock(), threading.Event()
    with open(news, "a") as stream, contextlib.closing(local(tasks, jobs=jobs)) as graded:

        def say(text: str) -> None:
            with writing:
                stream.write(text + "\n")
                stream.flush()
                os.fsync(stream.fileno())

        def beat() -> None:
            while not ended.wait(BEAT_SECONDS):
                say("")

        say("")
        beating = threading.Thread(target=beat)
        beating.start()
        try:
            for task, outcome in graded:
                say(json.dumps([task.record, asdict(outcome)]))
        finally:
            ended.set()
            beating.join()


if __name__ == "__main__":
    try:
        run_chunk(Path(sys.argv[1]), int(sys.argv[2]))
    except LessonError as problem:
        sys.exit(str(problem))
