"""The lessons in the reader's browser: the site, what stands in for torch and triton, and an exercise done in Chromium.

The last takes the files of Pyodide, in `_build` or in LITE_SOURCE; where they are missing it is skipped with a warning.
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import subprocess
import sys
import threading
import warnings
import zipfile
from pathlib import Path

import pytest

from classroom import lite
from classroom.derive import derived_text
from classroom.lesson import read, role

ROOT = Path(__file__).resolve().parent.parent
LESSONS = [next((ROOT / "solutions").glob(f"{number}_*.ipynb")) for number in lite.LESSONS]
ANSWERS = ROOT / "tests" / "answers" / "05_online_softmax" / "5.1"

needs_jupyterlite = pytest.mark.skipif(not lite.available(), reason=lite.MISSING)


# ---- what stands in for torch and triton


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    """The wheel of the course, as it lies in site-packages of the browser's Python."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = lite.wheel_of_the_course(folder, ROOT, lite.student_files(ROOT, lite.LESSONS))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def in_the_browser(site: Path, code: str) -> str:
    """What code prints in a Python that finds `tiles`, torch and triton in `site`, as in the browser."""
    start = f"import sys; sys.path.insert(0, {str(site)!r})\n"
    command = [sys.executable, "-I", "-W", "error", "-c", start + code]
    done = subprocess.run(command, cwd=site, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_imports_without_torch_and_triton(unpacked):
    said = in_the_browser(
        unpacked, "import tiles, tiles.bench; print(tiles.__file__, 'torch' in sys.modules, tiles.bench.has_gpu())"
    )
    assert said == f"{unpacked / 'tiles' / '__init__.py'} False False\n"


def test_a_cell_that_needs_a_kernel_says_so(unpacked):
    said = in_the_browser(
        unpacked,
        """
import torch
import triton
import triton.language as tl
from tiles.blanks import NotYet
from tiles.device import DEVICE
from tiles.interpreter import count

def define():
    @triton.jit
    def kernel(x_ptr, BLOCK_SIZE: tl.constexpr):
        tl.load(x_ptr)

for ask in (define, lambda: torch.rand(4, device=DEVICE), lambda: count(), lambda: tl.zeros[4]):
    try:
        ask()
    except NotYet as verdict:
        [line] = verdict._render_traceback_()
        print(line)
""",
    )
    lines = said.splitlines()
    assert [line.partition(", which does not run in a browser.")[0] for line in lines] == [
        "This cell needs Triton (`triton.jit`)",
        "This cell needs PyTorch (`torch.rand`)",
        "This cell needs Triton (`tiles.interpreter.count`)",
        "This cell needs Triton (`triton.language.zeros`)",
    ]
    assert all("the page Setup says how" in line for line in lines)


RUN = """
import contextlib, io, json
import matplotlib
matplotlib.use("agg")
from tiles.blanks import NotYet
space, said = {}, {}
for number, source in json.load(open("cells.json")):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            exec(source, space)
        except (NotYet, NameError) as error:
            print("STOPPED", error)
    said[number] = out.getvalue()
print(json.dumps(said))
"""


@pytest.mark.parametrize("number", ["02", "03"])
def test_the_other_exercises_of_a_lesson_with_kernels_work(unpacked, number):
    """Their checks print what they print elsewhere; the cells with kernels say what is missing, and nothing else fails."""
    lesson = read(LESSONS[int(number) - 1])
    cells = [cell for cell in lesson.notebook.cells if cell.cell_type == "code" and role(cell)[0] != "hidden-check"]
    Path(unpacked, "cells.json").write_text(json.dumps([(i, cell.source) for i, cell in enumerate(cells)]))
    said = json.loads(in_the_browser(unpacked, RUN))
    passed, stopped = set(), set()
    for i, cell in enumerate(cells):
        text = said[str(i)]
        if "STOPPED" in text:
            stopped.add(role(cell)[1])
            assert "does not run in a browser" in text or "is not defined" in text or "There is no `" in text, text
        elif role(cell)[0] == "check":
            assert text == "".join(output.get("text", "") for output in cell.outputs)
            passed.add(role(cell)[1])
    kernels = {"02": {"2.6", "2.7"}, "03": {"3.3", "3.4", "3.6a", "3.6b"}}[number]
    assert stopped - {None, ""} == kernels
    assert passed == set(lesson.exercises) - kernels


# ---- the site


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site with Python from its CDN: what the build makes without a network."""
    out = tmp_path_factory.mktemp("lite") / "site"
    lite.build(out)
    return out


def settings(site: Path) -> dict:
    page = json.loads((site / "jupyter-lite.json").read_text(encoding="utf-8"))["jupyter-config-data"]
    return page["litePluginSettings"][f"{lite.KERNEL}:kernel"]


@needs_jupyterlite
def test_the_site_has_the_lessons_as_students_get_them(site):
    for path in LESSONS:
        assert (site / "files" / "notebooks" / path.name).read_text(encoding="utf-8") == derived_text(path)
        page, _, there = lite.address(path.stem).removeprefix("../lite/").partition("?path=")
        assert (site / page).exists() and (site / "files" / there).exists()
    listed = json.loads((site / "api" / "contents" / "notebooks" / "all.json").read_text(encoding="utf-8"))["content"]
    assert {entry["name"] for entry in listed} == {path.name for path in LESSONS}
    assert not lite.address("07_vector_add")


@needs_jupyterlite
def test_the_site_has_nothing_that_a_student_does_not_get(site):
    """The student edition has no solution: `tests/test_dist.py` looks for them."""
    given = lite.student_files(ROOT, lite.LESSONS)
    found = {path.relative_to(site / "files").as_posix(): path.read_bytes() for path in (site / "files").rglob("*.*")}
    assert found and found.items() <= given.items()
    [wheel] = site.glob("pypi/think_in_tiles-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    assert packed.pop("torch.py") == packed.pop("triton.py") == b"from tiles.browser import stand_in\n\nstand_in()\n"
    assert len(packed) > 50 and packed.items() <= given.items()


@needs_jupyterlite
def test_the_kernel_starts_with_the_wheels_of_the_site(site):
    loaded = settings(site)["loadPyodideOptions"]["packages"]
    assert {"numpy", "matplotlib"} < set(loaded)
    wheels = [path for path in loaded if path.endswith(".whl")]
    worker = site / "extensions" / lite.KERNEL / "static" / "worker.js"  # paths are relative to its script
    assert len(wheels) == 2 and all((worker.parent / path).resolve().is_file() for path in wheels)
    assert settings(site)["pyodideUrl"] == f"https://cdn.jsdelivr.net/pyodide/v{lite.PYODIDE}/full/pyodide.js"


@needs_jupyterlite
def test_the_kernel_is_built_for_this_pyodide():
    from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

    assert PYODIDE_VERSION.rpartition(".")[0] == lite.PYODIDE.rpartition(".")[0]


# ---- Pyodide


LOCK = {
    "packages": {
        "numpy": {"depends": [], "file_name": "numpy.whl"},
        "matplotlib": {"depends": ["numpy", "pillow_x"], "file_name": "matplotlib.whl"},
        "pillow-x": {"depends": [], "file_name": "pillow.whl"},
        "scipy": {"depends": ["numpy"], "file_name": "scipy.whl"},
    }
}


def test_a_package_brings_what_it_depends_on():
    assert list(lite.closure(LOCK, ["matplotlib"])) == ["matplotlib", "numpy", "pillow-x"]
    with pytest.raises(lite.LiteError, match="has no package pandas"):
        lite.closure(LOCK, ["pandas"])


def test_a_file_is_downloaded_once_and_compared(tmp_path):
    there, folder = tmp_path / "there.whl", tmp_path / "cache"
    there.write_bytes(b"right")
    sha256 = hashlib.sha256(b"right").hexdigest()
    assert lite.fetched("a.whl", there.as_uri(), sha256, folder) == b"right"
    there.unlink()
    assert lite.fetched("a.whl", there.as_uri(), sha256, folder) == b"right"  # from the folder
    (folder / "a.whl").write_bytes(b"half")  # as an interrupted copy leaves it
    with pytest.raises(lite.LiteError, match="cannot be downloaded .* LITE_SOURCE="):
        lite.fetched("a.whl", there.as_uri(), sha256, folder)
    there.write_bytes(b"another")
    with pytest.raises(lite.LiteError, match="is not the file of Pyodide"):
        lite.fetched("a.whl", there.as_uri(), sha256, folder)
    assert (folder / "a.whl").read_bytes() == b"half"


def test_without_jupyterlite_the_book_has_no_link(monkeypatch, capsys, tmp_path):
    from classroom import book

    built = []
    monkeypatch.setattr(lite, "available", lambda: False)
    monkeypatch.setattr(book, "build", lambda *given, **options: built.append(options["site"]) or ["page"])
    assert book.main(["--out", str(tmp_path / "out")]) == 0 and built == ["0"]
    assert "pip install -r requirements.txt" in capsys.readouterr().err
    with pytest.raises(lite.LiteError, match="JupyterLite is missing"):
        lite.build(tmp_path / "site", local=True)


# ---- in a browser


@pytest.fixture(scope="module")
def address(tmp_path_factory, chromium) -> str:
    """Where a server on this machine serves the site with Python in it."""
    source = lite.source(ROOT)
    if not (lite.available() and all((source / name).exists() for name in lite.CORE)):
        advice = f"no Pyodide in {source}, so nobody has run a lesson in a browser: make book LITE=local"
        warnings.warn(advice, stacklevel=1)
        pytest.skip(advice)
    out = tmp_path_factory.mktemp("served") / "site"
    lite.build(out, local=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(out)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *said) -> None:
        pass


def test_an_exercise_is_filled_in_and_checked_in_the_browser(address, chromium):
    """Lesson 05: the blank, a wrong answer, the right one; then the page is opened again, and the work is still there."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install -r requirements.txt")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--disable-gpu", "--disable-background-networking"])
        tab = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        asked: set[str] = set()
        tab.on("request", lambda request: asked.add(request.url))
        try:
            tab.goto(f"{address}/{lite.address('05_online_softmax').removeprefix('../lite/')}")
            assert "runs the same on every machine" in run(tab, "use_style()")
            run(tab, "scores = np.array")
            assert "[0." in run(tab, "def softmax_reference")
            run(tab, "# Exercise 5.1")
            assert "Exercise 5.1 still has 2 blanks" in run(tab, '"5.1",')

            run(tab, "# Exercise 5.1", (ANSWERS / "wrong_not_divided.py").read_text(encoding="utf-8"))
            verdict = run(tab, '"5.1",')
            assert "Exercise 5.1 is not right yet: n = 8" in verdict and "a missing or a second factor" in verdict

            right = (ANSWERS / "right_by_log_sum_exp.py").read_text(encoding="utf-8")
            run(tab, "# Exercise 5.1", right)
            assert run(tab, '"5.1",').startswith("Exercise 5.1 passed")

            tab.keyboard.press("Control+s")
            tab.wait_for_timeout(1000)
            tab.reload()
            assert "log-sum-exp" in cell(tab, "# Exercise 5.1").inner_text()
        finally:
            browser.close()
    outside = {url for url in asked if not url.startswith((address, "data:", "blob:"))}
    assert not outside


def cell(tab, text: str):
    """The code cell in which this text stands, scrolled into view."""
    found = tab.locator(".jp-CodeCell").filter(has_text=text).first
    found.wait_for(timeout=60_000)
    found.scroll_into_view_if_needed()
    return found


def run(tab, text: str, source: str = "") -> str:
    """Run the cell in which this text stands, with another source if there is one. Returns what it prints."""
    found = cell(tab, text)
    found.locator(".cm-content").click()
    if source:
        tab.keyboard.press("Control+a")
        tab.keyboard.insert_text(source)
    prompt = found.locator(".jp-InputPrompt")
    before = prompt.inner_text()
    tab.keyboard.press("Control+Enter")
    done = "([prompt, before]) => /\\d/.test(prompt.innerText) && prompt.innerText !== before"
    tab.wait_for_function(done, arg=[prompt.element_handle(), before], timeout=180_000)
    return "\n".join(found.locator(".jp-OutputArea-output").all_inner_texts())
