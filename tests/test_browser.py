"""The book as a reader meets it: pages opened in Chromium from the disk, without a network, by mouse, keyboard and touch.

Each page is opened once in each edition, and then looked at from several sides. TILES_SCREENSHOTS=DIR keeps pictures.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install -r requirements.txt")
axe_core = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe is not installed: pip install -r requirements.txt"
)
pytest.importorskip("jupyter_book")

from sphinx_external_toc.parsing import parse_toc_yaml  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*parse_toc_yaml(ROOT / "_toc.yml"), "search"]
LESSONS = [page for page in PAGES if page.startswith("notebooks/")]
BOOK = [("book", page) for page in PAGES]
BOTH = [*BOOK, *(("class-edition", page) for page in PAGES)]
EXPLORERS = {
    "sectors": "notebooks/02_memory",
    "occupancy": "notebooks/03_execution",
    "roofline": "notebooks/04_roofline",
    "softmax": "notebooks/05_online_softmax",
    "attention": "notebooks/06_flash_attention",
    "matmul": "notebooks/09_matmul",
}
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
QUIET = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
SCREENSHOTS = os.environ.get("TILES_SCREENSHOTS")

# Runs before a page does: remembers what moves while it loads.
MOVES = """
  window.moves = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      window.moves.push([value, ...sources.map(({ node }) => (node?.outerHTML ?? node?.nodeName ?? "").slice(0, 100))]);
    }
  }).observe({ type: "layout-shift", buffered: true });
"""
# What sticks out at the right, and does not scroll inside something that does.
WIDE = """() => {
  const scrolls = (element) => element && element !== document.body && (getComputedStyle(element).overflowX !== "visible" || scrolls(element.parentElement));
  const wide = [...document.body.querySelectorAll("*")].filter((element) => element.getBoundingClientRect().right > innerWidth + 1);
  return [document.documentElement.scrollWidth, ...wide.filter((element) => !scrolls(element)).map((element) => element.outerHTML.slice(0, 120))];
}"""
# Colours depend on tags, classes and styles: of elements that have all these in common, up to the page, one is enough for axe.
THIN = r"""() => {
  const path = (e) => (e === document.body ? "" : `${path(e.parentElement)}>${e.localName}.${e.className}${e.getAttribute("style")}`.replace(/[0-9]+/g, ""));
  const seen = new Set();
  for (const element of [...document.querySelectorAll("article *")].reverse()) {
    if (element.children.length || element.closest("tiles-explorer, summary, label, svg")) continue;
    if (seen.has(path(element))) element.remove();
    else seen.add(path(element));
  }
}"""
COLOURS = ["color-contrast", "link-in-text-block"]


@pytest.fixture(scope="module")
def browser(chromium):
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def reader(browser, editions):
    """reader(page, edition, **options) -> a tab with that page, as `opened` gives it; it is closed after the test."""
    tabs = []

    def reader(page: str, edition: str = "book", **options):
        tabs.append(opened(browser, editions[edition], page, **options))
        return tabs[-1]

    yield reader
    for tab in tabs:
        tab.context.close()


def opened(browser, folder: Path, page: str, before: str = "", **options):
    """A tab in which a page of a book is open; what it asks for is in `tab.asked`, what is wrong with it in `tab.complaints`.

    before: a script that runs before those of the page.
    """
    settings = {"viewport": DESKTOP, "offline": True, "reduced_motion": "reduce", "has_touch": True} | options
    context = browser.new_context(**settings)
    context.add_init_script(MOVES + before)
    tab = context.new_page()
    tab.set_default_timeout(20_000)
    tab.complaints, tab.asked, tab.folder = [], set(), folder
    tab.on("console", lambda said: tab.complaints.append(said.text) if said.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.on("requestfailed", lambda request: tab.complaints.append(f"{request.url}: {request.failure}"))
    tab.on("request", lambda request: tab.asked.add(request.url))
    visit(tab, page)
    return tab


def visit(tab, page: str) -> None:
    """Open another page of the same book in a tab: "book/index", "notebooks/05_online_softmax#ex-5-1"."""
    path, mark, fragment = page.partition("#")
    tab.goto(f"{(tab.folder / path).as_uri()}.html{mark}{fragment}")


@pytest.fixture(scope="module")
def tab(request, browser, editions):
    """One page of one edition, for all tests that only look at it; the last of them may take it to pieces."""
    edition, page = request.param
    tab = opened(browser, editions[edition], page)
    yield tab
    tab.context.close()


of_both = pytest.mark.parametrize("tab", BOTH, indirect=True, ids="/".join)
of_explorers = pytest.mark.parametrize("kind", EXPLORERS)
of_the_book = pytest.mark.parametrize("tab", BOOK, indirect=True, ids="/".join)


def files(urls: set[str]) -> list[Path]:
    """The files behind addresses; what comes after a question mark tells versions apart."""
    return sorted({Path(unquote(urlsplit(url).path)) for url in urls if url.startswith("file:")})


# ---- each page


@of_both
def test_a_page_complains_of_nothing_and_asks_for_nothing_outside(tab):
    assert tab.complaints == []
    assert [url for url in tab.asked if not url.startswith((tab.folder.as_uri() + "/", "data:"))] == []


@of_the_book
def test_nothing_moves_while_a_page_loads(tab):
    assert moved(tab) < 0.01, tab.evaluate("moves")


@of_the_book
def test_a_page_is_light_and_soon_there(tab, request):
    """With all that it loads, explorers included; the first paint is that of the best of three times, as others use the machine."""
    sizes = {path.name: path.stat().st_size for path in files(tab.asked)}
    heaviest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
    assert sum(sizes.values()) < 1_500_000, f"{sum(sizes.values()) / 1e6:.2f} MB: {heaviest}"
    paints = []
    while len(paints) < 3 and min(paints, default=1000) >= 1000:
        if paints:
            tab.reload()
        tab.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
        paints += [tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")]
    assert min(paints) < 1000, f"first paint after {paints} ms"


@of_the_book
def test_a_page_fits_a_phone(tab):
    """All folds open: nothing may stick out of the page, and what scrolls inside it can be reached with the keyboard."""
    tab.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    tab.set_viewport_size(PHONE)
    try:
        tab.wait_for_timeout(400)  # the theme looks for what scrolls, 0.3 s after the window has changed
        assert tab.evaluate(WIDE) == [PHONE["width"]]
        assert violations(tab, ["scrollable-region-focusable"]) == []
    finally:
        tab.set_viewport_size(DESKTOP)


@of_the_book
def test_axe_finds_nothing_serious(tab):
    """In the light theme and in the dark one. Last of a page's tests: colours are looked at on what is left of it."""
    tab.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    found = violations(tab, but=COLOURS)
    tab.evaluate(THIN)
    for theme in ("light", "dark"):
        tab.emulate_media(color_scheme=theme)
        tab.wait_for_function("(theme) => document.documentElement.dataset.theme === theme", arg=theme)
        found += [f"{theme}: {violation}" for violation in violations(tab, COLOURS)]
    assert found == []


