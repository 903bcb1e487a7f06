"""The book: both editions are built, and looked through for pages, links, outside resources and solutions."""

from __future__ import annotations

import functools
import html
import json
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from conftest import EDITIONS
from sample_lesson import NAME, lesson_notebook

pytest.importorskip("jupyter_book")

from fontTools.ttLib import TTFont  # noqa: E402
from sphinx.search.en import SearchEnglish  # noqa: E402
from sphinx_external_toc.parsing import parse_toc_yaml  # noqa: E402

from classroom import book, lean, reading  # noqa: E402
from classroom.derive import derived_text, removed, secrets, student_notebook  # noqa: E402
from classroom.execute import canonical, dumps  # noqa: E402
from classroom.lesson import Exercise, Lesson, read, tags  # noqa: E402

# sphinx_external_toc asks every object in memory for its class, and torch warns about one of its own
pytestmark = pytest.mark.filterwarnings("ignore:.*reduce_op:FutureWarning")

ROOT = Path(__file__).resolve().parent.parent
PAGES = list(parse_toc_yaml(ROOT / "_toc.yml"))
LESSONS = [read(ROOT / "solutions" / f"{Path(page).name}.ipynb") for page in PAGES if page.startswith("notebooks/")]


class Page(HTMLParser):
    """A page as a browser takes it in: what it loads, where it links to, which anchors it has, what one can read."""

    LOADED = {
        "script": "src",
        "img": "src",
        "iframe": "src",
        "source": "src",
        "video": "src",
        "audio": "src",
        "embed": "src",
        "object": "data",
    }

    def __init__(self, path: Path):
        super().__init__(convert_charrefs=True)
        self.loads: set[str] = set()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.words: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if tag == "link" and not {"next", "prev", "canonical", "search", "index"} & set(given.get("rel", "").split()):
            self.loads.add(given.get("href", ""))
        if self.LOADED.get(tag) in given:
            self.loads.add(given[self.LOADED[tag]])
        self.loads |= {part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()}
        self.loads |= set(re.findall(r"url\(['\"]?([^)'\"]+)", given.get("style", "")))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


def pages(folder: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts}


# ---- pages, links, resources


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_page_of_the_table_of_contents_is_there(editions, edition):
    built = {str(path.relative_to(editions[edition]).with_suffix("")) for path in pages(editions[edition])}
    assert built == {*PAGES, "index", "search"}


@pytest.mark.parametrize("edition", EDITIONS)
def test_nothing_is_loaded_from_the_network(editions, edition):
    loaded = {(path.name, url) for path, page in pages(editions[edition]).items() for url in page.loads}
    assert len(loaded) > 10
    assert not [item for item in loaded if urlsplit(item[1]).scheme in ("http", "https") or item[1].startswith("//")]
    for sheet in editions[edition].rglob("*.css"):
        remote = re.findall(r"(?:@import\s+|url\()\s*['\"]?((?:https?:)?//[^)'\"\s]+)", sheet.read_text(encoding="utf-8"))
        assert not remote, f"{sheet.name} loads {remote}"


@pytest.mark.parametrize("edition", EDITIONS)
def test_what_a_page_loads_and_links_to_exists(editions, edition):
    found = pages(editions[edition])
    for path, page in found.items():
        for url in page.loads | page.links:
            parts = urlsplit(url)
            if parts.scheme or url.startswith("//"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.name} refers to {url}, which does not exist"
            if parts.fragment and target in found:
                assert parts.fragment in found[target].anchors | {"top"}, f"{path.name} refers to {url}: no such anchor"


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_page_is_light(editions, edition):
    """The page and its images; scripts and styles are shared by all pages, and loaded once."""
    for path, page in pages(editions[edition]).items():
        images = {url for url in page.loads if Path(urlsplit(url).path).suffix in (".png", ".svg", ".jpg")}
        own = {(path.parent / unquote(urlsplit(url).path)).resolve() for url in images}
        size = path.stat().st_size + sum(file.stat().st_size for file in own if file.is_file())
        assert size < 1_500_000, f"{path.name} weighs {size / 1e6:.1f} MB"


