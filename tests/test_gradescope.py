"""The autograder for Gradescope: packed, unpacked, set up as there (nothing is installed), and run on submissions."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from classroom import __main__ as command
from classroom import dist, gradescope, sandbox
from classroom.derive import secrets
from classroom.lesson import EXERCISE, LessonError, lesson_paths, read, role

ROOT = Path(__file__).resolve().parent.parent
NAME = "05_online_softmax"
LESSON = read(ROOT / "solutions" / f"{NAME}.ipynb")
FIELDS = {"name", "name_format", "score", "max_score", "status", "output", "output_format", "visibility"}
MODE = "off" if sandbox.level("auto") == "limits" else "auto"

HOSTILE = {
    "5.1": "import os\nos._exit(0)",
    "5.2": "import json, pathlib\npathlib.Path({results!r}).write_text(json.dumps(dict(score=100)))\n",
    "5.3": "open({solution!r}).read()\nprint('read it')",
}


# ---- packing


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("dist") / "autograder.zip"
    assert command.main(["gradescope", "05", "--out", str(path), "--root", str(ROOT)]) == 0
    return path


def test_same_bytes_each_time(packed, tmp_path):
    again = gradescope.pack(ROOT, NAME, tmp_path / "again.zip")
    assert again.read_bytes() == packed.read_bytes()
    times = {member.date_time for member in zipfile.ZipFile(again).infolist()}
    assert len(times) == 1


def test_what_is_in_it(packed):
    archive = zipfile.ZipFile(packed)
    names = set(archive.namelist())
    assert {"setup.sh", "run_autograder", "requirements.txt", "README.md", "course/tiles/check.py"} <= names
    assert [name for name in names if "solutions/" in name] == [f"course/solutions/{NAME}.ipynb"]
    assert not [name for name in names if name.startswith("/") or ".." in name or "__pycache__" in name]
    modes = {member.filename: member.external_attr >> 16 & 0o777 for member in archive.infolist()}
    assert {name for name, mode in modes.items() if mode & 0o111} == {"setup.sh", "run_autograder"}


def test_no_other_lesson_is_given_away(packed):
    archive = zipfile.ZipFile(packed)
    text = "\n".join(archive.read(name).decode("utf-8", errors="replace") for name in archive.namelist() if "tiles/" not in name)
    others = [read(path) for path in lesson_paths(ROOT, ["06", "10"])]
    assert not [piece for lesson in others for piece in secrets(lesson) if len(piece) > 40 and piece in text]


def test_requirements_are_those_of_the_course():
    text = (ROOT / "requirements.txt").read_text()
    lines = gradescope.requirements(text).splitlines()
    assert lines[0].endswith("/whl/cpu") and lines[1].startswith("torch==") and lines[1].endswith("+cpu")
    assert set(lines[2:]) < set(text.splitlines())
    with pytest.raises(dist.DistError, match="does not name nbval"):
        gradescope.requirements(text.replace("\nnbval", "\n# nbval"))


def test_scripts_are_bash():
    for name in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", str(gradescope.TEMPLATES / name)], check=True)


def test_a_lesson_that_is_none(tmp_path, capsys):
    assert command.main(["gradescope", "99", "--out", str(tmp_path / "x.zip"), "--root", str(ROOT)]) == 1
    assert "No lesson is called 99" in capsys.readouterr().err and not (tmp_path / "x.zip").exists()


# ---- finding the notebook


@pytest.mark.parametrize(
    "handed_in, found",
    [
        (["hw.ipynb"], "hw.ipynb"),
        ([f"{NAME} (3).ipynb", "scratch.ipynb"], f"{NAME} (3).ipynb"),
        ([f"{NAME} (3).ipynb", f"{NAME}.ipynb"], f"{NAME}.ipynb"),
        ([f"week 3/{NAME}.ipynb", "week 3/notes.txt"], f"week 3/{NAME}.ipynb"),
        (["a.ipynb", ".ipynb_checkpoints/a.ipynb", "__MACOSX/._a.ipynb", "._a.ipynb"], "a.ipynb"),
    ],
)
def test_notebook_is_found(handed_in, found, tmp_path):
    for name in handed_in:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    assert gradescope.find_notebook(tmp_path, LESSON.path) == tmp_path / found


@pytest.mark.parametrize("handed_in, why", [([], "no notebook"), (["a.ipynb", "b.ipynb"], "2 notebooks. Hand in one")])
def test_notebook_is_not_found(handed_in, why, tmp_path):
    (tmp_path / "submission").mkdir()
    for name in handed_in:
        (tmp_path / "submission" / name).write_text("{}")
    (tmp_path / "secret.ipynb").write_text("{}")
    (tmp_path / "submission" / "link.ipynb").symlink_to(tmp_path / "secret.ipynb")
    with pytest.raises(gradescope.NotHandedIn, match=why):
        gradescope.find_notebook(tmp_path / "submission", LESSON.path)


# ---- grading


@pytest.fixture(scope="module")
def autograder(packed, tmp_path_factory) -> Path:
    """The folder /autograder, after setup.sh with an apt-get that installs nothing, and this Python in the place of a new one."""
    folder = tmp_path_factory.mktemp("gradescope") / "autograder"
    zipfile.ZipFile(packed).extractall(folder / "source")
    shutil.copy(folder / "source" / "run_autograder", folder)
    stubs = folder.parent / "stubs"
    stubs.mkdir()
    here = f'#!/bin/sh\n[ "$2" = pip ] && exit\nexec {sys.executable} "$@"\n'
    make = f'#!/bin/sh\nmkdir -p "$3/bin" && cp {stubs}/here "$3/bin/python"\n'
    for name, text in {"apt-get": "#!/bin/sh\n", "here": here, "python3": make}.items():
        (stubs / name).write_text(text)
        (stubs / name).chmod(0o755)
    path = f"{stubs}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["bash", str(folder / "source" / "setup.sh")], env={**environment(folder), "PATH": path}, check=True)
    assert (folder / "source").stat().st_mode & 0o077 == 0
    return folder


def environment(autograder: Path) -> dict[str, str]:
    return {**os.environ, "AUTOGRADER": str(autograder), "TILES_VENV": str(autograder.parent / "venv")}


@pytest.fixture
def run(autograder) -> Callable[..., tuple[int, dict]]:
    """Hands notebooks in, by name, and runs the autograder as Gradescope does; its exit status and results."""

    def run_autograder(*options: str, **changes) -> tuple[int, dict]:
        for name in ("submission", "results"):
            shutil.rmtree(autograder / name, ignore_errors=True)
        (autograder / "submission").mkdir()
        for name, text in changes.pop("files", {}).items():
            (autograder / "submission" / name).write_text(text)
        done = subprocess.run(
            ["bash", str(autograder / "run_autograder"), "--sandbox", MODE, *options],
            cwd=autograder,
            env={**environment(autograder), **changes},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        path = autograder / "results" / "results.json"
        assert path.exists(), done.stdout
        return done.returncode, json.loads(path.read_text(encoding="utf-8"))

    return run_autograder


def handed_in(answer: Callable[[str, str, str], str]) -> str:
    """A student's copy with answers: from an exercise, its solution and its blank to what the cell holds."""
    notebook = nbformat.read(ROOT / "notebooks" / f"{NAME}.ipynb", as_version=4)
    for cell in notebook.cells:
        kind, exercise = role(cell)
        if kind == EXERCISE:
            cell.source = answer(exercise, LESSON.exercises[exercise].answer.source, cell.source)
    return nbformat.writes(notebook)


