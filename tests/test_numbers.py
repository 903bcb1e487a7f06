"""Every number with a unit in a lesson's prose comes from a cell of that lesson, or has its source in book/sources.json."""

import json
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = json.loads((ROOT / "book" / "sources.json").read_text(encoding="utf-8"))
LESSONS = sorted((ROOT / "solutions").glob("*.ipynb"))

NUMBER = r"(?<![\w.,^²])\d[\d,.]*\d|(?<![\w.,^²])\d"
UNIT = (
    r"(?:[KMGT]i?B/s|B/s|[KMGT]?FLOP/s|[KMGT]i?B|FLOPs?|B|bytes?|bits?|sectors?|cycles?|ns|µs|us|ms|s|seconds?|%|×|x|times|"
    r"registers?|lanes|threads|warps|SMs|TFLOPs?)(?![\w/])"
)
QUANTITY = re.compile(rf"({NUMBER})[  ]?(?:-)?({UNIT})")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def quantities(text: str) -> list[str]:
    """Numbers with units in Markdown, outside code: "1,024 bytes" as "1024 bytes"."""
    return [f"{number.replace(',', '').rstrip('.')} {unit}" for number, unit in QUANTITY.findall(CODE.sub(" ", text))]


def numbers(text: str) -> set[str]:
    return {n.replace(",", "").rstrip(".") for n in re.findall(NUMBER, text)}


def shown_by_cells(notebook) -> set[str]:
    """Every number in the code of a lesson and in what its cells print."""
    found: set[str] = set()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            found |= numbers(cell.source)
            for output in cell.outputs:
                found |= numbers(output.get("text", ""))
    return found


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_numbers_in_prose_have_a_source(path):
    notebook = nbformat.read(path, 4)
    known, sourced = shown_by_cells(notebook), SOURCES.get(path.stem, {})
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    bare = {q for text in prose for q in quantities(text) if q.split()[0] not in known and q not in sourced}
    assert not bare, "neither a cell nor book/sources.json has these: " + ", ".join(sorted(bare))


def test_sources_are_used_and_say_something():
    for lesson, entries in SOURCES.items():
        notebook = nbformat.read(ROOT / "solutions" / f"{lesson}.ipynb", 4)
        used = {q for cell in notebook.cells if cell.cell_type == "markdown" for q in quantities(cell.source)}
        assert set(entries) <= used, f"{lesson}: no longer in the text: {sorted(set(entries) - used)}"
        assert all(len(source) > 10 for source in entries.values())


@pytest.mark.parametrize(
    "text, found",
    [
        ("moves 12 bytes an element", ["12 bytes"]),
        ("1,024 B and 3.5 TB/s, 40 %", ["1024 B", "3.5 TB/s", "40 %"]),
        ("in lesson 02 there are 8 numbers", []),
        ("`x[4:8] 16 bytes` and 2^28 B", []),
        ("a 32-byte sector", ["32 byte"]),
    ],
)
def test_what_counts_as_a_quantity(text, found):
    assert quantities(text) == found
