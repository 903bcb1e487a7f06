"""A kernel as the compiler made it: figures, text of every stage, and a summary."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tiles.compiled.accesses import Access, read_accesses
from tiles.compiled.ptx import asynchronous_copies, instruction_bytes, tensor_core
from tiles.compiled.targets import Occupancy, Target, occupancy

_STAGES = ("ttir", "ttgir", "llir", "ptx", "sass")
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/ +[@A-Z]")  # its address, then what it does


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """A kernel as the compiler made it for one GPU. `print` it for a summary.

    name; target; num_warps: per block; num_stages: of software pipelines.
    registers: per thread. stack: bytes per thread that did not fit in registers and live in memory (spills).
    shared_dynamic: bytes per block that the launch asks for. shared_static: bytes that cuobjdump reports beside them: from
        Hopper on, the 1,024 which the system reserves in every block that uses shared memory.
    tensor_memory: columns that a block of a Blackwell GPU allocates, 0 elsewhere.
    occupancy: blocks and warps per SM. widest_load, widest_store: bytes that a lane moves with one instruction to or from
        global memory, 0 when there is none. tensor_core: "mma.sync", "wgmma", "tcgen05" or None.
    cp_async, tma: whether tiles are copied asynchronously by the lanes, or by the tensor memory accelerator.
    ttir, ttgir, llir, ptx, sass: the stages as text, cubin: the binary. instructions: how many the machine code has.
    accesses: the loads and stores of the source with their lanes.
    """

    name: str
    target: Target
    num_warps: int
    num_stages: int
    shared_dynamic: int
    tensor_memory: int
    widest_load: int
    widest_store: int
    tensor_core: str | None
    cp_async: bool
    tma: bool
    ttir: str = field(repr=False)
    ttgir: str = field(repr=False)
    llir: str = field(repr=False)
    ptx: str = field(repr=False)
    machine_code: Callable[[], bytes] = field(repr=False)

    # What takes a program, or a moment, and what a check of an answer seldom asks for, is worked out when it is first asked for.

    @functools.cached_property
    def cubin(self) -> bytes:
        return self.machine_code()

    def __deepcopy__(self, memo: dict) -> CompiledKernel:
        return self  # nobody can change it

    def __getstate__(self) -> dict:
        return self.__dict__ | {"cubin": self.cubin, "machine_code": None}  # the assembler's input cannot be pickled

    @functools.cached_property
    def _resources(self) -> tuple[int, int, int]:
        return _resources(self.cubin, self.name)

    @property
    def registers(self) -> int:
        return self._resources[0]

    @property
    def stack(self) -> int:
        return self._resources[1]

    @property
    def shared_static(self) -> int:
        return self._resources[2]

    @property
    def occupancy(self) -> Occupancy:
        own_static = max(0, self.shared_static - self.target.shared_reserved)
        shared = own_static + self.shared_dynamic
        return occupancy(self.registers, shared, self.num_warps, self.target, self.tensor_memory)

    @functools.cached_property
    def accesses(self) -> tuple[Access, ...]:
        return read_accesses(self.ttgir, self.ptx)

    @property
    def sass(self) -> str:
        """The machine code, disassembled when first asked for."""
        return _disassembled(self.cubin)

    @property
    def instructions(self) -> int:
        """Machine instructions as written, a loop's body once; without the padding, a jump to itself and NOPs, at the end."""
        lines = [line for line in self.sass.splitlines() if _INSTRUCTION.search(line)]
        while "NOP" in lines[-1]:
            lines.pop()
        return len(lines) - ("BRA" in lines[-1])

    @property
    def spills(self) -> bool:
        """Whether values had to leave the registers."""
        return self.stack > 0

    def access(self, kind: str, line: int, shape: Sequence[int] | None = None, column: int | None = None) -> Access | None:
        """The access of that kind in that source line; None when there is none, or several that differ."""
        shape = None if shape is None else tuple(shape)
        found = [a for a in self.accesses if (a.kind, a.line) == (kind, line)]
        found = [a for a in found if shape in (None, a.shape) and column in (None, a.column)]
        return found[0] if len({(a.layout, a.vector, a.shape) for a in found}) == 1 else None

    def excerpt(self, stage: str, pattern: str, lines: int = 8, after: int = 0) -> str:
        """The first lines of a stage that match a regular expression, each with so many that follow it.

        stage: "ttir", "ttgir", "llir", "ptx" or "sass". Source locations and common indentation are left out.
        Says so when nothing matches.
        """
        if stage not in _STAGES:
            raise ValueError(f"{stage!r} is no stage; there are {', '.join(_STAGES)}")
        text = re.sub(r" ?loc\((?:[^()]|\([^()]*\))*\)", "", getattr(self, stage)).expandtabs(4).splitlines()
        starts = [number for number, line in enumerate(text) if re.search(pattern, line)][:lines]
        if not starts:
            return f"No line of the {stage.upper()} matches {pattern!r}."
        numbers = sorted({n for start in starts for n in range(start, min(start + after + 1, len(text)))})
        return textwrap.dedent("\n".join(text[n].rstrip() for n in numbers))

    def __str__(self) -> str:
        o = self.occupancy
        copies = ", ".join(name for name, used in (("cp.async", self.cp_async), ("TMA", self.tma)) if used)
        rows = [
            ("registers", f"{self.registers} per thread"),
            ("spills", f"{self.stack:,} B per thread" if self.stack else "none"),
            ("shared memory", f"{self.shared_dynamic:,} B per block" if self.shared_dynamic else "none"),
            (
                "occupancy",
                f"{_many(o.blocks, 'block')}, {o.warps} of {self.target.warps_per_sm} warps, limited by {o.limited_by}",
            ),
            ("widest load", f"{self.widest_load} B per lane" if self.widest_load else "none"),
            ("widest store", f"{self.widest_store} B per lane" if self.widest_store else "none"),
            ("tensor cores", self.tensor_core or "not used"),
            ("async copies", copies or "none"),
        ]
        title = f"{self.name}, compiled for {self.target.name} with {_many(self.num_warps, 'warp')}"
        return "\n".join([title, *(f"  {name:<15}{value}" for name, value in rows)])


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def describe(result: Any, target: Target, machine_code: Callable[[], bytes]) -> CompiledKernel:
    """The facts of a kernel that Triton has compiled. `machine_code` gives its binary."""
    text, metadata = result.asm, result.metadata
    occupancy(1, 0, metadata.num_warps, target)  # more warps than a block can have: refused now, not when it is asked
    cp_async, tma = asynchronous_copies(text["ptx"])
    moved = [m for line in text["ptx"].splitlines() if (m := instruction_bytes(line))]
    return CompiledKernel(
        name=metadata.name,
        target=target,
        num_warps=metadata.num_warps,
        num_stages=metadata.num_stages,
        shared_dynamic=metadata.shared,
        tensor_memory=getattr(metadata, "tmem_size", None) or 0,
        widest_load=max((size for kind, size in moved if kind == "load"), default=0),
        widest_store=max((size for kind, size in moved if kind == "store"), default=0),
        tensor_core=tensor_core(text["ptx"]),
        cp_async=cp_async,
        tma=tma,
        ttir=text["ttir"],
        ttgir=text["ttgir"],
        llir=text["llir"],
        ptx=text["ptx"],
        machine_code=machine_code,
    )


def _cubin_tool(name: str, cubin: bytes, *options: str) -> str:
    """What one of the tools in Triton's wheel prints about a binary."""
    from triton import knobs

    tool = getattr(knobs.nvidia, name).path
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.cubin")
        with open(path, "wb") as file:
            file.write(cubin)
        return subprocess.run([tool, *options, path], capture_output=True, text=True, check=True).stdout


def _resources(cubin: bytes, name: str) -> tuple[int, int, int]:
    """Registers per thread, bytes of stack per thread, bytes of static shared memory per block."""
    said = _cubin_tool("cuobjdump", cubin, "-res-usage")
    return tuple(int(n) for n in re.search(rf"Function {re.escape(name)}:\s+REG:(\d+) STACK:(\d+) SHARED:(\d+)", said).groups())


@functools.lru_cache(maxsize=32)
def _disassembled(cubin: bytes) -> str:
    return _cubin_tool("nvdisasm", cubin, "--print-code")