def violations(tab, only: list[str] | None = None, but: list[str] | None = None) -> list[str]:
    """What axe-core finds serious or critical on a page as it stands, by these rules alone or by all but these."""
    options = {"resultTypes": ["violations"], "preload": False}  # it may not read style sheets that lie on a disk
    options |= {"runOnly": only} if only else {"rules": {rule: {"enabled": False} for rule in but or []}}
    results = axe_core.Axe().run(tab, options=options).response["violations"]
    return [
        f"{result['id']} ({result['impact']}): {node['html'][:150]} {node['any'][0]['message'] if node['any'] else ''}"
        for result in results
        if result["impact"] in ("serious", "critical")
        for node in result["nodes"][:5]
    ]


def test_axe_finds_what_is_wrong(reader):
    """The tests above would pass on anything if it did not."""
    tab = reader("book/setup")
    tab.evaluate("document.querySelector('article p').innerHTML = '<span style=\"color: #999\">pale</span> <img src=x>'")
    assert any(text.startswith("color-contrast") for text in violations(tab, COLOURS))
    assert any(text.startswith("image-alt") for text in violations(tab, but=COLOURS))


@pytest.mark.skipif(not SCREENSHOTS, reason="TILES_SCREENSHOTS=DIR keeps pictures of all pages")
def test_screenshots(reader):
    """The first screen of each page and its first explorer, on a phone and on a desk, in light and in dark."""
    for size, viewport in {"phone": {"width": 390, "height": 844}, "desk": DESKTOP}.items():
        tab = reader(PAGES[0], viewport=viewport)
        for page in PAGES:
            visit(tab, page)
            for theme in ("light", "dark"):
                tab.emulate_media(color_scheme=theme)
                stem = Path(SCREENSHOTS) / f"{Path(page).name}-{size}-{theme}"
                tab.screenshot(path=f"{stem}.png")
                if tab.locator("tiles-explorer").count():
                    tab.locator("tiles-explorer").first.screenshot(path=f"{stem}-explorer.png")


# ---- folds, marks, definitions, search, themes


