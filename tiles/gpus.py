"""Five GPUs in figures: what they have, how fast it is, and where each figure comes from.

    from tiles.gpus import GPUS, sources, table

    h200 = GPUS["H200"]
    print(h200.sms, h200.bandwidth, h200.ridge(h200.fp16))
    print(table("sms", "l2", "bandwidth"))
    print(sources("sms", "l2", "bandwidth"))

Rates are what the maker promises, without sparsity. A measured rate is in `tiles/recorded`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from tiles.memory import WARP

KIB, MIB = 1024, 1024**2
GIGA, TERA = 1e9, 1e12


@dataclass(frozen=True)
class GPU:
    """One GPU. Memory in bytes, rates in bytes or floating-point operations a second, latencies in clock cycles.

    arch: compute capability times 10. sms: streaming multiprocessors. cores_per_sm: fp32 multiply-adds a clock.
    registers_per_sm: of 32 bits. shared_per_sm: what a launch may use of the memory that L1 and shared memory divide.
    memory: the card's own memory, global memory in CUDA's words; memory_kind: its make.
    bandwidth: of that memory. fp32: without tensor cores. fp16: dense, on tensor cores.
    shared_latency, l1_latency, l2_latency, memory_latency: of a load that finds its data there. None where no source is known.
    shared_per_clock: bytes a clock that one SM reads from shared memory. l2_per_clock: that all SMs read from L2.
    boost_clock: cycles a second, where the fp32 rate is too round a figure to imply them.
    """

    name: str
    arch: int
    sms: int
    cores_per_sm: int
    shared_per_sm: int
    l2: int
    memory: int
    memory_kind: str
    bandwidth: float
    fp32: float
    fp16: float
    warps_per_sm: int = 64
    blocks_per_sm: int = 32
    registers_per_sm: int = 64 * 1024
    shared_latency: int | None = None
    l1_latency: int | None = None
    l2_latency: int | None = None
    memory_latency: int | None = None
    shared_per_clock: int | None = 128
    l2_per_clock: int | None = None
    boost_clock: float | None = None

    @property
    def clock(self) -> float:
        """Cycles a second: the boost clock, or what the fp32 rate implies, as a multiply-add is two operations."""
        return self.boost_clock or self.fp32 / (2 * self.sms * self.cores_per_sm)

    @property
    def register_bytes(self) -> int:
        """Bytes of registers on the whole chip."""
        return self.sms * self.registers_per_sm * 4

    @property
    def shared(self) -> int:
        """Bytes of shared memory on the whole chip."""
        return self.sms * self.shared_per_sm

    @property
    def register_bandwidth(self) -> float:
        """Bytes a second that the fp32 rate takes from and puts into registers: 16 for each multiply-add a * b + c."""
        return 16 * self.fp32 / 2

    @property
    def shared_bandwidth(self) -> float | None:
        """Bytes a second that all SMs together read from shared memory; None where no source is known."""
        return self.shared_per_clock and self.shared_per_clock * self.sms * self.clock

    @property
    def l2_bandwidth(self) -> float | None:
        """Bytes a second that all SMs together read from L2; None where no source is known."""
        return self.l2_per_clock and self.l2_per_clock * self.clock

    @property
    def threads(self) -> int:
        """Threads that the whole chip holds at a time."""
        return self.sms * self.warps_per_sm * WARP

    def ridge(self, rate: float) -> float:
        """Floating-point operations for each byte of memory traffic at which a kernel of that rate (fp32, fp16) changes sides.

        With fewer, memory sets the pace; with more, arithmetic does.
        """
        return rate / self.bandwidth

    def seconds(self, cycles: float) -> float:
        """How long so many clock cycles take."""
        return cycles / self.clock


GPUS = {
    gpu.name: gpu
    for gpu in (
        GPU(
            "T4", 75, sms=40, cores_per_sm=64, shared_per_sm=64 * KIB, l2=4 * MIB,
            memory=int(16 * GIGA), memory_kind="GDDR6", bandwidth=320 * GIGA, fp32=8.1 * TERA, fp16=65 * TERA,
            warps_per_sm=32, blocks_per_sm=16, shared_per_clock=None, boost_clock=1.59 * GIGA,
        ),
        GPU(
            "A100", 80, sms=108, cores_per_sm=64, shared_per_sm=164 * KIB, l2=40 * MIB,
            memory=int(80 * GIGA), memory_kind="HBM2e", bandwidth=2039 * GIGA, fp32=19.5 * TERA, fp16=312 * TERA,
            shared_latency=23, l1_latency=39, l2_latency=210, memory_latency=550, l2_per_clock=5120,
        ),
        GPU(
            "H100", 90, sms=132, cores_per_sm=128, shared_per_sm=228 * KIB, l2=50 * MIB,
            memory=int(80 * GIGA), memory_kind="HBM3", bandwidth=3350 * GIGA, fp32=67 * TERA, fp16=989.5 * TERA,
            l1_latency=40, l2_latency=291, memory_latency=700,
        ),
        GPU(
            "H200", 90, sms=132, cores_per_sm=128, shared_per_sm=228 * KIB, l2=60 * MIB,
            memory=int(141 * GIGA), memory_kind="HBM3e", bandwidth=4800 * GIGA, fp32=67 * TERA, fp16=989.5 * TERA,
            l1_latency=40, l2_latency=281, memory_latency=690,
        ),
        GPU(
            "B200", 100, sms=148, cores_per_sm=128, shared_per_sm=228 * KIB, l2=126 * MIB,
            memory=int(180 * GIGA), memory_kind="HBM3e", bandwidth=8000 * GIGA, fp32=75 * TERA, fp16=2250 * TERA,
            l1_latency=40, l2_latency=295, memory_latency=860,
        ),
    )
}  # fmt: skip
"""The GPUs that the course speaks of, by name: the cards with the SXM socket where there is a choice."""

ARCHITECTURES = "NVIDIA's papers on the Turing, Ampere, Hopper and Blackwell architectures"
GUIDE = "CUDA C++ Programming Guide, tables for each compute capability"
SHEETS = "NVIDIA's data sheets (A100 80GB, H100 and H200: SXM; B200: an eighth of a DGX B200)"
LATENCIES = "cycles; M. Dewing, AI_kernels/latency on GitHub, measured; H200: the same chip in a GH200 with 96 GB of HBM3"
AMPERE = "Abdelkhalik et al. 2022"


@dataclass(frozen=True)
class _Column:
    """One column of the table: its title, how a figure is written, and where the figures come from."""

    title: str
    text: Callable[[GPU], str]
    source: str


def _cycles(cycles: int | None) -> str:
    return "-" if cycles is None else str(cycles)


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate / GIGA:,.0f} GB/s"


COLUMNS = {
    "sms": _Column("SMs", lambda g: str(g.sms), ARCHITECTURES),
    "cores_per_sm": _Column("fp32 cores/SM", lambda g: str(g.cores_per_sm), GUIDE),
    "warps_per_sm": _Column("warps/SM", lambda g: str(g.warps_per_sm), GUIDE),
    "registers_per_sm": _Column("registers/SM", lambda g: f"{g.registers_per_sm * 4 // KIB} KiB", GUIDE),
    "shared_per_sm": _Column("shared/SM", lambda g: f"{g.shared_per_sm // KIB} KiB", GUIDE),
    "clock": _Column(
        "clock", lambda g: f"{g.clock / GIGA:.2f} GHz",
        "as the fp32 rate implies it: a multiply-add is two operations; T4: boost clock (NVIDIA's paper on Turing)",
    ),
    "l2": _Column(
        "L2", lambda g: f"{g.l2 // MIB} MiB",
        "NVIDIA's papers on Turing, Ampere and Hopper; H200: what CUDA reports on the card; Blackwell Tuning Guide",
    ),
    "shared_bandwidth": _Column(
        "shared bandwidth", lambda g: _rate(g.shared_bandwidth), "32 banks of 4 bytes a clock in each SM (" + GUIDE + ")"
    ),
    "l2_bandwidth": _Column(
        "L2 bandwidth", lambda g: _rate(g.l2_bandwidth), "5,120 bytes a clock (NVIDIA's paper on Ampere); others: none found"
    ),
    "memory": _Column("memory", lambda g: f"{g.memory / GIGA:.0f} GB {g.memory_kind}", SHEETS),
    "bandwidth": _Column(
        "bandwidth", lambda g: _rate(g.bandwidth),
        SHEETS + ". Others: T4 300 (product page), A100 40GB 1,555, B200 7,700 (HGX B200)",
    ),
    "fp32": _Column(
        "fp32", lambda g: f"{g.fp32 / TERA:.3g} TFLOP/s",
        SHEETS + "; B200: HGX B200. Others: B200 80 (NVIDIA's Blackwell brief)",
    ),
    "fp16": _Column("fp16 dense", lambda g: f"{g.fp16 / TERA:,.0f} TFLOP/s", SHEETS + "; halved where a sheet counts sparsity"),
    "shared_latency": _Column("shared latency", lambda g: _cycles(g.shared_latency), f"cycles; {AMPERE}, Demystifying the Nvidia Ampere Architecture, measured"),
    "l1_latency": _Column("L1 latency", lambda g: _cycles(g.l1_latency), f"{LATENCIES}. Others: A100 33 ({AMPERE})"),
    "l2_latency": _Column("L2 latency", lambda g: _cycles(g.l2_latency), f"{LATENCIES}. Others: A100 200 ({AMPERE})"),
    "memory_latency": _Column(
        "memory latency", lambda g: _cycles(g.memory_latency), f"{LATENCIES}. Others: A100 290 ({AMPERE})"
    ),
    "ridge_fp32": _Column("fp32 ridge", lambda g: f"{g.ridge(g.fp32):.0f} FLOP/B", "fp32 divided by bandwidth"),
    "ridge_fp16": _Column("fp16 ridge", lambda g: f"{g.ridge(g.fp16):.0f} FLOP/B", "fp16 dense divided by bandwidth"),
}  # fmt: skip
"""The columns that `table` can print, by name."""


def table(*columns: str) -> str:
    """The GPUs, one a line, with these columns (all of them without any). Raises ValueError for a column that there is not."""
    chosen = [_column(name) for name in columns or COLUMNS]
    lines = [["", *(column.title for column in chosen)]]
    lines += [[gpu.name, *(column.text(gpu) for column in chosen)] for gpu in GPUS.values()]
    widths = [max(map(len, cells)) for cells in zip(*lines)]
    return "\n".join("  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines)


def sources(*columns: str) -> str:
    """Where the figures of these columns come from (of all of them without any)."""
    chosen = [_column(name) for name in columns or COLUMNS]
    lines = [f"{column.title}: {column.source}" for column in chosen]
    return "\n".join(textwrap.fill(line, 92, subsequent_indent="    ") for line in lines)


def _column(name: str) -> _Column:
    if name not in COLUMNS:
        raise ValueError(f"there is no column {name!r}; there are {', '.join(COLUMNS)}")
    return COLUMNS[name]
