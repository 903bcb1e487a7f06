"""A gradebook from a folder of submissions."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import nbformat
import pytest
from sample_lesson import NAME, SOURCES, make_course

from classroom import __main__ as command
from classroom import grade as grading
from classroom.grade import GRADER, Progress, Settings, find_attempts, read_record
from classroom.lesson import LessonError
from classroom.submission import MAX_BYTES

COURSE = Path(grading.__file__).parent.parent


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    make_course(root)
    return root


@pytest.fixture(scope="module")
def submissions(course):
    folder = course / "submissions"
    for student in ("ada", "ben/2026-03-09T10-30", "cy", "dora", "eve"):
        (folder / student).mkdir(parents=True)
    copy, solved = course / "notebooks" / f"{NAME}.ipynb", course / "solutions" / f"{NAME}.ipynb"
    shutil.copy(solved, folder / "ada" / f"{NAME}.ipynb")
    shutil.copy(copy, folder / "ben" / "2026-03-09T10-30" / f"{NAME} (1).ipynb")
    shutil.copy(copy, folder / "ben" / f"{NAME}.ipynb")
    (folder / "cy" / f"{NAME}.ipynb").write_text("{")
    shutil.copy(copy, folder / "dora" / "homework.ipynb")
    (folder / "eve" / f"{NAME}.ipynb").write_text(sleeping(copy))
    (folder / "ada" / "conftest.py").write_text("raise SystemExit('a student runs code in the grader')")
    (folder / "ada" / "pytest.ini").write_text("[pytest]\naddopts = --sandbox=off --co\n")
    return folder


def sleeping(copy) -> str:
    notebook = nbformat.read(copy, as_version=4)
    for cell in notebook.cells:
        if "exercise-5.1" in cell.metadata.get("tags", []):
            cell.source = "# Exercise 5.1\nimport time\ntime.sleep(100)\n"
        if "exercise-5.3" in cell.metadata.get("tags", []):
            cell.source = SOURCES["5.3"].strip()
    return nbformat.writes(notebook)


def arguments(course, submissions, out, *options) -> list[str]:
    where = ["grade", str(submissions), "--out", str(out), "--root", str(course)]
    return [*where, "--jobs", "2", "--cell-seconds", "5", *options]


def grade(course, submissions, out, *options) -> int:
    return command.main(arguments(course, submissions, out, *options))


def state(folder) -> dict:
    return {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*")) if path.name != ".lock"}


def result(out, student) -> dict:
    return json.loads((out / "results" / student / f"{NAME}.json").read_text())


def test_gradebook(course, submissions, tmp_path, capsys):
    before = state(submissions)
    out = tmp_path / "gradebook"
    assert grade(course, submissions, out) == 0
    log = capsys.readouterr().out
    assert "dora/homework: not graded: no lesson is called so" in log
    assert f"ada/{NAME}: 5 of 5 points" in log and f"cy/{NAME}: 0 of 5 points" in log
    assert "6 submissions: 4 graded now, 0 unchanged" in log  # ben's are the same
    assert state(submissions) == before

    ada = result(out, "ada")
    assert list(ada)[:5] == ["student", "lesson", "score", "max", "exercises"]
    assert (ada["student"], ada["lesson"], ada["score"], ada["max"]) == ("ada", NAME, 5, 5)
    assert ada["exercises"][0] == {"exercise": "5.1", "passed": True, "score": 2, "max": 2, "message": ""}
    eve = result(out, "eve")
    assert eve["score"] == 1 and eve["exercises"][0]["message"] == "its cell takes longer than 5 s"
    assert {exercise["message"] for exercise in result(out, "cy")["exercises"]} == {
        "the file is not a notebook (NotJSONError); open it in Jupyter and save it again"
    }
    rows = list(csv.DictReader((out / "grades.csv").open()))
    assert [(row["student"], row[NAME]) for row in rows] == [("ada", "5"), ("ben", "0"), ("cy", "0"), ("dora", ""), ("eve", "1")]

    first = state(out)
    assert grade(course, submissions, out) == 0 and state(out) == first
    assert "6 submissions: 0 graded now, 4 unchanged" in capsys.readouterr().out
    (submissions / "cy" / f"{NAME}.ipynb").write_bytes((submissions / "ada" / f"{NAME}.ipynb").read_bytes())
    assert grade(course, submissions, out) == 0
    log = capsys.readouterr().out
    assert f"cy/{NAME}: 5 of 5 points" in log and "1 graded now, 3 unchanged" in log and "ada" not in log


def test_a_regrade_says_what_it_changed(course, tmp_path, capsys):
    root = tmp_path / "course"
    shutil.copytree(course / "solutions", root / "solutions")
    (root / "submissions" / "ada").mkdir(parents=True)
    shutil.copy(course / "solutions" / f"{NAME}.ipynb", root / "submissions" / "ada")
    out = tmp_path / "gradebook"
    assert grade(root, root / "submissions", out) == 0
    (record,) = (out / "attempts").rglob("*.json")
    first = record.read_bytes()
    lesson = root / "solutions" / f"{NAME}.ipynb"
    lesson.write_text(lesson.read_text().replace("points-2", "points-4"))
    assert grade(root, root / "submissions", out) == 0
    assert f"ada/{NAME}: 5 -> 7 of 7 points" in capsys.readouterr().out
    assert record.read_bytes() != first and result(out, "ada")["score"] == 7

    attempts, settings = find_attempts(root / "submissions", root / "solutions"), Settings(cell_seconds=5)
    tasks, before = grading._to_grade(attempts, out, settings, regrade=())
    assert not tasks and before == {str(record.resolve()): 7}
    tasks, _ = grading._to_grade(attempts, out, settings, regrade={NAME})
    assert [task.record for task in tasks] == [str(record.resolve())]
    record.write_bytes(first[:100])  # as a file system may leave it after the power failed
    tasks, before = grading._to_grade(attempts, out, settings, regrade=())
    assert len(tasks) == 1 and not before


def processes(word: str) -> list[int]:
    """The processes with a word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [int(path.parent.name)] if word.encode() in path.read_bytes() else []
        except OSError:
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_is_killed_goes_on_where_it_was(course, tmp_path, number):
    folder, out, scratch = tmp_path / "submissions", tmp_path / "gradebook", tmp_path / "scratch"
    scratch.mkdir()
    for index in range(3):
        (folder / f"s{index}").mkdir(parents=True)
        notebook = nbformat.read(course / "solutions" / f"{NAME}.ipynb", as_version=4)
        if index:
            cell = next(cell for cell in notebook.cells if cell.source.startswith("# Exercise 5.1"))
            cell.source += "\nimport time\ntime.sleep(3)"
        nbformat.write(notebook, folder / f"s{index}" / f"{NAME}.ipynb")
    run = [sys.executable, "-m", "classroom", *arguments(course, folder, out, "--jobs", "1")]
    environment = {**os.environ, "PYTHONPATH": str(COURSE), "TMPDIR": str(scratch)}
    process = subprocess.Popen(run, env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (list(out.glob("attempts/s0/*/*.json")) and len(processes(str(scratch))) > 1) and time.monotonic() < deadline:
        time.sleep(0.02)  # until the first is graded, and a grader works at the second
    first = state(out / "attempts")
    assert len([path for path in first if path.suffix == ".json"]) == 1
    process.send_signal(number)
    assert process.wait(30) == (-number if number == signal.SIGKILL else 128 + number)
    deadline = time.monotonic() + 30
    while (processes(str(scratch)) or list(scratch.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not processes(str(scratch)) and not list(scratch.iterdir())
    assert state(out / "attempts") == first
    if number == signal.SIGTERM:
        again = subprocess.run(run, env=environment, capture_output=True, text=True)
        assert "3 submissions: 2 graded now, 1 unchanged" in again.stdout
        assert [result(out, f"s{index}")["score"] for index in range(3)] == [5, 5, 5]


def test_a_second_run_is_refused(course, submissions, tmp_path, capsys):
    with grading._locked(tmp_path):
        assert grade(course, submissions, tmp_path) == 1
    assert f"grading into {tmp_path} already (process {os.getpid()} on" in capsys.readouterr().err
    with grading._locked(tmp_path):  # the lock of a run that has ended keeps nobody out
        pass


def test_out_may_not_lie_among_the_submissions(course, submissions, capsys):
    assert grade(course, submissions, submissions / "gradebook") == 1
    assert "Choose another --out" in capsys.readouterr().err and not (submissions / "gradebook").exists()


# What was handed in


def test_an_empty_folder_is_told(course, tmp_path):
    with pytest.raises(LessonError, match="holds no STUDENT/LESSON.ipynb"):
        find_attempts(tmp_path, course / "solutions")
    with pytest.raises(LessonError, match="There is no folder"):
        find_attempts(tmp_path / "none", course / "solutions")


def handed_in(folder, path: str, text: str = "{}") -> Path:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def test_which_notebooks_are_found(course, tmp_path, capsys):
    for path in ("ada/x/y/z/5.ipynb", f"ada/{NAME}.ipynb", f"ada/.ipynb_checkpoints/{NAME}.ipynb", f"__MACOSX/ada/{NAME}.ipynb"):
        handed_in(tmp_path / "class", path)
    handed_in(tmp_path / "class", f"ada/1/2/3/4/{NAME}.ipynb")
    handed_in(tmp_path / "class", f"{NAME}.ipynb")
    secret = handed_in(tmp_path, f"secret/{NAME}.ipynb")
    (tmp_path / "class" / "eve").mkdir()
    (tmp_path / "class" / "eve" / f"{NAME}.ipynb").symlink_to(secret)
    (tmp_path / "class" / "eve" / "folder").symlink_to(secret.parent)
    (tmp_path / "class" / "mallory").symlink_to(secret.parent)
    os.mkfifo(tmp_path / "class" / "eve" / "pipe.ipynb")
    handed_in(tmp_path / "class", f"fay\n\x1b[2J/{NAME}.ipynb")
    os.makedirs(os.fsencode(tmp_path / "class") + b"/\xff")
    found = find_attempts(tmp_path / "class", course / "solutions")
    assert [(attempt.student, attempt.name) for attempt in found] == [("ada", NAME), ("ada", "5"), ("fay\n\x1b[2J", NAME)]
    assert [attempt.lesson is None for attempt in found] == [False, True, False]
    log = capsys.readouterr().out
    assert log.count("a link, not followed") == 3 and "is not UTF-8. Rename it" in log
    assert "\x1b" not in grading._plain(found[-1].student)


@pytest.mark.parametrize(
    "folder, stamp, when",
    [
        ("2026-03-09T10-30Z", None, "2026-03-09T10:30:00"),
        ("2026-03-09 10.30.15 UTC", None, "2026-03-09T10:30:15"),
        ("ada+hw1+20260309T103015+0200", None, "2026-03-09T08:30:15"),
        ("ps1", "2026-03-09 10:30:15.948203 UTC\n", "2026-03-09T10:30:15"),
        ("2026-03-09T10-30Z/notebooks", None, "2026-03-09T10:30:00"),
        ("2026-03-09T10-30Z", "nonsense", "2026-03-09T10:30:00"),
        ("2026-13-39", None, "2001-09-09T01:46:40"),
        ("123456789", None, "2001-09-09T01:46:40"),
    ],
)
def test_when_it_was_handed_in(course, tmp_path, folder, stamp, when):
    path = handed_in(tmp_path, f"ada/{folder}/{NAME}.ipynb")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    if stamp:
        path.with_name("timestamp.txt").write_text(stamp)
    (attempt,) = find_attempts(tmp_path, course / "solutions")
    assert attempt.handed_in == datetime.fromisoformat(when).replace(tzinfo=timezone.utc)


@pytest.mark.parametrize("seconds", [10**12, -(10**12)])
def test_a_time_that_is_none(course, tmp_path, monkeypatch, capsys, seconds):
    path = handed_in(tmp_path, f"ada/{NAME}.ipynb")
    stat = os.stat_result((*path.stat()[:8], seconds, 0))
    with monkeypatch.context() as patches:
        patches.setattr(Path, "stat", lambda self, **_: stat)
        moment = grading._handed_in(path, path.parent)
    assert abs((datetime.now(timezone.utc) - moment).total_seconds()) < 60
    assert "taken as handed in now" in capsys.readouterr().out


def test_a_time_without_a_zone_is_local(course, tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        handed_in(tmp_path, f"ada/2026-03-20/{NAME}.ipynb")
        (attempt,) = find_attempts(tmp_path, course / "solutions")
        assert attempt.handed_in == datetime(2026, 3, 20, 4, tzinfo=timezone.utc)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_file_without_end_is_read_in_part(course, tmp_path):
    path = handed_in(tmp_path, f"ada/{NAME}.ipynb")
    os.truncate(path, 1 << 40)
    (attempt,) = find_attempts(tmp_path, course / "solutions")
    os.truncate(path, MAX_BYTES + 1)
    assert attempt.digest == find_attempts(tmp_path, course / "solutions")[0].digest


# What is graded again


def test_the_fingerprint_covers_all_that_grades():
    """What a worker imports of this package decides grades, or stands among what does not."""
    imports = "import sys, classroom.worker, classroom.plugin, classroom.sitting"
    list_ = "print(*(name.partition('.')[2] for name in sys.modules if name.startswith('classroom.')))"
    found = subprocess.run([sys.executable, "-c", f"{imports}; {list_}"], capture_output=True, text=True, check=True, cwd=COURSE)
    assert set(found.stdout.split()) == set(GRADER)


def test_a_worker_starts_soon():
    """Without the grammar that `classroom` leaves out, which takes longer than all the rest."""
    program = "import sys, classroom.worker, classroom.plugin, classroom.sitting; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=COURSE).returncode == 0


def test_the_fingerprint_changes_with_each_of_its_parts():
    usual = ("notebook", "lesson", "grader", Settings())
    others = [
        usual[:place] + (other,) + usual[place + 1 :] for place, other in enumerate(["x", "y", "z", Settings(cell_seconds=61)])
    ]
    assert len({grading._fingerprint(*parts) for parts in [usual, usual, *others]}) == 5


def test_half_a_record_is_none(tmp_path):
    for number, text in enumerate(["", "{", "[]", "null", '{"score": 1}']):
        path = tmp_path / str(number)
        path.write_text(text)
        assert read_record(path) is None
    assert read_record(tmp_path / "missing") is None


# What is said meanwhile


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_progress(monkeypatch, stream):
    monkeypatch.setattr(sys, "stdout", stream)
    progress = Progress(4)
    progress.begun -= 10
    progress.step("ada: \x1b[31m5 of 5")
    progress.end()
    text = stream.getvalue()
    assert r"ada: \x1b[31m5 of 5" in text
    if stream.isatty():
        assert "] 1 of 4, 10.0 s each, 30 s left" in text and text.endswith("\r\x1b[K")
    else:
        assert "\x1b" not in text and text.count("\n") == 1


def test_options_of_the_command(course, tmp_path):
    roster = handed_in(tmp_path, "roster.csv", "student,name\nada,Ada\n")
    given = ["--deadline", "5=2026-03-09T10:00+00:00", "--roster", str(roster), "--keep", "last", "--late-per-day", "0.1"]
    given += [
        "--regrade",
        "05",
        "--engine",
        "slurm",
        "--gres",
        "gpu:1",
        "--sbatch",
        "partition=short",
        "--sbatch=--time=60",
        "--anonymous",
    ]
    options = command._parser().parse_args(arguments(course, tmp_path, tmp_path / "out", *given))
    policy = command._policy(options, course)
    assert options.regrade == "05" and command._parser().parse_args(arguments(course, "s", "out", "--regrade")).regrade == ""
    assert policy.deadlines == {NAME: datetime(2026, 3, 9, 10, tzinfo=timezone.utc)} and policy.roster == {"ada": "Ada"}
    assert (policy.keep, policy.late_per_day, policy.anonymous) == ("last", 0.1, True)
    assert command._engine(options).keywords["options"] == ["--gres=gpu:1", "--partition=short", "--time=60"]
