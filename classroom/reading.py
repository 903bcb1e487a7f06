"""What helps to read the book: definitions beside links, names that the search finds, links to where a lesson runs.

All of it comes from what stands in the sources. Definitions and names are those of `book/glossary.md`; the address of the
repository is `repository: url` in `_config.yml`, and without one no page mentions a place that it would lead to.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from docutils import nodes
from markdown_it import MarkdownIt
from sphinx.domains import ObjType
from sphinx.search.en import SearchEnglish

GLOSSARY = "book/glossary"
PLACEHOLDER = "ADDRESS-OF-THIS-REPOSITORY"
TERM = re.compile(r"^### (.+)\n\n((?:.+\n?)+)", re.MULTILINE)
NAME = re.compile(r"^\| `([\w.]+)[^|]*\|.*\]\(\.\./(notebooks/\w+)\.ipynb#([^)]+)\) \|$", re.MULTILINE)


def connect(app) -> None:
    """Register with Sphinx; called by `classroom.book.setup`, after its own handlers."""
    app.add_css_file("reading.css")
    app.add_js_file("reading.js", loading_method="defer")
    app.add_search_language(English)
    app.connect("config-inited", rank_results)
    app.connect("config-inited", choose_launchers)
    app.connect("builder-inited", let_search_find)
    app.connect("source-read", fill_address)
    app.connect("doctree-read", put_short_anchors_first, priority=400)  # before the list of sections is made
    app.connect("doctree-read", note_names)
    app.connect("doctree-read", say_what_colab_needs)
    app.connect("html-page-context", add_definitions)


# ---- the glossary


def definitions(glossary: str) -> dict[str, str]:
    """What the glossary (its Markdown) says of each term, as HTML, by the term's anchor in the book: "sm", "online-softmax"."""
    markdown = MarkdownIt()
    return {nodes.make_id(term): markdown.render(said).strip() for term, said in TERM.findall(glossary)}


def add_definitions(app, pagename: str, templatename: str, context: dict, doctree: nodes.document | None) -> None:
    """Write into a page the definitions of the terms that it links to, for `reading.js` to show."""
    if doctree is None or pagename == GLOSSARY:
        return
    targets = [reference.get("refuri", "").partition("#") for reference in doctree.findall(nodes.reference)]
    linked = {anchor for page, _, anchor in targets if page.endswith("glossary.html")}
    known = definitions(glossary_source(app))
    if shown := {anchor: known[anchor] for anchor in sorted(linked & known.keys())}:
        text = json.dumps(shown, ensure_ascii=False).replace("</", "<\\/")  # "</script>" would end the script
        app.add_js_file(None, body=f"const definitions = {text};")


def glossary_source(app) -> str:
    path = Path(app.srcdir, f"{GLOSSARY}.md")
    return path.read_text(encoding="utf-8") if path.exists() else ""


# ---- the search


def names(glossary: str) -> list[tuple[str, str, str]]:
    """The names of functions and arguments in the glossary, each with the page that teaches it and the heading there.

    A row "| `tl.dot(a, b)` | … | [lesson](../notebooks/09_matmul.ipynb#The-first-kernel) |"
    gives ("tl.dot", "notebooks/09_matmul", "The-first-kernel").
    """
    return NAME.findall(glossary)


class English(SearchEnglish):
    """How Sphinx finds words in a text, made to know that `tl.dot` is one, and not only `tl` and `dot`."""

    DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")

    def split(self, text: str) -> list[str]:
        return [*super().split(text), *self.DOTTED.findall(text)]


def rank_results(app, config) -> None:
    """Sphinx's search splits a query and orders what it finds with the help of `search.js`."""
    config.html_search_scorer = str(Path(app.srcdir, "book", "_static", "search.js"))


def let_search_find(app) -> None:
    """Names, and the terms of the glossary, are objects for Sphinx's search; it would leave terms out by itself."""
    app.env.get_domain("std").object_types |= {"name": ObjType("name"), "term": ObjType("term", "term", searchprio=1)}


def note_names(app, doctree: nodes.document) -> None:
    """Make each name an object of the page that teaches it: the search then shows it first, with a link to the place."""
    docname = app.env.docname
    wanted = [(name, heading) for name, page, heading in names(glossary_source(app)) if page == docname]
    sections = {heading_anchor(section[0].astext()): section for section in doctree.findall(nodes.section)}
    for name, heading in wanted:
        section = sections[heading]  # a heading that does not exist has given a warning where it is linked
        app.env.get_domain("std").note_object("name", name, section["ids"][0], location=section)


def heading_anchor(title: str) -> str:
    """What a link writes behind `page.md#`, as JupyterLab makes it of a heading: a link in a notebook then works in both."""
    return title.replace(" ", "-")


def put_short_anchors_first(app, doctree: nodes.document) -> None:
    """Of the two anchors of an exercise, `ex-5-1` and one made of its title, let links use the one that stays."""
    for section in doctree.findall(nodes.section):
        section["ids"].sort(key=lambda anchor: not anchor.startswith("ex-"))


# ---- the address of the repository


def choose_launchers(app, config) -> None:
    """Leave out the launch buttons while no address is set, and Colab where it cannot read the repository."""
    options = config.html_theme_options
    address = options.get("repository_url") or ""
    launchers = dict(options.get("launch_buttons") or {})
    if "github.com/" not in address:
        launchers.pop("colab_url", None)
    options["launch_buttons"] = launchers if address else {}


def fill_address(app, docname: str, source: list[str]) -> None:
    """Put the address of the repository, once it is set, where a page says `ADDRESS-OF-THIS-REPOSITORY`."""
    if address := app.config.html_theme_options.get("repository_url"):
        source[0] = source[0].replace(PLACEHOLDER, address)


def say_what_colab_needs(app, doctree: nodes.document) -> None:
    """Below the files of a lesson: the cell that installs the course on Colab, which opens a notebook and nothing around it."""
    if not app.config.html_theme_options["launch_buttons"].get("colab_url"):
        return
    address = app.config.html_theme_options["repository_url"]
    cell = f'<p class="lesson-files"><span>On Colab, run this first: <code>!pip install --no-deps git+{address}</code></span></p>'
    for files in list(doctree.findall(nodes.raw)):
        if files.astext().startswith('<p class="lesson-files">'):
            files.parent.insert(files.parent.index(files) + 1, nodes.raw("", cell, format="html"))
