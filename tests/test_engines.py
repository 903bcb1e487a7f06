"""Engines: the same records from each, whoever dies meanwhile. Slurm's commands are played by small scripts."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from sample_lesson import NAME, make_course

from classroom import engines
from classroom.lesson import LessonError
from classroom.worker import Outcome, Task, file_digest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers fork, on Linux")

STUDENTS = ("ada", "ben", "cem", "dora")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    make_course(root)
    return root


@pytest.fixture
def tasks(course, tmp_path) -> list[Task]:
    """Four submissions, every second one right."""
    made = []
    for number, student in enumerate(STUDENTS):
        notebook = course / ("solutions", "notebooks")[number % 2] / f"{NAME}.ipynb"
        lesson, record = course / "solutions" / f"{NAME}.ipynb", tmp_path / "attempts" / f"{student}.json"
        made.append(Task(student, str(lesson), str(notebook), file_digest(notebook), "print", str(record), 60, 20, "auto"))
    return made


SCORES = {"ada": 5, "ben": 0, "cem": 5, "dora": 0}


def scores(graded) -> dict[str, int]:
    found = {}
    for task, outcome in graded:
        assert task.student not in found, "counted twice"
        assert outcome.ungraded is None
        record = json.loads(Path(task.record).read_text())
        assert (record["student"], record["score"], record["ungraded"]) == (task.student, outcome.score, None)
        assert [exercise["exercise"] for exercise in record["exercises"]] == ["5.1", "5.2", "5.3", "5.c1"]
        found[task.student] = outcome.score
    return found


def children(word: str) -> list[int]:
    """The processes with a word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [int(path.parent.name)] if word.encode() in path.read_bytes() else []
        except OSError:
            continue
    return found


def wait_until(true, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.02)


# A worker that plays its part without grading

PLAYED = """
import json, os, pathlib, sys, time
print("{}", flush=True)
for line in sys.stdin:
    task = json.loads(line)
    student, tries = task["student"], pathlib.Path(task["record"] + ".tries")
    tries.parent.mkdir(exist_ok=True)
    with open(tries, "a") as file:
        file.write("x")
    count = len(tries.read_text())
    if student == "killer" or student == "once" and count == 1:
        os._exit(9)
    if student == "sleeper":
        time.sleep(600)
    better = student != "shaky" or count > 1
    print(json.dumps({"score": 3, "max": 5, "ungraded": None if better else "no luck", "final": better}), flush=True)
"""


@pytest.fixture
def played(monkeypatch, tmp_path):
    def play(program: str = PLAYED) -> None:
        script = tmp_path / "played_worker.py"
        script.write_text(program)
        monkeypatch.setattr(engines.Worker, "command", (sys.executable, "-S", str(script)))

    play()
    return play


def named(tasks: list[Task], *students: str) -> list[Task]:
    return [replace(tasks[0], student=student, record=f"{Path(tasks[0].record).parent}/{student}.json") for student in students]


def test_a_worker_that_dies(played, tasks):
    outcomes = dict(engines.local(named(tasks, "ada", "killer", "once", "shaky", "ben"), jobs=2))
    found = {task.student: (outcome.score, outcome.ungraded) for task, outcome in outcomes.items()}
    good = (3, None)
    assert found == {"ada": good, "ben": good, "once": good, "shaky": good, "killer": (0, "it ended its grader 2 times")}
    record = json.loads(next(Path(task.record) for task in outcomes if task.student == "killer").read_text())
    assert (record["score"], record["max"], record["ungraded"]) == (0, 5, "it ended its grader 2 times")
    assert {exercise["message"] for exercise in record["exercises"]} == {"not graded: it ended its grader 2 times"}


def test_an_engine_that_is_closed_ends_its_workers(played, tasks, tmp_path):
    graded = engines.local(named(tasks, "ada", "sleeper", "ben"), jobs=2)
    next(graded)
    wait_until(lambda: len(children(str(tmp_path))) == 2)
    started = time.monotonic()
    threading.Timer(0.5, lambda: [os.kill(number, signal.SIGKILL) for number in children(str(tmp_path))]).start()
    graded.close()
    assert not children(str(tmp_path)) and time.monotonic() - started < 9
    assert not (tmp_path / "attempts" / "sleeper.json").exists()


