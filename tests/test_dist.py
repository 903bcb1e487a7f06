"""The archives of a release: the same bytes twice, no solution in what students get, and a student can begin with it."""

from __future__ import annotations

import ast
import base64
import functools
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat
import pytest

from classroom import dist
from classroom.derive import removed, secrets, student_notebook, student_source
from classroom.lesson import EXERCISE, lesson_paths, read, role

ROOT = Path(__file__).resolve().parent.parent
LESSONS = [read(path) for path in lesson_paths(ROOT)]
ANYWHERE = {"for row in x:", "except ValueError:", "return launcher"}  # lines of a program that is about something else


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return dist.student_files(ROOT)


@pytest.fixture(scope="module")
def unpacked(files, tmp_path_factory) -> Path:
    """The student edition, packed and unpacked again."""
    folder = tmp_path_factory.mktemp("student")
    with tarfile.open(fileobj=io.BytesIO(dist.tar(files, "course", dist.timestamp(ROOT)))) as archive:
        archive.extractall(folder)
    return folder / "course"


# ---- no solution


@functools.cache
def shown() -> str:
    """All that a student reads in some lesson: what one lesson asks for, another may show."""
    return "\n".join(cell.source for lesson in LESSONS for cell in student_notebook(lesson).cells)


@functools.cache
def pieces() -> list[str]:
    """Answers and hidden checks of all lessons, line by line, and what hidden checks print."""
    given = shown()
    found = dict.fromkeys(piece for lesson in LESSONS for piece in secrets(lesson))
    return [piece for piece in found if piece not in given and piece not in ANYWHERE]


def readable(name: str, data: bytes) -> str:
    """All that stands in a file, strings of JSON decoded."""
    text = data.decode("utf-8", errors="replace")
    return f"{text}\n" + "\n".join(strings(json.loads(text))) if name.endswith((".ipynb", ".json")) else text


def strings(value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            yield "".join(value)
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)


