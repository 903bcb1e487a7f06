"""Reading the book: what the search finds, definitions beside links, anchors, copy buttons, downloads, places to launch a lesson."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import yaml
from sample_lesson import NAME, lesson_notebook

pytest.importorskip("jupyter_book")

from bs4 import BeautifulSoup  # noqa: E402
from docutils import nodes  # noqa: E402
from py_mini_racer import MiniRacer  # noqa: E402

from classroom import book, pdf, reading  # noqa: E402
from classroom.derive import student_notebook  # noqa: E402
from classroom.execute import canonical, dumps  # noqa: E402
from classroom.lesson import parse, read, role  # noqa: E402

# sphinx_external_toc asks every object in memory for its class, and torch warns about one of its own
pytestmark = pytest.mark.filterwarnings("ignore:.*reduce_op:FutureWarning")

ROOT = Path(__file__).resolve().parent.parent
EDITIONS = ("book", "class-edition")
GLOSSARY = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
TERMS = reading.definitions(GLOSSARY)
NAMES = reading.names(GLOSSARY)
LESSONS = [path.stem for path in sorted((ROOT / "solutions").glob("[!.]*.ipynb"))]

# Others link to these. An exercise may be added; one that goes away or changes its number breaks a link somewhere.
EXERCISES = {
    "01_gpu_hierarchy": "1.1 1.2 1.3 1.4 1.5 1.6 1.c1 1.c2 1.c3",
    "02_memory": "2.1 2.2 2.3 2.4 2.5a 2.5b 2.5c 2.6 2.7 2.c1 2.c2 2.c3",
    "03_execution": "3.1 3.2 3.3 3.4 3.5 3.6a 3.6b 3.c1 3.c2 3.c3",
    "04_roofline": "4.1 4.2a 4.2b 4.3 4.4 4.5 4.6 4.c1 4.c2 4.c3",
    "05_online_softmax": "5.1 5.2 5.3 5.4 5.5 5.6 5.c1 5.c2 5.c3",
    "06_flash_attention": "6.1 6.2 6.3 6.4 6.5 6.6 6.7 6.c1 6.c2 6.c3 6.c4 6.c5",
    "07_vector_add": "7.1 7.2 7.3 7.4 7.5 7.6 7.7a 7.7b 7.7c 7.c1 7.c2 7.c3",
    "08_softmax": "8.1 8.2 8.3 8.4a 8.4b 8.5a 8.5b 8.6a 8.6b 8.7 8.8 8.c1 8.c2 8.c3",
    "09_matmul": "9.1 9.2 9.3a 9.3b 9.3c 9.4a 9.4b 9.5a 9.5b 9.5c 9.5d 9.6 9.7a 9.7b 9.7c 9.8a 9.8b 9.9a 9.9b 9.c1 9.c2 9.c3",
    "10_flash_attention": "10.1 10.2 10.3a 10.3b 10.3c 10.3d 10.4 10.5a 10.5b 10.5c 10.6a 10.6b 10.7a 10.7b 10.c1 10.c2 10.c3",
    "11_pytorch": "11.1a 11.1b 11.2 11.3a 11.3b 11.4 11.5a 11.5b 11.c1 11.c2 11.c3",
    "12_profile": "12.1 12.2 12.3 12.4a 12.4b 12.5 12.6 12.c1 12.c2 12.c3",
    "13_compiler": "13.1 13.2 13.3 13.4 13.5 13.6 13.7a 13.7b 13.c1 13.c2 13.c3",
}


def text_of(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def parsed(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


# ---- the search


@pytest.fixture(scope="module", params=EDITIONS)
def find(request, editions):
    """Sphinx's own search over the index of an edition: gives what it lists for a query, the best first."""
    folder = editions[request.param]
    with MiniRacer() as engine:
        engine.eval("var _ready = () => {}, SPHINX_HIGHLIGHT_ENABLED = false, document = {getElementById: () => null}")
        engine.eval("var _ = (text) => text")
        for script in ("_static/searchtools.js", "_static/language_data.js", "searchindex.js"):
            engine.eval((folder / script).read_text(encoding="utf-8"))

        def results(query: str) -> list[tuple[str, str, str]]:
            """(title, page, "#anchor" or "") of each result"""
            found = engine.eval(f"JSON.stringify(Search._performSearch(...Search._parseQuery({json.dumps(query)})))")
            return [(title, docname, anchor) for docname, title, anchor, *_ in reversed(json.loads(found))]

        yield results


