"""The book: the students' notebooks as HTML, each exercise followed by its folded solution.

Two things live here. `python -m classroom.book` builds the book with Jupyter Book's configuration
(`_config.yml`, `_toc.yml`) and fails unless every page of the table of contents was written without a warning.
And the Sphinx extension that `_config.yml` names: it reads a page `notebooks/NAME` as the student's copy derived from
`solutions/NAME.ipynb`, adds an anchor and, after the last check of each exercise, its solution with its outputs.

The class edition (`--class-edition`, `make book SOLUTIONS=0`) has its own folder and holds no solution in any file:
the solutions are never read into it, so there is nothing to hide.
"""

from __future__ import annotations

import argparse
import copy
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from docutils import nodes
from jinja2 import UndefinedError
from nbformat import NotebookNode
from sphinx import addnodes

from classroom import explorers, lean, lite, reading, recorded
from classroom.derive import student_notebook
from classroom.execute import dumps
from classroom.lesson import (
    NOTEBOOKS,
    SOLUTIONS,
    Exercise,
    Lesson,
    LessonError,
    read,
    role,
    tags,
    write_if_changed,
)
from classroom.reading import GLOSSARY
from classroom.recorded import anchor
from tiles import bench

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {True: "_build/book", False: "_build/class-edition"}  # with solutions, without
# Before the first paint, not after it: what the theme's script does later, so that a dark page does not begin white.
THEME = """{
  const { dataset } = document.documentElement;
  if (dataset.theme === "auto") dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}"""
# Extensions of Jupyter Book: one wants the network, one LaTeX, and two bring scripts and styles that no page uses.
UNUSED = {"sphinx_thebe", "sphinx_jupyterbook_latex", "sphinx_design", "sphinx_togglebutton"}

HEADING = re.compile(r"^(#{2,6} +Exercise +(\d+\.\w+))", re.MULTILINE)
MARK = re.compile(r"# *_{6}(?!_) *")
INSTEAD = re.compile(r" *# *_{6} +instead:.*")
OURS = re.compile(r"tag_(?:exercise|check)-(\d+\.\w+)$")
LINK = re.compile(r'(<a class="(?:current )?reference internal" href="(?:#|[^"#]*?(\w+)\.html)">)(.*?)</a>', re.DOTALL)
FIGURE = re.compile(r'<img alt="([^"]*)" src="\1" ?/?>')  # what a cell draws has no words of its own
REGION = re.compile(r"^\s*#+\s*(BEGIN|END) SOLUTION\b.*\n?", re.MULTILINE)


class BookError(Exception):
    """The book could not be built; the message says what to do."""


# ---- a lesson's page


def lesson_page(student: NotebookNode, lesson: Lesson | None, name: str) -> NotebookNode:
    """The student's copy of a lesson, made into the page of the book.

    student: the student's copy of the lesson called `name`, with the outputs of its cells.  lesson: the solved lesson, or None for the class edition.
    Returns a new notebook: anchors (`ex-5-1`) before the exercises, a line about the files under the title,
    and, if the lesson is given, a folded cell with the solution after the last cell of each exercise.
    """
    cells = [copy.deepcopy(cell) for cell in student.cells]
    anchored = {exercise for cell in cells if cell.cell_type == "markdown" for _, exercise in HEADING.findall(cell.source)}
    last = {exercise: number for number, cell in enumerate(cells) for _, exercise in [role(cell)] if exercise}
    outputs = {cell.id: cell.outputs for cell in lesson.notebook.cells if "solution-output" in tags(cell)} if lesson else {}

    page = []
    for number, cell in enumerate(cells):
        kind, exercise = role(cell)
        if exercise and exercise not in anchored:
            page.append(nbformat.v4.new_markdown_cell(f"({anchor(exercise)})=", id=f"{anchor(exercise)}-anchor"))
            anchored.add(exercise)
        if kind:
            cell.metadata.tags = [*tags(cell), kind]
        if cell.cell_type == "markdown":
            cell.source = HEADING.sub(lambda heading: f"({anchor(heading[2])})=\n{heading[1]}", cell.source)
        if cell.id in outputs:
            cell.outputs = outputs[cell.id]
            fold(cell, "hide-output", "What it prints")
        page.append(cell)
        if number == 0:
            page.append(nbformat.v4.new_markdown_cell(files_line(name), id="lesson-files"))
        if lesson and exercise and last[exercise] == number:
            page.append(solution_cell(lesson.exercises[exercise]))

    result = copy.deepcopy(student)
    result.cells = page
    return result


