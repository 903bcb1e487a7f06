"""What several modules of tests share: the book, built once, and a browser to open it in."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parent.parent
EDITIONS = ("book", "class-edition")


@pytest.fixture(scope="session")
def editions(tmp_path_factory) -> dict[str, Path]:
    """Both editions, by name, built by the command that `make book` calls; once, however many processes run the tests."""
    folder, order = tmp_path_factory.getbasetemp(), list(EDITIONS)
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent  # each process has a folder of its own there
        order.sort(reverse=int(worker[2:]) % 2 == 1)  # two that ask at the same time build one each
    built = {name: folder / "editions" / name for name in EDITIONS}
    for name in order:
        out = built[name]
        with FileLock(folder / f"{name}.lock"):
            if not out.exists():  # a book takes its place when it is whole
                command = [sys.executable, "-m", "classroom.book", "--lite", "0", "--out", str(out)]
                command += ["--class-edition"] * (name == "class-edition")
                done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
                assert done.returncode == 0, done.stdout + done.stderr
                assert " pages in " in done.stdout, done.stdout
    return built


@pytest.fixture(scope="session")
def chromium() -> str:
    """The program of a Chromium. Without one the tests that ask for it are skipped with a warning; TILES_BROWSER=1 makes them fail."""
    from classroom import pdf  # not above: other tests run where the book cannot be built

    try:
        return pdf.chromium()
    except pdf.PdfError as error:
        if os.environ.get("TILES_BROWSER") == "1":
            pytest.fail(str(error), pytrace=False)
        warnings.warn(f"nobody has opened the pages in a browser: {error}", stacklevel=1)
        return pytest.skip(str(error))
