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
MARKERS = {"torch.compile": "D", "Liger": "X", "SDPA flash": "v", "SDPA cuDNN": "P", "torch": "s"}
BETWEEN = (10, 100)  # FLOPs a byte: left and right of these, the roofline is too crowded for numbers, and drawn enlarged


def library_name(provider: str) -> str:
    """The library, for a legend: torch.add, cuBLAS and eager are all what PyTorch calls by itself."""
    known = ("torch.compile", "Liger", "SDPA flash", "SDPA cuDNN")
    return next((name for name in known if provider.startswith(name)), "torch")


def roofline(record: bench.Record, theme: dict[str, str], part: tuple[float, float] | None = None):
    """Every kernel at every shape under its roofs; a number is a line of the tables. part: these FLOPs a byte alone, enlarged."""
    import matplotlib.pyplot as plt
    import numpy as np

    gpu, found = gpu_of(record), [row for row in for_figures(rows(record)) if row.point]
    copy = max(run.value for run in record.runs if run.provider == "copy" and run.metric == "GB/s")
    number = numbers(rows(record))
    best = {number[row.kernel]: row.point for row in sorted(found, key=lambda row: row.point[1])}
    figure, axes = plt.subplots(figsize=(3.2, 3.6) if part else (4.6, 4))
    axes.set(xscale="log", yscale="log", xlabel="FLOPs for each byte that must move", ylabel="TFLOP/s")
    x = np.geomspace(0.01, 1e5, 600)
    lines = {
        "data sheet, fp16": (np.minimum(x * gpu.bandwidth, gpu.fp16) / 1e12, {"color": theme["ink"], "linewidth": 1.4}),
        "with a copy's bandwidth": (np.minimum(x * copy / 1e3, gpu.fp16 / 1e12), {"color": theme["ink"], "linestyle": ":"}),
        "data sheet, fp32": (np.full(x.shape, gpu.fp32 / 1e12), {"color": theme["separate"], "linestyle": "--"}),
    }
    covered = []
    for label, (y, look) in lines.items():
        axes.plot(x, y, label=label, **({"linewidth": 1.1} | look))
        covered += zip(x, y)
    for row in found:
        (intensity, flops), libraries = row.point, row.peers("library")
        if libraries:
            fastest = flops / min(row.ratio(peer) for peer in libraries)
            axes.plot([intensity] * 2, [flops, fastest], color=theme["library"], linewidth=0.8)
            axes.plot(intensity, fastest, "s", mfc="none", mec=theme["library"], ms=4.5, label="fastest library")
            covered += ((intensity, y) for y in np.geomspace(flops, fastest, 20))
        axes.plot(intensity, flops, "o", color=theme["ours"], ms=4.5, label="ours")
        covered.append((intensity, flops))
    low, high = part or BETWEEN
    if part:
        inside = [row.point for row in found if low <= row.point[0] < high]
        for places, grow, room in zip(zip(*inside), (axes.set_xlim, axes.set_ylim), (1.6, 2.4)):
            grow(min(places) / 1.6, max(places) * room)
    else:
        axes.set(xlim=(0.05, 2e4), ylim=(0.15, 1500))
        unique = dict(zip(*axes.get_legend_handles_labels()[::-1]))
        axes.legend(unique.values(), unique.keys(), loc="lower right", fontsize=8)
    figure.draw_without_rendering()  # the places of labels depend on the layout
    label_apart(axes, {n: point for n, point in best.items() if low <= point[0] < high}, covered, theme["ink"])
    return figure


def label_apart(axes, labels: dict[int, tuple[float, float]], covered: list[tuple[float, float]], color: str) -> None:
    """Write each number near its place, inside the axes, as near as it can be without covering another one or what is drawn."""
    frame = axes.get_window_extent()
    taken = [(x, y) for x, y in axes.transData.transform(covered) if frame.x0 < x < frame.x1 and frame.y0 < y < frame.y1]
    angles = [math.radians(degrees) for degrees in (120, 90, 60, 300, 270, 240, 180, 0, 150, 30, 330, 210)]
    offsets = [(far * math.cos(angle), far * math.sin(angle)) for far in range(11, 120, 3) for angle in angles]

    def free(x: float, y: float) -> bool:
        apart = all(abs(x - a) > 9 or abs(y - b) > 7.5 for a, b in taken)
        return apart and frame.x0 + 7 < x < frame.x1 - 5 and frame.y0 + 6 < y < frame.y1 - 5

    for text, place in sorted(labels.items(), key=lambda item: item[1]):
        x, y = axes.transData.transform(place)
        dx, dy = next((d for d in offsets if free(x + d[0], y + d[1])), offsets[0])
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
        for peer in row.peers("ceiling", "separate", "wider", "library"):
            kind, x = role(peer.provider), row.run.value / row.ratio(peer)
            if kind == "ceiling":
                x = peer.value if peer.metric == "GB/s" else x
                name = "a copy" if peer.provider == "copy" else "the product alone"
                axes.plot([x] * 2, [y - 0.3, y + 0.3], color=theme["ink"], linewidth=1.2, linestyle=(0, (1.5, 1)), label=name)
            elif kind == "separate":
                axes.plot(x, y, "^", color=theme["separate"], ms=5, label="separate operations")
            elif kind == "wider":
                axes.plot(x, y, "p", color=theme["separate"], ms=6, label="float16 weights")
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


PARTS = {"roofline, left": (0, BETWEEN[0]), "roofline, right": (BETWEEN[1], math.inf)}
DRAW = {"roofline": roofline}
DRAW |= {name: partial(roofline, part=part) for name, part in PARTS.items()}
DRAW |= {name: partial(dots, chosen=chosen) for name, chosen in CHOSEN.items()}
ALT = {
    "roofline": "TFLOP/s over FLOPs a byte on the {device}: the kernels of the course under the roofs of the data sheet and of a copy",
    "roofline, left": "The slanted part of that roofline, enlarged",
    "roofline, right": "The level part of that roofline, enlarged",
    "bandwidth": "GB/s of the kernels that memory limits on the {device}, beside those of libraries, a copy and the data sheet",
    "products": "TFLOP/s of the matrix products on the {device}, beside those of libraries and the data sheet",
    "attention": "TFLOP/s of attention on the {device}, forward and backward, beside those of libraries and the data sheet",
}


def figure(record: bench.Record, folder: Path, *names: str) -> str:
    """Draw figures of `DRAW` into the folder, for both themes, and return the HTML that shows those that fit, side by side."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from tiles.plot import STYLE

    images = []
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        alt, file = escape(ALT[name].format(device=record.device) + "; the tables have the numbers."), name.replace(", ", "-")
        for theme, colors in THEMES.items():
            look = {f"{part}.color": colors["ink"] for part in ("text", "xtick", "ytick")}
            look |= {"axes.labelcolor": colors["ink"], "axes.edgecolor": colors["separate"], "grid.color": colors["grid"]}
            look |= {"figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none"}
            with plt.style.context([STYLE, look | {"figure.dpi": 72, "svg.fonttype": "none", "svg.hashsalt": name}]):
                drawn = DRAW[name](record, colors)
                drawn.savefig(folder / f"{file}-{theme}.svg", metadata={"Date": None})
                plt.close(drawn)
            images.append(f'<img class="only-{theme}" src="../{FIGURES}/{file}-{theme}.svg" alt="{alt}">')
    return f'<div class="recorded">{"".join(images)}</div>'