def solution_cell(exercise: Exercise) -> NotebookNode:
    """One folded cell: the answer, and below it what the check prints when the answer is right."""
    cell = nbformat.v4.new_code_cell(clean(exercise.answer.source), id=f"{anchor(exercise.id)}-solution")
    cell.outputs = copy.deepcopy([*exercise.answer.outputs, *exercise.check.outputs])
    cell.metadata.tags = ["solution"]
    fold(cell, "hide-cell", f"Solution of exercise {exercise.id}")
    return cell


def clean(source: str) -> str:
    """A solution as one reads it: without the marks that make its blanks."""
    return MARK.sub("# ", INSTEAD.sub("", REGION.sub("", source))).rstrip()


def fold(cell: NotebookNode, how: str, prompt: str) -> None:
    """Let the page fold a cell under a prompt; `how` is a tag of MyST-NB, "hide-cell" or "hide-output"."""
    cell.metadata.tags = [*tags(cell), how]
    cell.metadata.mystnb = {"code_prompt_show": prompt, "code_prompt_hide": prompt}


def files_line(name: str) -> str:
    """What stands under the title of a lesson, in HTML: the notebook to download, and how to grade it."""
    return (
        f'<p class="lesson-files"><a href="{name}.ipynb" download>Download this lesson as a notebook</a>'
        f"<span>Grade it: <code>pytest --nbval notebooks/{name}.ipynb</code></span></p>"
    )


# ---- the Sphinx extension


