"""Counts of what interpreted launches move: bytes, lanes and 32-byte sectors, per argument and per line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SECTOR = 32  # bytes: the smallest piece of memory that a GPU moves
WARP = 32  # lanes that access memory together
C_ORDER = "C order"


@dataclass
class Tally:
    """One load, store or atomic operation in the source of a kernel, over all programs.

    argument: name without `_ptr`. kind: "load", "store" or "atomic". line, text: where it stands.
    executed: how often. lanes: how many elements, masked-off ones excluded. bytes: lanes times the element's size.
    sectors: distinct 32-byte sectors, warp by warp. layout: how lanes are dealt to warps: "C order", 32 at a time, or the
    name of the GPU whose compiled kernel says it.
    """

    argument: str
    kind: str
    line: int
    text: str
    executed: int = 0
    lanes: int = 0
    bytes: int = 0
    sectors: int = 0
    layout: str = C_ORDER

    @property
    def useful(self) -> float:
        """Share of the moved sectors that was asked for, 0 to 1."""
        return _useful(self.bytes, self.sectors)


@dataclass(frozen=True)
class Touch:
    """One access of one program: the elements of a tensor that it reads ("load"), writes ("store") or updates ("atomic").

    argument: name without `_ptr`. program: its number, x fastest. indices: [elements, dimensions]. shape: of the tensor.
    """

    argument: str
    kind: str
    program: int
    indices: np.ndarray
    shape: tuple[int, ...]


@dataclass
class Launch:
    """One interpreted launch.

    kernel: its name. grid: programs per axis, three numbers. constants: values of the `tl.constexpr` arguments.
    programs: how many ran. tallies: one per access in the source. unmasked: lines of loads that served masked-off lanes
    without `other=`. touches: with `count(trace=True)`, which program touched which elements.
    request: the kernel and its arguments, positional and named, as launched.
    """

    kernel: str
    grid: tuple[int, int, int]
    constants: dict[str, Any]
    programs: int = 0
    tallies: list[Tally] = field(default_factory=list)
    unmasked: list[int] = field(default_factory=list)
    touches: list[Touch] = field(default_factory=list, repr=False)
    request: tuple[Any, tuple, dict[str, Any]] | None = field(default=None, repr=False, compare=False)

    def compiled(self, target: str = "H100") -> Any:
        """This launch, compiled for a GPU: a `tiles.compiled.CompiledKernel`.

        Raises tiles.compiled.CompileError for what the compiler, or that GPU, refuses.
        """
        from tiles.compiled import compile_gate

        kernel, args, kwargs = self.request
        return compile_gate(kernel, args, kwargs, target)


class Traffic:
    """What the launches inside one `with count() as traffic:` moved. An atomic operation is one load and one store."""

    def __init__(self, target: str | None = None, trace: bool = False) -> None:
        self.target, self.trace = target, trace
        self.launches: list[Launch] = []

    @property
    def tallies(self) -> list[Tally]:
        """Every access of every launch."""
        return [tally for launch in self.launches for tally in launch.tallies]

    def _sum(self, what: str, kinds: tuple[str, ...]) -> dict[str, int]:
        sums: dict[str, int] = {}
        for tally in self.tallies:
            if tally.kind in kinds:
                sums[tally.argument] = sums.get(tally.argument, 0) + getattr(tally, what)
        return sums

    @property
    def loaded(self) -> dict[str, int]:
        """Bytes loaded, per argument."""
        return self._sum("bytes", ("load", "atomic"))

    @property
    def stored(self) -> dict[str, int]:
        """Bytes stored, per argument."""
        return self._sum("bytes", ("store", "atomic"))

    @property
    def loads(self) -> dict[str, int]:
        """Elements loaded (lanes that the mask lets through), per argument."""
        return self._sum("lanes", ("load", "atomic"))

    @property
    def stores(self) -> dict[str, int]:
        """Elements stored, per argument."""
        return self._sum("lanes", ("store", "atomic"))

    @property
    def sectors(self) -> dict[str, int]:
        """32-byte sectors moved, per argument (those of an atomic operation once)."""
        return self._sum("sectors", ("load", "store", "atomic"))

    @property
    def useful(self) -> dict[str, float]:
        """Share of each argument's sectors that was asked for, 0 to 1."""
        asked = self._sum("bytes", ("load", "store", "atomic"))
        return {name: _useful(asked[name], sectors) for name, sectors in self.sectors.items()}

    @property
    def bytes(self) -> int:
        """Bytes loaded and stored."""
        return sum(self.loaded.values()) + sum(self.stored.values())

    @property
    def programs(self) -> int:
        """Programs of all launches."""
        return sum(launch.programs for launch in self.launches)

    @property
    def by_line(self) -> dict[int, list[Tally]]:
        """The accesses of each source line, launches merged; lines in order."""
        merged: dict[tuple, Tally] = {}
        for tally in self.tallies:
            key = (tally.line, tally.text, tally.argument, tally.kind)
            whole = merged.setdefault(key, Tally(tally.argument, tally.kind, tally.line, tally.text, layout=tally.layout))
            for what in ("executed", "lanes", "bytes", "sectors"):
                setattr(whole, what, getattr(whole, what) + getattr(tally, what))
        lines: dict[int, list[Tally]] = {}
        for tally in sorted(merged.values(), key=lambda t: t.line):
            lines.setdefault(tally.line, []).append(tally)
        return lines

    def __str__(self) -> str:
        if not self.launches:
            return "no launch was interpreted"
        return "\n".join([*self._titles(), *_table(self._rows())])

    def _titles(self) -> Iterator[str]:
        kernels: dict[str, list[Launch]] = {}
        for launch in self.launches:
            kernels.setdefault(launch.kernel, []).append(launch)
        for kernel, launches in kernels.items():
            programs = sum(launch.programs for launch in launches)
            times = f", {len(launches)} launches" if len(launches) > 1 else ""
            yield f"{kernel}{times}, {programs:,} program{'s' * (programs != 1)}{self._dealt(launches)}"

    def _dealt(self, launches: list[Launch]) -> str:
        """Whose lanes the sectors of these launches are; nothing where no compiled kernel was asked for."""
        if self.target is None:
            return ""
        layouts = {tally.layout for launch in launches for tally in launch.tallies}
        return (
            f", lanes in {C_ORDER}"
            if layouts == {C_ORDER}
            else f", lanes as compiled for {self.target}" + (f" (where unknown, in {C_ORDER})" if C_ORDER in layouts else "")
        )

    def _rows(self) -> Iterator[tuple[str, ...]]:
        loaded, stored, sectors, useful = self.loaded, self.stored, self.sectors, self.useful
        yield "", "loaded", "stored", "sectors", "useful"
        for name in sectors:
            yield name, _bytes(loaded, name), _bytes(stored, name), f"{sectors[name]:,}", f"{100 * useful[name]:.0f} %"
        yield "total", f"{sum(loaded.values()):,} B", f"{sum(stored.values()):,} B", f"{sum(sectors.values()):,}", ""