def test_a_name_leads_to_the_place_that_explains_it(find, editions):
    assert len(NAMES) == GLOSSARY.count("| [lesson ") > 30
    for name, docname, heading in NAMES:
        title, where, anchor = find(name)[0]
        assert (title, where) == (name, docname)
        page = (editions["book"] / f"{docname}.html").read_text(encoding="utf-8")
        _, place = page.split(f' id="{anchor[1:]}">', 1)
        title, section = re.search(r"<h\d>(.*?)<a class=.headerlink.(.*?)(?:<h2>|</article>)", place, re.DOTALL).groups()
        assert reading.heading_anchor(text_of(title)) == heading
        assert name.rpartition(".")[2] in text_of(section), f"{heading} says nothing of {name}"


@pytest.mark.parametrize(
    "query, docname",
    [
        ("tl.dot", "notebooks/09_matmul"),
        ("tl.dot(a, b)", "notebooks/09_matmul"),
        ("dot", "notebooks/09_matmul"),
        ("tl.load", "notebooks/07_vector_add"),
        ("constexpr", "notebooks/07_vector_add"),
        ("cdiv", "notebooks/07_vector_add"),
        ("num_warps", "notebooks/08_softmax"),
        ("grouped_tile", "notebooks/09_matmul"),  # stands in code alone
        ("online softmax", "notebooks/05_online_softmax"),
        ("flash attention", "notebooks/06_flash_attention"),
        ("coalescing", "notebooks/02_memory"),
        ("bank conflict", "notebooks/02_memory"),
        ("occupancy", "notebooks/03_execution"),
        ("divergence", "notebooks/03_execution"),
        ("roofline", "notebooks/04_roofline"),
    ],
)
def test_the_page_that_teaches_it_comes_first(find, query, docname):
    """Or second, after its definition in the glossary."""
    results = find(query)
    assert docname in [where for _, where, _ in results[: 1 + (results[0][1] == reading.GLOSSARY)]]


@pytest.mark.parametrize("name", ["tl.dot", "tl.where", "tl.zeros", "num_stages", "torch.compile"])
def test_a_name_is_found_where_it_stands_and_nowhere_else(find, editions, name):
    """`tl.dot` is not `tl` here and `dot` there; and a plural s, which the search cuts off, is cut off in the index as well."""
    pages = {str(path.relative_to(editions["book"]).with_suffix("")): path for path in editions["book"].glob("*/[!_]*.html")}
    texts = {docname: text_of(path.read_text(encoding="utf-8")) for docname, path in pages.items()}
    listed = {docname for _, docname, _ in find(name)}
    assert listed <= {docname for docname, text in texts.items() if re.search(rf"\b{name}", text)}
    assert len(listed) > 2


def test_a_term_is_found_with_its_definition(find):
    for term, _ in reading.TERM.findall(GLOSSARY):
        assert (term, reading.GLOSSARY, f"#{nodes.make_id(term)}") in find(term)[:6]


def test_what_nobody_wrote_is_not_found(find):
    assert find("zyzzyva") == []


# ---- definitions


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_page_holds_the_definitions_of_the_terms_that_it_links_to(editions, edition):
    shown = set()
    for folder in ("book", "notebooks"):
        for path in sorted((editions[edition] / folder).glob("*.html")):
            text = path.read_text(encoding="utf-8")
            linked = set(re.findall(r'href="[^"]*glossary\.html#([^"]+)"', text))
            script = "".join(re.findall(r"<script>const definitions = (.*);</script>", text))
            given = json.loads(script or "{}")
            assert given == {anchor: TERMS[anchor] for anchor in linked if anchor in TERMS}, path.name
            assert len(script) < 4000
            shown |= set(given)
    assert len(shown) > 20


def test_a_definition_is_the_markdown_of_the_glossary():
    text = "### tensor core\n\nA unit.\n`tl.dot` *uses* it.\n\n### L2\n\nThe cache.\n\n## Next\n"
    assert reading.definitions(text) == {
        "tensor-core": "<p>A unit.\n<code>tl.dot</code> <em>uses</em> it.</p>",
        "l2": "<p>The cache.</p>",
    }