@pytest.mark.parametrize(
    "fold", ["details:has-text('Hint 1')", "details:has-text('Solution of exercise')"], ids=["hint", "solution"]
)
def test_a_fold_opens(reader, fold):
    details = reader("notebooks/05_online_softmax").locator(fold).first
    inside, summary = details.locator("> :not(summary)").first, details.locator("summary")
    assert not inside.is_visible()
    summary.click()
    assert inside.is_visible()
    summary.press("Enter")
    assert not inside.is_visible()
    summary.press("Space")
    assert inside.is_visible()
    summary.tap()
    assert not inside.is_visible()


def test_the_class_edition_has_hints_and_no_solutions(reader):
    tab = reader("notebooks/05_online_softmax", "class-edition")
    assert tab.get_by_text("Hint 1").count() > 3 and tab.get_by_text("Solution of exercise").count() == 0


@pytest.mark.parametrize(
    "words, page", [("tl.dot", "09_matmul"), ("coalescing", "02_memory"), ("log-sum-exp", "05_online_softmax")]
)
def test_the_search_finds(reader, words, page):
    """From the box of a page, without a mouse; the first result leads to a page that has the words."""
    tab = reader("notebooks/07_vector_add")
    tab.keyboard.press("Control+k")
    tab.keyboard.type(words)
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/search.html?q=*")
    results = tab.locator("#search-results ul.search li a")
    results.first.wait_for()
    tab.get_by_text("Search finished").wait_for()
    addresses = results.evaluate_all("(links) => links.map((link) => link.href)")
    assert any(page in address for address in addresses[:5]), addresses
    results.first.click()
    tab.wait_for_load_state()
    assert words.lower() in tab.locator("article").inner_text().lower()
    assert tab.complaints == []


def test_the_theme_changes_and_stays(reader):
    tab = reader("book/setup", color_scheme="light")
    theme = "document.documentElement.dataset.theme"
    ground = "getComputedStyle(document.body).backgroundColor"
    light = tab.evaluate(ground)
    for _ in range(3):
        if tab.evaluate(theme) == "dark":
            break
        tab.locator(".theme-switch-button").first.click()
    assert tab.evaluate(theme) == "dark" and tab.evaluate(ground) != light
    visit(tab, "book/how_to_work")
    assert tab.evaluate(theme) == "dark" and tab.evaluate(ground) != light


def test_a_dark_page_is_never_light(reader):
    dark = "window.early = []; new MutationObserver(() => document.body && early.push(document.documentElement.dataset.theme)).observe(document, {childList: true, subtree: true});"
    tab = reader("notebooks/05_online_softmax", before=dark, color_scheme="dark")
    assert set(tab.evaluate("early")) == {"dark"}


def box(tab, exercise: str):
    return tab.locator(f'input[data-exercise="{exercise}"]')


def test_a_mark_stays(reader):
    tab = reader("notebooks/05_online_softmax")
    assert not box(tab, "5.1").is_checked()
    box(tab, "5.1").check()
    box(tab, "5.c1").press("Space")
    tab.reload()
    assert box(tab, "5.1").is_checked() and box(tab, "5.c1").is_checked() and not box(tab, "5.2").is_checked()
    assert "done" in tab.locator("section#ex-5-1").get_attribute("class").split()
    visit(tab, "book/setup")
    assert [text for text in tab.locator(".tally").all_inner_texts() if text] == ["2 of 9"]
    visit(tab, "book/index")
    assert "2 of 9" in tab.locator("article .tally").all_inner_texts()
    tab.once("dialog", lambda dialog: dialog.dismiss())
    tab.locator("button.clear-marks").click()
    assert "2 of 9" in tab.locator("article .tally").all_inner_texts()
    tab.once("dialog", lambda dialog: dialog.accept())
    tab.locator("button.clear-marks").click()
    assert not any(tab.locator(".tally").all_inner_texts()) and tab.locator("button.clear-marks").is_disabled()
    visit(tab, "notebooks/05_online_softmax")
    assert not box(tab, "5.1").is_checked()
    assert tab.complaints == []


def test_marks_that_are_rubbish_do_no_harm(reader):
    tab = reader("notebooks/05_online_softmax", before="localStorage.setItem('think-in-tiles done', '{[');")
    assert tab.complaints == [] and not box(tab, "5.1").is_checked()
    box(tab, "5.1").check()
    assert box(tab, "5.1").is_checked() and tab.complaints == []


def test_marks_move_nothing(reader):
    marks = "localStorage.setItem('think-in-tiles done', JSON.stringify(['5.1', '5.2', '5.c1', '6.1']));"
    tab = reader("notebooks/05_online_softmax#ex-5-1", before=marks)
    assert box(tab, "5.1").is_checked()
    assert moved(tab) < 0.01, tab.evaluate("moves")


