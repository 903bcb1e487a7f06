"""What the compiler says: figures, refusals, lanes. Needs Triton, but no GPU; one test more runs where there is one."""

import copy
import ctypes
import itertools
import linecache
import os
import pickle
import re
import subprocess
import sys
import textwrap
import threading
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import triton.language as tl  # noqa: E402
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402

from tiles.blanks import BlankLeft  # noqa: E402
from tiles.compiled import (  # noqa: E402
    TARGETS,
    CompileError,
    NoCompiler,
    compile_gate,
    find_target,
    inspect_kernel,
    lane_elements,
    occupancy,
)
from tiles.compiled import build as build_module  # noqa: E402
from tiles.compiled.ptx import instruction_bytes  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def fresh_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        yield


@triton.jit
def vector_add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)


@triton.jit
def copy_kernel(x_ptr, out_ptr, stride, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offs * stride)
    tl.store(out_ptr + offs, x)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, stride, n_cols, BLOCK_SIZE: tl.constexpr):
    row, offs = tl.program_id(0), tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + row * stride + offs, mask=offs < n_cols, other=-float("inf"))
    p = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * stride + offs, p / tl.sum(p, 0), mask=offs < n_cols)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + offs_m[:, None] * K + (k + offs_k)[None, :])
        b = tl.load(b_ptr + (k + offs_k)[:, None] * N + offs_n[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc.to(tl.float16))


@triton.jit
def column_major_kernel(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs[:, None] + offs[None, :] * stride)
    tl.store(out_ptr + offs[:, None] + offs[None, :] * stride, x)


@triton.jit
def load_row(x_ptr, offs):
    return tl.load(x_ptr + offs)


@triton.jit
def mixed_kernel(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    first = tl.load(x_ptr)
    tl.atomic_add(out_ptr + 64, first)
    tl.store(out_ptr, first)
    x = load_row(x_ptr, offs) + tl.load(x_ptr + 32 + offs) + tl.load(x_ptr + 64 + offs)
    tl.store(out_ptr + offs, x)
    sums = tl.sum(tl.load(x_ptr + offs[:, None] * 32 + offs[None, :]), 1)
    tl.store(out_ptr + 32 + offs, sums)


@triton.jit
def descriptor_kernel(x_desc, out_ptr, BLOCK: tl.constexpr):
    x = x_desc.load([0, 0])
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + offs[:, None] * BLOCK + offs[None, :], x)


HALF = torch.zeros(512, 512, dtype=torch.float16)
FLOAT = torch.zeros(4096)
SQUARE = (HALF, HALF, HALF, 512, 512, 512)


def line_of(text):
    return next(n for n, line in enumerate(open(__file__), 1) if text in line)


def cell(source, name="kernel", scope=None, first=""):
    """Run source as a Jupyter cell would, with its own file name, and return what it defines under that name."""
    source = textwrap.dedent(source)
    file = f"<cell {len(linecache.cache)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {"tl": tl, "triton": triton, "np": np, "torch": torch, "__name__": "cell"} if scope is None else scope
    exec(compile(source, file, "exec"), scope)
    return scope[name]


# Figures


def said_by_cuobjdump(cubin, tmp_path):
    (tmp_path / "k.cubin").write_bytes(cubin)
    tool = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin", "cuobjdump")
    said = subprocess.run([tool, "-res-usage", tmp_path / "k.cubin"], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in re.findall(r"(REG|STACK|SHARED):(\d+)", said)}


@pytest.mark.parametrize(
    "kernel, arguments, options",
    [
        (vector_add_kernel, (FLOAT, FLOAT, FLOAT, 4096, 1024), {}),
        (softmax_kernel, (FLOAT, FLOAT, 1024, 1000, 1024), {"num_warps": 8}),
        (matmul_kernel, (*SQUARE, 128, 256, 64), {"num_warps": 4}),
        (matmul_kernel, (*SQUARE, 64, 64, 32), {"target": "A100"}),
        (matmul_kernel, (*SQUARE, 64, 64, 32), {"num_stages": 4}),
        (copy_kernel, (FLOAT, FLOAT, 3, 256), {"target": "T4"}),
    ],
)
def test_figures_are_those_of_cuobjdump(kernel, arguments, options, tmp_path):
    k = inspect_kernel(kernel, *arguments, **options)
    said = said_by_cuobjdump(k.cubin, tmp_path)
    assert (k.registers, k.stack, k.shared_static) == (said["REG"], said["STACK"], said["SHARED"])
    assert k.spills == (said["STACK"] > 0)
    shared = re.search(r"ttg\.shared = (\d+)", k.ttgir) or re.search(r"ttg\.shared = (\d+)", k.llir)
    assert shared is None or k.shared_dynamic == int(shared[1])
    assert k.occupancy == occupancy(k.registers, k.shared_dynamic, k.num_warps, k.target)


@pytest.mark.parametrize("target", ["A100", "H100"])
def test_a_large_tile_spills_with_four_warps_and_not_with_eight(target):
    four, eight = (inspect_kernel(matmul_kernel, *SQUARE, 128, 256, 64, target=target, num_warps=n) for n in (4, 8))
    assert four.spills and four.registers == 255 and four.stack > 500
    assert not eight.spills and eight.registers < 255
    assert eight.occupancy.blocks == 1 and "registers" in eight.occupancy.limited_by


@pytest.mark.parametrize("target, instruction", [("A100", "mma.sync"), ("H100", "wgmma"), ("B200", "tcgen05")])
def test_one_source_and_three_tensor_cores(target, instruction):
    k = inspect_kernel(matmul_kernel, *SQUARE, 128, 128, 32, target=target, num_warps=4)
    assert k.tensor_core == instruction and k.cp_async and not k.tma
    assert (k.tensor_memory > 0) == (target == "B200")
    assert k.access("load", line_of("a = tl.load(a_ptr")).vector == 8


def test_without_a_dot_no_tensor_core():
    k = inspect_kernel(vector_add_kernel, FLOAT, FLOAT, FLOAT, 4096, 1024)
    assert (k.tensor_core, k.cp_async, k.tma, k.shared_dynamic) == (None, False, False, 0)


def test_the_tensor_memory_accelerator():
    k = inspect_kernel(descriptor_kernel, TensorDescriptor.from_tensor(HALF, [64, 64]), HALF, 64)
    load = k.access("load", line_of("x = x_desc.load"))
    assert k.tma and load.shape == (64, 64) and load.itemsize == 2 and load.elements is None
    assert load.sectors(np.zeros((64, 64), int)) is None


@pytest.mark.parametrize(
    "x, n, load, store",
    [(FLOAT, 4096, 16, 16), (FLOAT, 4097, 4, 4), (FLOAT[1:], 4096, 16, 16), (FLOAT.half(), 4096, 16, 16), (FLOAT, 1, 4, 4)],
)
def test_width_follows_from_addresses_and_sizes(x, n, load, store):
    k = inspect_kernel(vector_add_kernel, x, FLOAT.to(x.dtype), FLOAT.to(x.dtype), n, BLOCK_SIZE=1024)
    assert (k.widest_load, k.widest_store) == (load, store)
    assert k.access("load", line_of("x = tl.load(x_ptr + offs, mask=mask)")).vector == (
        1 if n != 4096 or x.data_ptr() % 16 else load // x.itemsize
    )


def test_a_signature_instead_of_tensors():
    pointers = ("x_ptr", "y_ptr", "out_ptr")
    plain = inspect_kernel(vector_add_kernel, {**dict.fromkeys(pointers, "*fp32"), "n_elements": "i32"}, BLOCK_SIZE=1024)
    aligned = inspect_kernel(vector_add_kernel, {**dict.fromkeys(pointers, "*fp32:16"), "n_elements": "i32:16"}, BLOCK_SIZE=1024)
    assert (plain.widest_load, plain.widest_store) == (4, 4)
    assert (aligned.widest_load, aligned.widest_store) == (16, 16)
    by_tensors = inspect_kernel(vector_add_kernel, FLOAT, FLOAT, FLOAT, 4096, BLOCK_SIZE=1024)
    assert re.sub(r"//.*|\.loc.*", "", aligned.ptx) == re.sub(r"//.*|\.loc.*", "", by_tensors.ptx)
    with pytest.raises(CompileError, match="missing a type for argument 'n_elements'"):
        inspect_kernel(vector_add_kernel, dict.fromkeys(pointers, "*fp32"), BLOCK_SIZE=1024)
    with pytest.raises(CompileError, match="missing a value for argument 'BLOCK_SIZE'"):
        inspect_kernel(vector_add_kernel, {**dict.fromkeys(pointers, "*fp32"), "n_elements": "i32"})
    with pytest.raises(CompileError, match="no argument is called 'z_ptr'"):
        inspect_kernel(copy_kernel, {"x_ptr": "*fp32", "out_ptr": "*fp32", "stride": "i32", "z_ptr": "i32"}, BLOCK_SIZE=64)


def test_the_summary():
    k = inspect_kernel(vector_add_kernel, FLOAT, FLOAT, FLOAT, 4096, BLOCK_SIZE=1024)
    assert re.sub(r"\d+ per thread", "26 per thread", str(k)) == textwrap.dedent("""\
        vector_add_kernel, compiled for H100 with 4 warps
          registers      26 per thread
          spills         none
          shared memory  none
          occupancy      16 blocks, 64 of 64 warps, limited by registers and warps
          widest load    16 B per lane
          widest store   16 B per lane
          tensor cores   not used
          async copies   none""")
    spilling = inspect_kernel(matmul_kernel, *SQUARE, 128, 256, 64, num_warps=4)
    assert re.search(
        r"spills         [\d,]+ B per thread\n  shared memory  [\d,]+ B per block\n  occupancy      1 block, 4 of", str(spilling)
    )
    assert "tensor cores   wgmma\n  async copies   cp.async" in str(spilling)


def test_instructions_are_counted_without_padding():
    small, large = (inspect_kernel(copy_kernel, FLOAT, FLOAT, 1, BLOCK_SIZE=size) for size in (512, 1024))
    addresses = [int(found, 16) for found in re.findall(r"/\*([0-9a-f]{4,})\*/ +[@A-Z]", small.sass)]
    last = int(re.findall(r"/\*([0-9a-f]{4,})\*/ +(?:@!?U?P\d+ +)?EXIT", small.sass)[-1], 16)
    assert small.instructions == addresses.index(last) + 1 < len(addresses)
    assert small.instructions < large.instructions < 2 * small.instructions


def test_excerpts():
    k = inspect_kernel(vector_add_kernel, FLOAT, FLOAT, FLOAT, 4096, BLOCK_SIZE=1024)
    loads = k.excerpt("ttgir", r"tt\.load").splitlines()
    assert len(loads) == 2 and all("tt.load" in line and "loc(" not in line and line[0] == "%" for line in loads)
    assert k.excerpt("ptx", r"ld\.global", lines=1).count("\n") == 0
    assert len(k.excerpt("ptx", r"\.reqntid", after=2).splitlines()) == 3
    assert "LDG" in k.excerpt("sass", "LDG.E.128") and "define" in k.excerpt("llir", "define") and "tt.store" in k.ttir
    assert k.excerpt("ptx", "wgmma") == "No line of the PTX matches 'wgmma'."
    with pytest.raises(ValueError, match="no stage; there are ttir, ttgir, llir, ptx, sass"):
        k.excerpt("cubin", "x")


# Occupancy. By hand: registers of a warp are rounded up to 256, warps fit per quarter of the SM (16,384 registers); shared
# memory is rounded up to 128 bytes (256 on a T4) after the 1,024 that the system takes from each block (none on a T4).


@pytest.mark.parametrize(
    "target, registers, shared, warps, blocks, limited_by",
    [
        ("H100", 32, 0, 4, 16, "registers and warps"),  # 1,024 a warp: 16 a quarter, 64 warps, 16 blocks
        ("H100", 16, 0, 1, 32, "blocks"),  # 64 warps would fit 64 blocks of one warp; an SM takes 32 blocks
        ("H100", 33, 0, 4, 12, "registers"),  # 1,056 -> 1,280: 12 a quarter, 48 warps
        ("A100", 255, 0, 4, 2, "registers"),  # 8,160 -> 8,192: 2 a quarter, 8 warps
        ("A100", 255, 0, 8, 1, "registers"),
        ("A100", 168, 0, 2, 6, "registers"),  # 5,376: 3 a quarter, 12 warps; 65,536 // 10,752 would be 6 as well
        ("A100", 200, 0, 2, 4, "registers"),  # 6,400: 2 a quarter, 8 warps; 65,536 // 12,800 would be 5
        ("A100", 64, 40 * 1024, 4, 4, "shared memory"),  # 41 KiB of 164
        ("A100", 64, 163 * 1024, 4, 1, "shared memory"),
        ("A100", 64, 163 * 1024 + 1, 4, 0, "shared memory"),  # more than a block may have
        ("H100", 64, 75 * 1024, 4, 3, "shared memory"),  # 76 KiB of 228
        ("H100", 64, 75 * 1024 + 1, 4, 2, "shared memory"),  # rounded up to 76 KiB + 128
        ("H100", 128, 113 * 1024, 8, 2, "registers and shared memory"),  # 4,096: 16 warps; 114 KiB of 228
        ("T4", 32, 0, 4, 8, "warps"),  # 64 warps of registers, but 32 may be there
        ("T4", 40, 16 * 1024, 1, 4, "shared memory"),  # 16 KiB of 64, nothing reserved
        ("T4", 16, 0, 1, 16, "blocks"),
        ("B200", 255, 0, 32, 0, "registers"),  # 32 x 8,192 registers are four times what there is
        ("H200", 64, 0, 32, 1, "registers"),  # 2,048: 32 warps
    ],
)
def test_occupancy_by_hand(target, registers, shared, warps, blocks, limited_by):
    o = occupancy(registers, shared, warps, target)
    assert (o.blocks, o.warps, o.limited_by) == (blocks, blocks * warps, limited_by)
    assert o.share == blocks * warps / (32 if target == "T4" else 64) and min(o.limits.values()) == blocks


def test_tensor_memory_limits_blocks():
    assert occupancy(64, 0, 4, "B200", tensor_memory=256).limited_by == "tensor memory"
    assert occupancy(64, 0, 4, "B200", tensor_memory=256).blocks == 2


def test_targets_by_name():
    assert find_target("h100").arch == 90 and find_target(TARGETS["T4"]).name == "T4"
    with pytest.raises(ValueError, match="'V100' is no target; there are T4, A100, H100, H200, B200"):
        occupancy(32, 0, 4, "V100")
    with pytest.raises(ValueError, match="1 to 255 registers"):
        occupancy(300, 0, 4)


# Refusals

SIGNATURE = "@triton.jit\ndef kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n    offs = tl.arange(0, BLOCK)\n"
REFUSED = {
    "print": (
        "print(offs)\ntl.store(out_ptr + offs, 1.0)",
        "line 4 of kernel, `print(offs)`: the compiler's `print` takes a text first, and then values.",
        "Write `print(\"pid\", pid)`, or take it out.",
    ),
    "tile from a start": (
        "for start in range(0, n, 16):\n    more = tl.arange(start, start + 16)\n    tl.store(out_ptr + more, 1.0)",
        "line 5 of kernel, `more = tl.arange(start, start + 16)`: arange's arguments must be of type tl.constexpr.",
        "A tile starts at a number that is known when the kernel is compiled. Add what is not to the tile: "
        "`start + tl.arange(0, BLOCK_SIZE)`.",
    ),
    "after the loop": (
        "for i in range(n):\n    SCALE = tl.load(x_ptr + i)\ntl.store(out_ptr + offs, SCALE)",
        "line 6 of kernel, `tl.store(out_ptr + offs, SCALE)`: SCALE is not defined here.",
        "`SCALE` exists only inside the loop or the `if` that sets it: use it there, or give it a value before.",
    ),
    "break": (
        "for i in range(n):\n    if i > 2:\n        break\ntl.store(out_ptr + offs, 1.0)",
        "line 6 of kernel, `break`: unsupported Break.",
        "A kernel has no break: put the condition into the bounds of the loop, or into a mask.",
    ),
    "dictionary": (
        "scale = {'a': 2}\ntl.store(out_ptr + offs, scale['a'])",
        "line 4 of kernel, `scale = {'a': 2}`: unsupported Dict.",
        "A kernel has no lists and dictionaries: use a variable for each value, or a tile.",
    ),
    "list": (
        "parts = [i for i in range(4)]\ntl.store(out_ptr + offs, parts[0])",
        "line 4 of kernel, `parts = [i for i in range(4)]`: only tuple comprehensions are supported.",
        "A kernel has no lists and dictionaries: use a variable for each value, or a tile.",
    ),
    "numpy": (
        "x = tl.load(x_ptr + offs)\ntl.store(out_ptr + offs, np.abs(x))",
        "line 5 of kernel, `tl.store(out_ptr + offs, np.abs(x))`: Unsupported function referenced: absolute.",
        "NumPy, PyTorch and Python modules do not exist in a kernel: use tl.abs.",
    ),
    "torch": (
        "tl.store(out_ptr + offs, torch.exp(tl.load(x_ptr + offs)))",
        "line 4 of kernel, `tl.store(out_ptr + offs, torch.exp(tl.load(x_ptr + offs)))`: Unsupported function referenced: exp.",
        "NumPy, PyTorch and Python modules do not exist in a kernel: use tl.exp.",
    ),
    "python helper": (
        "tl.store(out_ptr + offs, plain(tl.load(x_ptr + offs)))",
        "line 4 of kernel, `tl.store(out_ptr + offs, plain(tl.load(x_ptr + offs)))`: Unsupported function referenced: plain.",
        "A kernel calls only kernels and Triton's functions: put @triton.jit above plain.",
    ),
    "and": (
        "mask = (offs < n) and (offs > 2)\ntl.store(out_ptr + offs, 1.0, mask=mask)",
        "line 4 of kernel, `mask = (offs < n) and (offs > 2)`: `and` is deprecated for non-scalar tensors.",
        "Write `&` between tiles, with both sides in parentheses: `(i < m) & (j < n)`.",
    ),
    "or over two lines": (
        "if n > 2 or n < 1:\n    offs += 1\nmask = (offs < n) | (offs > 9)\nmask = mask or (\n    offs > 4)\ntl.store(out_ptr + offs, 1.0, mask=mask)",
        "line 7 of kernel, `mask = mask or (`: `or` is deprecated for non-scalar tensors.",
        "Write `|` between tiles, with both sides in parentheses: `(i < m) | (j < n)`.",
    ),
    "if": (
        "if offs < n:  # every one\n    tl.store(out_ptr + offs, 1.0)",
        "line 4 of kernel, `if offs < n:`: Boolean value of Tensor with more than one value is ambiguous.",
        "A tile has many truth values: use `&`, `|` and `~`, and `tl.where` or a mask instead of `if`.",
    ),
    "loop type": (
        "total = 0\nfor i in range(n):\n    total += tl.load(x_ptr + i)\ntl.store(out_ptr, total)",
        "line 5 of kernel, `for i in range(n):`: Loop-carried variable total has initial type int32 but is re-assigned to fp32 in loop.",
        "Give `total` its final type before the loop: `total = 0.0`, or `total = tl.zeros([...], tl.float32)` where it is a tile.",
    ),
    "loop shape": (
        "total = 0.0\nfor i in range(n):\n    total = total + tl.load(x_ptr + offs)\ntl.store(out_ptr + offs, total)",
        "line 5 of kernel, `for i in range(n):`: Loop-carried variable total has initial type fp32 but is re-assigned to "
        "a tile [64] of fp32 in loop.",
        "`total` is one number before the loop and a tile after it: start with `total = tl.zeros([BLOCK_SIZE], tl.float32)`, "
        "or whatever the sides of the tile are.",
    ),
    "born in if": (
        "if n > 3:\n    x = tl.load(x_ptr + offs)\ntl.store(out_ptr + offs, x)",
        "line 6 of kernel, `tl.store(out_ptr + offs, x)`: x is not defined.",
        "Give `x` a value before the `if` or the loop in which it is first set.",
    ),
    "misspelt": (
        "tl.store(out_ptr + ofs, 1.0)",
        "line 4 of kernel, `tl.store(out_ptr + ofs, 1.0)`: ofs is not defined.",
        "Set `ofs` before this line, pass it to the kernel, or correct its spelling.",
    ),
    "builtin": (
        "tl.store(out_ptr, sum(tl.load(x_ptr + offs)))",
        "line 4 of kernel, `tl.store(out_ptr, sum(tl.load(x_ptr + offs)))`: sum is not defined.",
        "Python's sum does not exist in a kernel: use tl.sum.",
    ),
    "no constexpr": (
        "tl.store(out_ptr + tl.arange(0, n), 1.0)",
        "line 4 of kernel, `tl.store(out_ptr + tl.arange(0, n), 1.0)`: arange's arguments must be of type tl.constexpr.",
        "The size of a tile is known when the kernel is compiled: declare it `BLOCK_SIZE: tl.constexpr` in the signature.",
    ),
    "zeros of a run-time size": (
        "acc = tl.zeros((n,), tl.float32)\ntl.store(out_ptr + offs, acc)",
        "line 4 of kernel, `acc = tl.zeros((n,), tl.float32)`: Shape element 0 must have type `int`, got `tensor.",
        "The size of a tile is known when the kernel is compiled: declare it `BLOCK_SIZE: tl.constexpr` in the signature.",
    ),
    "arange": (
        "tl.store(out_ptr + tl.arange(0, 24), 1.0)",
        "line 4 of kernel, `tl.store(out_ptr + tl.arange(0, 24), 1.0)`: arange's range must be a power of 2.",
        "Tiles have powers of two: use the next one and a mask (`triton.next_power_of_2(n)` in the launcher).",
    ),
    "global": (
        "tl.store(out_ptr + offs, tl.load(x_ptr + offs) * SCALE)",
        "line 4 of kernel, `tl.store(out_ptr + offs, tl.load(x_ptr + offs) * SCALE)`: "
        "Cannot access global variable SCALE from within a kernel.",
        "Pass `SCALE` as an argument, or write `SCALE = tl.constexpr(...)` outside the kernel.",
    ),
    "element": (
        "x = tl.load(x_ptr + offs)\ntl.store(out_ptr, x[0])",
        "line 5 of kernel, `tl.store(out_ptr, x[0])`: unsupported tensor index: 0.",
        "The elements of a tile cannot be picked or set: load them with pointers of their own, or use `tl.where` and a reduction.",
    ),
    "two targets": (
        "a = b = 1\ntl.store(out_ptr + offs, a + b)",
        "line 4 of kernel, `a = b = 1`: Simultaneous multiple assignment is not supported.",
        "Write one assignment a line.",
    ),
    "integer mask": (
        "tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs))",
        "line 4 of kernel, `tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs))`: 'tt.load' op operand #1 must be",
        "A mask is a comparison, such as `offs < n`.",
    ),
    "shapes": (
        "tl.store(out_ptr + offs, tl.load(x_ptr + tl.arange(0, 16)))",
        "line 4 of kernel, `tl.store(out_ptr + offs, tl.load(x_ptr + tl.arange(0, 16)))`: "
        "Cannot make_shape_compatible: incompatible dimensions at index 0: 64 and 16.",
        "Make the shapes fit with `[:, None]` and `[None, :]`.",
    ),
}  # fmt: skip


def refused(source, *arguments, target="H100", **named):
    kernel = cell(
        source, scope={"tl": tl, "triton": triton, "np": np, "torch": torch, "SCALE": 3, "plain": plain, "__name__": "c"}
    )
    with pytest.raises(CompileError) as caught:
        compile_gate(kernel, arguments or (FLOAT, FLOAT, 17, 64), named, target)
    return caught.value


def plain(x):
    return 2 * x


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_compiler_refuses(name, capfd):
    body, words, advice = REFUSED[name]
    error = refused(SIGNATURE + textwrap.indent(body, "    "))
    message = str(error).splitlines()
    assert message[0].startswith(f"The compiler refuses {words}") and message[1:] == [advice]
    assert error.text in words and f"line {error.line} " in words and error.kernel == "kernel" and error.target.name == "H100"
    assert capfd.readouterr() == ("", "")


def test_a_dot_that_is_too_small():
    error = refused("""\
        @triton.jit
        def kernel(x_ptr, out_ptr):
            m, k = tl.arange(0, 32), tl.arange(0, 4)
            a = tl.load(x_ptr + m[:, None] * 4 + k[None, :])
            b = tl.load(x_ptr + k[:, None] * 32 + m[None, :])
            tl.store(out_ptr + m[:, None] * 32 + m[None, :], tl.dot(a, b))
        """, FLOAT, FLOAT)  # fmt: skip
    assert error.line == 6 and re.search(r"K >= (8|16)", error.words)
    assert re.fullmatch(r"tl.dot needs at least (8|16) along K for this type: use a larger BLOCK_K, .*", error.advice)


def test_an_error_in_a_helper_names_the_helper():
    error = refused("""\
        @triton.jit
        def half(x):
            return x[0] / 2


        @triton.jit
        def kernel(x_ptr, out_ptr):
            tl.store(out_ptr, half(tl.load(x_ptr + tl.arange(0, 16))))
        """, FLOAT, FLOAT)  # fmt: skip
    assert (error.kernel, error.line, error.text) == ("half", 3, "return x[0] / 2")


def test_arguments_that_do_not_fit():
    assert "missing 1 required positional argument: 'BLOCK'.\nPass 'BLOCK' to the kernel." in str(
        refused(SIGNATURE, FLOAT, FLOAT, 4)
    )
    error = refused(SIGNATURE, FLOAT, FLOAT, 4, 64, num_warp=4)
    assert error.words == "Keyword argument num_warp was specified but unrecognised" and error.line is None
    assert error.advice == "num_warp is neither an argument of the kernel nor a launch option such as num_warps"
    error = refused(SIGNATURE, FLOAT, FLOAT, 4, 64, num_warps=4.0)
    assert str(error) == (
        "The compiler refuses kernel: num_warps is 4.0, which is no whole number.\n`//` divides whole numbers, and gives one."
    )
    error = refused(SIGNATURE, FLOAT, [1], 4, 64)
    assert str(error) == (
        "The compiler refuses kernel: failed to specialize argument of type: list.\nPass tensors and numbers to a kernel."
    )
    with pytest.raises(TypeError, match="'plain' is no kernel: it needs @triton.jit"):
        inspect_kernel(plain, FLOAT)


def test_a_block_too_large_for_the_target():
    arguments = (*SQUARE, 128, 128, 64)
    assert compile_gate(matmul_kernel, arguments, {"num_stages": 4, "num_warps": 8}, "A100").shared_dynamic <= 163 * 1024
    with pytest.raises(CompileError) as caught:
        compile_gate(matmul_kernel, arguments, {"num_stages": 7, "num_warps": 8}, "A100")
    assert re.fullmatch(
        r"The compiler refuses matmul_kernel: a block needs 1\d\d,\d{3} B of shared memory, and A100 has 166,912 for it\.\n"
        "Use smaller tiles, a smaller num_stages, or a smaller dtype.",
        str(caught.value),
    )
    large = inspect_kernel(matmul_kernel, *arguments, num_stages=7, num_warps=8, target="A100")
    assert large.occupancy.blocks == 0 and large.occupancy.limited_by == "shared memory"


def test_right_kernels_pass_in_silence(capfd):
    k = compile_gate(vector_add_kernel, (FLOAT, FLOAT, FLOAT, 4096), {"BLOCK_SIZE": 256, "num_warps": 8}, "A100")
    assert (k.num_warps, k.target.name, k.name) == (8, "A100", "vector_add_kernel")
    compile_gate(mixed_kernel, (FLOAT, FLOAT))
    assert capfd.readouterr() == ("", "")


def test_a_blank_is_reported_as_a_blank():
    kernel = cell(SIGNATURE + "    tl.store(out_ptr + offs, ______)")
    with pytest.raises(BlankLeft, match=r"kernel still has 1 blank: line 4, `tl.store\(out_ptr \+ offs, ______\)`"):
        compile_gate(kernel, (FLOAT, FLOAT, 17, 64))


# Compiling again


def test_a_kernel_is_compiled_once_and_again_when_something_changes():
    first = inspect_kernel(copy_kernel, FLOAT, FLOAT, 1, 128)
    assert inspect_kernel(copy_kernel, FLOAT.clone(), FLOAT, 1, 128) is first
    others = [
        inspect_kernel(copy_kernel, FLOAT, FLOAT, 2, 128),
        inspect_kernel(copy_kernel, FLOAT.half(), FLOAT, 1, 128),
        inspect_kernel(copy_kernel, FLOAT, FLOAT, 1, 256),
        inspect_kernel(copy_kernel, FLOAT, FLOAT, 1, 128, num_warps=1),
        inspect_kernel(copy_kernel, FLOAT, FLOAT, 1, 128, target="H200"),
    ]
    assert len({id(k) for k in [first, *others]}) == 6 and others[-1].target.name == "H200"


def test_a_result_can_be_copied_and_pickled():
    """A check copies the arguments of an answer, and a result may be one of them."""
    k = inspect_kernel(copy_kernel, FLOAT, FLOAT, 1, 256, num_warps=2)
    assert copy.deepcopy([k]) == [k]
    assert pickle.loads(pickle.dumps(k)).registers == k.registers


def test_a_redefined_helper_or_constant_is_seen():
    scope = {"tl": tl, "triton": triton, "__name__": "cells"}
    cell("@triton.jit\ndef change(x):\n    return x + FACTOR\nFACTOR = tl.constexpr(1)", "change", scope)
    kernel = cell("@triton.jit\ndef kernel(x_ptr):\n    tl.store(x_ptr, change(tl.load(x_ptr)))", "kernel", scope)
    assert "arith.addf" in inspect_kernel(kernel, FLOAT).ttir
    cell("@triton.jit\ndef change(x):\n    return x * FACTOR", "change", scope)
    assert "arith.mulf" not in inspect_kernel(kernel, FLOAT).ttir  # times one
    scope["FACTOR"] = tl.constexpr(7)
    assert "arith.mulf" in inspect_kernel(kernel, FLOAT).ttir and "7.0" in inspect_kernel(kernel, FLOAT).ttir


def test_autotuned_kernels_and_heuristics():
    configs = [triton.Config({"BLOCK_SIZE": 2048}, num_warps=8), triton.Config({"BLOCK_SIZE": 64}, num_warps=1)]
    tuned = triton.autotune(configs, key=["n_elements"])(vector_add_kernel)
    assert inspect_kernel(tuned, FLOAT, FLOAT, FLOAT, 4096).num_warps == 8
    assert "tensor<2048xf32" in inspect_kernel(tuned, FLOAT, FLOAT, FLOAT, 4096).ttir
    assert inspect_kernel(tuned, FLOAT, FLOAT, FLOAT, 4096, BLOCK_SIZE=64, num_warps=2).num_warps == 2
    sized = triton.heuristics({"BLOCK_SIZE": lambda a: triton.next_power_of_2(a["n_elements"])})(vector_add_kernel)
    assert "tensor<512xf32" in inspect_kernel(sized, FLOAT, FLOAT, FLOAT, 300).ttir


def test_threads():
    results = {}

    def work(size):
        results[size] = inspect_kernel(copy_kernel, FLOAT, FLOAT, 5, size).ttir

    threads = [threading.Thread(target=work, args=(2**n,)) for n in range(5, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f"tensor<{size}x!tt.ptr" in results[size] for size in (32, 64, 128, 256))


def test_the_lock_is_the_interpreters_where_that_is_loaded(monkeypatch):
    lock = threading.RLock()
    monkeypatch.setitem(sys.modules, "tiles.interpreter.dispatch", types.SimpleNamespace(LOCK=lock))
    assert build_module._lock() is lock
    monkeypatch.delitem(sys.modules, "tiles.interpreter.dispatch")
    assert build_module._lock() is build_module._OWN_LOCK


def test_nothing_is_compiled_while_a_kernel_is_interpreted(monkeypatch):
    monkeypatch.setattr(tl, "load", lambda pointer: None)
    with pytest.raises(RuntimeError, match="compile before the launch or after it"):
        inspect_kernel(copy_kernel, FLOAT, FLOAT, 1, 128)


def test_no_triton(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(NoCompiler, match="compiler is not installed here .* The NumPy lessons run without it"):
        inspect_kernel(None)
    assert occupancy(32, 0, 4).blocks == 16


def test_the_interpreter_switch(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(NoCompiler, match="Unset it, restart Python"):
        inspect_kernel(copy_kernel, FLOAT, FLOAT, 1, 128)


def test_importing_needs_neither_torch_nor_triton():
    code = "import sys, tiles.compiled as c; assert not {'torch', 'triton'} & set(sys.modules); c.lane_elements; c.occupancy(32, 0, 4)"
    subprocess.run([sys.executable, "-c", code], check=True)


# Lanes


@pytest.mark.parametrize(
    "line, moved",
    [
        ("@%p1 ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];", ("load", 16)),
        ("ld.global.L1::evict_last.L2::cache_hint.v2.b64 { %rd1, %rd2 }, [ %rd3 + 0 ], %rd4;", ("load", 16)),
        ("\tld.global.nc.v8.b32 { %r1 }, [ %rd1 + 0 ];", ("load", 32)),
        ("@!%p2 st.global.b16 [ %rd5 + 0 ], { %rs1 };", ("store", 2)),
        ("cp.async.cg.shared.global [ %r2 + 0 ], [ %rd4 + 0 ], 0x10, %r1;", ("load", 16)),
        ("atom.global.gpu.acq_rel.add.noftz.f16x2 %r1, [ %rd2 + 0 ], %r3;", ("atomic", 4)),
        ("red.global.add.f32 [ %rd2 + 0 ], %r3;", ("atomic", 4)),
        ("ld.param.b64 %rd7, [add_param_0];", None),
        ("st.shared.v4.b32 [ %r1 + 0 ], { %r2, %r3, %r4, %r5 };", None),
        ("cp.async.wait_group 0x1;", None),
    ],
)
def test_instructions_that_reach_global_memory(line, moved):
    assert instruction_bytes(line) == moved


def blocked(per_thread, lanes, warps, order):
    return f"#ttg.blocked<{{sizePerThread = {per_thread}, threadsPerWarp = {lanes}, warpsPerCTA = {warps}, order = {order}}}>"


def holders(per_thread, lanes, warps, order, shape):
    """Which (lane, warp) hold an element, by the definition: tiles of threads, repeated until the shape is covered."""
    span = [p * t * w for p, t, w in zip(per_thread, lanes, warps)]
    held = {index: set() for index in itertools.product(*map(range, shape))}
    for lane, warp in itertools.product(range(32), range(int(np.prod(warps)))):
        position = []
        for number, counts in ((lane, lanes), (warp, warps)):
            digits = [0] * len(shape)
            for axis in order:
                number, digits[axis] = divmod(number, counts[axis])
            position.append(digits)
        starts = [(w * t + i) * p for i, w, p, t in zip(position[0], position[1], per_thread, lanes)]
        for steps in itertools.product(*map(range, per_thread)):
            first = [start + step for start, step in zip(starts, steps)]
            ranges = [range(f % size, size, span) for f, span, size in zip(first, span, shape)]
            for index in itertools.product(*ranges):
                held[index].add((lane, warp))
    return held


@pytest.mark.parametrize(
    "per_thread, lanes, warps, order, shape",
    [
        ([4], [32], [4], [0], (1024,)),
        ([4], [32], [4], [0], (64,)),
        ([1, 4], [4, 8], [4, 1], [1, 0], (32, 32)),
        ([4, 1], [8, 4], [1, 4], [0, 1], (32, 32)),
        ([1, 8], [1, 32], [8, 1], [1, 0], (16, 16)),
        ([2, 2], [8, 4], [2, 2], [1, 0], (64, 8)),
        ([1, 1, 2], [2, 4, 4], [1, 2, 1], [2, 0, 1], (4, 8, 16)),
    ],
)
def test_blocked_layouts_by_their_definition(per_thread, lanes, warps, order, shape):
    elements = lane_elements(blocked(per_thread, lanes, warps, order), shape)
    held = {index: set() for index in itertools.product(*map(range, shape))}
    for _, warp, lane in np.ndindex(elements.shape):
        held[tuple(int(i) for i in np.unravel_index(elements[_, warp, lane], shape))].add((lane, warp))
    assert held == holders(per_thread, lanes, warps, order, shape)
    assert all(len(np.unique(elements[:, w, lane])) == len(elements) for w in range(elements.shape[1]) for lane in (0, 31))


def test_a_slice_is_the_parent_without_an_axis():
    parent = blocked([1, 4], [4, 8], [4, 1], [1, 0])
    columns = lane_elements(f"#ttg.slice<{{dim = 0, parent = {parent}}}>", (32,))
    assert columns.shape == (4, 4, 32) and list(columns[:, 0, 1]) == [4, 5, 6, 7] and (columns[:, 0] == columns[:, 3]).all()
    rows = lane_elements(f"#ttg.slice<{{dim = 1, parent = {parent}}}>", (32,))
    assert rows.shape == (2, 4, 32) and list(rows[:, 1, 8]) == [5, 21]


def test_a_linear_layout_and_those_that_are_not_read():
    text = "#ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [], block = []}>"
    elements = lane_elements(text, (16, 8))
    assert (
        elements.shape == (4, 1, 32) and list(elements[:, 0, 0]) == [0, 1, 64, 65] and list(elements[0, 0, :5]) == [0, 2, 4, 6, 8]
    )
    assert (
        lane_elements(
            "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 4], instrShape = [16, 8]}>", (16, 8)
        )
        is None
    )


@pytest.mark.parametrize(
    "kind, text", [("load", "x = tl.load(x_ptr + offs[:, None] + offs"), ("store", "tl.store(out_ptr + offs[:, None] + offs")]
)
def test_a_column_major_tile_moves_128_sectors_and_not_1024(kind, text):
    k = inspect_kernel(column_major_kernel, torch.zeros(64, 64), torch.zeros(64, 64), 64, 32)
    access = k.access(kind, line_of(text), (32, 32))
    addresses = 4 * (np.arange(32)[:, None] + 64 * np.arange(32)[None, :])
    in_c_order = sum(len(np.unique(warp // 32)) for warp in addresses.reshape(-1, 32))
    assert (access.sectors(addresses), in_c_order) == (128, 1024)
    assert access.elements.shape == (2, 4, 32, 4) and access.vector == 4
    assert access.sectors(addresses, mask=np.arange(32)[None, :] < 16) == 64


@pytest.mark.parametrize("stride", [1, 2, 4, 8, 16, 32])
def test_strided_copies(stride):
    x = torch.zeros(256 * stride)
    k = inspect_kernel(copy_kernel, x, torch.zeros(256), stride, 256)
    load, store = (
        k.access("load", line_of("x = tl.load(x_ptr + offs * stride)")),
        k.access("store", line_of("tl.store(out_ptr + offs, x)")),
    )
    offsets = 4 * np.arange(256)
    assert store.sectors(offsets) == 32 * (1 if store.vector > 1 or store.elements.shape[0] == 1 else 4)
    touched = load.sectors(offsets * stride)
    assert touched >= 256 * 4 * min(stride, 8) // 32
    if stride == 1:
        assert load.vector == 2 and touched == 32  # 128 threads, two elements each
    else:
        assert load.vector == 1 and touched == 2 * 4 * min(32, 4 * 2 * stride)  # two instructions of four warps


def test_lanes_that_repeat_load_again_but_store_once():
    k = inspect_kernel(mixed_kernel, FLOAT, FLOAT)
    line = {name: line_of(text) for name, text in (("first", "first = tl.load"), ("atomic", "tl.atomic_add(out"), ("scalar", "tl.store(out_ptr, first"), ("x", "x = load_row"), ("helper", "return tl.load"), ("tile", "sums = tl.sum"), ("out", "tl.store(out_ptr + 32 + offs, sums"))}  # fmt: skip
    addresses = 4 * np.arange(1024).reshape(32, 32)
    assert k.access("load", line["first"]).sectors(np.array(0)) == 4  # four warps, one sector each
    assert k.access("store", line["scalar"]).sectors(np.array(0)) == 1
    assert k.access("atomic", line["atomic"]).sectors(np.array(0)) == 1
    assert k.access("load", line["helper"]).sectors(addresses[0]) == 16  # 32 elements, loaded by all four warps
    assert k.access("store", line["out"]).sectors(addresses[0]) == 4
    assert k.access("load", line["tile"]).sectors(addresses) == 128
    assert k.access("load", line["x"]).shape == (32,) and len([a for a in k.accesses if a.line == line["x"]]) == 2
    assert k.access("load", line["out"]) is None and k.access("load", line["tile"], shape=(32,)) is None


def test_every_element_is_moved_by_somebody():
    k = inspect_kernel(matmul_kernel, *SQUARE, 64, 128, 32, num_warps=8)
    assert [a.kind for a in k.accesses] == ["load", "load", "store"]
    for access in k.accesses:
        assert set(access.elements.reshape(-1)) - {-1} == set(range(int(np.prod(access.shape)))) and access.itemsize == 2
        rows = np.arange(access.shape[0])[:, None] * 1024 + np.arange(access.shape[1])[None, :] * 2
        assert access.sectors(rows) == np.prod(access.shape) * 2 // 32


# In Jupyter, and on a GPU


def test_in_jupyter(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cells = [
        "import torch, triton, triton.language as tl\nfrom tiles.compiled import compile_gate, inspect_kernel",
        "@triton.jit\ndef twice(x):\n    return x + x",
        "@triton.jit\ndef kernel(x_ptr):\n    tl.store(x_ptr, twice(tl.load(x_ptr)))",
        "x = torch.zeros(64)\nprint('addf' in inspect_kernel(kernel, x).ttir)",
        "@triton.jit\ndef twice(x):\n    return x * 5",
        "print('mulf' in inspect_kernel(kernel, x).ttir, [a.line for a in inspect_kernel(kernel, x).accesses])",
        "# a comment\n@triton.jit\ndef wrong(x_ptr):\n    tl.store(x_ptr, np.abs(tl.load(x_ptr)))",
        "compile_gate(wrong, (x,))",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    nbclient.NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert not any(o.get("name") == "stderr" for cell in outputs for o in cell)
    assert outputs[3][0].text == "True\n" and outputs[5][0].text == "True [3, 3]\n"
    assert (
        outputs[7][0]
        .traceback[0]
        .startswith("The compiler refuses line 4 of wrong, `tl.store(x_ptr, np.abs(tl.load(x_ptr)))`: np is not defined.")
    )


@pytest.mark.skipif(not torch.cuda.is_available(), reason="compares with a launch on a GPU")
@pytest.mark.parametrize(
    "kernel, grid, arguments, options",
    [
        (vector_add_kernel, (4,), (FLOAT, FLOAT, FLOAT, 4096, 1024), {}),
        (softmax_kernel, (4,), (FLOAT, FLOAT, 1024, 1000, 1024), {"num_warps": 8}),
        (matmul_kernel, (4, 2), (*SQUARE, 128, 256, 64), {"num_warps": 4}),
        (matmul_kernel, (4, 2), (*SQUARE, 128, 256, 64), {"num_warps": 8}),
        (matmul_kernel, (8, 8), (*SQUARE, 64, 64, 32), {"num_warps": 4, "num_stages": 4}),
    ],
)
def test_figures_are_those_of_a_launch(kernel, grid, arguments, options):
    name = next((n for n in ("A100", "H100", "H200", "B200") if n in torch.cuda.get_device_name()), None)
    if name is None:
        pytest.skip("no target describes this GPU")
    on_gpu = [a.cuda() if isinstance(a, torch.Tensor) else a for a in arguments]
    launched = kernel[grid](*on_gpu, **options)
    torch.cuda.synchronize()
    k = inspect_kernel(kernel, *on_gpu, target=name, **options)
    assert (k.registers, k.stack, k.shared_dynamic) == (launched.n_regs, 4 * launched.n_spills, launched.metadata.shared)
    cuda, blocks = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
    query = cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor
    function, shared = ctypes.c_void_p(launched.function), ctypes.c_size_t(k.shared_dynamic)
    assert query(ctypes.byref(blocks), function, 32 * k.num_warps, shared) == 0
    assert k.occupancy.blocks == blocks.value