def test_the_script_is_small():
    assert (ROOT / "book" / "_static" / "reading.js").stat().st_size < 4000


# ---- anchors


def test_all_lessons_have_promised_their_anchors():
    assert list(EXERCISES) == LESSONS


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("name", LESSONS)
def test_the_anchors_of_exercises_stay(editions, edition, name):
    text = (editions[edition] / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
    for exercise in EXERCISES[name].split():
        assert f' id="{book.anchor(exercise)}"' in text, f"links to #{book.anchor(exercise)} lead nowhere now"


@pytest.mark.parametrize("name", LESSONS)
def test_links_to_an_exercise_use_the_anchor_that_stays(editions, name):
    text = (editions["book"] / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
    exercise = r'<section class="[^"]*exercise[^"]*" id="([^"]*)">\s*(?:<span id="[^"]*"></span>\s*)*'
    heading = r'<h\d>Exercise ([^:]*):[^<]*(?:<(?!a )[^<]*)*<a class="headerlink" href="#([^"]*)"'
    found = re.findall(exercise + heading, text)
    assert [number for _, number, _ in found] == [number for number in EXERCISES[name].split() if ".c" not in number]
    for own, number, linked in found:
        assert own == linked == book.anchor(number)
        assert re.search(rf'<a class="[^"]*nav-link[^"]*" href="#{own}"', text), "missing in the page's contents"
    assert "#exercise-" not in text


# ---- copy buttons


@pytest.mark.parametrize("name", ["notebooks/05_online_softmax", "book/how_to_work"])
def test_code_has_a_copy_button_and_what_it_prints_has_none(editions, name):
    script = (editions["book"] / "_static" / "copybutton.js").read_text(encoding="utf-8")
    page = parsed(editions["book"] / f"{name}.html")
    copied = {id(block) for block in page.select(re.search(r"COPYBUTTON_SELECTOR = '(.*)'", script)[1])}
    code, printed = page.select(".cell_input pre, .highlight-python pre"), page.select(".cell_output pre, .highlight-text pre")
    assert len(code) > 1 and len(printed) > 1
    assert all(id(block) in copied for block in code) and not any(id(block) in copied for block in printed)


# ---- the notebook to download


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("name", LESSONS)
def test_the_notebook_to_download_opens_and_has_no_solution(editions, edition, name):
    folder = editions[edition] / "notebooks"
    link = re.findall(r'<a href="([^"]+)" download>', (folder / f"{name}.html").read_text(encoding="utf-8"))
    assert link == [f"{name}.ipynb"]
    lesson = read(ROOT / "solutions" / link[0])
    copy = dumps(student_notebook(lesson))  # notebooks/ has the same, or `make lint` fails
    assert (folder / link[0]).read_text(encoding="utf-8") == copy
    notebook = nbformat.read(folder / link[0], 4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in cells)
    handed_out = {exercise: cell.source for cell in cells for kind, exercise in [role(cell)] if kind == "exercise"}
    assert handed_out.keys() == lesson.exercises.keys()
    assert not [exercise for exercise, text in handed_out.items() if text == lesson.exercises[exercise].answer.source]


# ---- places to launch a lesson


def small_book(root: Path, address: str) -> Path:
    """The source of a book with a page and a lesson, whose configuration names an address."""
    for folder in ("book", "notebooks"):
        (root / folder).mkdir(parents=True)
    (root / "book" / "_static").symlink_to(ROOT / "book" / "_static")
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config["repository"]["url"] = address
    (root / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    chapters = {"caption": "Part I", "chapters": [{"file": f"notebooks/{NAME}"}]}
    toc = {"format": "jb-book", "root": "book/index", "parts": [chapters]}
    (root / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    (root / "book" / "index.md").write_text(f"# First\n\n```bash\ngit clone {reading.PLACEHOLDER} here\n```\n", encoding="utf-8")
    notebook = student_notebook(parse(canonical(lesson_notebook()), Path(f"{NAME}.ipynb")))
    for cell in notebook.cells:
        cell.source = cell.source.replace("### Exercise", "## Exercise")
    (root / "notebooks" / f"{NAME}.ipynb").write_text(dumps(notebook), encoding="utf-8")
    return root


def test_a_lesson_is_launched_from_the_address_of_the_repository(tmp_path):
    address = "https://github.com/somebody/tiles"
    book.build(tmp_path / "out", solutions=False, root=small_book(tmp_path / "root", address))
    lesson = parsed(tmp_path / "out" / "notebooks" / f"{NAME}.html")
    links = {link.get_text().strip(): link["href"] for link in lesson.select(".dropdown-launch-buttons a")}
    assert links == {
        "Colab": f"https://colab.research.google.com/github/somebody/tiles/blob/main/notebooks/{NAME}.ipynb",
        "Binder": f"https://mybinder.org/v2/gh/somebody/tiles/main?urlpath=lab/tree/notebooks/{NAME}.ipynb",
    }
    assert f"!pip install --no-deps git+{address}" in [code.get_text() for code in lesson.select(".lesson-files code")]
    first = parsed(tmp_path / "out" / "book" / "index.html")
    assert f"git clone {address} here" in first.get_text() and not first.select(".dropdown-launch-buttons")


@pytest.mark.parametrize("edition", EDITIONS)
def test_without_an_address_no_page_leads_to_another_place(editions, edition):
    if yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]:
        pytest.skip("an address is set")
    for path in sorted((editions[edition] / "notebooks").glob("*.html")):
        text = path.read_text(encoding="utf-8")
        assert not [
            word for word in ("dropdown-launch-buttons", "colab.research", "mybinder.org", "On Colab, run") if word in text
        ]


@pytest.mark.parametrize(
    "address, launchers",
    [
        ("", set()),
        (None, set()),
        ("https://github.com/somebody/tiles", {"notebook_interface", "binderhub_url", "colab_url"}),
        ("https://gitlab.com/somebody/tiles", {"notebook_interface", "binderhub_url"}),
    ],
)
def test_places_are_those_that_can_read_the_repository(address, launchers):
    given = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["launch_buttons"]
    config = SimpleNamespace(html_theme_options={"repository_url": address, "launch_buttons": given})
    reading.choose_launchers(None, config)
    assert set(config.html_theme_options["launch_buttons"]) == launchers


# ---- the PDF


def test_the_pages_become_one(editions):
    """Each link within the book leads to an anchor of the one page, and no two anchors are the same."""
    pages = [reading.GLOSSARY, "book/setup", "notebooks/07_vector_add"]
    whole = BeautifulSoup(pdf.one_page(editions["class-edition"], pages), "html.parser")
    articles = whole.select("article.bd-article")
    assert [article["id"] for article in articles] == pages
    anchors = [element["id"] for article in articles for element in [article, *article.select("[id]:not(svg *)")]]
    assert len(anchors) == len(set(anchors)) and "book/glossary:tile" in anchors and "notebooks/07_vector_add:ex-7-1" in anchors
    links = [link["href"] for article in articles for link in article.select("a[href]")]
    inside = [link[1:] for link in links if link.startswith("#")]
    assert len(inside) > 50 and set(inside) <= set(anchors)
    assert all(link.startswith(("#", "http")) for link in links) and not whole.select("script")


def test_a_page_is_printed(editions, tmp_path, chromium):
    copy = shutil.copytree(editions["class-edition"], tmp_path / "copy")  # others read the edition meanwhile
    (copy / "book" / "whole.html").write_text(pdf.one_page(copy, ["book/index", "book/setup"]), encoding="utf-8")
    pdf.print_pdf(copy / "book" / "whole.html", tmp_path / "two.pdf")
    printed = (tmp_path / "two.pdf").read_bytes()
    assert printed.startswith(b"%PDF-") and b"/Outlines" in printed and len(re.findall(rb"/Type /Page\b", printed)) > 4


def test_without_a_browser_one_reads_how_to_get_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pdf, "BROWSERS", ())
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert pdf.main(["--out", str(tmp_path / "book.pdf")]) == 1
    assert "playwright install --with-deps chromium" in capsys.readouterr().err
    assert not (tmp_path / "book.pdf").exists()