def leaks(files: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Files in which one can read a piece of an answer or of a hidden check, with the piece."""
    secret = pieces()
    return [(name, piece) for name, data in files.items() if (text := readable(name, data)) for piece in secret if piece in text]


def opened(name: str, data: bytes) -> bytes:
    """A sealed file as it was before."""
    if name.endswith(".gz"):
        return gzip.decompress(data)
    if name.startswith("tiles/mistakes/lesson_"):
        encoded = ast.parse(data).body[-1].value.args[0].args[0].args[0].value
        return zlib.decompress(base64.b85decode(encoded))
    return data


def test_no_solution_can_be_read_in_the_student_edition(files):
    assert len(pieces()) > 10 * len(LESSONS)
    assert leaks(files) == []


def test_the_search_for_solutions_finds_them_where_they_are():
    """The test above would pass on anything if it could not find them."""
    here = {path.name: path.read_bytes() for lesson in LESSONS for path in [lesson.path]}
    found = {piece for _, piece in leaks(here)}
    assert found == set(pieces())
    assert leaks({"x.py": (ROOT / "tiles/mistakes/lesson_06.py").read_bytes()}), "known mistakes come near to answers"


def test_exercises_are_blank_and_hidden_checks_gone(files):
    for lesson in LESSONS:
        copy = nbformat.reads(files[f"notebooks/{lesson.path.name}"].decode(), as_version=4)
        cells = {cell.id: cell for cell in copy.cells}
        assert not {exercise.hidden.id for exercise in lesson.exercises.values()} & set(cells)
        assert not any(cell.get("outputs") for cell in copy.cells)
        for exercise in lesson.exercises.values():
            source = cells[exercise.answer.id].source
            assert source == student_source(exercise.answer.source)
            for piece in removed(exercise.answer.source):
                assert source.count(piece) < exercise.answer.source.count(piece)
        assert len([cell for cell in copy.cells if role(cell)[0] == EXERCISE]) == len(lesson.exercises)


def test_no_output_gives_an_answer_away(files):
    """What right answers print, what is tagged solution-output, and what is said to the right letter of a question."""
    outputs = [
        output.get("text", "")
        for lesson in LESSONS
        for cell in lesson.notebook.cells
        if cell.cell_type == "code" and (role(cell)[0] == "check" or "solution-output" in cell.metadata.get("tags", []))
        for output in cell.outputs
    ]
    lines = {line.strip().partition(" passed: ")[2] or line.strip() for text in outputs for line in text.splitlines()}
    long = {line for line in lines if len(line) >= 40}
    assert len(long) > 3 * len(LESSONS)
    text = "\n".join(readable(name, data) for name, data in files.items())
    assert not [line for line in long if line in text]


def test_even_what_is_sealed_has_no_hidden_check(files):
    hidden = {line for lesson in LESSONS for line in lesson.hidden_lines if len(line) >= 12}
    given = shown()
    sealed = {name: opened(name, data) for name, data in files.items() if opened(name, data) != data}
    assert {name.split("/")[1] for name in sealed} == {"questions", "mistakes"}
    text = "\n".join(readable(name.removesuffix(".gz"), data) for name, data in sealed.items())
    assert not [line for line in hidden if line in text and line not in given and line not in ANYWHERE]


def test_nothing_that_grades_or_builds_is_packed(files):
    assert {name.split("/")[0] for name in files} == {
        *("LICENSE", "Makefile", "README.md", "pyproject.toml", "requirements.txt"),
        *("book", "notebooks", "tiles"),
    }
    for name, data in files.items():
        text = readable(name, data)
        assert "BEGIN SOLUTION" not in text and "hidden-check-" not in text, name
    own = "".join(files[name].decode() for name in ("pyproject.toml", "requirements.txt", "Makefile"))
    assert not re.search(r"nbval|pytest|jupyter-book|classroom\.|solutions", own)


def test_the_pictures_that_notebooks_show_are_packed_and_no_others(files):
    notebooks = "".join(data.decode() for name, data in files.items() if name.endswith(".ipynb"))
    shown = set(re.findall(r"explorer-[\w-]+\.svg", notebooks))
    assert len(shown) >= 6
    assert {name for name in files if name.startswith("book/figures/")} == {f"book/figures/{name}" for name in shown}
    some = dist.student_files(ROOT, ["02"])
    assert {name for name in some if name.endswith(".svg")} == {"book/figures/explorer-sectors.svg"}


# ---- archives


def test_archives_are_the_same_bytes_twice(tmp_path, monkeypatch):
    archives = []
    for folder in ("first", "second"):
        (path,) = dist.pack(ROOT, tmp_path / folder, ["05"])
        archives.append(path.read_bytes())
    assert archives[0] == archives[1] and path.name == f"think-in-tiles-{dist.version(ROOT)}-student.tar.gz"
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        assert {member.mtime for member in members} == {dist.timestamp(ROOT)}
        assert [member.name for member in members] == sorted(member.name for member in members)
        assert {(member.uid, member.uname, member.mode) for member in members} == {(0, "", 0o644)}
        assert [m.name.split("/")[-1] for m in members if "/notebooks/" in m.name] == ["05_online_softmax.ipynb"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    (path,) = dist.pack(ROOT, tmp_path / "third", ["05"])
    assert {member.mtime for member in tarfile.open(path).getmembers()} == {86400}


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_the_instructor_edition_is_what_git_holds(tmp_path):
    root = tmp_path / "course"
    for name in ("pyproject.toml", "CHANGELOG.md", "requirements.txt", "LICENSE", "book/glossary.md", "tiles/__init__.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "solutions").mkdir()
    shutil.copy(LESSONS[0].path, root / "solutions")
    assert len(dist.pack(root, tmp_path / "out")) == 1, "outside git there is the student edition alone"
    git(root, "init", "-q")
    with pytest.raises(dist.DistError, match="files differ from the last commit"):
        dist.pack(root, tmp_path / "out")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all of it")
    student, instructor = dist.pack(root, tmp_path / "out")
    before = instructor.read_bytes()
    with tarfile.open(instructor) as archive:
        top = instructor.name.removesuffix(".tar.gz")
        held = {member.name.removeprefix(f"{top}/") for member in archive.getmembers() if member.isfile()}
    assert held == {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file() and ".git" not in path.parts}
    assert dist.pack(root, tmp_path / "out")[1].read_bytes() == before
    (root / "LICENSE").write_text("another one")
    with pytest.raises(dist.DistError, match="the first is LICENSE: commit them first"):
        dist.pack(root, tmp_path / "out")


def test_the_version_is_in_the_change_log(tmp_path):
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", dist.released(ROOT))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n## 0.0.1 (2020-01-01)\n")
    with pytest.raises(dist.DistError, match=re.escape(f"no heading `## {dist.version(ROOT)} (")):
        dist.released(tmp_path)


def test_errors_are_told_in_a_sentence(tmp_path, capsys):
    assert dist.main(["99", "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.startswith("Not packed: No lesson is called 99.") and not (tmp_path / "out").exists()


# ---- a student begins


def student(unpacked: Path, program: str) -> str:
    """What a program prints that runs in notebooks/ of the unpacked edition, with its `tiles`."""
    done = subprocess.run(
        [sys.executable, "-P" if sys.version_info >= (3, 11) else "-B", "-c", f"import sys; sys.path.insert(0, '..')\n{program}"],
        cwd=unpacked / "notebooks",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def begin(unpacked: Path, answer: str) -> str:
    """What lesson 01 prints up to its first check, with an answer typed into the first exercise."""
    program = f"""
import json
from tiles.blanks import NotYet
import tiles
assert tiles.__file__.startswith({str(unpacked)!r}), tiles.__file__
for cell in json.load(open("01_gpu_hierarchy.ipynb"))["cells"]:
    tags = cell["metadata"].get("tags", [])
    if cell["cell_type"] == "code":
        source = {answer!r} if "exercise-1.1" in tags else "".join(cell["source"])
        try:
            exec(compile(source, "cell", "exec"), globals())
        except NotYet as verdict:
            print(verdict)
    if "check-1.1" in tags:
        break
"""
    return student(unpacked, program)


def test_a_student_passes_the_first_check(unpacked):
    exercise = LESSONS[0].exercises["1.1"]
    assert begin(unpacked, exercise.answer.source).endswith(f"\n{exercise.check.outputs[0].text}")
    assert "still has" in begin(unpacked, student_source(exercise.answer.source))


def test_sealed_mistakes_and_questions_are_there(unpacked):
    told = student(
        unpacked,
        """
from tiles import mistakes, choice
from tiles.blanks import NotYet
print(sum(len(table) for table in mistakes.MISTAKES.values()))
for letter in "abcd":
    try:
        choice("1.c1", letter)
    except NotYet as verdict:
        print(verdict)
""",
    ).splitlines()
    from tiles.mistakes import MISTAKES

    assert int(told[0]) == sum(len(table) for table in MISTAKES.values())
    assert len([line for line in told if line.startswith("Exercise 1.c1 passed: ")]) == 1
    assert len([line for line in told if line == "Exercise 1.c1 is not right yet."]) in (2, 3)


def test_links_of_the_student_edition_lead_somewhere(unpacked):
    for path in [unpacked / "README.md", unpacked / "book" / "glossary.md", *sorted((unpacked / "notebooks").glob("*.ipynb"))]:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            text = "\n".join(cell.source for cell in nbformat.reads(text, as_version=4).cells if cell.cell_type == "markdown")
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)):
            if "//" not in target and not target.startswith("#"):
                assert (path.parent / target.partition("#")[0]).exists(), f"{path.name} links to {target}"


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_one_command_installs_and_opens(unpacked):
    alone = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
    }  # not as a part of our make
    done = subprocess.run(["make", "-n", "lab"], cwd=unpacked, capture_output=True, text=True, check=True, env=alone)
    commands = done.stdout.splitlines()
    assert any("pip install" in line and "-r requirements.txt" in line for line in commands)
    assert "jupyterlab" in commands[-1]
    assert "make lab" in (unpacked / "README.md").read_text() and (unpacked / "LICENSE").exists()