def moved(tab) -> float:
    """The layout shift of a page so far, as browsers count it: 0 where nothing moved."""
    tab.wait_for_timeout(400)
    return sum(value for value, *_ in tab.evaluate("moves"))


def test_a_term_shows_its_definition(reader):
    tab = reader("notebooks/06_flash_attention")
    link, tip = tab.locator("a.term").first, tab.locator("#definition")
    assert not tip.is_visible()
    link.hover()
    tip.wait_for(state="visible")
    assert len(tip.inner_text()) > 20 and link.get_attribute("aria-describedby") == "definition"
    tab.keyboard.press("Escape")
    assert not tip.is_visible()
    tab.mouse.move(5, 5)
    tab.wait_for_timeout(400)  # it would have stayed as long as this, for a pointer on its way there
    link.focus()
    assert tip.is_visible()
    link.blur()
    assert not tip.is_visible()
    address = tab.url
    link.tap()
    tip.wait_for(state="visible")
    assert tab.url == address
    link.tap()
    tab.wait_for_url("**/glossary.html#*")


# ---- explorers


def explorer(tab, kind: str):
    found = tab.locator(f'tiles-explorer[kind="{kind}"]').first
    found.scroll_into_view_if_needed()
    return found


def shown(found) -> dict:
    """What an explorer is set to, the picture it draws, and the words that say it."""
    return found.evaluate(
        """(element) => ({
            settings: JSON.stringify(element.settings),
            picture: element.shadowRoot.querySelector("svg").outerHTML,
            words: element.shadowRoot.querySelector("[role=status]").textContent + element.shadowRoot.querySelector("dl").textContent,
        })"""
    )


def assert_changed(found, before: dict, by: str) -> None:
    after = shown(found)
    same = [name for name in before if before[name] == after[name]]
    assert not same, f"{by}: the same {' and '.join(same)}"


def test_explorers_are_in_both_editions(editions):
    for folder in editions.values():
        for kind, page in EXPLORERS.items():
            assert f'<tiles-explorer kind="{kind}"' in (folder / f"{page}.html").read_text(encoding="utf-8")


@of_explorers
def test_an_explorer_hears_the_keyboard(reader, kind):
    """Each control changes settings, picture and words; "Start again" brings all three back."""
    tab = reader(EXPLORERS[kind])
    found = explorer(tab, kind)
    start = shown(found)
    for control, what, name in controls(found):
        if what == "range":
            last = control.evaluate("(input) => input.value === input.max")
            control.press("ArrowLeft" if last else "ArrowRight")
            assert shown(found)["settings"] != start["settings"], f"{name}: an arrow changes nothing"
            control.press("Home" if last else "End")
        else:
            control.press({"checkbox": "Space", "radio": "ArrowRight", "select-one": "ArrowDown"}[what])
        assert_changed(found, start, name)
        found.get_by_role("button", name="Start again").press("Enter")
        assert shown(found) == start, f"{name}: started again, but not the same"
    assert tab.complaints == []


@of_explorers
@pytest.mark.parametrize("pointer", ["mouse", "touch"])
def test_an_explorer_hears_a_pointer(reader, kind, pointer):
    tab = reader(EXPLORERS[kind], viewport=DESKTOP if pointer == "mouse" else PHONE)
    found = explorer(tab, kind)
    start = shown(found)
    for control, what, name in controls(found):
        target, place = control, None
        if what == "range":
            at = control.evaluate("({ min, max, value }) => (value - min) / (max - min)")
            width, height = (control.bounding_box()[side] for side in ("width", "height"))
            place = {"x": width * (0.1 if at > 0.5 else 0.9), "y": height / 2}
        elif what == "radio":
            target = found.locator(f'label:has(input[name="{name}"]:not(:checked))').last
        if what == "select-one":
            control.select_option(index=1)  # the list itself is the browser's
        else:
            (target.click if pointer == "mouse" else target.tap)(**({"position": place} if place else {}))
        assert_changed(found, start, name)
        again = found.get_by_role("button", name="Start again")
        (again.click if pointer == "mouse" else again.tap)()
        assert shown(found) == start, f"{name}: started again, but not the same"
    assert tab.complaints == []


def controls(found) -> list[tuple]:
    """The controls of an explorer with their types and names; of radio buttons the one that is chosen."""
    inputs = found.locator("input:not([type=radio]), input:checked, select").all()
    named = [(item, *item.evaluate("(input) => [input.type, input.name || input.id]")) for item in inputs]
    assert len(named) >= 3
    return [row for number, row in enumerate(named) if row[2] not in [name for *_, name in named[:number]]]


