"""Blanks: what each mark takes away, and what is refused; the student's copy as a whole."""

from __future__ import annotations

import json
import subprocess

import nbformat
import pytest
from sample_lesson import NAME, SOURCES, lesson_notebook

from classroom import __main__ as command
from classroom.derive import (
    BlankError,
    blanks,
    check_notebooks,
    removed,
    secrets,
    student_notebook,
    student_source,
    write_notebooks,
)
from classroom.execute import canonical, dumps
from classroom.lesson import LessonError, find_root, parse, read, reference_of

BLANKED = {
    "assignment": ("x = a + b  # ______ hint", "x = ______  # hint"),
    "no hint": ("x = a + b  # ______", "x = ______"),
    "no space": ("x = a + b  #______ hint", "x = ______  # hint"),
    "annotated": ("x: tl.constexpr = a + b  # ______ hint", "x: tl.constexpr = ______  # hint"),
    "augmented": ("x //= a + b  # ______ hint", "x //= ______  # hint"),
    "tuple": ("a, b = f(), g()  # ______ two", "a, b = ______  # two"),
    "chained": ("a = b = f(c=1)  # ______ one", "a = b = ______  # one"),
    "element": ("out[i, j == k] = x @ y  # ______ one", "out[i, j == k] = ______  # one"),
    "comparison": ("mask = (a == b) <= c  # ______ one", "mask = ______  # one"),
    "lambda": ("f = lambda t=1: t + 1  # ______ one", "f = ______  # one"),
    "walrus": ("x = (y := 3) + y  # ______ one", "x = ______  # one"),
    "return": ("def f():\n    return (a +\n            b)  # ______ sum", "def f():\n    return ______  # sum"),
    "parentheses": ("x = ((a + b) * (c))  # ______ hint", "x = ______  # hint"),
    "half in parentheses": ("x = (a + b) * (c)  # ______ hint", "x = ______  # hint"),
    "several lines": ("x = (\n    a\n    + b\n)  # ______ hint", "x = ______  # hint"),
    "mark on the first line": ("x = (  # ______ hint\n    a  # why\n    + b\n)\ny = 1", "x = ______  # hint\ny = 1"),
    "call, mark on the first line": ("x = np.where(  # ______ hint\n    a,\n    b,\n)", "x = ______  # hint"),
    "backslash": ("x = 3 \\\n    + 4  # ______ hint", "x = ______  # hint"),
    "positional arguments": ("x = tl.load(x_ptr + offs, mask=mask)  # ______ reads n", "x = ______  # reads n"),
    "bare call": ("tl.store(p, x + y, mask=mask)  # ______ writes n", "______  # writes n"),
    "keyword": (
        "tl.store(\n    p,\n    v,\n    mask=m & n,  # ______ which\n)",
        "tl.store(\n    p,\n    v,\n    mask=______,  # which\n)",
    ),
    "keyword, no comma": ("f(\n    p,\n    mask=(m & n)  # ______ which\n)", "f(\n    p,\n    mask=______  # which\n)"),
    "two keywords": (
        "y = f(p,\n    m=g(n=1),  # ______ a\n    o=0.0,  # ______ b\n)",
        "y = f(p,\n    m=______,  # a\n    o=______,  # b\n)",
    ),
    "if": ("if (a < b):  # ______ when\n    pass", "if ______:  # when\n    pass"),
    "elif": ("if a:\n    pass\nelif a < b:  # ______ when\n    pass", "if a:\n    pass\nelif ______:  # when\n    pass"),
    "while": ("while a[1:2]:  # ______ when\n    a -= 1", "while ______:  # when\n    a -= 1"),
    "for": ("for k in range(0, K, B):  # ______ steps\n    acc += k", "for k in ______:  # steps\n    acc += k"),
    "for with in": ("for k in [x for x in y if x in z]:  # ______ steps\n    pass", "for k in ______:  # steps\n    pass"),
    "await": ("async def f():\n    x = await g()  # ______ wait", "async def f():\n    x = ______  # wait"),
    "comment before": ("x = a + b  # [M, N]  # ______ hint", "x = ______  # [M, N]  # hint"),
    "not ASCII": ("s = f('é→×', µ=a)  # ______ é", "s = ______  # é"),
    "not ASCII before a keyword": ("f('é→×',\n  'é', k=a,  # ______ é\n)", "f('é→×',\n  'é', k=______,  # é\n)"),
    "mark in a string": ("s = '# ______ no'\nx = 1  # ______ yes", "s = '# ______ no'\nx = ______  # yes"),
    "instead": ("mask = offs < n  # ______ instead: offs <= n", "mask = offs <= n"),
    "instead, in a call": ("f(\n    a,\n    mask=m,  # ______ instead: None\n)", "f(\n    a,\n    mask=None,\n)"),
    "instead, comment before": ("x = a  # [M]  # ______ instead: b", "x = b  # [M]"),
    "region": (
        "def f():\n    a = 1\n    # BEGIN SOLUTION: add\n    b = 2\n\n    # why\n    c = (b +\n         a)\n    # END SOLUTION\n    return c",
        "def f():\n    a = 1\n    ______  # write 3 lines: add\n    return c",
    ),
    "region without a hint": ("### BEGIN SOLUTION\nx = 1\n### END SOLUTION", "______  # write 1 line"),
    "kernel": (
        "@triton.jit\ndef k(p, n, B: tl.constexpr):\n    offs = tl.arange(0, B)  # ______ which\n    mask = offs < n  # ______ real ones\n"
        "    # BEGIN SOLUTION\n    tl.store(p + offs, 0, mask=mask)\n    # END SOLUTION",
        "@triton.jit\ndef k(p, n, B: tl.constexpr):\n    offs = ______  # which\n    mask = ______  # real ones\n    ______  # write 1 line",
    ),
}

