"""Lessons 01 to 06 in the reader's browser, with nothing installed: a JupyterLite site inside the book.

`make book` builds it into the folder `lite/` of the book. Python is Pyodide, which the browser loads from its usual CDN;
`make book LITE=local` puts Pyodide and the packages that the lessons take into the site, so that it needs no network.

    api/, files/   the lessons, as a student gets them, and the glossary they link to
    pypi/          `tiles` as a wheel, loaded when the kernel starts: the notebooks are the same files as anywhere else
    static/pyodide with LITE=local: Pyodide, NumPy, matplotlib, IPython

`python -m classroom.lite DIR` builds the site alone.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from classroom.dist import DistError, student_files, version
from classroom.lesson import NOTEBOOKS, LessonError

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "lite"  # of the book
LESSONS = ("01", "02", "03", "04", "05", "06")
KERNEL = "@jupyterlite/pyodide-kernel-extension"
MISSING = "JupyterLite is missing: pip install -r requirements.txt"

# The release of Pyodide that jupyterlite-pyodide-kernel is built for. The lock file has the sha256 of every package.
PYODIDE = "0.27.7"
PACKAGES_URL = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
CORE_URL = f"https://cdn.jsdelivr.net/npm/pyodide@{PYODIDE}/"
LOCK = "pyodide-lock.json"
CORE = {
    LOCK: "9c45b916001a750f4102fc287494f3eab215909c7535c626a20db80fd6333e2c",
    "pyodide.js": "b4cb23a53aba19c221659b9fb40a2f18281d685691dc06647fb0afd0681baf98",
    "pyodide.asm.js": "6b4c90de5b7172873f04f21884d0e9d2274e305fe32116558fe3e4fbe3618d51",
    "pyodide.asm.wasm": "a50dd1843f805a0b7c45b61037ee0d7b26dfe85efe0e18ef95a34ad24e401f5f",
    "python_stdlib.zip": "16611534726e5d8ac2bd8f926410b2dcb8d6f49aa24913463533b457a2115c16",
}
PACKAGES = ("numpy", "matplotlib", "micropip", "ipython", "jedi", "ssl", "sqlite3")  # the last five are the kernel's own


class LiteError(Exception):
    """The site could not be built; the message says what to do."""


def available() -> bool:
    """Whether JupyterLite and its Python kernel are installed here."""
    return bool(importlib.util.find_spec("jupyterlite_core") and importlib.util.find_spec("jupyterlite_pyodide_kernel"))


def address(name: str) -> str:
    """Where a lesson's page finds the lesson in the site: a path relative to the page; empty for a lesson that is not in it."""
    return f"../{FOLDER}/notebooks/index.html?path={NOTEBOOKS}/{name}.ipynb" if name[:2] in LESSONS else ""


# ---- the link on a lesson's page


def connect(app) -> None:
    """Register with Sphinx; called by `classroom.book.setup`. `book_lite` says which site the book has: "cdn", "local" or "0"."""
    app.add_config_value("book_lite", "0", "env")
    app.connect("html-page-context", add_link)