def test_a_worker_that_does_not_start(played, tasks):
    played("raise ImportError('no pytest here')")
    with pytest.raises(LessonError, match="(?s)make doctor.*no pytest here"):
        list(engines.local(tasks, jobs=2))


# Real ones


def test_local_with_a_worker_that_is_killed(tasks, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    graded = engines.local(tasks, jobs=1)
    found = [next(graded)]
    (worker,) = [number for number in children(str(tmp_path)) if os.getpid() in ancestors(number)[:1]]
    wait_until(lambda: len(children(f"{tmp_path}/grade-")) > 1)  # it has forked a grader
    os.kill(worker, signal.SIGKILL)
    found += graded
    assert scores(found) == SCORES
    wait_until(lambda: not children(str(tmp_path)), 10)


def test_dask_with_a_worker_that_is_killed(tasks):
    pytest.importorskip("distributed")
    killed = []
    graded = engines.dask(tasks, jobs=2)
    found = []
    for one in graded:
        found.append(one)
        if not killed:
            killed = [number for number in children("multiprocessing.spawn") if os.getpid() in ancestors(number)][-1:]
            os.kill(killed[0], signal.SIGKILL)
    assert killed and scores(found) == SCORES


def ancestors(number: int) -> list[int]:
    found = []
    while number > 1:
        try:
            number = int(Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
        found.append(number)
    return found


def test_a_scheduler_that_is_not_there(tasks):
    distributed = pytest.importorskip("distributed")
    assert distributed
    with pytest.raises(LessonError, match="No Dask scheduler answers at nonsense://1"):
        list(engines.dask(tasks, jobs=1, scheduler="nonsense://1"))


# Slurm, played: a job is a process, the queue is a folder with a file for each job

SBATCH = """#!{python} -S
import os, pathlib, re, subprocess, sys
queue = pathlib.Path(os.environ["QUEUE"])
if (queue / "refuse").exists():
    sys.exit("sbatch: error: invalid partition specified: short")
options = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[1:-1])
script = pathlib.Path(sys.argv[-1])
asked = dict(re.findall(r"#SBATCH --([a-z-]+)=(.*)", script.read_text()))
(queue / "asked").write_text(repr(options | asked))
last = int(asked["array"].partition("-")[2])
for number in range(last + 1):
    entry = queue / (options["job-name"] + "," + str(number))
    entry.write_text("")
    log = open(pathlib.Path(options["chdir"], asked["output"].replace("%a", str(number))), "a")
    job = "bash " + "'" + str(script) + "'" + "; rm '" + str(entry) + "'"
    environment = dict(os.environ, SLURM_ARRAY_TASK_ID=str(number))
    process = subprocess.Popen(["bash", "-c", job], cwd=options["chdir"], env=environment, stdin=subprocess.DEVNULL,
                               stdout=log, stderr=log, start_new_session=True)
    entry.write_text(str(process.pid))
print("Submitted batch job 7")
"""
SQUEUE = """#!{python} -S
import os, pathlib, sys
(name,) = [word.partition("=")[2] for word in sys.argv if word.startswith("--name=")]
for path in pathlib.Path(os.environ["QUEUE"]).glob(name + ",*"):
    print(path.name.partition(",")[2], "RUNNING")
"""
SCANCEL = """#!{python} -S
import os, pathlib, signal, sys
(name,) = [word.partition("=")[2] for word in sys.argv if word.startswith("--name=")]
for path in pathlib.Path(os.environ["QUEUE"]).glob(name + ",*"):
    try:
        os.killpg(int(path.read_text()), signal.SIGTERM)
    except ProcessLookupError:
        pass
    path.unlink(missing_ok=True)
"""


@pytest.fixture
def queue(tmp_path, monkeypatch):
    folder, programs = tmp_path / "queue", tmp_path / "programs"
    folder.mkdir()
    programs.mkdir()
    for name, text in (("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", SCANCEL)):
        (programs / name).write_text(text.replace("{python}", sys.executable))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("QUEUE", str(folder))
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(engines, "POLL_SECONDS", 0.1)
    return folder


def test_slurm_with_a_job_that_is_killed(queue, tasks, tmp_path):
    folder = tmp_path / "grade book" / ".slurm"
    graded = engines.slurm(tasks, folder=folder, chunk=3, options=["--gres=gpu:1", "--partition=short"])
    found = [next(graded)]
    asked = (queue / "asked").read_text()
    assert "'gres': 'gpu:1'" in asked and "'partition': 'short'" in asked and "'array': '0-1'" in asked
    (entry,) = queue.glob("grade-*,0")
    os.killpg(int(entry.read_text()), signal.SIGKILL)
    entry.unlink()
    found += list(graded)
    assert scores(found) == SCORES
    assert not folder.exists() and not list(queue.glob("grade-*"))


def job(monkeypatch, commands: str) -> None:
    """What jobs do in place of grading."""
    monkeypatch.setattr(engines, "SCRIPT", engines.SCRIPT.partition("exec")[0] + commands + "\n")


def test_an_array_that_an_earlier_run_left_behind(queue, tasks, tmp_path, monkeypatch):
    folder = tmp_path / "slurm"
    (folder / "grade-0").mkdir(parents=True)  # its run was killed before anything was submitted
    for name, score, graded in (("first", 7, tasks[:3]), ("second", 8, tasks[1:2])):
        lines = [json.dumps([task.record, asdict(Outcome(score, 9))]) for task in graded]
        (tmp_path / name).write_text("\n".join(["", *lines, ""]))
    job(monkeypatch, f"sleep 0.3; cat {tmp_path}/first >> {{folder}}/0.news")
    array = engines._Array(folder / "grade-1", 1)
    array.submit([tasks[0], replace(tasks[1], fingerprint="an older lesson"), tasks[2]], 3, [])
    job(monkeypatch, f"cat {tmp_path}/second >> {{folder}}/0.news")
    found = {task.student: outcome.score for task, outcome in engines.slurm(tasks[:3], folder=folder)}
    assert found == {"ada": 7, "ben": 8, "cem": 7} and not folder.exists()


def test_jobs_that_never_begin(queue, tasks, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "SCRIPT", engines.SCRIPT.replace("exec {python}", "exec {python}-none"))
    with pytest.raises(LessonError, match="(?s)none of them has begun to grade. Its last words: .*-none"):
        list(engines.slurm(tasks, folder=tmp_path / "slurm"))
    assert not list((tmp_path / "slurm").iterdir())


def test_jobs_that_end_twice(queue, tasks, tmp_path, monkeypatch):
    job(monkeypatch, "echo >> {folder}/0.news; echo out of memory; exit 9")
    (found,) = engines.slurm(tasks[:1], folder=tmp_path / "slurm")
    assert found[1].ungraded == "its Slurm job ended 2 times without a grade. Its last words: out of memory"
    assert json.loads(Path(tasks[0].record).read_text())["ungraded"] == found[1].ungraded


def test_a_job_that_is_silent_is_lost(queue, tasks, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "SILENT_SECONDS", 0.3)
    job(monkeypatch, "echo >> {folder}/0.news; sleep 600")
    (found,) = engines.slurm(tasks[:1], folder=tmp_path / "slurm")
    assert "ended 2 times" in found[1].ungraded


def test_words_of_sbatch(queue, tasks, tmp_path, monkeypatch):
    (queue / "refuse").touch()
    with pytest.raises(LessonError, match="sbatch refuses the jobs: sbatch: error: invalid partition specified: short"):
        list(engines.slurm(tasks, folder=tmp_path / "slurm"))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LessonError, match="there is no sbatch here. Run this where jobs are submitted from"):
        list(engines.slurm(tasks, folder=tmp_path / "slurm"))


def test_news_that_end_in_half_a_line(tmp_path):
    path, outcome = tmp_path / "0.news", Outcome(1, 2)
    path.write_text("\n" + json.dumps(["a.json", asdict(outcome)]) + "\n\n" + json.dumps(["b.json", asdict(outcome)])[:-9])
    assert engines._news(path)[1] == {"a.json": outcome}
    assert engines._news(tmp_path / "none") == (0, {})


def test_no_more_jobs_than_an_array_may_have(queue, tasks, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "MOST_JOBS", 2)
    (queue / "refuse").touch()
    monkeypatch.setattr(engines._Array, "remove", lambda self: None)
    with pytest.raises(LessonError):
        list(engines.slurm(tasks, folder=tmp_path / "slurm", chunk=1))
    assert len(list((tmp_path / "slurm").glob("*/*.tasks"))) == 2
