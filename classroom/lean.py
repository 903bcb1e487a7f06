"""Pages that load little: what the theme sends along and a page does not need is taken out when the book is built.

* Formulas are drawn here, by the MathJax that the browser would run otherwise: a megabyte of script less, nothing moves while
  a page loads, and they show where scripts are off.
* Icons come from a font of those that the book uses, in place of a script with all of Font Awesome.
* The index of the search is loaded by the page that searches.
* Names and punctuation in code have the colour of all other text, and need no element each.
"""

from __future__ import annotations

import functools
import html
import importlib.util
import json
import logging
import re
import shutil
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from py_mini_racer import MiniRacer
from sphinx.errors import ExtensionError

SHEET = "lean.css"  # of formulas and icons, in _static
FORMULA = re.compile(r'(<(span|div) class="[^"]*math notranslate nohighlight"[^>]*>.*?)\\([(\[])(.*?)\\[)\]](</\2>)', re.DOTALL)
PLAIN = re.compile(r'<span class="[npw]">([^<]*)</span>')
SCRIPTS = r'<(?:script|link)[^>]*(?:src|href)="[^"]*(?:{})[^"]*"[^>]*>(?:</script>)?\s*|<script>window\.MathJax = .*?</script>\s*'
UNUSED = "scripts/fontawesome|mathjax/"
SEARCH = "searchtools|language_data|searchindex"
ICON = re.compile(r"\bfa-([a-z0-9-]+)")
ICON_RULE = re.compile(r'((?:\.fa-[a-z0-9-]+:before,?)+)\{content:"[^"]*"\}')
NUMBER = re.compile(r'"\\([0-9a-f]{2,5})"')

# MathJax is made for pages that load it part by part; here it gets all parts at once, and is told so.
PARTS = ["startup", "core", "adaptors/liteDOM", "input/tex-full", "output/chtml", "output/chtml/fonts/tex", "a11y/assistive-mml"]
BEFORE = """
    globalThis.setTimeout = () => 0;
    globalThis.clearTimeout = () => {};
    globalThis.MathJax = { loader: { load: [], ready() {} }, startup: { typeset: false }, chtml: { fontURL: "mathjax" } };
"""
AFTER = """
    MathJax.loader.preLoad("core", "adaptors/liteDOM", "input/tex-full", "output/chtml", "output/chtml/fonts/tex");
    MathJax.startup.defaultReady();
    globalThis.drawn = (tex, display) => MathJax.startup.adaptor.outerHTML(MathJax.tex2chtml(tex, { display }));
    globalThis.sheet = () => MathJax.startup.adaptor.textContent(MathJax.chtmlStylesheet());
"""


def connect(app) -> None:
    """Register with Sphinx: the pages are gone through when all of them are written."""
    app.add_css_file(SHEET)
    app.connect("build-finished", make_lean, priority=900)


def make_lean(app, error: Exception | None) -> None:
    """Rewrite the pages of a book, and write the style sheet that they then need. Raises ExtensionError with the page."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    icons = set()
    with MathJax() as mathjax:
        for page in [*sorted(app.env.found_docs), "search"]:
            path = out / f"{page}.html"
            if path.exists():  # a page that is missing is told of by `classroom.book`
                text = path.read_text(encoding="utf-8")
                icons |= set(ICON.findall(text))
                try:
                    path.write_text(lean(text, mathjax, searches=page == "search"), encoding="utf-8")
                except ValueError as problem:
                    raise ExtensionError(f"{page}: {problem}") from problem
        sheet = mathjax.sheet()
    static = out / "_static"
    shutil.copytree(mathjax_folder() / "output" / "chtml" / "fonts" / "woff-v2", static / "mathjax", dirs_exist_ok=True)
    sheet += pick_icons(static, icons)
    (static / SHEET).write_text(sheet, encoding="utf-8")


def lean(page: str, mathjax: MathJax, searches: bool = False) -> str:
    """The text of a page without what it does not need; `searches` keeps the index. Raises ValueError on a wrong formula."""
    page = re.sub(SCRIPTS.format(UNUSED if searches else f"{UNUSED}|{SEARCH}"), "", page, flags=re.DOTALL)
    page = FORMULA.sub(lambda m: m[1] + mathjax.draw(html.unescape(m[4]), m[3] == "[") + m[5], page)
    return PLAIN.sub(r"\1", page)


# ---- formulas


def mathjax_folder() -> Path:
    """MathJax's scripts and fonts, in the package django-static-mathjax. Raises ExtensionError where it is missing."""
    spec = importlib.util.find_spec("mathjax")
    if spec is None or not spec.submodule_search_locations:
        raise ExtensionError("MathJax is missing: pip install -r requirements.txt (the package is django-static-mathjax)")
    return Path(spec.submodule_search_locations[0], "static", "mathjax", "es5")


class MathJax:
    """MathJax in a JavaScript engine; it starts with the first formula, which takes half a second."""

    def __enter__(self) -> MathJax:
        return self

    def __exit__(self, *_) -> None:
        if "engine" in self.__dict__:
            self.engine.close()  # Python would wait for its thread

    @functools.cached_property
    def engine(self) -> MiniRacer:
        engine = MiniRacer()
        scripts = [(mathjax_folder() / f"{part}.js").read_text(encoding="utf-8") for part in PARTS]
        for script in [BEFORE, *scripts, AFTER]:
            engine.eval(f"{script}\n;0")  # what a script gives is no value for Python
        return engine

    def draw(self, tex: str, display: bool = False) -> str:
        """A formula as HTML, with MathML for those who hear the page. Raises ValueError with what is wrong with it."""
        drawn = self.engine.eval(f"drawn({json.dumps(tex)}, {json.dumps(display)})")
        if wrong := re.search(r'data-mjx-error="([^"]*)"', drawn):
            raise ValueError(f"MathJax cannot draw {tex.strip()}: {html.unescape(wrong[1])}")
        return drawn.replace("<mjx-container ", '<mjx-container tabindex="0" ', 1) if display else drawn  # a wide one scrolls

    def sheet(self) -> str:
        """The styles of all formulas drawn so far; their fonts lie in a folder `mathjax` beside the sheet."""
        larger = "mjx-container.MathJax { font-size: 116%; }"  # its small letters are low beside those of a screen's font
        return f"{self.engine.eval('sheet()')}\n{larger}" if "engine" in self.__dict__ else ""


# ---- icons


def pick_icons(static: Path, names: set[str]) -> str:
    """Leave in the theme's style sheet, and put into a font of their own, the icons that have these names or that it shows itself.

    static: the folder `_static`, which gets `icons.woff`.  Returns the styles by which a page takes that font.
    """
    theme = static / "styles" / "pydata-sphinx-theme.css"
    styles = ICON_RULE.sub(lambda m: m[0] if names & set(ICON.findall(m[1])) else "", theme.read_text(encoding="utf-8"))
    theme.write_text(styles, encoding="utf-8")
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    with TTFont(static / "vendor" / "fontawesome" / "webfonts" / "fa-solid-900.ttf") as font:
        subsetter = subset.Subsetter(subset.Options(layout_features=[]))
        subsetter.populate(unicodes=[int(code, 16) for code in NUMBER.findall(styles)])
        subsetter.subset(font)
        font.flavor = "woff"
        font.save(static / "icons.woff")
    return '\n@font-face { font-family: "Font Awesome 6 Free"; font-weight: 900; src: url(icons.woff); }\n'
