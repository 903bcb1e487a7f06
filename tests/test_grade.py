"""A gradebook from a folder of submissions."""

from __future__ import annotations

import csv
import json
import shutil

import nbformat
import pytest
from sample_lesson import NAME, SOURCES, make_course

from classroom import __main__ as command
from classroom.grade import grades_csv
from classroom.lesson import LessonError


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    make_course(root)
    return root


@pytest.fixture(scope="module")
def submissions(course):
    folder = course / "submissions"
    for student in ("ada", "ben", "cy", "dora", "eve"):
        (folder / student).mkdir(parents=True)
    copy = course / "notebooks" / f"{NAME}.ipynb"
    shutil.copy(course / "solutions" / f"{NAME}.ipynb", folder / "ada" / f"{NAME}.ipynb")
    shutil.copy(copy, folder / "ben" / f"{NAME} (1).ipynb")
    (folder / "cy" / f"{NAME}.ipynb").write_text("{")
    shutil.copy(copy, folder / "dora" / "homework.ipynb")
    (folder / "eve" / f"{NAME}.ipynb").write_text(looping(copy))
    (folder / "ada" / "conftest.py").write_text("raise SystemExit('a student runs code in the grader')")
    (folder / "ada" / "pytest.ini").write_text("[pytest]\naddopts = --sandbox=off --co\n")
    return folder


def looping(copy) -> str:
    notebook = nbformat.read(copy, as_version=4)
    for cell in notebook.cells:
        if "exercise-5.1" in cell.metadata.get("tags", []):
            cell.source = "# Exercise 5.1\nwhile True: pass\n"
        if "exercise-5.3" in cell.metadata.get("tags", []):
            cell.source = SOURCES["5.3"].strip()
    return nbformat.writes(notebook)


def grade(course, out, *options) -> int:
    arguments = [
        "grade",
        str(course / "submissions"),
        "--out",
        str(out),
        "--root",
        str(course),
        "--jobs",
        "2",
        "--cell-seconds",
        "5",
    ]
    return command.main(arguments)


def state(folder) -> dict:
    return {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))}


def test_gradebook(course, submissions, tmp_path, capsys):
    before = state(submissions)
    out = tmp_path / "gradebook"
    assert grade(course, out) == 0
    log = capsys.readouterr().out
    assert "dora/homework: not graded: no lesson is called homework" in log
    assert f"ada/{NAME}: 5 of 5 points" in log and f"cy/{NAME}: 0 of 5 points" in log
    assert state(submissions) == before

    ada = json.loads((out / "results" / "ada" / f"{NAME}.json").read_text())
    assert list(ada) == ["student", "lesson", "score", "max", "exercises"]
    assert (ada["student"], ada["lesson"], ada["score"], ada["max"]) == ("ada", NAME, 5, 5)
    assert ada["exercises"][0] == {"exercise": "5.1", "passed": True, "score": 2, "max": 2, "message": ""}
    eve = json.loads((out / "results" / "eve" / f"{NAME}.json").read_text())
    assert eve["score"] == 1 and eve["exercises"][0]["message"] == "its cell takes longer than 5 s"
    cy = json.loads((out / "results" / "cy" / f"{NAME}.json").read_text())
    assert {exercise["message"] for exercise in cy["exercises"]} == {
        "the file is not a notebook (NotJSONError); open it in Jupyter and save it again"
    }
    rows = list(csv.reader((out / "grades.csv").open()))
    assert rows == [
        ["student", NAME, "score", "max"],
        *([s, n, n, "5"] for s, n in (("ada", "5"), ("ben", "0"), ("cy", "0"), ("eve", "1"))),
    ]

    first = state(out)
    assert grade(course, out) == 0 and state(out) == first
    assert f"ada/{NAME}: unchanged" in capsys.readouterr().out
    mended = (submissions / "ada" / f"{NAME}.ipynb").read_bytes()
    (submissions / "cy" / f"{NAME}.ipynb").write_bytes(mended)
    assert grade(course, out) == 0
    log = capsys.readouterr().out
    assert f"cy/{NAME}: 5 of 5 points" in log and f"eve/{NAME}: unchanged" in log


def test_a_grader_that_fails_costs_nobody_else(course, submissions, tmp_path, monkeypatch, capsys):
    import classroom.grade as module

    original = module._run_pytest
    monkeypatch.setattr(
        module,
        "_run_pytest",
        lambda notebook, grades, *rest: (
            "took longer than 1 s" if b"while True" in notebook.read_bytes() else original(notebook, grades, *rest)
        ),
    )
    for student in ("ada", "eve"):
        shutil.copytree(submissions / student, course / "two" / student)
    out = tmp_path / "gradebook"
    assert grade(course, out, "two") == 1
    eve = json.loads((out / "results" / "eve" / f"{NAME}.json").read_text())
    assert (eve["score"], eve["max"]) == (0, 5) and eve["exercises"][0]["message"] == "not graded: took longer than 1 s"
    assert f"ada/{NAME}: 5 of 5 points" in capsys.readouterr().out
    assert not (out / "graded" / "eve" / NAME).exists()


def test_out_may_not_lie_among_the_submissions(course, submissions, capsys):
    assert grade(course, submissions / "gradebook") == 1
    assert "Choose another --out" in capsys.readouterr().err and not (submissions / "gradebook").exists()


def test_an_empty_folder_is_told(course, tmp_path, capsys):
    from classroom.grade import find_submissions

    with pytest.raises(LessonError, match="holds no STUDENT/LESSON.ipynb"):
        list(find_submissions(tmp_path, course / "solutions"))
    assert grades_csv(tmp_path) == "student,score,max\n"