def setup(app) -> dict:
    """Register with Sphinx (called by it, because `_config.yml` names this module)."""
    app.add_config_value("book_solutions", os.environ.get("SOLUTIONS") != "0", "env")
    app.connect("source-read", read_lesson)
    app.connect("source-read", fill_page)
    app.connect("doctree-read", box_exercises)
    app.connect("html-page-context", tell_where, priority=900)  # after the theme's own
    app.connect("html-page-context", mend_cells)
    app.add_js_file(None, body=THEME)
    app.connect("doctree-read", list_terms)
    app.connect("build-finished", copy_notebooks)
    explorers.connect(app)
    reading.connect(app)
    lite.connect(app)
    lean.connect(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def read_lesson(app, docname: str, source: list[str]) -> None:
    """Replace the source of a lesson's page (the notebook's JSON) by `lesson_page`."""
    if name := lesson_name(docname):
        solved = Path(app.srcdir, SOLUTIONS, f"{name}.ipynb")
        if app.config.book_solutions and not solved.exists():
            raise BookError(f"{docname} has no {SOLUTIONS}/{name}.ipynb. Build the class edition: make book SOLUTIONS=0")
        lesson = read(solved) if app.config.book_solutions else None
        source[0] = nbformat.writes(lesson_page(student_copy(Path(app.srcdir), name, outputs=True), lesson, name))


def fill_page(app, docname: str, source: list[str]) -> None:
    """Fill in what a page in `book/` takes from the recorded runs, where it says `{{ … }}`; see `classroom/recorded.py`."""
    if docname.startswith("book/") and "{{" in source[0]:
        app.env.note_dependency(str(bench.RECORDED / "h200.json"))
        try:
            source[0] = recorded.fill(source[0], Path(app.outdir, recorded.FIGURES))
        except (KeyError, UndefinedError) as error:
            raise BookError(f"{docname} asks for what is not in tiles/recorded: {error}") from error


def lesson_name(docname: str) -> str | None:
    """ "notebooks/05_online_softmax" is the page of the lesson 05_online_softmax; None for any other page."""
    folder, _, name = docname.rpartition("/")
    return name if folder == NOTEBOOKS else None


def student_copy(root: Path, name: str, outputs: bool = False) -> NotebookNode:
    """The student's copy of a lesson, derived anew, so that work done in `notebooks/` stays out of the book.

    outputs: with what its cells print, for the page; the notebook to download has none, as in `notebooks/`.
    Where there are no solutions (a course handed out without them) it is the file in `notebooks/`.
    """
    solved = root / SOLUTIONS / f"{name}.ipynb"
    return student_notebook(read(solved), outputs) if solved.exists() else nbformat.read(root / NOTEBOOKS / solved.name, 4)


def box_exercises(app, doctree) -> None:
    """Put what belongs to an exercise (statement, hints, code, checks, solution, the reader's mark) into one container.

    It lies below the exercise's heading; a question has none, and its box holds its cells.
    """
    for section in list(doctree.findall(nodes.section)):
        headed = bool(section.children) and section[0].astext().startswith("Exercise ")
        for exercise, (first, end) in reversed(boxes(section).items()):
            box = nodes.container("", *section.children[1 if headed else first : end], classes=["exercise-box"])
            section.children[1 if headed else first : end] = []
            section.insert(1 if headed else first, box)
            box += nodes.raw("", mark(exercise), format="html")
            if headed:
                section["classes"].append("exercise")
    found = [name for box in doctree.findall(nodes.container) for name in box["classes"] if name.startswith("tag_exercise-")]
    if found:
        app.env.metadata[app.env.docname]["exercises"] = " ".join(OURS.match(name)[1] for name in found)


def boxes(section: nodes.section) -> dict[str, tuple[int, int]]:
    """Where the cells of each exercise of a section begin and end, among the section's children."""
    found: dict[str, tuple[int, int]] = {}
    exercise = ""
    for i, child in enumerate(section.children):
        classes = child.get("classes", [])
        exercise = next((match[1] for name in classes if (match := OURS.match(name))), exercise)
        if exercise and {"tag_exercise", "tag_check", "tag_solution"} & set(classes):
            found[exercise] = found.get(exercise, (i, i))[0], i + 1
    return found


def mark(exercise: str) -> str:
    """The box to tick when an exercise is done, in HTML; `book.js` keeps the marks."""
    box = f'<input type="checkbox" data-exercise="{exercise}" autocomplete="off">'
    return (
        f'<p class="exercise-mark pst-js-only"><label>{box}Done<span class="visually-hidden"> with {exercise}</span></label></p>'
    )


def tell_where(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Number the lessons, name their parts, and make places for the reader's marks: in the side bar, in the table of lessons,
    above a lesson's title, and in the links to the previous and the next page."""
    toc = app.env.tocs[app.config.root_doc].findall(addnodes.toctree)
    parts = {docname: part["caption"] for part in toc for _, docname in part["entries"]}

    def where(docname: str) -> str:
        number = f"Lesson {name[:2]}" if (name := lesson_name(docname)) else ""
        return " · ".join(filter(None, [number, parts.get(docname, "")]))

    def tally(name: str) -> str:
        exercises = app.env.metadata[f"{NOTEBOOKS}/{name}"]["exercises"]
        return f'<span class="tally pst-js-only" data-exercises="{exercises}"></span>'

    def numbered(link: re.Match) -> str:
        name = link[2] or Path(pagename).name
        known = f"{NOTEBOOKS}/{name}" in parts
        return f'{link[1]}<span class="number">{name[:2]}</span><span>{link[3]}</span> {tally(name)}</a>' if known else link[0]

    side_bar = context["generate_toctree_html"]
    context["generate_toctree_html"] = lambda **given: LINK.sub(numbered, str(side_bar(**given)))
    for i, relation in enumerate(["prev", "next"], 1):
        if context.get(relation):
            place = where(app.builder.relations[pagename][i])
            context[f"{relation}_title"] = f'<span class="where">{place}</span>{context[relation]["title"]}'
    if lesson_name(pagename):
        context["body"] = context["body"].replace("<h1>", f'<p class="where">{where(pagename)}</p>\n<h1>', 1)
    if pagename == app.config.root_doc:
        table = re.compile(rf"<strong>{LINK.pattern}</strong>", re.DOTALL)
        context["body"] = table.sub(lambda link: tally(link[2]) + link[0], context["body"])


def mend_cells(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Let each figure that a cell draws open in its full size, as on a phone it stands in a third of it.
    Let folds be called what they say."""
    if lesson_name(pagename):
        context["body"] = context["body"].replace('<summary aria-label="Toggle hidden content">', "<summary>")
        link = r'<a href="\1"><img alt="What the cell draws; opens in full size" src="\1"></a>'
        context["body"] = FIGURE.sub(link, context["body"])


def list_terms(app, doctree) -> None:
    """Turn the headings of the glossary's terms, which JupyterLab can open one by one, into Sphinx's glossary."""
    if app.env.docname != GLOSSARY:
        return
    for group in list(doctree.findall(nodes.section)):
        terms = [child for child in group.children if isinstance(child, nodes.section)]
        if isinstance(group.parent, nodes.document) or not terms:
            continue
        items = []
        for section in terms:
            title, *definition = section.children
            term = nodes.term("", "", *title.children, ids=section["ids"])
            app.env.get_domain("std").note_object("term", title.astext(), section["ids"][0], location=term)
            items.append(nodes.definition_list_item("", term, nodes.definition("", *definition)))
            group.remove(section)
        group += addnodes.glossary("", nodes.definition_list("", *items, classes=["glossary"]))


def copy_notebooks(app, error: Exception | None) -> None:
    """Put each lesson's notebook, the student's copy in either edition, beside its page."""
    if error is None and app.builder.format == "html":
        for docname in sorted(app.env.found_docs):
            if name := lesson_name(docname):
                write_if_changed(Path(app.outdir, f"{docname}.ipynb"), dumps(student_copy(Path(app.srcdir), name)))


# ---- building


def build(out: Path, solutions: bool, root: Path = ROOT, site: str = "0") -> list[str]:
    """Build the book into `out`, from nothing, and return the names of its pages.

    site: how the lessons open in the reader's browser, "cdn", "local" or "0"; see `classroom/lite.py`.
    The pages are written to a new folder, which takes the place of `out` only if all went well.
    Raises BookError on a warning, a failure, or a page of the table of contents that was not written; LiteError.
    """
    if out.exists() and any(out.iterdir()) and not (out / ".buildinfo").exists():
        raise BookError(f"{out} holds something that is not a book; give another folder with --out")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        html = Path(scratch, "html")
        pages = run_sphinx(root, html, Path(scratch, "doctrees"), solutions, site)
        missing = [page for page in pages if not (html / f"{page}.html").exists()]
        if missing:
            raise BookError(f"{len(missing)} of {len(pages)} pages were not written: {', '.join(missing)}")
        (html / "index.html").write_text(f'<meta http-equiv="refresh" content="0; url={pages[0]}.html">\n', encoding="utf-8")
        lessons = [name for name in filter(None, map(lesson_name, pages)) if lite.address(name)]
        if lessons and site != "0":
            lite.build(html / lite.FOLDER, lessons, local=site == "local", root=root)
        shutil.rmtree(out, ignore_errors=True)
        html.rename(out)
    return pages


def run_sphinx(root: Path, html: Path, doctrees: Path, solutions: bool, site: str = "0") -> list[str]:
    """Run Sphinx with the configuration of Jupyter Book; returns the pages of `_toc.yml`, the first page first."""
    try:
        from jupyter_book.config import get_final_config
    except ImportError as error:
        raise BookError("Jupyter Book 1.x is missing (2.x is another program): pip install -r requirements.txt") from error
    from sphinx.application import Sphinx
    from sphinx.errors import SphinxError
    from sphinx.util.docutils import docutils_namespace, patch_docutils
    from sphinx_external_toc.parsing import parse_toc_yaml

    toc = root / "_toc.yml"
    site_map = parse_toc_yaml(toc)
    pages = [site_map.root.docname, *(page for page in site_map if page != site_map.root.docname)]
    config, _ = get_final_config(user_yaml=root / "_config.yml", sourcedir=root, cli_config={"latex_individualpages": False})
    config |= {"external_toc_path": str(toc), "book_solutions": solutions, "book_lite": site}
    config["extensions"] = [name for name in config["extensions"] if name not in UNUSED]
    try:
        with patch_docutils(), docutils_namespace():
            app = Sphinx(root, None, html, doctrees, "html", config, status=None, warningiserror=True, keep_going=True)
            app.build(force_all=True)
    except (SphinxError, BookError, LessonError) as error:
        raise BookError(f"the build stopped: {error}") from error
    if app.statuscode:
        raise BookError("the build gave warnings (above); a book with warnings is not built")
    return pages


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m classroom.book", description="Build the HTML book.")
    parser.add_argument("--class-edition", action="store_true", help="without any solution, to give to a class")
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"default: {FOLDERS[True]} or {FOLDERS[False]}")
    where = "where the browser finds Python for lessons 01 to 06: its CDN, the book, or nowhere"
    parser.add_argument("--lite", choices=["cdn", "local", "0"], default="cdn", help=where)
    options = parser.parse_args(argv)
    if options.lite == "cdn" and not lite.available():
        print(f"The lessons of this book do not open in the browser. {lite.MISSING}", file=sys.stderr)
        options.lite = "0"
    out = (options.out or ROOT / FOLDERS[not options.class_edition]).resolve()
    start = time.monotonic()
    try:
        pages = build(out, solutions=not options.class_edition, site=options.lite)
    except (BookError, lite.LiteError) as error:
        print(f"The book was not built: {error}", file=sys.stderr)
        return 1
    print(f"{len(pages)} pages in {time.monotonic() - start:.0f} s. Open {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