@pytest.mark.parametrize("edition", EDITIONS)
def test_formulas_are_drawn_when_the_book_is_built(editions, edition):
    found = pages(editions[edition])
    text = (editions[edition] / "notebooks" / "06_flash_attention.html").read_text(encoding="utf-8")
    assert text.count("<mjx-container") == text.count("<mjx-assistive-mml") == text.count("</math>") > 10
    assert not [url for page in found.values() for url in page.loads if "mathjax/" in url]
    assert not [path.name for path in found if re.search(r'nohighlight">\s*\\[([]', path.read_text(encoding="utf-8"))]
    sheet = (editions[edition] / "_static" / lean.SHEET).read_text(encoding="utf-8")
    fonts = re.findall(r"url\(['\"]?([^)'\"]+)", sheet)
    assert len(fonts) > 20 and all((editions[edition] / "_static" / font).is_file() for font in fonts)


def test_a_formula_that_cannot_be_drawn_is_an_error():
    page = '<span class="math notranslate nohighlight">\\(a &lt; {}\\)</span>'
    with lean.MathJax() as mathjax:
        assert "<mo>&lt;</mo>" in lean.lean(page.format("b"), mathjax)
        with pytest.raises(ValueError, match=r"a < \\frac\{b: Missing close brace"):
            lean.lean(page.format("\\frac{b"), mathjax)


def test_a_page_has_the_icons_it_shows(editions):
    theme = (editions["book"] / "_static" / "styles" / "pydata-sphinx-theme.css").read_text(encoding="utf-8")
    with TTFont(editions["book"] / "_static" / "icons.woff") as font:
        glyphs = font.getBestCmap()
    names = {name for path in pages(editions["book"]) for name in lean.ICON.findall(path.read_text(encoding="utf-8"))}
    assert {"moon", "bars", "magnifying-glass"} < names
    for name in names - {"solid", "lg"}:
        code = re.search(rf'\.fa-{name}:before[^{{]*\{{content:"\\([0-9a-f]+)"', theme)
        assert code and int(code[1], 16) in glyphs, name
    assert len(glyphs) < 100


# ---- exercises and solutions


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_has_its_anchors_and_its_notebook(editions, edition, lesson):
    page = Page(editions[edition] / "notebooks" / f"{lesson.name}.html")
    assert {book.anchor(exercise) for exercise in lesson.exercises} <= page.anchors
    assert f"{lesson.name}.ipynb" in page.links
    assert (editions[edition] / "notebooks" / f"{lesson.name}.ipynb").read_text(encoding="utf-8") == derived_text(lesson.path)


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_page_shows_what_the_lesson_prints(editions, edition, lesson):
    """The notebook has no outputs, and nobody can run a page."""
    shown = Page(editions[edition] / "notebooks" / f"{lesson.name}.html").text
    given = [cell for cell in student_notebook(lesson, outputs=True).cells if cell.cell_type == "code"]
    printed = [output.text.strip() for cell in given for output in cell.outputs if output.output_type == "stream"]
    assert len(printed) > 3 and all(text in shown for text in printed)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_the_book_shows_every_solution(editions, lesson):
    path = editions["book"] / "notebooks" / f"{lesson.name}.html"
    folds = re.findall(r'<div class="cell[^"]*tag_solution .*?</details>', path.read_text(encoding="utf-8"), re.DOTALL)
    assert len(folds) == len(lesson.exercises)
    for fold, exercise in zip(folds, lesson.exercises.values(), strict=True):
        shown = html.unescape(re.sub(r"<[^>]*>", "", fold))
        assert f"Solution of exercise {exercise.id}" in shown
        for line in [line for answer in removed(exercise.answer.source) for line in answer.splitlines()]:
            assert book.clean(line).strip() in shown, f"{exercise.id}: {line}"
        for output in exercise.check.outputs:
            assert output.get("text", "") in shown