def _useful(asked: int, sectors: int) -> float:
    """Bytes asked for in sectors; 1 at most, also when several lanes ask for one element."""
    return min(1.0, asked / (SECTOR * sectors)) if sectors else 1.0


def _bytes(table: dict[str, int], name: str) -> str:
    return f"{table[name]:,} B" if name in table else ""


def _table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Rows of cells as aligned lines: the first column to the left, the others to the right."""
    rows = list(rows)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]).rstrip()
        for row in rows
    ]


def count_sectors(offsets: np.ndarray, live: np.ndarray | None) -> int:
    """Distinct 32-byte sectors that the warps of one access touch.

    offsets: byte offsets of the lanes from the start of the allocation, in C order, int64. live: which lanes the mask lets
    through, None for all. Each 32 lanes are a warp; sectors of different warps are counted apart.
    """
    sectors = offsets // SECTOR
    if live is not None:
        sectors = np.where(live, sectors, -1)
    if missing := -sectors.size % WARP:
        sectors = np.concatenate([sectors, np.full(missing, -1)])
    warps = sectors.reshape(-1, WARP)
    if live is not None or missing or (warps[:, 1:] < warps[:, :-1]).any():
        warps = np.sort(warps, axis=1)
    return int(np.count_nonzero(warps[:, 1:] != warps[:, :-1]) + len(warps) - np.count_nonzero(warps[:, 0] == -1))


COLLECTORS: list[Traffic] = []


@contextlib.contextmanager
def count(interpret: bool = False, target: str | None = None, trace: bool = False) -> Iterator[Traffic]:
    """Count what the launches inside move: `with count() as traffic: launch(...)`, then `print(traffic)`.

    interpret: True to interpret (and so count) launches whose tensors live on the GPU as well, for the same counts on every
    machine; False leaves those to the GPU, uncounted.
    target: "T4", "A100", "H100", "H200" or "B200": compile each launch for that GPU first, refuse what it would refuse, and
    count sectors with the lanes of the compiled kernel, instruction by instruction: a sector that two instructions ask for
    counts twice, though the L1 cache may serve the second. The counters of an H200 say the same (lesson 12). Two loads on one
    source line cannot be told apart, and are counted in C order.
    None counts with lanes in C order and compiles nothing; the GPU agrees where accesses are aligned and without gaps.
    trace: keep which program touches which elements, for `tiles.plot.draw_programs`; for small launches.
    """
    from tiles.interpreter.dispatch import interpreted

    traffic = Traffic(target, trace)
    COLLECTORS.append(traffic)
    try:
        with interpreted() if interpret else contextlib.nullcontext():
            yield traffic
    finally:
        COLLECTORS.remove(traffic)
