"""Every lesson in solutions/: in canonical form, in step with its copy, and no answer left in the copy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from classroom.derive import blanks, check_notebooks, removed, secrets, student_source
from classroom.execute import check_canonical
from classroom.lesson import find_root, lesson_paths, read, role

ROOT = find_root(Path(__file__))
MEASURES = ("bandwidth", "throughput", "peak_memory", "text")  # of tiles.bench
LESSONS = [path.stem for path in lesson_paths(ROOT)]


@pytest.fixture(params=LESSONS)
def lesson(request):
    return read(ROOT / "solutions" / f"{request.param}.ipynb")


def copy_of(lesson) -> dict:
    return json.loads((ROOT / "notebooks" / lesson.path.name).read_text(encoding="utf-8"))


def test_copies_are_in_step():
    assert check_notebooks(ROOT) == []


def test_solution_is_canonical(lesson):
    assert check_canonical(lesson.path) == []


def test_every_exercise_is_complete(lesson):
    assert lesson.exercises, "a lesson without exercises"
    for exercise in lesson.exercises.values():
        assert exercise.check.outputs and exercise.hidden.outputs, f"{exercise.id}: a check prints something"
        shown = "".join(output.get("text", "") for output in exercise.check.outputs)
        assert shown.startswith(f"Exercise {exercise.id} passed") and shown.count("\n") == 1, f"{exercise.id}: one line"
        hidden = "".join(output.get("text", "") for output in exercise.hidden.outputs)
        assert hidden.strip().lower() not in ("", "ok", "true", "passed", "none"), f"{exercise.id}: a hidden check prints values"
        student = student_source(exercise.answer.source)
        assert blanks(student) or student != exercise.answer.source


def test_no_answer_is_left_in_the_copy(lesson):
    """Not in the sources, the outputs or the metadata; hidden checks neither."""
    copy = copy_of(lesson)
    text = json.dumps(copy, ensure_ascii=False)
    strings = "\n".join(strings_of(copy))
    for piece in secrets(lesson):
        assert piece not in strings, f"{lesson.name}: {piece!r} stands in the student's copy"
    assert "hidden-check" not in text and "BEGIN SOLUTION" not in text


def test_the_copy_has_no_outputs(lesson):
    """Whoever works in it is asked to predict them."""
    code = [cell for cell in copy_of(lesson)["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_concept_questions_have_a_variable_each(lesson):
    """`answer` in all of them would let one question be judged by the answer to another."""
    for id_, exercise in lesson.exercises.items():
        number = id_.split(".")[1]
        if number.startswith("c"):
            student = student_source(exercise.answer.source)
            assert student.endswith(f'\nanswer_{number} = ______  # a letter in quotes, such as "a"'), id_
            assert exercise.check.source == f'choice("{id_}", answer_{number})'
            assert max(map(len, student.splitlines())) <= 90, f"{id_}: JupyterLab cuts a line off"


def test_exercise_cells_of_the_copy_are_clean(lesson):
    cells = {cell["id"]: cell for cell in copy_of(lesson)["cells"]}
    for exercise in lesson.exercises.values():
        source = "".join(cells[exercise.answer.id]["source"])
        given = student_source(exercise.answer.source)
        assert source == given
        for piece in removed(exercise.answer.source):
            assert exercise.answer.source.count(piece) > source.count(piece)


def test_only_hidden_checks_are_missing_from_the_copy(lesson):
    kept = [cell.id for cell in lesson.notebook.cells if role(cell)[0] != "hidden-check"]
    assert [cell["id"] for cell in copy_of(lesson)["cells"]] == kept


def strings_of(value) -> list[str]:
    """Every text in a JSON value; lists of lines as one text."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        joined = ["".join(value)] if value and all(isinstance(item, str) for item in value) else []
        return joined + [text for item in value for text in strings_of(item)]
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings_of(item)]
    return []


def test_a_cell_that_measures_is_not_compared(lesson):
    """On a GPU a cell tagged `gpu` is compared with what is stored; a time never comes out the same twice."""
    for cell in lesson.notebook.cells:
        tags = cell.metadata.get("tags", [])
        if "gpu" in tags and any(f"bench.{measure}(" in cell.source for measure in MEASURES):
            assert "nbval-ignore-output" in tags, f"{lesson.name}: tag this cell nbval-ignore-output:\n{cell.source}"