REFUSED = {
    "no mark": ("x = 1", "nothing is blanked"),
    "two statements": ("a = 1; b = 2  # ______ x", "two statements"),
    "statement after a header": ("if a: b = 2  # ______ x", "two statements"),
    "alone": ("# ______ x\ny = 1", "stands alone"),
    "alone in brackets": ("y = f(\n    # ______ x\n    a=1,\n)", "stands alone"),
    "default argument": ("def f(x, n=3):  # ______ x\n    return x", "cannot be blanked"),
    "with": ("with open(p) as f:  # ______ x\n    pass", "cannot be blanked"),
    "import": ("import a  # ______ x", "cannot be blanked"),
    "else": ("if a:\n    b = 1\nelse:  # ______ x\n    b = 2", "nothing can be blanked"),
    "docstring": ('def f():\n    """Text."""  # ______ x', "cannot be blanked"),
    "bare return": ("def f():\n    return  # ______ x", "cannot be blanked"),
    "declaration": ("x: int  # ______ x", "cannot be blanked"),
    "positional argument in a call over lines": ("x = f(\n    a + b,  # ______ x\n    c)", "no keyword argument"),
    "dictionary": ("d = {'a': 1,  # ______ x\n 'b': 2}", "no keyword argument"),
    "two keywords on a line": ("f(\n    a=1, b=2,  # ______ x\n)", "2 keyword arguments"),
    "something after the keyword": ("f(\n    a=1, **b,  # ______ x\n)", "more follows"),
    "magic": ("%matplotlib inline\nx = 1  # ______ x", "magic"),
    "five underscores": ("x = 1  # _____ x", "six underscores"),
    "seven underscores": ("x = 1  # _______ x", "six underscores"),
    "mark not at the start": ("x = 1  # x ______ y", "six underscores"),
    "two marks in a comment": ("x = 1  # ______ x  # ______ y", "six underscores"),
    "mark inside another blank": ("x = f(  # ______ x\n    a=1,  # ______ y\n)", "inside another blank"),
    "mark in a region": ("# BEGIN SOLUTION\nx = 1  # ______ x\n# END SOLUTION", "inside a region"),
    "region not ended": ("# BEGIN SOLUTION\nx = 1", "without END"),
    "region not begun": ("x = 1\n# END SOLUTION", "without BEGIN"),
    "region in a region": ("# BEGIN SOLUTION\n# BEGIN SOLUTION\nx = 1\n# END SOLUTION", "inside the region"),
    "empty region": ("# BEGIN SOLUTION\n# END SOLUTION", "no code"),
    "crooked region": ("def f():\n    # BEGIN SOLUTION\n    x = 1\n# END SOLUTION", "same column"),
    "region behind code": ("x = 1  # BEGIN SOLUTION\ny = 2\n# END SOLUTION", "line of its own"),
    "blank in the solution": ("x = ______\ny = 1  # ______ x", "the solution itself"),
    "no Python": ("x = = 1  # ______ x", "not Python"),
    "instead of nothing": ("x = 1  # ______ instead: a b", "not an expression"),
}


