"""Run the solved lessons in place and write them in canonical form: running twice changes no byte.

The canonical form keeps sources, tags and outputs, and nothing that depends on who ran the notebook, where or when:
cells count 1, 2, 3, …, streams of one name are merged, figures lose the name of the program that drew them. The
metadata that nbgrader needs is worked out from the tags.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import os
import re
import struct
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from classroom.kernel import FLOOD_BYTES, Kernel, Outcome
from classroom.lesson import CHECK, EXERCISE, Lesson, LessonError, dashed, parse, read, role, write_if_changed

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_KEPT = {"tags", "nbgrader"}
_ADDRESS = re.compile(r"(<[^<>\n]*) at 0x[0-9a-f]{6,}")
_CELL_ID = re.compile(r"^[A-Za-z0-9_-]{1,64}$")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def run(paths: list[Path], seconds: float = 300, write: bool = True) -> list[tuple[Path, bool]]:
    """Execute each solution and rewrite it where its canonical form changed; (path, changed) for each.

    `seconds` limits one cell. With `write=False` nothing is written. Raises LessonError at the first cell that fails;
    the file on disk is then as it was.
    """
    results = []
    for path in paths:
        lesson = read(path)
        notebook = canonical(executed(lesson, seconds))
        notebook.metadata["tiles"] = {"ran": _digest(notebook)}
        text = dumps(notebook)
        changed = path.read_text(encoding="utf-8") != text
        if write:
            write_if_changed(path, text)
        results.append((path, changed))
    return results


def executed(lesson: Lesson, seconds: float = 300) -> NotebookNode:
    """A copy of the lesson's notebook with fresh outputs, run in the folder where it lies. Raises LessonError."""
    notebook = copy.deepcopy(lesson.notebook)
    kernel = Kernel(environment=_environment(), cwd=lesson.path.parent.resolve(), keep_bytes=FLOOD_BYTES)
    try:
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                outcome = kernel.execute(cell.source, seconds)
                cell.outputs = outcome.outputs
                _refuse(outcome, seconds, _where(lesson, notebook, index))
    finally:
        kernel.stop()
    return notebook


def _refuse(outcome: Outcome, seconds: float, where: str) -> None:
    """Raises LessonError unless a cell ended well, with outputs that every machine and every run would give."""
    if outcome.gone:
        reasons = {"died": "killed its kernel", "timeout": f"took longer than {seconds:g} s", "flood": "printed without end"}
        raise LessonError(f"{where} {reasons[outcome.status]}.")
    if not outcome.ok:
        name, text = outcome.error or ("an error", "that it did not show")
        traceback = "\n".join(line for output in outcome.outputs if output.output_type == "error" for line in output.traceback)
        raise LessonError(f"{where} raised {name}: {text}\n{_ANSI.sub('', traceback)}")
    for output in outcome.outputs:
        _refuse_volatile(output, where)


