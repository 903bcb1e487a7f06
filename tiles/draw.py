"""Pictures of what a kernel touches: which program which element, and which sectors a warp's addresses fall into.

Colours repeat after five; the number in each box says what the colour says, so the pictures read in grey as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tiles.memory import WARP, count_segments
from tiles.plot import LIBRARY, LIMIT, NAIVE, OURS, WRONG

if TYPE_CHECKING:
    from tiles.interpreter import Traffic

COLORS = (OURS.color, LIBRARY.color, NAIVE.color, "#009E73", "#CC79A7")
MOST_ELEMENTS = 2048
SECTOR, LINE = 32, 128  # bytes


def draw_programs(traffic: Traffic, argument: str, kind: str = "store", axes: Any = None) -> Any:
    """Draw a tensor as boxes, each with the numbers of the programs that touched it.

    traffic: of `with count(trace=True) as traffic`. argument: a name without `_ptr`. kind: "store", "load" or "atomic".
    A box that no program touched is empty; one that several touched has all their numbers and a dashed edge.
    axes: where to draw; a new figure without. Returns the axes. Raises ValueError when there is nothing to draw.
    """
    grid = programs_of(traffic, argument, kind)
    rows, columns = grid.shape
    axes = axes or _new_axes(columns, rows)
    for (row, column), programs in np.ndenumerate(grid):
        color = COLORS[programs[0] % len(COLORS)] if programs else "white"
        several = {"edgecolor": WRONG.color, "linestyle": "--", "linewidth": 2} if len(programs) > 1 else {"edgecolor": "white"}
        axes.add_patch(_box(column, row, color, **(several if programs else {"edgecolor": NAIVE.color})))
        if programs and columns <= 32:
            _label(axes, column, row, ",".join(map(str, programs)))
    verb = {"load": "reads", "store": "stores", "atomic": "updates"}[kind]
    axes.set_title(f"which program {verb} which element of {argument}", fontsize=10)
    return axes


def programs_of(traffic: Traffic, argument: str, kind: str = "store") -> np.ndarray:
    """[rows, columns] of tuples: the programs that touched each element. A vector has one row.

    Raises ValueError where nothing was traced, or the tensor is too large to be drawn.
    """
    touches = [t for launch in traffic.launches for t in launch.touches if (t.argument, t.kind) == (argument, kind)]
    if not touches:
        known = sorted({(t.argument, t.kind) for launch in traffic.launches for t in launch.touches})
        has = ", ".join(f"{name} ({kind})" for name, kind in known) or "nothing: use count(trace=True)"
        raise ValueError(f"no {kind} of {argument} was traced; there is {has}")
    shape = touches[0].shape
    if int(np.prod(shape)) > MOST_ELEMENTS:
        raise ValueError(f"{argument} has {int(np.prod(shape)):,} elements; at most {MOST_ELEMENTS:,} can be drawn")
    programs: list[tuple[int, ...]] = [()] * int(np.prod(shape))
    for touch in touches:
        for position in np.ravel_multi_index(tuple(touch.indices.T), shape):
            if touch.program not in programs[position]:
                programs[position] = (*programs[position], touch.program)
    grid = np.empty(len(programs), dtype=object)
    for position, those in enumerate(programs):
        grid[position] = those
    return grid.reshape(-1, shape[-1])


def draw_sectors(addresses: np.ndarray, itemsize: int = 4, axes: Any = None) -> Any:
    """Draw the lanes of one warp above the 32-byte sectors that their addresses fall into.

    addresses: byte address of each active lane, at most 32. itemsize: bytes that each lane moves.
    A sector is as dark as the share of its bytes that is asked for; dotted lines part lines of 128 bytes.
    axes: where to draw; a new figure without. Returns the axes. Raises ValueError for more lanes than a warp has.
    """
    addresses = np.asarray(addresses)
    if not 1 <= addresses.size <= WARP:
        raise ValueError(f"a warp has 1 to {WARP} active lanes, not {addresses.size}")
    first = int(addresses.min()) // LINE * LINE
    wanted = np.unique((addresses[:, None] + np.arange(itemsize)).reshape(-1)) - first
    sectors = -(-(int(wanted.max()) + 1) // LINE) * LINE // SECTOR
    asked = np.bincount(wanted // SECTOR, minlength=sectors)
    axes = axes or _new_axes(WARP, 4)
    width = WARP / sectors
    for sector, count in enumerate(asked):
        axes.add_patch(
            _box(
                sector * width,
                2,
                OURS.color if count else "white",
                width,
                alpha=0.25 + 0.75 * count / SECTOR,
                edgecolor=NAIVE.color,
            )
        )
        if sector % (LINE // SECTOR) == 0 and sector:
            axes.plot([sector * width] * 2, [1.8, 3.2], color=LIMIT.color, linestyle=LIMIT.linestyle)
    for lane, address in enumerate(addresses):
        middle = (int(address) - first + itemsize / 2) / SECTOR * width
        axes.plot([(lane + 0.5) * WARP / addresses.size, middle], [1, 2], color=NAIVE.color, linewidth=0.8)
        axes.add_patch(_box(lane * WARP / addresses.size, 0, LIBRARY.color, WARP / addresses.size, edgecolor="white"))
    touched = count_segments(addresses, itemsize, SECTOR)
    useful = len(wanted) / (touched * SECTOR)
    axes.set_title(f"{addresses.size} lanes, {touched} sectors, {100 * useful:.0f} % of their bytes asked for", fontsize=10)
    axes.text(-0.3, 0.5, "lanes", ha="right", va="center")
    axes.text(-0.3, 2.5, "sectors", ha="right", va="center")
    return axes


def _new_axes(columns: int, rows: int) -> Any:
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(6, min(6, max(1.2, 6 * rows / columns + 0.6))))
    axes.set(xlim=(-0.1, columns + 0.1), ylim=(rows + 0.1, -0.1))
    axes.axis("off")
    return axes


def _box(x: float, y: float, color: str, width: float = 1.0, **look: Any) -> Any:
    import matplotlib.pyplot as plt

    return plt.Rectangle((x, y), width, 1, facecolor=color, **look)


def _label(axes: Any, column: int, row: int, text: str) -> None:
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize=8, bbox=box)