@pytest.mark.parametrize("case", BLANKED)
def test_a_mark_blanks(case):
    source, expected = BLANKED[case]
    student = student_source(source)
    assert student == expected
    assert len(blanks(student)) == expected.count("______") - expected.count("'# ______ no'")
    assert all(piece not in student.split("'# ______ no'") for piece in removed(source))


@pytest.mark.parametrize("case", REFUSED)
def test_a_doubtful_mark_is_refused(case):
    source, words = REFUSED[case]
    with pytest.raises(BlankError, match=words):
        student_source(source)


def test_blanks_are_found_in_broken_source():
    assert blanks("x = ______  # ______ not this\ny = (______, ______\n") == [1, 2, 2]
    assert blanks("x = 'a ______'\ny_______ = 1") == []


# Notebooks


@pytest.fixture
def lesson():
    return parse(
        canonical(lesson_notebook()), f"solutions/{NAME}.ipynb" and __import__("pathlib").Path(f"solutions/{NAME}.ipynb")
    )


@pytest.fixture
def course(tmp_path):
    """A course with one lesson, not executed, under git."""
    for folder in ("solutions", "notebooks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "solutions" / f"{NAME}.ipynb").write_text(dumps(canonical(lesson_notebook())), encoding="utf-8")
    write_notebooks(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "course")
    return tmp_path


def git(folder, *arguments):
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def work_in(path, source="x = 1"):
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[-1].source = source
    nbformat.write(notebook, path)


def test_no_solution_is_left_in_the_copy(lesson):
    for exercise in lesson.exercises.values():
        exercise.check.outputs = [nbformat.v4.new_output("stream", text=f"np.exp(y) {exercise.id}")]
        exercise.answer.outputs = exercise.check.outputs
        exercise.hidden.outputs = exercise.check.outputs
    text = dumps(student_notebook(lesson))
    assert len(secrets(lesson)) >= 8 and all(piece not in text for piece in secrets(lesson))
    assert "hidden" not in text and "np.exp(y)" not in text and "SOLUTION" not in text
    tags = [tag for cell in json.loads(text)["cells"] for tag in cell["metadata"].get("tags", [])]
    assert {f"exercise-{id_}" for id_ in SOURCES} <= set(tags)


def test_the_copy_has_no_outputs_and_the_page_those_that_do_not_tell(lesson):
    given = lesson.notebook.cells[-1]
    given.outputs = [nbformat.v4.new_output("stream", text="shown")]
    assert "shown" not in dumps(student_notebook(lesson)) and "shown" in dumps(student_notebook(lesson, outputs=True))
    given.metadata["tags"] = ["solution-output"]
    assert "shown" not in dumps(student_notebook(lesson, outputs=True))


def test_answers_have_no_outputs_on_the_page_either(lesson):
    for exercise in lesson.exercises.values():
        exercise.answer.outputs = exercise.check.outputs = [nbformat.v4.new_output("stream", text="a right answer")]
    assert "a right answer" not in dumps(student_notebook(lesson, outputs=True))


def test_a_mark_outside_an_exercise_is_refused(lesson):
    lesson.notebook.cells[-1].source = "x = 1  # ______ hint"
    with pytest.raises(BlankError, match=f"{NAME}.ipynb, cell 20: only a cell with an exercise tag"):
        student_notebook(lesson)


def test_copies_in_step(course):
    assert [outcome for _, outcome in write_notebooks(course)] == ["unchanged"]
    work_in(course / "solutions" / f"{NAME}.ipynb")
    assert any("not in step" in problem for problem in check_notebooks(course))
    (course / "notebooks" / "06_other.ipynb").write_text("{}")
    assert any("06_other.ipynb has no solution" in problem for problem in check_notebooks(course))


def test_work_is_not_overwritten(course, capsys):
    path = course / "notebooks" / f"{NAME}.ipynb"
    work_in(path)
    worked = path.read_text()
    assert command.main(["notebooks", "--root", str(course)]) == 1
    assert path.read_text() == worked
    assert "--force" in capsys.readouterr().err
    assert command.main(["notebooks", "--root", str(course), "--force"]) == 0
    assert path.read_text() != worked and command.main(["notebooks", "--root", str(course)]) == 0


def test_one_byte_counts_as_work(course):
    path = course / "notebooks" / f"{NAME}.ipynb"
    path.write_text(path.read_text() + "\n")
    assert [outcome for _, outcome in write_notebooks(course)] == ["modified"]


def test_work_that_git_holds_may_be_overwritten(course):
    path = course / "notebooks" / f"{NAME}.ipynb"
    work_in(path)
    git(course, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "work")
    assert [outcome for _, outcome in write_notebooks(course)] == ["written"]


def test_an_author_may_derive_twice_without_a_commit(course):
    for text in ("x = 1", "x = 2"):
        work_in(course / "solutions" / f"{NAME}.ipynb", text)
        assert [outcome for _, outcome in write_notebooks(course)] == ["written"]


# Lessons


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        (["check-5.1"], "already has the tag"),
        (["excercise-5.9"], "means nothing here"),
        (["exercise-5-9"], "means nothing here"),
        (["points-2"], "only beside a check"),
        (["exercise-6.1"], "not of lesson 5"),
        (["exercise-5.9"], "write `# Exercise 5.9` as the first line"),
        (["check-5.9"], "no cell with the tag exercise-5.9"),
        (["exercise-5.8", "check-5.8"], "exclude each other"),
        (["hidden-check-5.1"], "already has the tag"),
        (["nbval-skip"], "means nothing here"),
    ],
)
def test_wrong_tags_are_refused(lesson, tags, words):
    lesson.notebook.cells[-1].metadata["tags"] = tags
    with pytest.raises(LessonError, match=words) as error:
        parse(lesson.notebook, lesson.path)
    assert NAME in str(error.value)


