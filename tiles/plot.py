"""How the course draws: one style, and one look for each role that a curve or a bar can play.

    from tiles.plot import LIMIT, NAIVE, OURS, use_style

    use_style()
    plt.plot(sizes, ours, **OURS.line, label="ours")
    plt.bar(names, naive, **NAIVE.bar)
    plt.axhline(peak, **LIMIT.line)

Colours are Okabe and Ito's; marker, dash and hatch repeat the difference, so that a figure reads in grey as well.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

STYLE = Path(__file__).with_name("tiles.mplstyle")


@dataclass(frozen=True)
class Role:
    """The look of one role: a colour, and the marker, dash and hatch that repeat it."""

    color: str
    marker: str = ""
    linestyle: Any = "-"
    hatch: str = ""

    @property
    def line(self) -> dict[str, Any]:
        """Keywords for `plot`, `step`, `axhline` and `axvline`."""
        return {"color": self.color, "marker": self.marker, "linestyle": self.linestyle}

    @property
    def bar(self) -> dict[str, Any]:
        """Keywords for `bar` and `barh`."""
        return {"color": self.color, "hatch": self.hatch}


OURS = Role("#0072B2", marker="o")
LIBRARY = Role("#E69F00", marker="s", linestyle="--", hatch="//")
NAIVE = Role("#999999", marker="^", linestyle="-.", hatch="..")
LIMIT = Role("black", linestyle=":")
WRONG = Role("#D55E00", marker="x", linestyle=(0, (5, 1)), hatch="xx")


def use_style() -> None:
    """Draw every later figure in the course's style (`tiles.mplstyle`)."""
    import matplotlib.pyplot as plt

    plt.style.use(STYLE)
