"""The figures of the performance page, drawn from a record as SVG, each for the light and for the dark theme."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path

from classroom.recorded import CHOSEN, FIGURES, SHORT, Row, for_figures, gpu_of, numbers, role, rows
from tiles import bench

THEMES = {
    "light": {"ink": "#1f2328", "grid": "#d8dee4", "ours": "#0072B2", "library": "#B87400", "separate": "#6e7781"},
    "dark": {"ink": "#e6e8eb", "grid": "#3a424c", "ours": "#56B4E9", "library": "#E69F00", "separate": "#a3adb8"},
}
MARKERS = {"torch.compile": "D", "Liger": "X", "SDPA flash": "v", "SDPA cuDNN": "s", "torch": "s"}


def library_name(provider: str) -> str:
    """The library, for a legend: torch.add, cuBLAS and eager are all what PyTorch calls by itself."""
    known = ("torch.compile", "Liger", "SDPA flash", "SDPA cuDNN")
    return next((name for name in known if provider.startswith(name)), "torch")


def roofline(record: bench.Record, theme: dict[str, str]):
    """Every kernel at every shape under its roofs, and the two crowded places enlarged; a number is a line of the tables."""
    import matplotlib.pyplot as plt
    import numpy as np

    gpu, found = gpu_of(record), [row for row in for_figures(rows(record)) if row.point]
    copy = max(run.value for run in record.runs if run.provider == "copy" and run.metric == "GB/s")
    number = numbers(rows(record))
    best = {number[row.kernel]: row.point for row in sorted(found, key=lambda row: row.point[1])}
    figure, panels = plt.subplot_mosaic([["all", "all"], ["slant", "level"]], figsize=(5, 7.2), height_ratios=(1.2, 1))
    figure.get_layout_engine().set(h_pad=0.08)
    x = np.geomspace(0.01, 1e5, 400)
    for axes in panels.values():
        axes.set(xscale="log", yscale="log")
        axes.plot(x, np.minimum(x * gpu.bandwidth, gpu.fp16) / 1e12, color=theme["ink"], linewidth=1.4, label="data sheet, fp16")
        axes.plot(
            x,
            np.minimum(x * copy / 1e3, gpu.fp16 / 1e12),
            ":",
            color=theme["ink"],
            linewidth=1.2,
            label="with a copy's bandwidth",
        )
        axes.axhline(gpu.fp32 / 1e12, color=theme["separate"], linestyle="--", linewidth=1, label="data sheet, fp32")
        for row in found:
            (intensity, flops), libraries = row.point, row.peers("library")
            if libraries:
                fastest = flops / min(row.ratio(peer) for peer in libraries)
                axes.plot([intensity] * 2, [flops, fastest], color=theme["library"], linewidth=0.8)
                axes.plot(intensity, fastest, "s", mfc="none", mec=theme["library"], ms=4.5, label="fastest library")
            axes.plot(intensity, flops, "o", color=theme["ours"], ms=4.5, label="ours")
        axes.set_xlabel("FLOPs for each byte that must move" if axes is panels["all"] else "FLOPs for each byte")
    panels["all"].set_ylabel("TFLOP/s")
    panels["slant"].set_ylabel("TFLOP/s")
    panels["all"].set(xlim=(0.05, 2e4), ylim=(0.15, 1500))
    slant, level = ([row.point for row in found if inside(row.point[0])] for inside in (lambda x: x < 10, lambda x: x > 100))
    for name, points, head in (("slant", slant, 3), ("level", level, 1.9)):
        for places, grow, room in zip(zip(*points), (panels[name].set_xlim, panels[name].set_ylim), (1.6, head)):
            grow(min(places) / 1.6, max(places) * room)
    unique = dict(zip(*panels["all"].get_legend_handles_labels()[::-1]))
    panels["all"].legend(unique.values(), unique.keys(), loc="lower right", fontsize=8)
    figure.draw_without_rendering()  # the places of labels depend on the layout
    points = [row.point for row in found]
    for name, low, high in (("slant", 0, 10), ("all", 10, 100), ("level", 100, 1e9)):
        label_apart(panels[name], {n: point for n, point in best.items() if low <= point[0] < high}, points, theme["ink"])
    return figure


def label_apart(axes, labels: dict[int, tuple[float, float]], points: list[tuple[float, float]], color: str) -> None:
    """Write each number near its place, as near as it can be without covering another number or one of the points."""
    taken = [tuple(axes.transData.transform(point)) for point in points]
    angles = [math.radians(degrees) for degrees in (120, 90, 60, 300, 270, 240, 180, 0)]
    offsets = [(far * math.cos(angle), far * math.sin(angle)) for far in range(11, 120, 4) for angle in angles]
    for text, place in sorted(labels.items(), key=lambda item: item[1]):
        x, y = axes.transData.transform(place)
        dx, dy = next(d for d in offsets if all(abs(x + d[0] - a) > 10 or abs(y + d[1] - b) > 9 for a, b in taken))
        taken.append((x + dx, y + dy))
        axes.annotate(
            str(text), place, (dx, dy), textcoords="offset pixels", fontsize=8, color=color, ha="center", va="center",
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.4, "shrinkA": 4, "shrinkB": 2},
        )  # fmt: skip


def dots(record: bench.Record, theme: dict[str, str], chosen: Callable[[Row], bool]):
    """A line for each kernel and shape; along it, the speeds of all who were timed, up to the limit of the data sheet."""
    import matplotlib.pyplot as plt

    found = [row for row in for_figures(rows(record)) if chosen(row)]
    figure, axes = plt.subplots(figsize=(5, 1.2 + 0.34 * len(found)))
    for y, row in enumerate(found):
        axes.plot([0, row.limit], [y, y], color=theme["grid"], linewidth=1, zorder=1)
        axes.plot([row.limit] * 2, [y - 0.5, y + 0.5], color=theme["ink"], linewidth=1.6, label="data sheet")
        axes.text(0, y - 0.12, f"{row.kernel.title}, {row.shape}, {SHORT[row.run.dtype]}", fontsize=8, va="bottom")
        for peer in row.peers("ceiling", "separate", "library"):
            kind, x = role(peer.provider), row.run.value / row.ratio(peer)
            if kind == "ceiling":
                x = peer.value if peer.metric == "GB/s" else x
                name = "a copy" if peer.provider == "copy" else "the product alone"
                axes.plot([x] * 2, [y - 0.3, y + 0.3], color=theme["ink"], linewidth=1.2, linestyle=(0, (1.5, 1)), label=name)
            elif kind == "separate":
                axes.plot(x, y, "^", color=theme["separate"], ms=5, label="separate operations")
            else:
                name = library_name(peer.provider)
                axes.plot(x, y, MARKERS[name], mfc="none", mec=theme["library"], mew=1.3, ms=5.5, label=name)
        axes.plot(row.run.value, y, "o", color=theme["ours"], ms=6, label="ours", zorder=3)
    axes.set(ylim=(len(found) - 0.5, -0.8), xlim=0, xlabel=found[0].run.metric, yticks=[])
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    unique = dict(zip(*axes.get_legend_handles_labels()[::-1]))
    order = sorted(unique, key=lambda name: (name != "ours", name in ("data sheet", "a copy", "the product alone"), name))
    figure.legend([unique[name] for name in order], order, loc="outside upper left", ncols=3, fontsize=8)
    return figure


DRAW = {"roofline": roofline} | {name: partial(dots, chosen=chosen) for name, chosen in CHOSEN.items()}
ALT = {
    "roofline": "TFLOP/s over FLOPs a byte on the {device}: the kernels of the course under the roofs of the data sheet and of a copy",
    "bandwidth": "GB/s of the kernels that memory limits on the {device}, beside those of libraries, a copy and the data sheet",
    "products": "TFLOP/s of the matrix products on the {device}, beside those of libraries and the data sheet",
    "attention": "TFLOP/s of attention on the {device}, forward and backward, beside those of libraries and the data sheet",
}


def figure(record: bench.Record, folder: Path, name: str) -> str:
    """Draw a figure of `DRAW` into the folder, for both themes, and return the HTML that shows the one that fits."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from tiles.plot import STYLE

    alt, images = escape(ALT[name].format(device=record.device) + "; the tables have the numbers."), []
    folder.mkdir(parents=True, exist_ok=True)
    for theme, colors in THEMES.items():
        look = {f"{part}.color": colors["ink"] for part in ("text", "xtick", "ytick")}
        look |= {"axes.labelcolor": colors["ink"], "axes.edgecolor": colors["separate"], "grid.color": colors["grid"]}
        look |= {"figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none"}
        with plt.style.context([STYLE, look | {"figure.dpi": 72, "svg.fonttype": "none", "svg.hashsalt": name}]):
            drawn = DRAW[name](record, colors)
            drawn.savefig(folder / f"{name}-{theme}.svg", metadata={"Date": None})
            plt.close(drawn)
        images.append(f'<img class="only-{theme}" src="../{FIGURES}/{name}-{theme}.svg" alt="{alt}">')
    return f'<div class="recorded">{"".join(images)}</div>'