def _environment() -> dict[str, str]:
    """The environment of an author's run: nothing that changes outputs from one machine or day to the next."""
    fixed = {
        "TILES_AUTHOR": "1",
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": "0",
        "NO_COLOR": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    inherited = {key: value for key, value in os.environ.items() if key != "JPY_PARENT_PID"}  # set in a Jupyter terminal
    return {**inherited, "MPLBACKEND": "module://matplotlib_inline.backend_inline", **fixed}


def _where(lesson: Lesson, notebook: NotebookNode, index: int) -> str:
    """Names a cell as an author looks for it: lesson, cell, and the exercise it belongs to."""
    kind, exercise = role(notebook.cells[index])
    if exercise:
        return f"{lesson.path}, cell {index + 1} ({kind} {exercise})"
    above = [role(cell)[1] for cell in notebook.cells[:index] if role(cell)[1]]
    return f"{lesson.path}, cell {index + 1} ({'after exercise ' + above[-1] if above else 'before the first exercise'})"


def _refuse_volatile(output: NotebookNode, where: str) -> None:
    """An output that would differ on another machine cannot be a reference. Raises LessonError."""
    if output.output_type == "stream" and output.name == "stderr":
        raise LessonError(
            f"{where} writes to stderr: {output.text.strip()[:300]}\nRemove the cause of the warning; it differs elsewhere."
        )
    texts = [output.get("text", ""), output.get("data", {}).get("text/plain", "")]
    if found := next((match for text in texts if (match := _ADDRESS.search(text))), None):
        raise LessonError(f"{where} shows a memory address: {found[0]}>. End a figure with plt.show(), or print what you mean.")


def canonical(notebook: NotebookNode) -> NotebookNode:
    """The canonical form of an executed solution. Raises LessonError where its tags are wrong."""
    notebook = copy.deepcopy(notebook)
    lesson = parse(notebook, Path("notebook"))
    points = {exercise: lesson.exercises[exercise].points for exercise in lesson.exercises}
    taken: set[str] = set()
    count = 0
    for cell in notebook.cells:
        kind, exercise = role(cell)
        cell.id = _cell_id(cell, kind, exercise, taken)
        cell.metadata = NotebookNode({key: value for key, value in cell.metadata.items() if key in _KEPT and key != "nbgrader"})
        if kind:
            cell.metadata["nbgrader"] = _nbgrader(kind, exercise, points[exercise])
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            cell.outputs = _outputs(cell.outputs, count)
        cell.pop("attachments", None) if not cell.get("attachments") else None
    ran = {"tiles": notebook.metadata["tiles"]} if "tiles" in notebook.metadata else {}
    notebook.metadata = NotebookNode({**copy.deepcopy(METADATA), **ran})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def _cell_id(cell: NotebookNode, kind: str | None, exercise: str | None, taken: set[str]) -> str:
    """A stable id: from the role where there is one, else the one that the cell has, else from its text."""
    wanted = dashed(kind, exercise) if kind else cell.get("id") or ""
    if not _CELL_ID.match(wanted) or (not kind and wanted in taken):
        wanted = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
    unique, number = wanted, 1
    while unique in taken:
        number += 1
        unique = f"{wanted}-{number}"
    taken.add(unique)
    return unique


def _nbgrader(kind: str, exercise: str, points: int) -> dict:
    """The metadata by which nbgrader knows an answer cell from a check; a hidden check adds no points of its own."""
    graded = kind != EXERCISE
    data = {
        "grade": graded,
        "grade_id": dashed(kind, exercise),
        "locked": graded,
        "schema_version": 3,
        "solution": not graded,
        "task": False,
    }
    return {**data, "points": points if kind == CHECK else 0} if graded else data


def _outputs(outputs: list[NotebookNode], count: int) -> list[NotebookNode]:
    merged: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream" and merged and merged[-1].output_type == "stream" and merged[-1].name == output.name:
            merged[-1].text += output.text
            continue
        if output.output_type in ("display_data", "execute_result"):
            output.metadata = NotebookNode()
            if "image/png" in output.data:
                output.data["image/png"] = _bare_png(output.data["image/png"])
        if output.output_type == "execute_result":
            output.execution_count = count
        merged.append(output)
    return merged


def _bare_png(text: str) -> str:
    """A base64 PNG without its text chunks, which name the version of the program that drew it."""
    data = base64.b64decode(text)
    kept, at = [data[:8]], 8
    while at + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if kind not in (b"tEXt", b"iTXt", b"zTXt", b"tIME", b"eXIf"):
            kept.append(data[at : at + 12 + size])
        at += 12 + size
    return base64.b64encode(b"".join(kept)).decode()


def dumps(notebook: NotebookNode) -> str:
    """The bytes of a notebook, as text: sorted keys, one final newline."""
    nbformat.validate(notebook)
    return json.dumps(json.loads(nbformat.writes(notebook, version=4)), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _digest(notebook: NotebookNode) -> str:
    """A fingerprint of what was run; tells stored outputs that belong to the sources from those that do not."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()[:16]


def check_canonical(path: Path) -> list[str]:
    """What a solution on disk lacks to be as `run` leaves it, without running it: one sentence each. Raises LessonError."""
    notebook = read(path).notebook
    if notebook.metadata.get("tiles") != {"ran": _digest(notebook)}:
        return [f"solutions/{path.name} was edited after its last run. Run `make run`."]
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    if counts != list(range(1, len(counts) + 1)) or dumps(canonical(notebook)) != path.read_text(encoding="utf-8"):
        return [f"solutions/{path.name} was saved after its last run. Run `make run`."]
    return []
