"""A pretended GPU, whose clock, queue and cache are plain Python: what a benchmark measures on it is the same on every machine.

    gpu = PretendGPU()
    add = gpu.kernel(megabytes=12)
    add()  # the CPU asks for it, and goes on
    gpu.synchronize()  # the CPU waits until the GPU has done all that was asked for
    print(gpu.now())
    draw_timeline(gpu.spans)

It has the interface of `torch.cuda`, as far as a benchmark needs one: `Event` and `synchronize`. Times are in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tiles.plot import LIBRARY, LIMIT, NAIVE, OURS


@dataclass(frozen=True)
class Span:
    """Something that takes from `start` to `end` on one side of a timeline, "CPU" or "GPU"; a mark takes no time."""

    side: str
    name: str
    start: float
    end: float


class PretendGPU:
    """A GPU and the CPU that drives it. Each does one thing at a time; the GPU, in the order in which it was asked.

    launch_ms: CPU time of a launch. compile_ms: CPU time of a kernel's first launch, before that.
    bandwidth, l2_bandwidth: megabytes a millisecond, from memory and from L2. l2: megabytes that L2 holds, those used last.
    delays: extra milliseconds of one run after another, over and over: other programs use the machine too.
    """

    def __init__(
        self,
        launch_ms: float = 1,
        compile_ms: float = 20,
        bandwidth: float = 2,
        l2_bandwidth: float = 6,
        l2: float = 16,
        delays: Sequence[float] = (0,),
    ):
        self.launch_ms, self.compile_ms = launch_ms, compile_ms
        self.bandwidth, self.l2_bandwidth, self.l2 = bandwidth, l2_bandwidth, l2
        self.delays = tuple(delays)
        self.spans: list[Span] = []
        self._clock = 0.0  # of the CPU
        self._idle = 0.0  # when the GPU has done all that it was asked for
        self._moved = 0.0  # megabytes so far, which push older ones out of L2
        self._runs = 0

    def now(self) -> float:
        """The CPU's clock, in milliseconds."""
        return self._clock

    def synchronize(self) -> None:
        """The CPU waits until the GPU has done all that it was asked for."""
        self._wait_until(self._idle)

    def flush(self) -> None:
        """Asks for a kernel that fills L2 with other data: nothing that was in it is left."""
        self._spend("CPU", "flush", self.launch_ms)
        self._spend("GPU", "flush", self.l2 / self.bandwidth)
        self._moved += self.l2

    def kernel(self, megabytes: float) -> Callable[[], None]:
        """A function that asks for a kernel which moves so many megabytes, the same ones each time, and goes on at once.

        The spans of its calls are named by their number, from 1.
        """
        ends: list[float] = []  # what had been moved in all when a call ended

        def call() -> None:
            if not ends:
                self._spend("CPU", "compile", self.compile_ms)
            name = str(len(ends) + 1)
            self._spend("CPU", name, self.launch_ms)
            in_l2 = bool(ends) and self._moved - ends[-1] + megabytes <= self.l2
            delay = self.delays[self._runs % len(self.delays)]
            self._spend("GPU", name, megabytes / (self.l2_bandwidth if in_l2 else self.bandwidth) + delay)
            self._runs += 1
            self._moved += megabytes
            ends.append(self._moved)

        return call

    def Event(self, enable_timing: bool = False) -> Event:  # noqa: N802, as in torch.cuda
        """A mark that can be put into the queue."""
        return Event(self, enable_timing)

    def _spend(self, side: str, name: str, ms: float) -> None:
        start = self._clock if side == "CPU" else max(self._idle, self._clock)
        if ms:
            self.spans.append(Span(side, name, start, start + ms))
        if side == "CPU":
            self._clock = start + ms
        else:
            self._idle = start + ms

    def _wait_until(self, ms: float) -> None:
        if ms > self._clock:
            self._spend("CPU", "wait", ms - self._clock)


class Event:
    """A mark in the queue of a PretendGPU: the GPU notes the time when it comes to it."""

    def __init__(self, gpu: PretendGPU, enable_timing: bool):
        self._gpu, self._timing, self._time = gpu, enable_timing, None

    def record(self) -> None:
        """Puts the mark into the queue, behind all that was asked for before."""
        self._time = max(self._gpu._idle, self._gpu._clock)
        self._gpu.spans.append(Span("GPU", "mark", self._time, self._time))

    def synchronize(self) -> None:
        """The CPU waits until the GPU has come to the mark."""
        self._gpu._wait_until(self._time or 0.0)

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this mark to that one. Raises RuntimeError, as torch does, where the GPU has not come to both."""
        if not (self._timing and end._timing):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        if self._time is None or end._time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        if max(self._time, end._time) > self._gpu.now():
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        return end._time - self._time


LOOKS = {
    "compile": {"facecolor": LIBRARY.color, "hatch": LIBRARY.hatch},
    "flush": {"facecolor": NAIVE.color, "hatch": NAIVE.hatch},
    "wait": {"facecolor": "none", "linestyle": ":"},
}


def draw_timeline(spans: Iterable[Span], axes: Any = None, unit: str = "ms") -> Any:
    """Draw what each side does over time, in a row of its own, in the order of appearance. Returns the axes.

    A name is written into its box where it fits; a mark is a dotted line. unit: of the times, for the axis.
    """
    import matplotlib.pyplot as plt

    spans = list(spans)
    sides = list(dict.fromkeys(span.side for span in spans))
    if axes is None:
        _, axes = plt.subplots(figsize=(8, 0.8 * len(sides) + 0.8))
    whole = max((span.end for span in spans), default=1)
    for span in spans:
        if span.start == span.end:
            row = sides.index(span.side)
            axes.plot([span.start] * 2, [row - 0.5, row + 0.5], color=LIMIT.color, linestyle=LIMIT.linestyle, linewidth=2)
            continue
        look = LOOKS.get(span.name, {"facecolor": OURS.color})
        row, width = sides.index(span.side), span.end - span.start
        axes.add_patch(plt.Rectangle((span.start, row - 0.35), width, 0.7, edgecolor="black", linewidth=0.6, **look))
        if width > 0.009 * whole * (len(span.name) + 1):
            color = "white" if look["facecolor"] == OURS.color else "black"
            box = {"facecolor": look["facecolor"], "edgecolor": "none", "pad": 1} if "hatch" in look else None
            axes.text(span.start + width / 2, row, span.name, ha="center", va="center", fontsize=9, color=color, bbox=box)
    axes.set(xlim=(0, whole), ylim=(len(sides) - 0.5, -0.5), xlabel=unit, yticks=range(len(sides)), yticklabels=sides)
    axes.grid(axis="y", visible=False)
    return axes
