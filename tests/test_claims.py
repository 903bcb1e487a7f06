"""The pages of claims and of performance: what each claim names exists, what the pages print is true, no measured number is typed."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest
from test_numbers import numbers, quantities, shown_by_cells

from classroom import recorded
from classroom.lesson import read
from tiles import bench

ROOT = Path(__file__).resolve().parent.parent
CLAIMS = (ROOT / "book" / "claims.md").read_text(encoding="utf-8")
PERFORMANCE = (ROOT / "book" / "performance.md").read_text(encoding="utf-8")
LESSONS = {path.stem: read(path) for path in sorted((ROOT / "solutions").glob("[!.]*.ipynb"))}
EXERCISES = {recorded.anchor(exercise): lesson for lesson in LESSONS.values() for exercise in lesson.exercises}
FILE = re.compile(r"`(tests/answers/[^`]+)`")
BLOCK = re.compile(r"^ *```(python|text)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
FILLED = re.compile(r"\{\{.*?\}\}")


def entries(text: str) -> dict[str, str]:
    """Each claim with what is said of it: a term and its definition."""
    found = re.findall(r"^(\S[^\n]*)\n: (.*?)(?=^\S|\Z)", text, re.DOTALL | re.MULTILINE)
    return {claim: body for claim, body in found}


ENTRIES = entries(CLAIMS)
CODE = entries(CLAIMS[CLAIMS.index("## Code that goes around") :])


def test_the_page_has_its_claims():
    assert len(ENTRIES) > 30 and len(CODE) > 8


@pytest.mark.parametrize("claim", ENTRIES)
def test_a_claim_is_settled(claim):
    """By exercises that exist, or by lines on the page; and each has a verdict."""
    body = ENTRIES[claim]
    assert body.startswith("**"), "the verdict comes first"
    assert "*Settled by*" in body
    named = re.findall(r"\]\(#(ex-[^)]+)\)", body)
    assert named or BLOCK.search(body)
    assert set(named) <= set(EXERCISES)
    assert all((ROOT / path).is_file() for path in FILE.findall(body))


@pytest.mark.parametrize("claim", CODE)
def test_faulty_code_is_rejected_by_a_check(claim):
    """The file that has the fault is an answer to an exercise that the entry names; tests/test_answers.py runs it."""
    files = FILE.findall(CODE[claim])
    assert files
    for path in files:
        lesson, exercise, name = Path(path).parts[2:]
        assert name.startswith("wrong_") and exercise in LESSONS[lesson].exercises


def test_the_code_on_the_page_prints_what_the_page_says(tmp_path):
    blocks = [(kind, textwrap.dedent(code)) for kind, code in BLOCK.findall(CLAIMS)]
    (tmp_path / "page.py").write_text("\n".join(code for kind, code in blocks if kind == "python"), encoding="utf-8")
    done = subprocess.run([sys.executable, tmp_path / "page.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "".join(text for kind, text in blocks if kind == "text"), done.stderr


@pytest.mark.parametrize("claim", ENTRIES)
def test_numbers_beside_a_claim_come_from_somewhere(claim):
    """From a cell of a lesson that the entry names, from the code beside it, or from the claim itself."""
    body = FILLED.sub("", ENTRIES[claim])
    known = numbers(claim) | numbers("".join(code for _, code in BLOCK.findall(body)))
    for lesson in {EXERCISES[name].name for name in re.findall(r"\]\(#(ex-[^)]+)\)", body)}:
        known |= shown_by_cells(nbformat.read(ROOT / "solutions" / f"{lesson}.ipynb", 4))
    assert not [quantity for quantity in quantities(BLOCK.sub("", body)) if quantity.split()[0] not in known]


def test_the_recorded_runs_bear_the_verdicts():
    """A new record that overturns one of these overturns a sentence on the page of claims."""
    record = bench.recorded()

    def value(*names):
        return recorded.value(record, *names)

    def ratios(*names):
        return recorded.all_ratios(record, *names)

    assert 8 < value("2.6", "strided copy", "measured", 1) / value("2.6", "strided copy", "measured", 32) < 32
    assert ratios("8.1", "softmax", "ours", "unfused")[0] > 4 > ratios("8.1", "softmax", "ours", "torch")[-1]
    assert value("3.2", "copy", "16 B", 4) > 0.95 * value("3.2", "copy", "4 B", 16)
    assert value("3.3", "outer sums", "8 warps", 4096, 4096, 512) > 4 * value("3.3", "outer sums", "4 warps", 4096, 4096, 512)
    assert value("8.2", "softmax_long", "ours", 4096, 131072) > 2 * value("8.2", "softmax_long", "one tile", 4096, 131072)
    assert ratios("9.9", "quantised", "8 bits", "float16, torch")[-1] < 1.8
    assert ratios("10.3", "attention, full", "descriptors", "SDPA flash")[0] > 1.2
    assert ratios("10.3", "attention, full", "descriptors", "SDPA cuDNN")[-1] < 1.05
    assert recorded.LEVEL[0] < ratios("11.5b", "block step", "ours", "torch.compile")[0] < recorded.LEVEL[1]
    assert ratios("11.5b", "block step", "compile, our attention", "torch.compile")[-1] < recorded.LEVEL[0]
    assert (
        ratios("11.5b", "block step", "ours", "eager")[-1]
        < ratios("10.5c", "forward and backward, causal", "ours", "SDPA flash")[0]
    )
    assert value("10.2", "attention", "standard form", 32768, 4) > 100 * value("10.2", "attention", "ours", 32768, 4) >= 0
    assert ratios("13.7b", "cross-entropy", "ours", "eager")[-1] > 6 / 2, "what is more than the bytes"


# ---- the page of performance


WORDS = (
    "two three four five six seven eight nine ten dozen hundred thousand twice half third quarter double percent times".split()
)


def test_no_number_on_the_page_of_performance_is_typed():
    prose = re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|\{\{.*?\}\}", " ", PERFORMANCE, flags=re.DOTALL)
    prose = re.sub(r"\blesson \d\d\b|\bL2\b|\bFlashAttention-\d\b", " ", prose)
    assert not re.findall(r"\S*\d\S*", prose)
    assert not set(re.findall(r"[a-z]+", prose.lower())) & set(WORDS)


def run(**changes) -> bench.Run:
    made = dict(lesson="08", exercise="8.1", op="softmax", shape=(64, 32), dtype="float32", provider="ours")
    made |= dict(ms=1.0, metric="GB/s", value=4000.0, turns=(1.0, 1.1, 0.9))
    return bench.Run(**(made | changes))


@pytest.fixture
def record() -> bench.Record:
    runs = [run(), run(provider="torch", ms=2.0, value=2000.0, turns=(2.0, 2.2, 1.8)), run(provider="copy", value=4400.0)]
    runs += [run(provider="Liger", ms=0.8, value=5000.0, turns=(0.8, 0.88, 0.72)), run(provider="two numbers")]
    runs += [run(exercise="99.1", lesson="99", op="new_kernel", provider=name) for name in ("ours", "torch")]
    runs += [run(exercise="99.2", lesson="99", op="experiment", provider=name) for name in ("1 warp", "2 warps")]
    return bench.Record("NVIDIA H200", "2.0", "3.0", "2026-01-02", tuple(runs))


def test_rows_are_our_kernels_beside_others(record):
    softmax, unlisted = recorded.rows(record)
    assert softmax.kernel.title == "softmax" and unlisted.kernel.title == "new kernel"
    assert {peer.provider for peer in softmax.peers("library")} == {"torch", "Liger"}
    assert softmax.point == (5 / 8, 2.5) and unlisted.point is None


def test_a_ratio_is_found_turn_by_turn(record):
    table = recorded.table_of_ratios(record, "bandwidth")
    assert "torch\N{NO-BREAK SPACE}2.00" in table and "Liger\N{NO-BREAK SPACE}**0.80**" in table and "two numbers" not in table
    assert "4,000 GB/s<br>83 %, 91 %" in table and "[softmax](#ex-8-1)" in table


def test_losses_are_named_and_counted_beside_the_fastest_library(record):
    assert "| Liger | 80 % |" in recorded.table_of_losses(record)
    assert "Of 2 cases, ours is faster in 0, level (within 3 %) in 1, and slower in 1." in recorded.tally(record)


def test_a_level_shape_is_one_where_nobody_is_ahead(record):
    assert recorded.level_text(record, "8.1", "softmax", "ours", "Liger") == "0 of 1"
    assert recorded.level_text(record, "99.1", "new_kernel", "ours", "torch") == "1 of 1"


def test_what_the_page_says_of_the_measurements():
    """From lesson 08 on, results are compared and ratios found turn by turn."""
    late = [row for row in recorded.rows(bench.recorded()) if row.run.lesson >= "08"]
    assert all(row.run.turns for row in late)
    assert {row.run.exercise for row in late} <= set(recorded.timed_with("against"))


def test_what_the_page_says_of_attention():
    for row in recorded.rows(bench.recorded()):
        if recorded.CHOSEN["attention"](row):
            ratio = {peer.provider: row.ratio(peer) for peer in row.peers("library")}
            assert ratio["SDPA flash"] > 1 > ratio["SDPA cuDNN"]


def test_each_listed_kernel_is_written_in_an_exercise():
    for row in recorded.rows(bench.recorded()):
        assert recorded.link(row.kernel).startswith(f"[{row.kernel.title}](#ex-"), row.kernel


def test_figures_are_drawn_for_both_themes_and_again_the_same(tmp_path):
    for folder in ("one", "two"):
        text = recorded.fill('{{ figure("roofline") }} {{ ratio("8.1", "softmax", "ours", "torch") }}', tmp_path / folder)
    assert 'class="only-dark"' in text and re.search(r"\d\.\d\d to \d\.\d\d$", text)
    for name in ("roofline-light.svg", "roofline-dark.svg"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_run_that_is_missing_stops_the_build(tmp_path):
    with pytest.raises(KeyError):
        recorded.fill('{{ value("99.1", "nothing", "ours", 1) }}', tmp_path)