@pytest.mark.parametrize("kind", ["check", "hidden-check"])
def test_every_exercise_has_its_checks(lesson, kind):
    lesson.notebook.cells = [cell for cell in lesson.notebook.cells if f"{kind}-5.2" not in cell.metadata.get("tags", [])]
    with pytest.raises(LessonError, match=f"exercise 5.2 has no cell with the tag {kind}-5.2"):
        parse(lesson.notebook, lesson.path)


def test_answer_comes_before_its_check(lesson):
    cells = lesson.notebook.cells
    cells.append(cells.pop(3))
    with pytest.raises(LessonError, match="the order must be"):
        parse(lesson.notebook, lesson.path)


def test_points(lesson):
    assert [exercise.points for exercise in lesson.exercises.values()] == [2, 1, 1, 1] and lesson.points == 5


def test_root_and_reference_are_found(course, tmp_path_factory):
    solution = course / "solutions" / f"{NAME}.ipynb"
    assert find_root(course / "notebooks") == course
    assert reference_of(course / "notebooks" / f"{NAME}.ipynb") == solution
    elsewhere = tmp_path_factory.mktemp("downloads") / f"{NAME} (2).ipynb"
    assert reference_of(elsewhere, course / "solutions") == solution
    assert reference_of(elsewhere) is None


def test_a_file_that_is_no_notebook_is_named(course):
    (course / "solutions" / f"{NAME}.ipynb").write_text("{")
    with pytest.raises(LessonError, match="this is not a notebook"):
        read(course / "solutions" / f"{NAME}.ipynb")