@of_explorers
def test_a_finger_moves_a_slider_by_one_step(reader, kind):
    """Its buttons, − and +, or Back and Next, are as large as a thumb; the two, one after the other, lead back."""
    found = explorer(reader(EXPLORERS[kind], viewport=PHONE), kind)
    for row in found.locator(".control:has(input[type=range])").all():
        less, more = row.locator("button:not(.play)").all()
        assert all(button.bounding_box()[side] >= 44 for button in (less, more) for side in ("width", "height"))
        start = shown(found)
        last = row.locator("input").evaluate("(input) => input.value === input.max")
        for button in (less, more) if last else (more, less):
            before = shown(found)["settings"]
            button.tap()
            assert shown(found)["settings"] != before
        assert shown(found) == start


# What one can drag; where there are several, the tallest.
HANDLES = {"sectors": "rect.ours", "occupancy": "rect.ghost", "roofline": "circle.ours"}


@pytest.mark.parametrize("pointer", ["mouse", "touch"])
@pytest.mark.parametrize("kind", HANDLES)
def test_a_picture_can_be_dragged(reader, kind, pointer):
    tab = reader(EXPLORERS[kind], viewport=DESKTOP if pointer == "mouse" else PHONE)
    found = explorer(tab, kind)
    found.locator(".drags").scroll_into_view_if_needed()
    handles = found.locator(f".drags svg {HANDLES[kind]}").all()
    box = max((handle.bounding_box() for handle in handles), key=lambda box: box["height"])
    places = [(box["x"] + box["width"] / 2 + 8 * step, box["y"] + box["height"] / 2) for step in range(13)]
    before, scrolled = shown(found), tab.evaluate("scrollY")
    if pointer == "mouse":
        tab.mouse.move(*places[0])
        tab.mouse.down()
        before = shown(found)
        for place in places:
            tab.mouse.move(*place)
    else:
        fingers = tab.context.new_cdp_session(tab)
        for number, place in enumerate(places):
            point = {"x": place[0], "y": place[1]}
            fingers.send("Input.dispatchTouchEvent", {"type": "touchMove" if number else "touchStart", "touchPoints": [point]})
    assert_changed(found, before, f"dragging by {pointer}, not yet let go,")
    assert tab.evaluate("scrollY") == scrolled and tab.complaints == []


@pytest.mark.parametrize("kind", ["softmax", "matmul", "attention"])
def test_an_explorer_plays_step_by_step(reader, kind):
    found = explorer(reader(EXPLORERS[kind], reduced_motion="no-preference"), kind)
    step = found.locator("input#step")
    step.press("Home")
    for name, value in [("Next", "1"), ("Next", "2"), ("Back", "1")]:
        before = shown(found)
        found.get_by_role("button", name=name, exact=True).click()
        assert step.input_value() == value
        assert_changed(found, before, name)
    found.get_by_role("button", name="Play").click()
    found.page.wait_for_function("(input) => input.value === '2'", arg=step.element_handle())
    found.get_by_role("button", name="Pause").click()
    assert found.get_by_role("button", name="Play").is_visible()


@pytest.mark.parametrize("page", sorted(set(EXPLORERS.values())))
def test_without_scripts_an_explorer_is_a_picture(reader, page):
    tab = reader(page, java_script_enabled=False)
    for still in tab.locator("tiles-explorer img").all():
        assert still.is_visible() and still.bounding_box()["height"] > 150
        assert len(still.get_attribute("alt")) > 40
    assert tab.locator("tiles-explorer img").count() >= 1


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("page", sorted(set(EXPLORERS.values())))
def test_nothing_moves_around_an_explorer(reader, editions, page, viewport):
    """For who follows a link to the section before it; the screen is so high that the explorer is on it."""
    before, _, _ = (editions["book"] / f"{page}.html").read_text(encoding="utf-8").partition("<tiles-explorer")
    section = re.findall(r'<section [^>]*id="([^"]+)"', before)[-1]
    tab = reader(f"{page}#{section}", viewport=viewport | {"height": 3000})
    assert moved(tab) < 0.01, tab.evaluate("moves")
    top = tab.locator("tiles-explorer").first.bounding_box()["y"]
    assert 0 < top < 3000 and tab.evaluate("scrollY") > 0


def test_explorers_are_small(editions):
    """All their scripts together, with the numbers of the course in them; a page loads them from one folder."""
    scripts = list((editions["book"] / "_static" / "explorers").glob("*.js"))
    assert {*EXPLORERS, "explorer"} <= {script.stem for script in scripts}
    assert sum(script.stat().st_size for script in scripts) < 60_000