def test_right_hostile_and_blank_answers(run, autograder):
    """Three answers do harm, the next ones are right, the questions blank."""
    places = {
        "results": str(autograder / "results" / "results.json"),
        "solution": str(autograder / "source" / "course" / "solutions" / f"{NAME}.ipynb"),
    }

    def answer(exercise: str, solution: str, blank: str) -> str:
        attack = HOSTILE.get(exercise, "").format(**places)
        return f"# Exercise {exercise}\n{attack}\n{solution}" if attack else blank if ".c" in exercise else solution

    status, results = run(files={f"{NAME} (3).ipynb": handed_in(answer)})
    assert status == 0 and set(results) == {"output", "output_format", "tests"}
    assert all(set(test) == FIELDS for test in results["tests"])
    assert sum(test["max_score"] for test in results["tests"]) == LESSON.points
    assert results["output"] == f"{sum(test['score'] for test in results['tests'])} of {LESSON.points} points."
    tests = {test["name"].partition(":")[0]: test for test in results["tests"]}
    assert list(tests) == list(LESSON.exercises)
    assert tests["5.1"]["name"] == "5.1: a softmax that cannot break" and tests["5.1"]["output"] == "its cell kills the kernel"
    assert tests["5.4"] == {**tests["5.4"], "status": "passed", "score": 2, "output": "passed"}
    assert tests["5.c1"] == {**tests["5.c1"], "status": "failed", "score": 0, "output": "not written yet"}
    if MODE == "auto":
        assert [tests[id_]["score"] for id_ in HOSTILE] == [0, 0, 0]
        assert all("Error" in tests[id_]["output"] for id_ in ("5.2", "5.3"))


def test_no_notebook(run):
    status, results = run(files={"answers.txt": "c"})
    assert status == 0 and results["score"] == 0 and results["tests"] == []
    assert results["output"] == f"There is no notebook in what you handed in. Hand in {NAME}.ipynb."


def test_no_python(run):
    status, results = run(TILES_VENV="/nowhere", files={"hw.ipynb": "{}"})
    assert status != 0 and list(results) == ["output"] and "fault is not yours" in results["output"]


def test_a_grader_that_fails_gives_no_score(monkeypatch, tmp_path, capsys):
    def fail(*arguments):
        raise RuntimeError("no space left")

    monkeypatch.setattr(command, "main", fail)
    monkeypatch.setattr(sandbox, "level", lambda mode: "bubblewrap")
    assert graded_here(tmp_path) == 1
    results = json.loads((tmp_path / "results" / "results.json").read_text())
    assert set(results) == {"output", "output_format"} and "fault is not yours" in results["output"]
    assert "no space left" in capsys.readouterr().out


def test_nothing_runs_where_the_solution_could_be_read(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sandbox, "level", lambda mode: "limits")
    assert graded_here(tmp_path) == 1
    assert "could read the solution" in capsys.readouterr().out


def graded_here(folder: Path) -> int:
    """The exit status of the autograder, run in this process."""
    (folder / "submission").mkdir()
    (folder / "submission" / "hw.ipynb").write_text("{}")
    (folder / "solutions").mkdir()
    shutil.copy(LESSON.path, folder / "solutions")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return gradescope.main([str(folder)])


def test_more_than_one_lesson(tmp_path):
    for name in ("05_a", "05_b"):
        (tmp_path / "solutions").mkdir(exist_ok=True)
        (tmp_path / "solutions" / f"{name}.ipynb").write_text("{}")
    with pytest.raises(LessonError, match="05_a or 05_b"):
        gradescope.pack(tmp_path, "05")


def test_an_archive_is_a_zip_file():
    data = gradescope.archive({"setup.sh": b"a", "x/y": b"b"}, 0 + 86400 * 365 * 30)
    assert zipfile.ZipFile(io.BytesIO(data)).testzip() is None
