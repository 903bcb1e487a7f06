"""The book as one PDF: the pages of the class edition one behind the other in one page, which Chromium prints.

Hints, solutions and other folds stay closed, as on every printed page; links between the pages lead to places in the PDF.
`python -m classroom.pdf`, or `make pdf`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import urlsplit

from bs4 import BeautifulSoup

from classroom.book import ROOT, BookError, build

PDF = "_build/think-in-tiles.pdf"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
STYLE = "html { font-size: 13px; } .bd-article + .bd-article { break-before: page; }"
NUMBER = '<div style="width: 100%; font-size: 8px; text-align: center"><span class="pageNumber"></span></div>'


class PdfError(Exception):
    """The PDF could not be made; the message says what to do."""


def chromium() -> str:
    """The program of a Chromium: the machine's, or Playwright's own. Raises PdfError if there is none."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise PdfError("Playwright is missing: pip install -r requirements.txt") from error
    if found := next(filter(None, map(shutil.which, BROWSERS)), None):
        return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    if not Path(own).exists():
        raise PdfError(f"there is no Chromium to print with: {sys.executable} -m playwright install --with-deps chromium")
    return own


def one_page(folder: Path, pages: list[str]) -> str:
    """All pages of a book as one page, in HTML, which works in any folder of `folder`, such as `folder/book`.

    pages: their names, `book/index` the first.  An anchor `sm` of `book/glossary` becomes `book/glossary:sm`.
    """
    whole = last = None
    for name in pages:
        page = BeautifulSoup((folder / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        article = page.select_one("article.bd-article")
        for element in article.select("[id]:not(svg *)"):
            element["id"] = f"{name}:{element['id']}"
        for link in article.select("a[href]"):
            url = urlsplit(link["href"])
            path = normpath(join(dirname(name), url.path)).removesuffix(".html") if url.path else name
            if path in pages and not url.scheme:
                link["href"] = "#" + (f"{path}:{url.fragment}" if url.fragment else path)
            elif not url.scheme:
                del link["href"]  # to a file beside the book
        article["id"] = name
        if whole is None:
            whole = page
        else:
            last.insert_after(article)
        last = article
    for script in whole.select("script"):
        script.decompose()
    whole.html["data-theme"] = "light"
    style = whole.new_tag("style")
    style.string = STYLE
    whole.head.append(style)
    return str(whole)


def print_pdf(page: Path, out: Path) -> None:
    """Print a page, with an outline and numbered sheets of A4. Raises PdfError where there is no Chromium."""
    program = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=program, args=["--no-sandbox"]) as browser:
        tab = browser.new_page(color_scheme="light")
        tab.set_default_timeout(600_000)  # ms
        tab.goto(page.as_uri())
        tab.pdf(
            path=out,
            format="A4",
            margin={"top": "16mm", "bottom": "18mm", "left": "14mm", "right": "14mm"},
            print_background=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=NUMBER,
            tagged=True,
            outline=True,
        )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m classroom.pdf", description="Print the book, without solutions, as a PDF.")
    parser.add_argument("--out", type=Path, metavar="FILE", default=ROOT / PDF, help=f"default: {PDF}")
    out = parser.parse_args(argv).out.resolve()
    start = time.monotonic()
    try:
        chromium()  # before the minute that the book takes
        with tempfile.TemporaryDirectory() as scratch:
            book = Path(scratch, "book")
            pages = build(book, solutions=False)
            page = book / "book" / "whole.html"
            page.write_text(one_page(book, pages), encoding="utf-8")
            out.parent.mkdir(parents=True, exist_ok=True)
            print_pdf(page, out)
    except (BookError, PdfError) as error:
        print(f"The PDF was not made: {error}", file=sys.stderr)
        return 1
    print(f"{out}, {out.stat().st_size / 1e6:.0f} MB, in {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