def add_link(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Put a line with the link above the other files of a lesson; `lite.js` changes it on a page that is read from disk."""
    folder, _, name = pagename.rpartition("/")
    if app.config.book_lite == "0" or folder != NOTEBOOKS or not address(name):
        return
    files = '<p class="lesson-files">'
    context["body"] = context["body"].replace(files, link(name, app.config.book_lite) + files, 1)


def link(name: str, how: str) -> str:
    """The line with the link, in HTML. how: "cdn" or "local"."""
    first = "" if how == "local" else ", and some 30 MB come from the network the first time"
    return (
        f'<p class="lesson-files lite"><a href="{address(name)}">Open this lesson in your browser</a>'
        f"<span>Nothing to install: Python runs in the page{first}. Your work is kept in this browser alone; "
        "download it with <em>File → Download</em> when you stop.</span>"
        '<script src="../_static/lite.js"></script></p>\n'  # here and not in the head: it changes the line before it is shown
    )


# ---- wheels


def write_wheel(folder: Path, name: str, version: str, files: Mapping[str, bytes]) -> Path:
    """Pack files (by their path in site-packages) as a pure-Python wheel. Returns its path; the same files give the same bytes."""
    info = f"{name}-{version}.dist-info"
    packed = dict(files)
    packed[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n".encode()
    packed[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: classroom.lite\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = [f"{path},sha256={_urlsafe(data)},{len(data)}" for path, data in packed.items()]
    packed[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in packed.items():
            archive.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)
    return wheel


def _urlsafe(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def wheel_of_the_course(folder: Path, root: Path, files: Mapping[str, bytes]) -> Path:
    """`tiles` as the student edition has it, with stand-ins for torch and triton. files: of the student edition, by path.

    The notebooks lie beside it, as in the student's folder: `tiles.cells` finds there which cell to run first.
    """
    packed = {path: data for path, data in files.items() if path.startswith(("tiles/", f"{NOTEBOOKS}/"))}
    packed |= dict.fromkeys(("torch.py", "triton.py"), b"from tiles.browser import stand_in\n\nstand_in()\n")
    return write_wheel(folder, "think_in_tiles", version(root), packed)


def wheel_of(name: str, folder: Path) -> Path:
    """A pure-Python package that is installed here, packed as a wheel again. Raises LiteError where it is not installed."""
    try:
        installed = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        raise LiteError(f"The package {name} is missing: pip install -r requirements.txt") from None
    modules = [file for file in installed.files or () if file.parts[0] == name and file.suffix == ".py"]
    return write_wheel(folder, name, installed.version, {file.as_posix(): file.locate().read_bytes() for file in modules})


# ---- Pyodide


def closure(lock: Mapping, names: Iterable[str]) -> dict[str, dict]:
    """The entries of a lock file for packages and all that they depend on, by name. Raises LiteError for an unknown name."""
    found: dict[str, dict] = {}
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()  # a few entries spell what they depend on in another way
        if name not in lock["packages"]:
            raise LiteError(f"Pyodide {PYODIDE} has no package {name}.")
        if name not in found:
            found[name] = lock["packages"][name]
            waiting += found[name]["depends"]
    return dict(sorted(found.items()))


def fetched(name: str, url: str, sha256: str, folder: Path) -> bytes:
    """A file from a folder, downloaded into it first where it is not there or not whole.

    Raises LiteError where it cannot be had, or is not the file that it should be.
    """
    path = folder / name
    if path.exists() and _digest(data := path.read_bytes()) == sha256:
        return data
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            data = answer.read()
    except OSError as error:
        raise LiteError(
            f"{url} cannot be downloaded ({error}). Without a network, unpack the release pyodide-{PYODIDE}.tar.bz2 "
            "on this machine, and name its folder: make book LITE=local LITE_SOURCE=…"
        ) from error
    if _digest(data) != sha256:
        raise LiteError(f"{url} is not the file of Pyodide {PYODIDE}: its sha256 is {_digest(data)}, expected {sha256}.")
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(data)
    part.replace(path)
    return data


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def copy_pyodide(out: Path, source: Path) -> None:
    """Put Pyodide and the packages of the lessons into a folder. source: where the files are, or are downloaded to."""
    files = {name: fetched(name, CORE_URL + name, sha256, source) for name, sha256 in CORE.items()}
    lock = json.loads(files[LOCK])
    lock["packages"] = closure(lock, PACKAGES)  # the import of any other fails by name, and asks for no file
    for entry in lock["packages"].values():
        name = entry["file_name"]
        files[name] = fetched(name, PACKAGES_URL + name, entry["sha256"], source)
    files[LOCK] = json.dumps(lock).encode()
    out.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (out / name).write_bytes(data)


# ---- the site


def build(out: Path, lessons: Sequence[str] = LESSONS, local: bool = False, root: Path = ROOT) -> None:
    """Build the site with these lessons into a new folder. local: with Pyodide in it. Raises LiteError."""
    if not available():
        raise LiteError(MISSING)
    try:
        files = student_files(root, lessons)
    except (DistError, LessonError) as error:
        raise LiteError(str(error)) from error
    with tempfile.TemporaryDirectory(prefix="lite-") as scratch:
        site = Path(scratch)
        for path, data in files.items():
            if path.startswith((f"{NOTEBOOKS}/", "book/")):
                (site / "files" / path).parent.mkdir(parents=True, exist_ok=True)
                (site / "files" / path).write_bytes(data)
        wheels = [wheel_of("comm", site / "pypi"), wheel_of_the_course(site / "pypi", root, files)]
        if local:
            copy_pyodide(site / "static" / "pyodide", source(root))
        for name, settings in configuration(wheels).items():
            (site / name).write_text(json.dumps(settings, indent=1), encoding="utf-8")
        command = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", str(site), "--output-dir", str(out.resolve())]
        done = subprocess.run(command, cwd=site, capture_output=True, text=True)
        if done.returncode:
            raise LiteError(f"JupyterLite stopped: {(done.stdout + done.stderr).strip()[-2000:]}")


def source(root: Path) -> Path:
    """Where the files of Pyodide are kept: the folder LITE_SOURCE, or one below _build."""
    given = os.environ.get("LITE_SOURCE")
    return Path(given) if given else root / "_build" / f"pyodide-{PYODIDE}"


def configuration(wheels: Iterable[Path]) -> dict[str, dict]:
    """The three files that say what the site is, by name. wheels: those that the kernel starts with."""
    # the kernel's worker asks for them, and its script lies four folders deep
    preloaded = [*PACKAGES, *(f"../../../../pypi/{wheel.name}" for wheel in wheels)]
    kernel = {"pyodideUrl": f"{PACKAGES_URL}pyodide.js", "loadPyodideOptions": {"packages": preloaded}}
    page = {"appName": "Think in Tiles", "appUrl": "./tree", "litePluginSettings": {f"{KERNEL}:kernel": kernel}}
    [extension] = {
        file.locate().resolve().parent
        for file in importlib.metadata.distribution("jupyterlite-pyodide-kernel").files or ()
        if file.match(f"labextensions/{KERNEL}/package.json")
    }
    built = {
        "apps": ["notebooks", "tree", "edit"],
        "contents": ["files"],
        "federated_extensions": [str(extension)],
        "ignore_sys_prefix": ["federated_extensions"],  # what else is installed here wants a server
        "no_sourcemaps": True,
        "no_unused_shared_packages": True,
    }
    return {
        "jupyter-lite.json": {"jupyter-lite-schema-version": 0, "jupyter-config-data": page},
        "jupyter_lite_config.json": {"LiteBuildConfig": built},
        "overrides.json": {
            "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True},  # light or dark, as the reader's system
            "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},  # the browser's search finds all cells
        },
    }


def main(arguments: list[str] | None = None) -> int:
    """The command line; errors are told in a sentence, on stderr."""
    parser = argparse.ArgumentParser(prog="python -m classroom.lite", description="Build the JupyterLite site alone.")
    parser.add_argument("out", type=Path, metavar="DIR", help="a folder that does not exist yet")
    parser.add_argument("--local", action="store_true", help="with Pyodide in it: the site needs no network")
    options = parser.parse_args(arguments)
    try:
        if options.out.exists():
            raise LiteError(f"{options.out} exists already: give another folder")
        build(options.out, local=options.local)
    except LiteError as error:
        print(f"The site was not built: {error}", file=sys.stderr)
        return 1
    size = sum(path.stat().st_size for path in options.out.rglob("*") if path.is_file())
    print(f"{size / 1e6:.0f} MB in {options.out}. Open it: python3 -m http.server --directory {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
