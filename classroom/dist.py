"""`python -m classroom.dist`: pack a release into dist/, the student edition and the instructor edition.

    think-in-tiles-1.0.0-student.tar.gz     notebooks/ without answers, tiles/, what it takes to run them; nothing that grades
    think-in-tiles-1.0.0-instructor.tar.gz  what git holds

`python -m classroom.dist 01 02` packs the student edition of two lessons, for a course that hands them out week by week.

The student edition has no solutions, no hidden checks and no tests; `tests/test_dist.py` looks for them. Two things in `tiles`
come near to answers, because a check needs them: the known mistakes, and what to say to each letter of a question. They
are sealed, so that nobody reads them by accident. That is no lock: calling a check with all four letters tells as much.

Archives are the same bytes each time: sorted names, no users, one time for all files, SOURCE_DATE_EPOCH or that of the release.
"""

from __future__ import annotations

import argparse
import base64
import datetime
import gzip
import io
import os
import re
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from classroom.derive import derived_text
from classroom.lesson import NOTEBOOKS, LessonError, find_root, lesson_paths, read

TEMPLATES = Path(__file__).parent / "student"
TOOLKIT = {".py", ".json", ".mplstyle"}  # what belongs to tiles/, by suffix
PYPROJECT = ("build-system", "project", "tool.setuptools.packages.find", "tool.setuptools.package-data")
END_OF_REQUIREMENTS = "\n# ---- "
PICTURE = re.compile(r"!\[[^]]*\]\(\.\./(book/figures/[^)]+)\)")  # that a notebook shows

SEALED = '''"""Sealed in the student edition, because some of it comes near to an answer: see `tiles.mistakes`."""

import base64
import zlib

exec(zlib.decompress(base64.b85decode({text!r})))
'''


class DistError(Exception):
    """A release that cannot be packed; the message says what to do."""


def version(root: Path) -> str:
    """The version of the course. It stands in pyproject.toml, and nowhere else."""
    return re.search(r'^version = "(.+)"$', (root / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]


def released(root: Path) -> str:
    """The day of this version, "2026-11-29", from its heading in CHANGELOG.md. Raises DistError where it has none."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if match := re.search(rf"^## {re.escape(version(root))} \((\d{{4}}-\d\d-\d\d)\)$", text, re.MULTILINE):
        return match[1]
    raise DistError(f"CHANGELOG.md has no heading `## {version(root)} (YYYY-MM-DD)`: say there what is new.")


def timestamp(root: Path) -> int:
    """Seconds since 1970 for all files of an archive: SOURCE_DATE_EPOCH, or midnight (UTC) of the day of the release."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    return int(datetime.datetime.fromisoformat(f"{released(root)}T00:00:00+00:00").timestamp())


def student_files(root: Path, names: Sequence[str] = ()) -> dict[str, bytes]:
    """The files of the student edition, by path. names: of lessons, all without one. Raises LessonError, DistError."""
    paths = lesson_paths(root, list(names))
    files = {f"{NOTEBOOKS}/{path.name}": derived_text(path).encode() for path in paths}
    pictures = sorted({name for text in files.values() for name in PICTURE.findall(text.decode())})
    for path in sorted((root / "tiles").rglob("*")):
        if path.is_file() and path.suffix in TOOLKIT:
            name, data = path.relative_to(root).as_posix(), path.read_bytes()
            if name.startswith("tiles/questions/"):
                name, data = f"{name}.gz", gzip.compress(data, mtime=0)
            elif name.startswith("tiles/mistakes/lesson_"):
                data = seal(data)
            files[name] = data
    for name in ("LICENSE", "book/glossary.md", *pictures):
        files[name] = (root / name).read_bytes()
    files["Makefile"] = (TEMPLATES / "Makefile").read_bytes()
    files["README.md"] = _readme(root, paths).encode()
    files["requirements.txt"] = _requirements(root).encode()
    files["pyproject.toml"] = _pyproject(root).encode()
    return files


def seal(source: bytes) -> bytes:
    """A module that does the same as the given one, and shows nothing to whoever opens it."""
    return SEALED.format(text=base64.b85encode(zlib.compress(source, 9)).decode()).encode()


def _readme(root: Path, paths: Iterable[Path]) -> str:
    lessons = "\n".join(f"* [{path.stem[:2]} {_title(path)}]({NOTEBOOKS}/{path.name})" for path in paths)
    text = (TEMPLATES / "README.md").read_text(encoding="utf-8")
    return text.format(version=version(root), date=released(root), lessons=lessons)


def _title(path: Path) -> str:
    return read(path).notebook.cells[0].source.split("\n")[0].lstrip("# ")


def _requirements(root: Path) -> str:
    text, mark, _ = (root / "requirements.txt").read_text(encoding="utf-8").partition(END_OF_REQUIREMENTS)
    if not mark:
        raise DistError(f"requirements.txt does not say where those of students end: a line that begins `{mark.strip()}`.")
    first, *rest = text.strip().split("\n")
    return "\n".join(["# What the lessons run on. `make lab` installs it into .venv.", *rest, ""])


def _pyproject(root: Path) -> str:
    """Without the plugin that grades, and without what only authors use."""
    sections = re.split(r"^(?=\[)", (root / "pyproject.toml").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return "".join(section for section in sections if section[1:].partition("]")[0] in PYPROJECT).strip() + "\n"


def instructor_tar(root: Path, folder: str) -> bytes:
    """What the last commit holds, as a tar file, in a folder of that name. Raises DistError where files differ from it."""
    changed = _git(root, "status", "--porcelain").decode().splitlines()
    if changed:
        raise DistError(f"{len(changed)} files differ from the last commit, the first is {changed[0][3:]}: commit them first.")
    return _git(root, "archive", "--format=tar", f"--prefix={folder}/", "HEAD")


def _git(root: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True).stdout


def tar(files: Mapping[str, bytes], folder: str, seconds: int) -> bytes:
    """A tar file of files by path, in a folder of that name."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size, member.mtime, member.mode = len(files[name]), seconds, 0o644
            archive.addfile(member, io.BytesIO(files[name]))
    return out.getvalue()


def pack(root: Path, out: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write the archives into a folder; returns their paths. names: of lessons, for a student edition of these alone.

    Outside a clone there is no instructor edition: it is what git holds. Raises DistError or LessonError, and writes nothing then.
    """
    seconds = timestamp(root)
    folder = f"think-in-tiles-{version(root)}"
    tars = {f"{folder}-student": tar(student_files(root, names), f"{folder}-student", seconds)}
    if not names and (root / ".git").exists():
        tars[f"{folder}-instructor"] = instructor_tar(root, f"{folder}-instructor")
    paths = [out / f"{name}.tar.gz" for name in tars]
    out.mkdir(parents=True, exist_ok=True)
    for path, data in zip(paths, tars.values()):
        path.write_bytes(gzip.compress(data, mtime=seconds))
    return paths


def main(arguments: list[str] | None = None) -> int:
    """The command line; errors are told in a sentence, on stderr."""
    parser = argparse.ArgumentParser(prog="python -m classroom.dist", description="Pack a release into dist/.")
    parser.add_argument("names", nargs="*", metavar="LESSON", help="01, …: the student edition of these lessons alone")
    parser.add_argument("--out", type=Path, metavar="DIR", help="default: dist/")
    options = parser.parse_args(arguments)
    try:
        root = find_root()
        paths = pack(root, options.out or root / "dist", options.names)
    except (DistError, LessonError) as error:
        print(f"Not packed: {error}", file=sys.stderr)
        return 1
    for path in paths:
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
