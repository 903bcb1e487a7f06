"""How the book looks: its colours can be read, every exercise has a mark, every page says where it stands.

What a browser makes of it is tested in test_browser.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("jupyter_book")

import yaml  # noqa: E402
from pygments.styles import get_style_by_name  # noqa: E402
from pygments.token import Text  # noqa: E402

from classroom.lesson import lesson_paths, read  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
EDITIONS = ("book", "class-edition")
LESSONS = [read(path) for path in lesson_paths(ROOT)]
PARTS = {
    Path(page["file"]).name: part["caption"]
    for part in yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    for page in part["chapters"]
}
THEMES = {"light": "pygments_light_style", "dark": "pygments_dark_style"}
TEXT = ("ink", "muted", "ours", "library", "naive", "wrong", "good", "exercise", "check", "hint", "solution")
AT_LEAST = 4.5  # WCAG 2, level AA, for text of any size


# ---- colours


def palette(theme: str) -> dict[str, str]:
    """The colours of a theme, by the names of their variables in book.css."""
    css = (ROOT / "book/_static/book.css").read_text(encoding="utf-8")
    blocks = re.findall(r'^html\[data-theme(?:="(\w+)")?\] \{(.*?)\n\}', css, re.MULTILINE | re.DOTALL)
    given = {
        name: value for of, block in blocks if of in ("", theme) for name, value in re.findall(r"--([\w-]+): ([^;]+);", block)
    }

    def resolved(value: str) -> str:
        return resolved(given[match[1]]) if (match := re.fullmatch(r"var\(--([\w-]+)\)", value)) else value

    return {name: resolved(value) for name, value in given.items() if resolved(value).startswith("#")}


def channels(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def luminance(colour: str) -> float:
    """The relative luminance of "#rrggbb", from 0 to 1, as WCAG 2 defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (n / 255 for n in channels(colour))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def mixed(one: str, other: str, share: float) -> str:
    """`share` of one colour in the other."""
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in zip(channels(one), channels(other), strict=True))


def grounds(colours: dict[str, str]) -> dict[str, str]:
    return {name: colour for name, colour in colours.items() if name in ("paper", "code") or name.endswith("-soft")}


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert mixed("#000000", "#ffffff", 0.5) == "#808080"


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_read_on_every_ground(theme):
    colours = palette(theme)
    assert set(TEXT) <= set(colours) and len(grounds(colours)) == 6
    pairs = {(text, ground): contrast(colours[text], colour) for text in TEXT for ground, colour in grounds(colours).items()}
    assert {pair: round(value, 2) for pair, value in pairs.items() if value < AT_LEAST} == {}


@pytest.mark.parametrize("theme", THEMES)
def test_code_can_be_read(theme):
    """Blocks stand on --code; a word of code in a sentence has a tint of --ink under it, and may be a link."""
    colours = palette(theme)
    option = (ROOT / "_config.yml").read_text(encoding="utf-8")
    style = get_style_by_name(re.search(rf"{THEMES[theme]}: (\S+)", option)[1])
    tokens = {f"#{how['color']}" for token, how in style if how["color"] and token not in Text.Whitespace}
    assert len(tokens) > 5
    assert [token for token in tokens if contrast(token, colours["code"]) < AT_LEAST] == []
    tint = float(re.search(r"code\.literal \{[^}]*var\(--ink\) (\d+)%", (ROOT / "book/_static/book.css").read_text())[1]) / 100
    tinted = [mixed(colours["ink"], ground, tint) for ground in grounds(colours).values()]
    assert min(contrast(colours[text], ground) for text in ("ink", "ours") for ground in tinted) >= AT_LEAST


# ---- marks


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_each_exercise_has_a_box_to_tick(editions, edition, lesson):
    page = (editions[edition] / "notebooks" / f"{lesson.name}.html").read_text(encoding="utf-8")
    assert re.findall(r'<input type="checkbox" data-exercise="([^"]*)"', page) == list(lesson.exercises)
    assert page.count('<div class="exercise-box') == len(lesson.exercises)


@pytest.mark.parametrize("edition", EDITIONS)
def test_each_page_has_room_for_the_marks_of_each_lesson(editions, edition):
    """In the side bar; on the first page in the table of lessons as well."""
    every = [" ".join(lesson.exercises) for lesson in LESSONS]
    for path in [*editions[edition].glob("book/*.html"), *editions[edition].glob("notebooks/*.html")]:
        found = re.findall(r'class="tally[^"]*" data-exercises="([^"]*)"', path.read_text(encoding="utf-8"))
        assert found == every * (2 if path.name == "index.html" else 1), path.name


def test_a_lesson_says_where_it_stands(editions):
    """Above its title; and below, so do the links to the lessons before and after it."""
    places = [f"Lesson {lesson.name[:2]} · {PARTS[lesson.name]}" for lesson in LESSONS]
    for i, lesson in enumerate(LESSONS):
        page = (editions["book"] / "notebooks" / f"{lesson.name}.html").read_text(encoding="utf-8")
        assert re.search(r'<p class="where">(.*?)</p>\s*<h1>', page)[1] == places[i]
        below = re.findall(r'<p class="prev-next-title"><span class="where">(.*?)</span>', page)
        assert below == [
            places[i - 1] if i else PARTS["how_to_work"],
            places[i + 1] if i + 1 < len(LESSONS) else PARTS["glossary"],
        ]
