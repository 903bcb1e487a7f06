"""Draw the figures of the book as SVG, each for the light and for the dark theme.

    python book/figures/make_figures.py

Nothing but the standard library, and the same bytes each time: run it after an edit and commit what it writes.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent

THEMES = {
    "light": {"ink": "#1f2328", "faint": "#59636e", "line": "#8c959f", "panel": "#f3f5f7", "good": "#00684a"},
    "dark": {"ink": "#e6e8eb", "faint": "#a3adb8", "line": "#6e7781", "panel": "#22272e", "good": "#4cc9a0"},
}
PROGRAMS = ("#0072B2", "#E69F00", "#009E73")  # Okabe-Ito; dark or light text on each below
ON_PROGRAM = ("#ffffff", "#1f2328", "#ffffff")

SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def text(
    x: float, y: float, words: str, fill: str, size: float = 16, font: str = SANS, anchor: str = "middle", weight: int = 400
) -> str:
    style = f'font-family="{font}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="{fill}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, stroke: str = "none", dash: str = "") -> str:
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{stroke}" stroke-width="1.5"{dashes}/>'


def arrow(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    """A line with a head; it goes down, or slants down."""
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    bx, by = x2 - 9 * ux, y2 - 9 * uy
    head = f"{x2:.1f},{y2:.1f} {bx - 5 * uy:.1f},{by + 5 * ux:.1f} {bx + 5 * uy:.1f},{by - 5 * ux:.1f}"
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{bx:.1f}" y2="{by:.1f}" stroke="{colour}" stroke-width="1.8"/>'
        f'<polygon points="{head}" fill="{colour}"/>'
    )


def vector(theme: dict[str, str], top: float, n_elements: int = 10, block_size: int = 4) -> list[str]:
    """A vector cut into tiles: indices in the colour of their program; what does not exist is dashed, with mask 0."""
    cell, gap, left = 39, 17, 29
    parts = []
    for pid in range(-(-n_elements // block_size)):
        x0 = left + pid * (block_size * cell + gap)
        parts.append(text(x0 + block_size * cell / 2, top, f"program {pid}", theme["ink"], weight=600))
        for lane in range(block_size):
            index, x = pid * block_size + lane, x0 + lane * cell
            exists = index < n_elements
            fill, ink = (PROGRAMS[pid], ON_PROGRAM[pid]) if exists else ("none", theme["faint"])
            parts.append(box(x + 1.5, top + 12, cell - 3, 38, fill, "none" if exists else theme["line"], "" if exists else "4 3"))
            parts.append(text(x + cell / 2, top + 37, str(index), ink, 17, weight=600))
            parts.append(text(x + cell / 2, top + 73, str(int(exists)), theme["ink"] if exists else theme["faint"], 16, MONO))
    return parts


def machine(theme: dict[str, str], x: float, y: float, title: str, lines: tuple[str, ...]) -> list[str]:
    parts = [box(x, y, 242, 96, theme["panel"], theme["line"]), text(x + 121, y + 28, title, theme["ink"], 17, weight=600)]
    return parts + [text(x + 121, y + 54 + 22 * i, line, theme["faint"], 13) for i, line in enumerate(lines)]


def tiles(theme: dict[str, str]) -> str:
    """What the course is about, and how it works: one vector, one kernel, two machines, one verdict."""
    parts = vector(theme, 26)
    parts.append(text(280, 127, "the mask: does the element exist?", theme["faint"], 15))
    parts += [arrow(240, 140, 160, 174, theme["line"]), arrow(320, 140, 400, 174, theme["line"])]
    parts += machine(theme, 24, 178, "a laptop", ("Triton's interpreter:", "accesses checked, bytes counted"))
    parts += machine(theme, 294, 178, "a GPU", ("the same kernel, compiled:", "time measured"))
    parts += [arrow(160, 276, 240, 308, theme["line"]), arrow(400, 276, 320, 308, theme["line"])]
    parts += [
        box(24, 312, 512, 62, "none", theme["good"]),
        text(280, 338, "Exercise 7.1 passed: 5 sizes, strided too;", theme["good"], 16, MONO),
    ]
    parts.append(text(280, 360, "12 B per element moved, the minimum.", theme["good"], 16, MONO))
    title = "<title>Ten numbers in three tiles, one kernel, two machines, one verdict</title>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 560 386" role="img">{title}\n' + "\n".join(parts) + "\n</svg>\n"


def main() -> None:
    for name, theme in THEMES.items():
        (HERE / f"tiles-{name}.svg").write_text(tiles(theme), encoding="utf-8")


if __name__ == "__main__":
    main()