def all_text(folder: Path) -> dict[str, str]:
    """Everything that one could read in an edition, by file: as it stands, with markup undone, and strings of JSON decoded."""
    texts = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        raw = path.read_bytes().decode("utf-8", errors="replace")
        plain = html.unescape(re.sub(r"<[^>]*>", "", raw)) if path.suffix in (".html", ".svg") else ""
        decoded = json.dumps(json.loads(raw), ensure_ascii=False).replace('\\"', '"') if path.suffix == ".ipynb" else ""
        texts[str(path.relative_to(folder))] = "\n".join([raw, plain, decoded])
    return texts


def search_terms(folder: Path) -> set[str]:
    """The words that the search of an edition finds (stems, in lower case)."""
    text = (folder / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    return set(index["terms"]) | set(index["titleterms"])


@functools.cache
def telltale_words() -> set[str]:
    """Stems of the words that stand in solutions and hidden checks, and in no page or student's copy."""
    stem = SearchEnglish({}).stem
    words = re.compile(r"[A-Za-z_]\w{3,}")
    copies = [
        cell.source + json.dumps(cell.get("outputs", "")).replace("\\n", "\n")
        for lesson in LESSONS
        for cell in student_notebook(lesson, outputs=True).cells
    ]
    public = [path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*.md")] + copies
    secret = [
        cell.source
        for lesson in LESSONS
        for cell in lesson.notebook.cells
        if any("exercise-" in t or "hidden-" in t for t in tags(cell))
    ]
    known, found = ({stem(word.lower()) for text in texts for word in words.findall(text)} for texts in (public, secret))
    return found - known


def test_the_class_edition_holds_no_solution(editions):
    pieces = {piece for lesson in LESSONS for piece in secrets(lesson)}
    assert len(pieces) > 10 * len(LESSONS)
    # what one lesson asks for, another may show: a line such as `mask = offs < n_elements`
    given = {lesson.name: "\n".join(cell.source for cell in student_notebook(lesson).cells) for lesson in LESSONS}
    for file, text in all_text(editions["class-edition"]).items():
        assert not [piece for piece in pieces if piece in text and piece not in given.get(Path(file).stem, "")], file
    assert not telltale_words() & search_terms(editions["class-edition"])


def test_the_search_for_solutions_finds_them_where_they_are(editions):
    """The test above would pass on anything if it could not find a solution in the full edition."""
    text = "\n".join(all_text(editions["book"]).values())
    answers = {
        book.clean(line).strip()
        for lesson in LESSONS
        for e in lesson.exercises.values()
        for a in removed(e.answer.source)
        for line in a.splitlines()
    }
    pieces = {piece for lesson in LESSONS for piece in secrets(lesson)} & answers
    assert pieces and all(piece in text for piece in pieces)
    hidden = {line for lesson in LESSONS for line in lesson.hidden_lines if len(line) >= 12} - answers
    assert not [
        line
        for line in hidden
        if line in text and not any(line in cell.source for lesson in LESSONS for cell in student_notebook(lesson).cells)
    ]


# ---- the glossary


def terms() -> dict[str, str]:
    """The terms of the glossary, by what a link writes behind the #, with what is said of them."""
    text = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    found = re.findall(r"^### (.+)\n\n((?:.+\n)+)", text, re.MULTILINE)
    assert len(found) == text.count("\n### ") == len({reading.heading_anchor(term) for term, _ in found})
    return {reading.heading_anchor(term): said for term, said in found}


def links_to_terms(lesson: Lesson) -> list[str]:
    text = "\n".join(cell.source for cell in lesson.notebook.cells if cell.cell_type == "markdown")
    return re.findall(r"\]\(\.\./book/glossary\.md#([^)]*)\)", text)


def test_a_term_is_told_in_a_few_lines():
    assert all(len(said.splitlines()) <= 3 for said in terms().values())


def test_terms_are_a_glossary_in_the_book(editions):
    for edition in EDITIONS:
        page = editions[edition] / "book" / "glossary.html"
        assert len(re.findall(r"<dt id=", page.read_text(encoding="utf-8"))) == len(terms())
        assert set(map(str.lower, terms())) <= Page(page).anchors


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_links_to_terms_of_earlier_ones(lesson):
    """Those that begin from nothing need none. JupyterLab finds a heading by its text with dashes, or shows the top of the page."""
    links = links_to_terms(lesson)
    assert links or lesson.name[:2] in ("01", "05", "07")
    assert len(links) <= 10 and len(links) == len(set(links)), links
    assert set(links) <= set(terms())


# ---- one page


def cell(source: str, *names: str, kind: str = "code", prints: str = "") -> nbformat.NotebookNode:
    new = nbformat.v4.new_code_cell(source) if kind == "code" else nbformat.v4.new_markdown_cell(source)
    new.metadata.tags = list(names)
    if prints:
        new.outputs = [nbformat.v4.new_output("stream", text=prints)]
    return new


@pytest.fixture
def small() -> tuple[nbformat.NotebookNode, Lesson]:
    """A lesson with one exercise that has a heading and one that has none, and its student's copy."""
    title = cell("# Small", kind="text")
    heading = cell("### Exercise 5.1: one line\n\nText.", kind="text")
    answer = cell("# Exercise 5.1\ny = 2 * x  # [n]  # ______ twice x", "exercise-5.1")
    check = cell("check(y)", "check-5.1", prints="Exercise 5.1 passed.\n")
    choice = cell('# Exercise 5.c1\n# BEGIN SOLUTION\nanswer = "b"\n# END SOLUTION', "exercise-5.c1")
    checked = cell("choice(answer)", "check-5.c1", prints="Exercise 5.c1 passed.\n")
    table = cell("print(traffic)", "solution-output", prints="8 bytes\n")
    hidden = cell("print(1)", "hidden-check-5.1")
    exercises = {"5.1": Exercise("5.1", answer, check, hidden, 1), "5.c1": Exercise("5.c1", choice, checked, hidden, 1)}
    notebook = nbformat.v4.new_notebook(cells=[title, heading, answer, check, hidden, choice, checked, table])
    lesson = Lesson(Path("solutions/05_small.ipynb"), notebook, exercises)
    return student_notebook(lesson, outputs=True), lesson


def test_a_page_has_anchors_and_folded_solutions(small):
    student, lesson = small
    page = book.lesson_page(student, lesson, "05_small")
    sources = [cell.source for cell in page.cells]
    assert sources[2] == "(ex-5-1)=\n### Exercise 5.1: one line\n\nText."
    assert sources[5] == "# Exercise 5.1\ny = 2 * x  # [n]  # twice x"
    assert sources[6] == "(ex-5-c1)="
    assert sources[9] == '# Exercise 5.c1\nanswer = "b"'
    assert tags(page.cells[5]) == ["solution", "hide-cell"] and page.cells[5].outputs[0].text == "Exercise 5.1 passed.\n"
    assert tags(page.cells[10]) == ["solution-output", "hide-output"] and page.cells[10].outputs[0].text == "8 bytes\n"
    nbformat.validate(page)


def test_the_page_of_the_class_edition_has_the_students_cells_only(small):
    student, _ = small
    page = book.lesson_page(student, None, "05_small")
    shown = [cell for cell in page.cells if cell.cell_type == "code"]
    assert [cell.source for cell in shown] == [cell.source for cell in student.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in shown)


def test_a_page_shows_what_given_cells_print_and_the_notebook_beside_it_does_not(tmp_path):
    notebook = canonical(lesson_notebook())
    notebook.cells[-1].outputs = [nbformat.v4.new_output("stream", text="the end\n")]
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / f"{NAME}.ipynb").write_text(dumps(notebook), encoding="utf-8")
    page, beside = (book.student_copy(tmp_path, NAME, outputs) for outputs in (True, False))
    assert page.cells[-1].outputs[0].text == "the end\n"
    assert not any(cell.outputs for cell in beside.cells if cell.cell_type == "code")
    assert [cell.source for cell in page.cells] == [cell.source for cell in beside.cells]


# ---- builds that must fail


def write_book(root: Path, text: str, toc: str = "format: jb-book\nroot: first\n") -> Path:
    (root / "book").mkdir(parents=True)
    for name in ("_config.yml", "book/_static"):
        (root / name).symlink_to(ROOT / name)
    (root / "_toc.yml").write_text(toc, encoding="utf-8")
    (root / "first.md").write_text(text, encoding="utf-8")
    return root


def test_a_warning_stops_the_build_and_keeps_the_old_book(tmp_path, capsys):
    out = tmp_path / "out"
    book.build(out, solutions=True, root=write_book(tmp_path / "right", "# First\n\nText.\n"))
    before = (out / "first.html").read_bytes()
    with pytest.raises(book.BookError, match="warnings"):
        book.build(out, solutions=True, root=write_book(tmp_path / "wrong", "# First\n\n[nowhere](nowhere.md)\n"))
    assert (out / "first.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []


def test_a_page_that_is_missing_stops_the_build(tmp_path):
    root = write_book(tmp_path / "root", "# First\n", "format: jb-book\nroot: first\nchapters:\n  - file: second\n")
    with pytest.raises(book.BookError):
        book.build(tmp_path / "out", solutions=True, root=root)


def test_a_folder_that_is_no_book_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("all of it", encoding="utf-8")
    with pytest.raises(book.BookError, match="not a book"):
        book.build(tmp_path, solutions=True)
    assert (tmp_path / "thesis.tex").exists()


# ---- pages that must agree with the repository


@pytest.mark.parametrize("page", ["README.md", "book/index.md"])
def test_the_table_of_lessons_is_true(page):
    rows = re.findall(r"^\| (\d\d) \| (.*) \| (.*) \|$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert [number for number, _, _ in rows] == [f"{n:02}" for n in range(1, 14)]
    finished = {lesson.name[:2]: lesson.name for lesson in LESSONS}
    for number, name, state in rows:
        assert (state != "*in preparation*") == (number in finished), f"{page}, lesson {number}: {state}"
        assert (f"notebooks/{finished[number]}.ipynb)" in name) if number in finished else ("](" not in name)


def test_the_table_for_instructors_is_true():
    page = (ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d\d) (.+?) \| .+ \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert [number for number, *_ in rows] == [f"{n:02}" for n in range(1, 14)]
    for lesson in LESSONS:
        title = lesson.notebook.cells[0].source.split("\n")[0].removeprefix("# ")
        assert rows[int(lesson.name[:2]) - 1][1:] == (title, str(len(lesson.exercises)), str(lesson.points))


def test_every_lesson_is_in_the_table_of_contents():
    assert {path.stem for path in (ROOT / "solutions").glob("[!.]*.ipynb")} == {lesson.name for lesson in LESSONS}


def test_the_kernel_that_prints_does_what_the_page_says(tmp_path):
    page = (ROOT / "book" / "how_to_work.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(import torch\n.*?)```\n\n```text\n(.*?)```", page, re.DOTALL).groups()
    (tmp_path / "look.py").write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, tmp_path / "look.py"], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == printed, done.stderr


def test_the_figures_are_what_their_script_draws(tmp_path):
    script = runpy.run_path(str(ROOT / "book/figures/make_figures.py"))
    for name, theme in script["THEMES"].items():
        assert (ROOT / f"book/figures/tiles-{name}.svg").read_text(encoding="utf-8") == script["tiles"](theme)
