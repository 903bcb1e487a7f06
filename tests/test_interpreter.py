"""The strict interpreter: what the language can do in it, what it refuses and in which words, and what it counts."""

import concurrent.futures
import gc
import linecache
import os
import re
import select
import subprocess
import sys
import time
import types
from pathlib import Path

import kernels_helper
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from kernels_helper import doubled_relu
from triton.language.extra import libdevice
from triton.language.extra.libdevice import tanh as imported_tanh
from triton.tools.tensor_descriptor import TensorDescriptor

from tiles.blanks import BlankLeft
from tiles.compiled import inspect_kernel
from tiles.interpreter import KernelError, count, interpreted, limited, order, selftest
from tiles.interpreter.traffic import count_sectors
from tiles.interpreter.views import View

VERSION = tuple(map(int, triton.__version__.split(".")[:2]))
WIDTH = tl.constexpr(32)


def vector(n=32, seed=0):
    return torch.randn(n, generator=torch.Generator().manual_seed(seed))


CELLS = iter(range(10**6))


def cell(source, **names):
    """Run source as a notebook cell and return its globals; its first line is line 1."""
    file = f"/cells/{next(CELLS)}.py"
    source = source.strip("\n") + "\n"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {"triton": triton, "tl": tl, "torch": torch, "__name__": "__main__", **names}
    exec(compile(source, file, "exec"), scope)
    return scope


def kernel(source, **names):
    """The last kernel that a cell defines."""
    scope = cell(source, **names)
    return [value for value in scope.values() if isinstance(value, triton.runtime.jit.JITFunction)][-1]


# ------------------------------------------------------------------------------------------- what the language can do


@triton.jit
def relu(tile):
    return tl.where(tile > 0, tile, 0.0)


@triton.jit
def absolute(tile):
    return relu(tile) + relu(-tile)


@triton.jit
def add_relus(left, right):
    return relu(left) + relu(right)


@triton.jit
def larger_with_index(left, left_index, right, right_index):
    is_left = left > right
    return tl.where(is_left, left, right), tl.where(is_left, left_index, right_index)


@triton.jit
def nested_helpers(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    tl.store(out_ptr + offs, absolute(tl.load(x_ptr + offs)))


@triton.jit
def imported_helper(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    tl.store(out_ptr + offs, doubled_relu(tl.load(x_ptr + offs)))


@triton.jit
def helper_of_a_module(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    tl.store(out_ptr + offs, kernels_helper.doubled_relu(tl.load(x_ptr + offs)))


def _closure():
    @triton.jit
    def triple(tile):
        return tile * 3

    @triton.jit
    def closure(x_ptr, out_ptr):
        offs = tl.arange(0, 32)
        tl.store(out_ptr + offs, triple(tl.load(x_ptr + offs)))

    return closure


closure = _closure()


@triton.jit
def function_as_constant(x_ptr, out_ptr, FUNCTION: tl.constexpr = relu):
    offs = tl.arange(0, 32)
    tl.store(out_ptr + offs, FUNCTION(tl.load(x_ptr + offs)))


@triton.jit
def tensor_methods(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, x - x.sum(0) + x.max(0))


@triton.jit
def softmax(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    tl.store(out_ptr + offs, tl.softmax(tl.load(x_ptr + offs)))


@triton.jit
def sort(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    tl.store(out_ptr + offs, tl.sort(tl.load(x_ptr + offs)))


@triton.jit
def cumulative_sum(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    tl.store(out_ptr + offs, tl.cumsum(tl.load(x_ptr + offs), 0))


@triton.jit
def own_scan(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    tl.store(out_ptr + offs, tl.associative_scan(tl.load(x_ptr + offs), 0, add_relus))


@triton.jit
def loops(x_ptr, out_ptr, n=4):
    offs = tl.arange(0, 32)
    acc = tl.zeros((32,), tl.float32)
    for step in tl.range(0, n, num_stages=3, flatten=True):
        acc += tl.load(x_ptr + offs) * step
    for step in tl.static_range(3):
        acc += step
    for _ in range(0, n, 2):
        acc += 1
    for _ in range(n):
        acc += 1
    tl.static_assert(WIDTH == 32, "a global constant")
    tl.debug_barrier()
    tl.store(out_ptr + offs, acc)


@triton.jit
def hints(x_ptr, out_ptr, n=7):
    offs = tl.max_contiguous(tl.multiple_of(tl.arange(0, 32), 32), 32)
    tl.assume(n > 0)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs) + tl.cdiv(n, 3))


@triton.jit
def mathematics(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    x = tl.load(x_ptr + offs)
    y = tl.math.exp(x) + tl.sqrt(tl.abs(x)) + tl.sigmoid(x) + tl.math.rsqrt(x * x + 1) + tl.erf(x) + tl.floor(x)
    y += tl.maximum(x, 0.5) + tl.clamp(x, -1.0, 1.0) + tl.fma(x, x, x) + tl.log(x * x + 1) + tl.exp2(x)
    tl.store(out_ptr + offs, y)


def mathematics_reference(x):
    y = x.exp() + x.abs().sqrt() + x.sigmoid() + (x * x + 1).rsqrt() + x.erf() + x.floor()
    return y + x.clamp(min=0.5) + x.clamp(-1, 1) + x * x + x + (x * x + 1).log() + x.exp2()


@triton.jit
def libdevice_function(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    tl.store(out_ptr + offs, libdevice.tanh(tl.load(x_ptr + offs)))


@triton.jit
def libdevice_name(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    tl.store(out_ptr + offs, imported_tanh(tl.load(x_ptr + offs)))


@triton.jit
def global_constant(x_ptr, out_ptr, scale=2.0, BLOCK_SIZE: tl.constexpr = WIDTH):
    offs = tl.arange(0, BLOCK_SIZE)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs) * scale, mask=offs < WIDTH)


@triton.jit
def shapes(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    x = tl.load(x_ptr + offs)
    left, right = tl.split(tl.reshape(x, (16, 2)))
    swapped = tl.reshape(tl.join(right, left), (32,))
    y = tl.flip(tl.flip(x, 0), 0) + tl.gather(x, offs, 0) * 0 + tl.zeros_like(x) + tl.full((32,), 1.0, tl.float32)
    y += tl.permute(x[:, None], (1, 0)).reshape(32) * 0 + tl.broadcast_to(tl.sum(x, 0), (32,)) * 0
    y += tl.expand_dims(x, 0).reshape(32) * 0 + tl.interleave(left, right) + swapped * 0 + tl.ravel(x) * 0
    tl.store(out_ptr + offs, y)


@triton.jit
def early_return(x_ptr, out_ptr, n=1):
    offs = tl.arange(0, 32)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs))
    if n == 1:
        return
    tl.store(out_ptr + offs, 0.0)


def own_scan_reference(x):
    out = [x[0]]
    for value in x[1:]:
        out.append(out[-1].clamp(min=0) + value.clamp(min=0))
    return torch.stack(out)


ELEMENTWISE = [
    (nested_helpers, torch.abs),
    (imported_helper, lambda x: 2 * x.clamp(min=0)),
    (helper_of_a_module, lambda x: 2 * x.clamp(min=0)),
    (closure, lambda x: 3 * x),
    (function_as_constant, lambda x: x.clamp(min=0)),
    (tensor_methods, lambda x: x - x.sum() + x.max()),
    (softmax, lambda x: x.softmax(0)),
    (sort, lambda x: x.sort()[0]),
    (cumulative_sum, lambda x: x.cumsum(0)),
    (own_scan, own_scan_reference),
    (loops, lambda x: x * 6 + 3 + 2 + 4),
    (hints, lambda x: x + 3),
    (mathematics, mathematics_reference),
    (libdevice_function, torch.tanh),
    (libdevice_name, torch.tanh),
    (global_constant, lambda x: 2 * x),
    (shapes, lambda x: 2 * x + 1),
    (early_return, lambda x: x),
]


def run_elementwise(function, x=None):
    x = vector() if x is None else x
    out = torch.full((32,), 7.0)
    function[(1,)](x, out)
    return out


@pytest.mark.parametrize("function, reference", ELEMENTWISE, ids=[function.__name__ for function, _ in ELEMENTWISE])
def test_elementwise(function, reference):
    torch.testing.assert_close(run_elementwise(function), reference(vector()), rtol=1e-4, atol=1e-4)


WIDTHS = """
from triton.language import range as imported_range

@triton.jit
def loop(out_ptr, first, n, stride):
    for row in RANGE:
        tl.static_assert(row.dtype == tl.DTYPE)
        tl.store(out_ptr + row, row * stride)
"""


@pytest.mark.parametrize(
    "bounds, dtype",
    {
        "range(n)": "int32",
        "range(first, n)": "int32",
        "tl.range(0, n, num_stages=3)": "int32",
        "range(first.to(tl.int64), n, 1)": "int64",
        "range(first, n.to(tl.int64))": "int64",
        "tl.range(first.to(tl.int64), n, num_stages=3)": "int64",
        "tl.range(0, n, step=first.to(tl.int64) + 1)": "int64",
        "tl.core.range(0, n, first.to(tl.int64) + 1)": "int64",
        "imported_range(first.to(tl.int64), n)": "int64",
        "range(4, first, -1)": "int32",
    }.items(),
)
def test_a_loop_counts_in_the_width_of_its_bounds(bounds, dtype):
    """As the compiler has it: 32 bits overflow, on a GPU too, and 64 do not."""
    function = kernel(WIDTHS.replace("RANGE", bounds).replace("DTYPE", dtype))
    out = torch.zeros(5, dtype=torch.int64)
    inspect_kernel(function, out, 2, 5, 2**30)  # the compiler agrees about the width
    function[(1,)](out, 0, 5, 2**30)
    numbers = range(5)
    exact = [number * 2**30 for number in numbers]
    assert out.tolist() == (exact if dtype == "int64" else [(number + 2**31) % 2**32 - 2**31 for number in exact])


@pytest.mark.parametrize("bounds", ["range(0.5 * n)", "range(n + tl.arange(0, 4))", "range(0, n, 0)"])
def test_loops_that_count_no_whole_numbers(bounds):
    with pytest.raises(KernelError):
        kernel(WIDTHS.replace("RANGE", bounds).replace("DTYPE", "int32"))[(1,)](torch.zeros(5, dtype=torch.int64), 0, 5, 1)


@triton.jit
def reductions(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 32))
    tl.store(out_ptr, tl.sum(x))
    tl.store(out_ptr + 1, tl.max(x))
    tl.store(out_ptr + 2, tl.argmax(x, 0).to(tl.float32))
    tl.store(out_ptr + 3, tl.min(x))
    tl.store(out_ptr + 4, tl.argmin(x, 0).to(tl.float32))
    largest, position = tl.max(x, 0, return_indices=True)
    tl.store(out_ptr + 5, largest + position)


def test_reductions():
    x, out = vector(), torch.zeros(6)
    reductions[(1,)](x, out)
    torch.testing.assert_close(out, torch.tensor([x.sum(), x.max(), x.argmax(), x.min(), x.argmin(), x.max() + x.argmax()]))


@triton.jit
def own_reductions(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    x = tl.load(x_ptr + offs)
    largest, position = tl.reduce((x, offs), 0, larger_with_index)
    tl.store(out_ptr, largest)
    tl.store(out_ptr + 1, position.to(tl.float32))
    tl.store(out_ptr + 2, tl.reduce(tl.abs(x), 0, add_relus))


def test_own_reductions():
    x, out = vector(), torch.zeros(3)
    own_reductions[(1,)](x, out)
    torch.testing.assert_close(out, torch.tensor([x.max(), x.argmax(), x.abs().sum()]))


@triton.jit
def dot_kernel(a_ptr, b_ptr, out_ptr, PRECISION: tl.constexpr):
    offs = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    product = tl.dot(tl.load(a_ptr + offs), tl.trans(tl.load(b_ptr + offs)), input_precision=PRECISION)
    tl.store(out_ptr + offs, product)


@pytest.mark.parametrize("precision, dtype", [("ieee", torch.float32), ("tf32", torch.float32), ("ieee", torch.float16)])
def test_dot(precision, dtype):
    a, out = vector(256).view(16, 16).to(dtype), torch.empty(16, 16)
    dot_kernel[(1,)](a, a, out, precision)
    torch.testing.assert_close(out, a.float() @ a.float().T, rtol=1e-5, atol=1e-5)


@triton.jit
def print_kernel(out_ptr):
    offs = tl.arange(0, 32)
    tl.device_print("program", tl.program_id(0))
    tl.device_assert(offs < 0, "silent, as on a GPU without TRITON_DEBUG")
    tl.static_print("static")
    tl.store(out_ptr + offs, 1.0)


def test_prints(capfd):
    print_kernel[(1,)](torch.zeros(32))
    said = capfd.readouterr()
    assert "program" in said.out and "static" in said.out and said.err == ""


@triton.jit
def atomics_kernel(x_ptr, out_ptr, counts_ptr):
    offs = tl.arange(0, 32)
    tl.atomic_add(out_ptr + offs * 0, tl.load(x_ptr + offs))
    tl.atomic_max(counts_ptr + offs * 0, offs)
    tl.atomic_cas(counts_ptr + 1, 0, 5)
    tl.atomic_xchg(counts_ptr + 2, 9)


def test_atomics():
    x, out, counts = vector(), torch.zeros(1), torch.zeros(4, dtype=torch.int32)
    atomics_kernel[(1,)](x, out, counts)
    torch.testing.assert_close(out[0], x.sum())
    assert counts.tolist() == [31, 5, 9, 0]


@triton.jit
def device_descriptor_kernel(x_ptr, out_ptr, M, N):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [8, 16])
    out = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [8, 16])
    out.store([8, 0], x.load([8, 0]) * 2)


@triton.jit
def host_descriptor_kernel(x_desc, out_desc, row):
    out_desc.store([row, 0], x_desc.load([row, 0]) + 1)


def test_descriptors():
    x, out = vector(256).view(16, 16), torch.zeros(16, 16)
    device_descriptor_kernel[(1,)](x, out, 16, 16)
    assert torch.equal(out[8:], x[8:] * 2) and not out[:8].any()
    with count() as traffic:
        host_descriptor_kernel[(1,)](TensorDescriptor.from_tensor(x, [8, 16]), TensorDescriptor.from_tensor(out, [8, 16]), 8)
    assert torch.equal(out[8:], x[8:] + 1)
    assert traffic.loaded == {"x_desc": 512} and traffic.stored == {"out_desc": 512}


def test_a_descriptor_masks_its_ragged_tail():
    x, out = vector(10 * 16).view(10, 16), torch.zeros(10, 16)
    host_descriptor_kernel[(1,)](TensorDescriptor.from_tensor(x, [8, 16]), TensorDescriptor.from_tensor(out, [8, 16]), 8)
    assert torch.equal(out[8:], x[8:] + 1)


@triton.jit
def random_kernel(out_ptr, seed):
    offs = tl.arange(0, 256)
    tl.store(out_ptr + offs, tl.rand(seed, offs))


def test_random_numbers():
    out = torch.zeros(256)
    random_kernel[(1,)](out, 42)
    assert 0.4 < out.mean() < 0.6 and out.std() > 0.2


@triton.jit
def tuple_kernel(pointers, out_ptr, shape):
    offs = tl.arange(0, 32)
    first, second = pointers
    tl.store(out_ptr + offs, tl.load(pointers[0] + offs) + tl.load(second + offs) + shape[1])


def test_tuples():
    x, out = vector(), torch.empty(32)
    tuple_kernel[(1,)]((x, x), out, (1, 5))
    torch.testing.assert_close(out, 2 * x + 5)


@triton.jit
def numbers_kernel(out_ptr, flag, scale, big):
    tl.store(out_ptr, scale)
    tl.store(out_ptr + 1, tl.where(flag, 1.0, 0.0))
    tl.store(out_ptr + 2, (big // 4294967296).to(tl.float64))


@pytest.mark.parametrize("flag", [True, False])
def test_numbers_are_passed_as_on_a_gpu(flag):
    out = torch.zeros(3, dtype=torch.float64)
    numbers_kernel[(1,)](out, flag, 0.1, 2**40)
    assert out.tolist() == [float(np.float32(0.1)), float(flag), 256.0]


@pytest.mark.parametrize("grid", [(1,), (1, 1), (1, 1, 1), lambda meta: (triton.cdiv(32, 32),)])
def test_grids_and_launch_options(grid):
    out = torch.zeros(32)
    nested_helpers[grid](vector(), out, num_warps=8, num_stages=2)
    assert torch.equal(out, vector().abs())


def test_a_grid_of_zero_programs_does_nothing():
    out = torch.zeros(32)
    nested_helpers[(0,)](vector(), out)
    assert not out.any()


@triton.jit
def grid_kernel(out_ptr):
    pid = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    tl.store(out_ptr + pid, pid)


def test_program_ids_and_order():
    out = torch.zeros(24, dtype=torch.int32)
    for of in ("forward", "reversed", 1, 2):
        out.zero_()
        with order(of):
            grid_kernel[(2, 3, 4)](out)
        assert out.tolist() == list(range(24))
    with pytest.raises(ValueError, match='order is "forward", "reversed" or a seed'), order("backwards"):
        pass


@triton.jit
def last_program_kernel(out_ptr):
    tl.atomic_xchg(out_ptr, tl.program_id(0))


def test_order_is_what_it_says():
    out = torch.zeros(1, dtype=torch.int32)
    ends = {}
    for of in ("forward", "reversed", 5, 6):
        with order(of):
            last_program_kernel[(64,)](out)
        ends[of] = out.item()
    assert ends["forward"] == 63 and ends["reversed"] == 0
    assert ends[5] != ends[6]


HOOKED = []


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_SIZE": 16}, num_warps=2, pre_hook=lambda args: HOOKED.append((16, args["n"]))),
        triton.Config({"BLOCK_SIZE": 32}, num_warps=4, pre_hook=lambda args: HOOKED.append((32, args["n"]))),
    ],
    key=["n"],
    prune_configs_by={"early_config_prune": lambda configs, named, **_: [c for c in configs if c.kwargs["BLOCK_SIZE"] > 16]},
    reset_to_zero=["total_ptr"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % 32 == 0})
@triton.jit
def autotuned_kernel(x_ptr, out_ptr, total_ptr, n, BLOCK_SIZE: tl.constexpr, EVEN: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.atomic_add(total_ptr, BLOCK_SIZE)
    if EVEN:
        tl.store(out_ptr + offs, tl.load(x_ptr + offs) + 1)
    else:
        tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=offs < n, other=0.0) + 1, mask=offs < n)


@pytest.mark.parametrize("n", [32, 30])
def test_autotuning_takes_the_first_configuration_that_is_left(n):
    HOOKED.clear()
    x, out, total = vector(n), torch.zeros(n), torch.full((1,), 99, dtype=torch.int32)
    autotuned_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),)](x, out, total, n)
    torch.testing.assert_close(out, x + 1)
    assert HOOKED == [(32, n)] and total.item() == 32
    assert autotuned_kernel.best_config.kwargs == {"BLOCK_SIZE": 32}


class Absolute(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.empty_like(x)
        nested_helpers[(1,)](x, out)
        ctx.save_for_backward(x)
        return out

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        out = torch.empty_like(x)
        softmax[(1,)](grad.contiguous(), out)
        return out


def test_autograd_and_parameters():
    x = torch.nn.Parameter(vector())
    Absolute.apply(x).sum().backward()
    torch.testing.assert_close(x.grad, torch.full((32,), 1 / 32))


@triton.jit
def scalar_load_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr, mask=tl.program_id(0) > 5, other=0.0))


def test_other_zero_of_a_scalar_load_is_not_poison():
    out = torch.ones(1)
    scalar_load_kernel[(1,)](torch.ones(1), out)
    assert out.item() == 0


@triton.jit
def reinterpret_kernel(x_ptr, out_ptr):
    offs = tl.arange(0, 8)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs))


def test_reinterpreted_tensors():
    x, out = vector(8), torch.zeros(8, dtype=torch.int32)
    reinterpret_kernel[(1,)](triton.reinterpret(x, tl.int32), out)
    assert torch.equal(out, x.view(torch.int32))


@triton.jit
def pointer_table_kernel(table_ptr, out_ptr):
    offs = tl.arange(0, 8)
    pointer = tl.load(table_ptr).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr + offs, tl.load(pointer + offs))


def test_addresses_from_memory():
    x, out = vector(8), torch.zeros(8)
    table = torch.tensor([out.data_ptr()])
    pointer_table_kernel[(1,)](table, out)
    with pytest.raises(KernelError) as caught:
        pointer_table_kernel[(1,)](torch.tensor([x.data_ptr()]), out)
    assert caught.value.summary == "The kernel read an address that belongs to none of its arguments"


# ------------------------------------------------------------------------------------------- what is refused, in words

ADD = """
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)

    offs = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements

    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)

    tl.store(out_ptr + offs, x + y, mask=mask)
"""


def refused(function, *arguments, grid=(1,), **options):
    """The KernelError of a launch."""
    with pytest.raises(KernelError) as caught:
        function[grid](*arguments, **options)
    return caught.value


def launch_add(source, n, grid=None, x=None, block=128):
    x = vector(n) if x is None else x
    return refused(kernel(source), x, vector(n), torch.zeros(n), n, grid=grid or (triton.cdiv(n, block),), BLOCK_SIZE=block)


def test_store_without_a_mask():
    error = launch_add(ADD.replace("x + y, mask=mask", "x + y"), 1)
    assert str(error) == "The kernel stored 127 elements past the end of out (line 11, program 0, first at index 1)."
    assert (error.kind, error.argument, error.index, error.count, error.extent) == ("store outside", "out", 1, 127, 1)
    assert (error.line, error.program, error.lane, error.side) == (11, 0, 1, "after")
    assert error.text == "tl.store(out_ptr + offs, x + y)"
    assert error.summary == "The kernel stored 127 elements past the end of out" and error.message == str(error)
    assert error.kernel == "add_kernel" and error.constants == {"BLOCK_SIZE": 128}
    assert error._render_traceback_() == [str(error)]


def test_mask_one_too_many():
    error = launch_add(ADD.replace("offs < n", "offs <= n"), 1)
    assert str(error) == "The kernel read x[1], one past the end of x (line 8, program 0)."
    assert (error.kind, error.index, error.count, error.extent) == ("load outside", 1, 1, 1)


def test_in_the_last_program():
    error = launch_add(ADD.replace("n_elements\n", "n_elements + 3\n"), 1000)
    assert str(error) == "The kernel read 3 elements past the end of x (line 8, program 7, first at index 1000)."


def test_before_the_start():
    assert str(launch_add(ADD.replace("x_ptr + offs", "x_ptr + offs - 1"), 5)) == (
        "The kernel read x[-1], one before the start of x (line 8, program 0)."
    )
    assert str(launch_add(ADD.replace("x_ptr + offs", "x_ptr + offs - 3"), 5)) == (
        "The kernel read 3 elements before the start of x (line 8, program 0, first at index -3)."
    )


def test_far_past_the_end():
    error = launch_add(ADD.replace("x_ptr + offs", "x_ptr + offs + (offs == 4) * 2"), 5)
    assert str(error) == "The kernel read x[6], 2 past the end of x (line 8, program 0)."


def test_running_into_a_neighbour():
    memory = vector(64)
    error = launch_add(ADD.replace("offs < n", "offs <= n"), 16, x=memory[:16])
    assert str(error) == "The kernel read x[16], one past the end of x (line 8, program 0)."


@pytest.mark.parametrize("n, words", [(1, "read x[0], and x is empty"), (3, "read 3 elements of x, which is empty")])
def test_an_empty_tensor(n, words):
    assert launch_add(ADD, n, x=torch.empty(0)).summary == f"The kernel {words}"


def test_between_the_elements_of_a_strided_view():
    error = launch_add(ADD, 16, x=vector(32)[::2])
    assert str(error) == (
        "The kernel read 8 addresses between the elements of x, whose stride is 2 (line 8, program 0, first behind x[0])."
    )
    assert error.side == "between" and error.strides == (2,)
    out = vector(32)[::2]
    error = refused(kernel(ADD), vector(16), vector(16), out, 16, BLOCK_SIZE=16)
    assert error.kind == "store outside" and error.line == 11


ROWS = """
@triton.jit
def rows_kernel(x_ptr, out_ptr, stride, n_rows, n_cols, M: tl.constexpr, N: tl.constexpr):
    rows = (tl.program_id(0) * M + tl.arange(0, M))[:, None]
    cols = (tl.program_id(1) * N + tl.arange(0, N))[None, :]
    mask = (rows < n_rows) & (cols < n_cols)
    x = tl.load(x_ptr + rows * stride + cols, mask=mask)
    tl.store(out_ptr + rows * n_cols + cols, x, mask=mask)
"""


def rows_error(x, n_rows, n_cols, grid=(1, 1), block=(4, 16)):
    return refused(kernel(ROWS), x, torch.zeros(n_rows, n_cols), x.stride(0), n_rows, n_cols, *block, grid=grid)


def test_two_dimensions():
    assert str(rows_error(vector(64).view(4, 16), 5, 16, block=(8, 16))) == (
        "The kernel read 16 elements past the end of x (line 6, program 0, first at index [4, 0])."
    )
    assert str(rows_error(vector(64).view(4, 16)[:3, :13], 3, 14)) == (
        "The kernel read 2 elements outside the shape (3, 13) of x (line 6, program 0, first at index [0, 13])."
    )
    assert str(rows_error(vector(64).view(4, 16)[:2, :13], 1, 14)) == (
        "The kernel read x[0, 13], outside its shape (2, 13) (line 6, program 0)."
    )
    error = rows_error(vector(65)[:64].view(4, 16), 4, 17, grid=(1, 2))
    assert str(error) == "The kernel read x[4, 0], past the end of x, whose shape is (4, 16) (line 6, program (0, 1))."
    assert error.program == (0, 1) and error.index == (4, 0) and error.lane == (3, 0)


def test_transposed_view():
    x = vector(64).view(4, 16).T
    view = View("x", x)
    assert view.index(x.data_ptr() + 4 * 17) == (1, 1) and not view.has_gaps
    assert view.index(x.data_ptr() + 3) is None


@pytest.mark.parametrize("tensor", [vector(24).view(2, 3, 4)[:, :2, ::2], vector(5).expand(3, 5), vector(9).unfold(0, 4, 2)])
def test_elements_of_a_view(tensor):
    view = View("x", tensor)
    own = {int(tensor[index].data_ptr()) for index in np.ndindex(*tensor.shape)}
    addresses = np.arange(view.start - 8, view.end + 8, 4, dtype=np.uint64)
    bad = view.outside(addresses, 4)
    assert {int(address) for address in addresses[~bad]} == own


def test_atomic_outside():
    function = kernel("""
@triton.jit
def count_kernel(counts_ptr):
    tl.atomic_add(counts_ptr + tl.arange(0, 8), 1)
""")
    error = refused(function, torch.zeros(6, dtype=torch.int32))
    assert str(error) == "The kernel updated 2 elements past the end of counts (line 3, program 0, first at index 6)."
    assert error.kind == "atomic outside"


def test_descriptors_outside():
    x, out = vector(128).view(8, 16), torch.zeros(8, 16)
    wrong = TensorDescriptor(x, [16, 16], [16, 1], [8, 16])
    error = refused(host_descriptor_kernel, wrong, TensorDescriptor.from_tensor(out, [8, 16]), 8)
    assert error.summary == "The kernel read 128 elements past the end of x_desc" and error.index == (8, 0)
    error = refused(device_descriptor_kernel, x, torch.zeros(16, 16), 16, 16)
    assert error.summary == "The kernel read 128 elements past the end of x"


def test_the_line_is_that_of_the_helper():
    function = kernel("""
@triton.jit
def fetch(pointers):
    return tl.load(pointers)

@triton.jit
def fetch_kernel(x_ptr, out_ptr):
    offs = tl.arange(0, 8)
    tl.store(out_ptr + offs, fetch(x_ptr + offs))
""")
    assert str(refused(function, vector(7), torch.zeros(8))) == "The kernel read x[7], one past the end of x (line 3, program 0)."
    function = kernel(
        """
@triton.jit
def shift_kernel(x_ptr, out_ptr):
    offs = tl.arange(0, 8)
    tl.store(out_ptr + offs, load_shifted(x_ptr + offs, 1))
""",
        load_shifted=kernels_helper.load_shifted,
    )
    error = refused(function, vector(8), torch.zeros(8))
    assert str(error) == f"The kernel read x[8], one past the end of x (line {error.line} of load_shifted, program 0)."
    assert error.text == "return tl.load(pointers + by)"


def test_pointers_chosen_between_tensors():
    function = kernel("""
@triton.jit
def choose_kernel(a_ptr, b_ptr, out_ptr, n):
    offs = tl.program_id(0) * 8 + tl.arange(0, 8)
    pointers = tl.where(offs % 2 == 0, a_ptr + offs, b_ptr + offs)
    tl.store(out_ptr + offs, tl.load(pointers, mask=offs < n, other=0.0), mask=offs < n)
""")
    a, b, out = vector(16, 1), vector(16, 2), torch.zeros(16)
    with count() as traffic:
        function[(2,)](a, b, out, 15)
    assert torch.equal(out[:15], torch.where(torch.arange(16) % 2 == 0, a, b)[:15])
    assert traffic.loads == {"a": 8, "b": 7}
    memory = torch.zeros(64)
    error = refused(function, memory[:16], memory[32:47], torch.zeros(16), 16, grid=(2,))
    assert error.summary == "The kernel read an address that belongs to none of its arguments"


# ---- masked-off lanes

SOFTMAX = """
@triton.jit
def softmax_kernel(x_ptr, out_ptr, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * n_cols + cols, e / tl.sum(e, 0), mask=mask)
"""


def test_poison():
    x, out = vector(30).view(3, 10), torch.full((3, 10), float("nan"))
    error = refused(kernel(SOFTMAX.replace(', other=-float("inf")', "")), x, out, 10, grid=(3,), BLOCK_SIZE=16)
    assert str(error) == (
        "10 elements of out were computed from masked-off lanes of x, whose load has no other= "
        "(load on line 6, store on line 8, program 0, first at index [0, 0])."
    )
    assert (error.kind, error.argument, error.line, error.store_line) == ("poison", "x", 6, 8)
    assert error.text == "x = tl.load(x_ptr + row * n_cols + cols, mask=mask)"
    row = kernel(SOFTMAX.replace(', other=-float("inf")', "").replace("e / tl.sum(e, 0)", "x - tl.min(x, 0)"))
    assert refused(row, vector(1), torch.zeros(1), 1, BLOCK_SIZE=16).summary == (
        "out[0] was computed from masked-off lanes of x, whose load has no other="
    )


def lines_of(body, **options):
    """The error of a kernel with pointers x, y, out and a number n, of which this is the body behind `offs` (line 4 on)."""
    source = "@triton.jit\ndef k(x_ptr, y_ptr, out_ptr, n):\n    offs = tl.arange(0, 16)\n    mask = offs < n\n" + body
    return refused(kernel(source), vector(15), vector(15), torch.zeros(16), 15, **options)


def test_poison_is_blamed_on_the_load_whose_lanes_are_stored():
    loads = """    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask & (offs > 0))
"""
    error = lines_of(loads + "    tl.store(out_ptr + offs, x - y, mask=mask)\n")
    assert str(error) == (
        "out[0] was computed from masked-off lanes of y, whose load has no other= (load on line 6, store on line 7, program 0)."
    )
    error = lines_of(loads + "    tl.store(out_ptr + offs, x - y)\n")
    assert (error.argument, error.line, error.count) == ("x", 5, 1)  # both reach the store: the first
    swapped = loads.splitlines(True)[::-1]
    error = lines_of("".join(swapped) + "    tl.store(out_ptr + offs, x + 0 * tl.sum(y), mask=mask)\n")
    assert (error.argument, error.line) == ("y", 5)


def test_poison_of_one_load_in_a_loop():
    error = lines_of("""    acc = tl.load(x_ptr + offs, mask=mask)
    for _ in range(3):
        acc += tl.load(y_ptr + offs, mask=offs < 3)
    tl.store(out_ptr + offs, acc, mask=mask)
""")
    assert (error.argument, error.line, error.index) == ("y", 7, 3)


def test_poison_of_integers():
    function = kernel("""
@triton.jit
def sum_kernel(x_ptr, out_ptr, n):
    offs = tl.arange(0, 16)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + offs, mask=offs < n), 0))
""")
    for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        out = torch.zeros(1, dtype=torch.int64)
        with count() as traffic:
            function[(1,)](torch.ones(10, dtype=dtype), out, 10)
        assert out.item() > 500 and traffic.launches[0].unmasked == [4]


@pytest.mark.parametrize(
    "x",
    [vector(30).view(3, 10), torch.full((3, 10), float("nan")), torch.full((3, 10), -float("inf"))],
    ids=["numbers", "nan", "minus infinity"],
)
def test_no_false_alarm_of_poison(x):
    out = torch.zeros(3, 10)
    kernel(SOFTMAX)[(3,)](x, out, 10, BLOCK_SIZE=16)
    torch.testing.assert_close(out, x.softmax(1), equal_nan=True)
    kernel(ADD)[(1,)](x[0], x[1], out[0], 10, BLOCK_SIZE=16)
    torch.testing.assert_close(out[0], x[0] + x[1], equal_nan=True)
    natural = ADD.replace("x + y", "(x - y) / (x - y)")
    kernel(natural)[(1,)](x[0], x[0].clone(), out[0], 10, BLOCK_SIZE=16)
    assert out[0].isnan().all()


def test_maximum_skips_nan_as_a_gpu_does():
    function = kernel("""
@triton.jit
def maximum_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 4))
    tl.store(out_ptr, tl.max(x, 0))
    tl.store(out_ptr + 1 + tl.arange(0, 4), tl.maximum(x, 0.5))
""")
    out = torch.zeros(5)
    function[(1,)](torch.tensor([float("nan"), 1.0, 2.0, 0.0]), out)
    assert out.tolist() == [2.0, 0.5, 1.0, 2.0, 0.5]


# ---- races


def races(body, *arguments, programs=2):
    source = "@triton.jit\ndef race_kernel(x_ptr, out_ptr):\n    pid = tl.program_id(0)\n" + body
    return refused(kernel(source), *arguments, grid=(programs,))


def test_two_programs_store_one_element():
    error = races("    tl.store(out_ptr + pid // 2, 1.0)", vector(4), torch.zeros(4), programs=4)
    assert str(error) == "Programs 0 and 1 both stored out[0] (line 4)."
    assert (error.kind, error.argument, error.index, error.line, error.programs) == ("race", "out", 0, 4, (0, 1))


@pytest.mark.parametrize(
    "of, message",
    [
        ("forward", "Program 1 read out[0], which program 0 stored in the same launch (line 4)."),
        ("reversed", "Program 0 stored out[0], which program 1 read in the same launch (line 5)."),
    ],
)
def test_a_read_of_what_another_program_stores(of, message):
    body = "    x = tl.load(out_ptr + tl.maximum(pid - 1, 0))\n    tl.store(out_ptr + pid, x)"
    with order(of):
        assert str(races(body, vector(4), torch.zeros(4))) == message


def test_a_store_over_what_many_read():
    body = "    x = tl.load(x_ptr)\n    tl.store(x_ptr + 0 * pid, x, mask=pid == 2)"
    for of, other in (("forward", 0), (6, 1)):
        with order(of):
            message = str(races(body, vector(4), torch.zeros(4), programs=3))
        assert message == f"Program 2 stored x[0], which program {other} read in the same launch (line 5)."


def test_races_through_two_arguments_over_the_same_memory():
    x = vector(8)
    body = "    tl.store(out_ptr + pid, tl.load(x_ptr + pid + 1, mask=pid < 1, other=0.0))"
    assert races(body, x[:4], x[:4]).summary == "Program 1 stored out[1], which program 0 read in the same launch"
    body = "    tl.store(out_ptr + pid, tl.load(x_ptr + pid))"
    assert races(body, x[:4], x[1:5]).summary == "Program 1 read x[1], which program 0 stored in the same launch"


def test_a_plain_store_beside_an_atomic():
    body = "    if pid == 0:\n        tl.atomic_add(out_ptr, 1.0, sem='relaxed')\n    else:\n        tl.store(out_ptr, 2.0)"
    assert races(body, vector(4), torch.zeros(4)).summary == (
        "Program 1 stored out[0], which program 0 updated atomically in the same launch"
    )


MESSAGE_KERNEL = """
@triton.jit
def message_kernel(ticket_ptr, note_ptr, out_ptr, FROM: tl.constexpr):
    ticket = tl.atomic_add(ticket_ptr, 1, sem="relaxed")
    tl.atomic_xchg(note_ptr + ticket, ticket + 5, sem="relaxed")
    if ticket > 0:
        note = tl.load(note_ptr + ticket - FROM, volatile=True)
        while note == 0:
            note = tl.load(note_ptr + ticket - FROM, volatile=True)
        tl.store(out_ptr + ticket, note)
"""


def test_a_program_waits_for_earlier_ones_in_any_order():
    for way in ("forward", "reversed", 7):
        ticket, notes, out = (
            torch.zeros(1, dtype=torch.int32),
            torch.zeros(8, dtype=torch.int32),
            torch.zeros(8, dtype=torch.int32),
        )
        with order(way):
            kernel(MESSAGE_KERNEL)[(8,)](ticket, notes, out, FROM=1)
        assert out.tolist() == [0, 5, 6, 7, 8, 9, 10, 11]


def test_a_program_that_waits_for_a_later_one():
    ticket, notes, out = torch.zeros(1, dtype=torch.int32), torch.zeros(9, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    error = refused(kernel(MESSAGE_KERNEL), ticket, notes, out, FROM=-1, grid=(8,))
    assert (error.kind, error.argument, error.index, error.program) == ("waiting", "note", 2, 1)
    assert "Program 1 waits for note[2] to change" in error.summary
    error = races("    while tl.atomic_cas(out_ptr, 1, 2) != 1:\n        pass", vector(4), torch.zeros(4, dtype=torch.int32))
    assert (error.kind, error.index) == ("waiting", 0)


def test_a_volatile_load_beside_a_plain_store():
    body = "    if pid == 0:\n        tl.store(out_ptr, 1.0)\n    else:\n        tl.store(out_ptr + 1, tl.load(out_ptr, volatile=True))"
    assert races(body, vector(4), torch.zeros(4)).kind == "race"


def test_a_mask_with_a_scalar_condition():
    function = kernel("""
@triton.jit
def k(x_ptr, out_ptr, n):
    offs = tl.arange(0, 8)
    x = tl.load(x_ptr - 4 + offs, mask=(offs < 4) & (n > 5), other=1.0)
    tl.store(out_ptr + offs, x + tl.load(x_ptr + offs, mask=(offs < 4) & (n > 1), other=0.0))
""")
    out = torch.zeros(8)
    function[(1,)](torch.arange(4.0), out, 2)
    assert out.tolist() == [1, 2, 3, 4, 1, 1, 1, 1]


def test_inline_assembly():
    source = """
@triton.jit
def k(x_ptr, out_ptr):
    offs = tl.arange(0, 8)
    x = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [tl.load(x_ptr + offs)], tl.float32, True, 1)
    tl.store(out_ptr + offs, x)
"""
    x, out = vector(8), torch.zeros(8)
    kernel(source)[(1,)](x, out)
    torch.testing.assert_close(out, x.tanh())
    error = refused(kernel(source.replace("tanh.approx", "sin.approx")), x, out, grid=(1,))
    assert "knows no inline assembly `sin.approx.f32 $0, $1;`, only" in str(error)


def test_programs_of_two_axes_in_a_race():
    function = kernel("@triton.jit\ndef k(out_ptr):\n    tl.store(out_ptr + tl.program_id(0), 1.0)")
    assert refused(function, torch.zeros(2), grid=(2, 2)).summary == "Programs (0, 0) and (0, 1) both stored out[0]"


LOCK_KERNEL = """
@triton.jit
def lock_kernel(lock_ptr, total_ptr, partial_ptr, count_ptr, N: tl.constexpr):
    pid = tl.program_id(0)
    offs = tl.arange(0, N)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(total_ptr + offs, tl.load(total_ptr + offs) + 1)
    tl.atomic_xchg(lock_ptr, 0)

    tl.store(partial_ptr + pid, pid + 1.0)
    if tl.atomic_add(count_ptr, 1) == tl.num_programs(0) - 1:
        tl.store(partial_ptr, tl.sum(tl.load(partial_ptr + tl.arange(0, 4)), 0))
"""


def test_no_false_alarm_of_races():
    lock, counter = torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    total, partial = torch.zeros(8), torch.zeros(4)
    kernel(LOCK_KERNEL)[(4,)](lock, total, partial, counter, N=8)
    assert total.tolist() == [4.0] * 8 and partial[0] == 10
    histogram = kernel("""
@triton.jit
def histogram_kernel(x_ptr, counts_ptr):
    offs = tl.program_id(0) * 16 + tl.arange(0, 16)
    tl.atomic_add(counts_ptr + tl.load(x_ptr + offs), 1)
""")
    counts = torch.zeros(4, dtype=torch.int32)
    histogram[(4,)](torch.arange(64, dtype=torch.int32) % 4, counts)
    assert counts.tolist() == [16] * 4
    x = vector(30).view(3, 10)
    expected = x.softmax(1)
    kernel(SOFTMAX)[(3,)](x, x, 10, BLOCK_SIZE=16)  # in place
    torch.testing.assert_close(x, expected)


def test_accesses_narrower_than_the_elements():
    function = kernel("""
@triton.jit
def bytes_kernel(x_ptr, out_ptr):
    offs = tl.program_id(0) * 2 + tl.arange(0, 2)
    x = tl.load(x_ptr + tl.program_id(0) // 2)
    tl.store(out_ptr.to(tl.pointer_type(tl.int8)) + offs, offs.to(tl.int8) + x.to(tl.int8) * 0)
""")
    out = torch.zeros(2, dtype=torch.int32)
    function[(4,)](vector(2), out)
    assert out.view(torch.int8).tolist() == list(range(8))


# ---- bfloat16, truth values, arguments, grids


def test_bfloat16():
    error = refused(nested_helpers, vector().bfloat16(), torch.zeros(32))
    assert str(error) == (
        "x is bfloat16, which is wrong in Triton's interpreter, and this launch is interpreted. "
        "Use float16 or float32 here (x.float()); on a GPU the kernel may use bfloat16."
    )
    assert error.kind == "bfloat16" and error.argument == "x"
    assert refused(tuple_kernel, (vector(), vector().bfloat16()), vector(), (1, 5)).argument == "pointers[1]"
    descriptor = TensorDescriptor.from_tensor(torch.zeros(16, 16, dtype=torch.bfloat16), [8, 16])
    assert refused(host_descriptor_kernel, descriptor, descriptor, 0).kind == "bfloat16"


@pytest.mark.parametrize(
    "expression", ["x.to(tl.bfloat16)", "x + tl.zeros((32,), tl.bfloat16)", "x + tl.full((32,), 1.0, tl.bfloat16)"]
)
def test_bfloat16_in_the_kernel(expression):
    function = kernel(f"""
@triton.jit
def bf16_kernel(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    x = tl.load(x_ptr + offs)
    tl.store(out_ptr + offs, {expression})
""")
    assert str(refused(function, vector(), torch.zeros(32))) == (
        "bfloat16 is wrong in Triton's interpreter, and this launch is interpreted. Use tl.float16 or tl.float32; "
        "on a GPU the kernel may use bfloat16 (line 5, program 0)."
    )


LENIENT = "the compiler takes it lane by lane, the interpreter cannot"
TRUTHS = [
    ("mask = (offs < n) and (offs > 1)", f"`and` between blocks: {LENIENT}. Write `&`, and each comparison in parentheses"),
    ("mask = (offs < n) or (offs > 1)", f"`or` between blocks: {LENIENT}. Write `|`, and each comparison in parentheses"),
    ("mask = not (offs < n)", f"`not` of a block: {LENIENT}. Write `~`"),
    ("mask = max(offs, 3) < n", f"`max()` of a block: {LENIENT}. Write `tl.maximum`"),
    ("mask = min(offs, 3) < n", f"`min()` of a block: {LENIENT}. Write `tl.minimum`"),
    ("mask = n if offs < 3 else offs", "`... if ... else ...` needs one truth value and was given a block. Use `tl.where`"),
    ("if offs < n: mask = offs", "`if` needs one truth value and was given a block. Use a mask, or `tl.where`"),
    ("while offs < n: mask = offs", "`while` needs one truth value and was given a block. Use a mask, or `tl.where`"),
    ("mask = bool(offs < n)", "One truth value was asked of a block. Use `&`, `|`, `~` or `tl.where`"),
]


@pytest.mark.parametrize("statement, words", TRUTHS, ids=[statement for statement, _ in TRUTHS])
def test_truth_values_of_blocks(statement, words):
    function = kernel(f"""
@triton.jit
def truth_kernel(out_ptr, n):
    offs = tl.arange(0, 8)
    {statement}
    tl.store(out_ptr + offs, 1.0, mask=mask)
""")
    error = refused(function, torch.zeros(8), 8)
    assert str(error) == f"{words} (line 4, program 0)." and error.kind == "block truth"


def test_chained_comparison_of_blocks():
    function = kernel("""
@triton.jit
def chain_kernel(out_ptr, n):
    offs = tl.arange(0, 8)
    mask = 1 < offs < n
    tl.store(out_ptr + offs, 1.0, mask=mask)
""")
    out = torch.zeros(8)
    if VERSION >= (3, 9):
        function[(1,)](out, 7)
        assert out.tolist() == [0, 0, 1, 1, 1, 1, 1, 0]
    else:
        assert refused(function, out, 7).summary.endswith("Write `(a <= b) & (b < c)`")


def test_truth_values_of_single_values():
    function = kernel("""
@triton.jit
def single_kernel(out_ptr, n, m):
    pid = tl.program_id(0)
    if pid < n and not pid > m:
        tl.store(out_ptr + pid, 1.0 if n > 3 or m > 3 else 2.0)
    tl.store(out_ptr + 1, max(n, 9))
""")
    out = torch.zeros(2)
    function[(1,)](out, 4, 2)
    assert out.tolist() == [1.0, 9.0]


LAUNCHES = [
    (lambda: nested_helpers[(1,)](vector(), torch.zeros(32), num_warp=4),
     "nested_helpers has no argument num_warp: did you mean num_warps?"),
    (lambda: nested_helpers[(1,)](vector(), torch.zeros(32), something=4),
     "nested_helpers has no argument something: its arguments are x_ptr, out_ptr."),
    (lambda: nested_helpers[(1,)](vector()),
     "The launch does not fit the arguments of nested_helpers: missing a required argument: 'out_ptr'."),
    (lambda: nested_helpers[4](vector(), torch.zeros(32)),
     "The grid of nested_helpers is 4. Write a tuple: nested_helpers[(4,)](...)."),
    (lambda: nested_helpers[[4, 2]](vector(), torch.zeros(32)),
     "The grid of nested_helpers is a list. Write a tuple: nested_helpers[(4, 2)](...)."),
    (lambda: nested_helpers[(32 / 8,)](vector(), torch.zeros(32)),
     "Axis 0 of the grid of nested_helpers is 4.0, not a whole number of programs: round up with triton.cdiv."),
    (lambda: nested_helpers[(1, 65_536)](vector(), torch.zeros(32)),
     "Axis 1 of the grid of nested_helpers is 65536: 0 to 65,535 programs are possible."),
    (lambda: nested_helpers[(1, 1, 1, 1)](vector(), torch.zeros(32)),
     "The grid of nested_helpers has 4 axes: 1, 2 or 3 are possible."),
    (lambda: nested_helpers[(1,)](vector().numpy(), torch.zeros(32)),
     "x is a NumPy array: a kernel takes torch tensors, torch.from_numpy(...)."),
    (lambda: grid_kernel[(1,)](np.int64(3)), "out is a int64 of NumPy: a kernel takes Python numbers, out.item()."),
    (lambda: grid_kernel[(1,)]([1, 2]), "out is a list: a kernel takes tensors, numbers and tuples."),
]  # fmt: skip


@pytest.mark.parametrize("launch, message", LAUNCHES, ids=[message[:40] for _, message in LAUNCHES])
def test_launches_that_fit_no_kernel(launch, message):
    with pytest.raises(KernelError) as caught:
        launch()
    assert str(caught.value) == message and caught.value.kind == "launch"


def test_exceptions_in_a_kernel():
    function = kernel("""
@triton.jit
def wrong_kernel(x_ptr, out_ptr):
    offs = tl.arange(0, 32)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs) + tl.arange(0, 16))
""")
    error = refused(function, vector(), torch.zeros(32))
    assert str(error).startswith("The kernel failed: ValueError: ") and str(error).endswith(" (line 4, program 0).")
    assert error.kind == "error in kernel" and isinstance(error.__cause__, ValueError)
    torch.testing.assert_close(run_elementwise(softmax), vector().softmax(0))
    function = kernel("@triton.jit\ndef k(x_ptr, out_ptr):\n    a = b = 1\n    tl.store(out_ptr, a)")
    assert refused(function, vector(), torch.zeros(1)).summary.startswith("k cannot be interpreted: Multiple assignments")


def test_libdevice_takes_what_a_gpu_takes():
    error = refused(libdevice_function, vector().half(), torch.zeros(32))
    assert "libdevice.tanh takes float32 or float64, not fp16" in str(error)


def test_blanks():
    source = ADD.replace("offs < n_elements", "______  # which of them exist")
    with pytest.raises(BlankLeft) as caught:
        kernel(source)[(1,)](vector(), vector(), torch.zeros(32), 32, BLOCK_SIZE=32)
    assert str(caught.value) == "The kernel add_kernel still has 1 blank: line 6, `mask = ______`."
    scope = cell("@triton.jit\ndef h(x):\n    return x\n@triton.jit\ndef k(out_ptr):\n    tl.store(out_ptr, h(1.0))\n")
    scope["k"][(1,)](torch.zeros(1))
    scope["h"] = kernel("@triton.jit\ndef h(x):\n    return ______")
    with pytest.raises(BlankLeft):
        scope["k"][(1,)](torch.zeros(1))


DATA = """
N, names, mask = 3, [1], np.ones(16, bool)
LIMIT = tl.constexpr(3)
DECLARED: tl.constexpr = 3

@triton.jit
def k(out_ptr):
    offs = tl.arange(0, 16)
    tl.store(out_ptr + offs, 1.0, mask=offs < LIMIT + DECLARED)
"""


@pytest.mark.parametrize("name, use", [("mask", "mask=mask"), ("N", "mask=offs < N"), ("names", "mask=offs < names[0]")])
def test_data_outside_a_kernel_is_not_seen(name, use):
    import numpy

    scope = cell("import numpy as np\n" + DATA)
    scope["k"][(1,)](torch.zeros(16))
    assert numpy is scope["np"]
    error = refused(cell("import numpy as np\n" + DATA.replace("mask=offs < LIMIT + DECLARED", use))["k"], torch.zeros(16))
    assert (
        error.summary == f"`{name}` is not defined in this kernel. There is a variable of that name outside, which no kernel sees"
    )
    assert error.line == 10 and error.argument == name


def test_numpy_on_a_block():
    error = refused(cell("import numpy as np\n" + DATA.replace("1.0,", "np.maximum(offs, 0),"))["k"], torch.zeros(16))
    assert error.summary == "`np.maximum` was given a block, and works on none: a kernel has `tl` alone"


def test_a_kernel_that_launches_another():
    scope = cell("@triton.jit\ndef h(x_ptr):\n    tl.store(x_ptr, 1.0)\n@triton.jit\ndef k(x_ptr):\n    h[(1,)](x_ptr)\n")
    error = refused(scope["k"], torch.zeros(1))
    assert error.summary == "A kernel cannot launch another one. Call h(...) without a grid, as a helper" and error.line == 6


IDLE = """
@triton.jit
def idle_kernel(out_ptr, n, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(out_ptr + offs, 1.0, mask=offs < n)
"""


def test_a_grid_that_is_far_too_large():
    function, out = kernel(IDLE), torch.zeros(100)
    with limited(programs=50, idle=10):
        function[(14,)](out, 100, BLOCK_SIZE=32)  # 4 of them store
        with pytest.raises(KernelError) as wrong:
            function[(40,)](out, 100, BLOCK_SIZE=4)
    assert wrong.value.kind == "grid" and wrong.value.count == 40
    assert str(wrong.value) == "The grid of idle_kernel starts 40 programs."
    with limited(programs=50, idle=10), pytest.raises(KernelError) as wrong:
        function[(50,)](out, 100, BLOCK_SIZE=32)
    assert str(wrong.value) == "The grid of idle_kernel starts 50 programs, and 15 of the first 19 store nothing."
    function[(50,)](out, 100, BLOCK_SIZE=32)  # no limit outside


def test_values_of_the_line_that_failed():
    error = lines_of("    x = x_ptr + offs\n    y = tl.load(y_ptr + offs, mask=mask)\n    tl.store(out_ptr + offs, x + y)\n")
    assert error.values["x"] == ("addresses", (16,), 5) and error.values["y"] == ("tile", (16,), 6)
    assert error.values["out_ptr"] == ("addresses", (), None)
    error = lines_of("""    row = tl.load(x_ptr + offs, mask=mask[None, :] & mask[:, None])
    tl.store(out_ptr + offs, row[None, :])
""")
    assert error.values["row"].shape == (16, 16) and error.widened == {5: ((16,), (16, 16))}
    assert "constexpr" not in error.message


def test_nothing_on_stderr(capfd):
    function = kernel(SOFTMAX)
    with np.errstate(all="warn"):
        function[(3,)](torch.full((3, 10), -float("inf")), torch.zeros(3, 10), 10, BLOCK_SIZE=16)
        function[(3,)](torch.full((3, 10), 1e38), torch.zeros(3, 10), 10, BLOCK_SIZE=16)
    assert capfd.readouterr() == ("", "")


# ------------------------------------------------------------------------------------------------------------- counts


def test_counts_of_vector_add():
    with count() as traffic:
        kernel(ADD)[(8,)](vector(1000), vector(1000), torch.zeros(1000), 1000, BLOCK_SIZE=128)
    assert traffic.loaded == {"x": 4000, "y": 4000} and traffic.stored == {"out": 4000} and traffic.bytes == 12_000
    assert traffic.loads == {"x": 1000, "y": 1000} and traffic.stores == {"out": 1000}
    assert traffic.sectors == {"x": 125, "y": 125, "out": 125} and traffic.useful == {"x": 1.0, "y": 1.0, "out": 1.0}
    assert traffic.programs == 8
    assert {line: [(t.argument, t.kind, t.executed, t.lanes) for t in found] for line, found in traffic.by_line.items()} == {
        8: [("x", "load", 8, 1000)],
        9: [("y", "load", 8, 1000)],
        11: [("out", "store", 8, 1000)],
    }
    (launch,) = traffic.launches
    assert (launch.kernel, launch.grid, launch.constants, launch.programs) == ("add_kernel", (8, 1, 1), {"BLOCK_SIZE": 128}, 8)
    assert launch.unmasked == [8, 9]
    assert str(traffic) == (
        "add_kernel, 8 programs\n"
        "        loaded   stored  sectors  useful\n"
        "x      4,000 B               125   100 %\n"
        "y      4,000 B               125   100 %\n"
        "out             4,000 B      125   100 %\n"
        "total  8,000 B  4,000 B      375"
    )


def test_counts_of_several_launches():
    with count() as outer:
        run_elementwise(softmax)
        with count() as inner:
            run_elementwise(softmax)
    assert len(outer.launches) == 2 and len(inner.launches) == 1 and outer.bytes == 2 * inner.bytes == 512
    assert str(outer).splitlines()[0] == "softmax, 2 launches, 2 programs"
    with count() as nothing:
        pass
    run_elementwise(softmax)
    assert str(nothing) == "no launch was interpreted" and nothing.bytes == 0 and len(outer.launches) == 2


COPY = """
@triton.jit
def copy_kernel(x_ptr, out_ptr, stride, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs * stride))
"""


@pytest.mark.parametrize(
    "stride, sectors, useful", [(1, 4, 1), (2, 8, 1 / 2), (4, 16, 1 / 4), (8, 32, 1 / 8), (16, 32, 1 / 8), (32, 32, 1 / 8)]
)
def test_counts_of_a_strided_copy(stride, sectors, useful):
    with count() as traffic:
        kernel(COPY)[(2,)](vector(256 * stride), torch.zeros(256), stride, BLOCK_SIZE=128)
    assert traffic.loaded == {"x": 1024} and traffic.sectors == {"x": 8 * sectors, "out": 32}
    assert traffic.useful == {"x": useful, "out": 1.0}


def test_a_view_that_starts_inside_a_sector():
    with count() as traffic:
        kernel(COPY)[(1,)](vector(130)[1:], torch.zeros(128), 1, BLOCK_SIZE=128)
    assert traffic.sectors == {"x": 4 * 5, "out": 16}


@pytest.mark.parametrize("dtype, itemsize", [(torch.float16, 2), (torch.float64, 8), (torch.int8, 1)])
def test_counts_of_other_dtypes(dtype, itemsize):
    with count() as traffic:
        kernel(COPY)[(1,)](torch.ones(128, dtype=dtype), torch.zeros(128, dtype=dtype), 1, BLOCK_SIZE=128)
    assert traffic.loaded == {"x": 128 * itemsize} and traffic.sectors == {"x": 4 * itemsize, "out": 4 * itemsize}


def test_counts_of_row_softmax():
    x, out = vector(7 * 100).view(7, 100), torch.zeros(7, 100)
    with count() as traffic:
        kernel(SOFTMAX)[(7,)](x, out, 100, BLOCK_SIZE=128)
    assert traffic.loads == {"x": 700} and traffic.stores == {"out": 700} and traffic.bytes == 5600
    rows = sum(
        len({(row * 400 + 4 * lane) // 32 for lane in range(a, min(a + 32, 100))}) for row in range(7) for a in range(0, 100, 32)
    )
    assert traffic.sectors == {"x": rows, "out": rows}


MATMUL = """
@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        offs_k = k + tl.arange(0, BLOCK_K)
        a_mask = (offs_m[:, None] < M) & (offs_k[None, :] < K)
        b_mask = (offs_k[:, None] < K) & (offs_n[None, :] < N)
        a = tl.load(a_ptr + offs_m[:, None] * K + offs_k[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + offs_k[:, None] * N + offs_n[None, :], mask=b_mask, other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))
"""


@pytest.mark.parametrize("tiles", [(16, 16, 16), (32, 32, 32), (16, 64, 32)])
def test_counts_of_matmul(tiles):
    M, N, K = 80, 64, 48
    block_m, block_n, block_k = tiles
    a, b, c = vector(M * K).view(M, K), vector(K * N).view(K, N), torch.zeros(M, N)
    programs = (triton.cdiv(M, block_m), triton.cdiv(N, block_n))
    with count() as traffic:
        kernel(MATMUL)[programs](a, b, c, M, N, K, *tiles)
    torch.testing.assert_close(c, a @ b, rtol=1e-4, atol=1e-4)
    assert traffic.loads == {"a": M * K * programs[1], "b": K * N * programs[0]} and traffic.stores == {"c": M * N}
    assert {line: found[0].executed for line, found in traffic.by_line.items()} == {
        10: programs[0] * programs[1] * triton.cdiv(K, block_k),
        11: programs[0] * programs[1] * triton.cdiv(K, block_k),
        13: programs[0] * programs[1],
    }


def test_counts_of_atomics():
    out, counts = torch.zeros(1), torch.zeros(4, dtype=torch.int32)
    with count() as traffic:
        atomics_kernel[(1,)](vector(), out, counts)
    assert traffic.loads == {"x": 32, "out": 32, "counts": 34} and traffic.stores == {"out": 32, "counts": 34}
    assert traffic.sectors == {"x": 4, "out": 1, "counts": 3}


def test_sectors_against_their_definition():
    generator = np.random.default_rng(0)
    for _ in range(50):
        lanes = int(generator.integers(1, 200))
        offsets = generator.integers(0, 4096, lanes) * 4
        live = generator.random(lanes) < 0.7 if generator.random() < 0.5 else None
        expected = 0
        for start in range(0, lanes, 32):
            warp = range(start, min(start + 32, lanes))
            expected += len({int(offsets[lane]) // 32 for lane in warp if live is None or live[lane]})
        assert count_sectors(offsets, live) == expected


# ----------------------------------------------------------------------------------------------- beside the compiler


def ptx(function, signature, architecture):
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    compiled = triton.compile(ASTSource(function, signature, {}), target=GPUTarget("cuda", architecture, 32))
    return re.sub(r"\.loc.*|//.*", "", compiled.asm["ptx"])


def ttir(function, signature, arch):
    """The first half of a compilation: Triton's own reading of the kernel, which a patched language would disturb."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource, make_backend

    target = GPUTarget("cuda", arch, 32)
    backend = make_backend(target)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = ASTSource(function, signature, {})
    return str(source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context))


COMPILED = [(nested_helpers, 80), (tensor_methods, 90), (softmax, 100), (cumulative_sum, 80), (own_scan, 90), (hints, 80)]


def everything():
    """Every attribute that an interpreted launch might leave changed: Triton's modules and classes, and this module."""
    from triton.language.semantic import TritonSemantic
    from triton.runtime import interpreter

    owners = [
        module for name, module in sys.modules.items() if name.split(".")[0] == "triton" and isinstance(module, types.ModuleType)
    ]
    owners += [tl.tensor, tl.dtype, tl.core.tuple, tl.core.tensor_descriptor_base, TritonSemantic, interpreter.ReduceOps]
    owners += [interpreter.InterpreterBuilder, triton.runtime.jit.JITFunction, sys.modules[__name__]]
    found = {(str(owner), name): id(value) for owner in owners for name, value in vars(owner).items()}
    builder = {name: id(v) for name, v in vars(interpreter.interpreter_builder).items() if name not in ("grid_idx", "grid_dim")}
    return {**found, **builder}


def test_interpreting_and_compiling_alternate(monkeypatch):
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32"}
    run_elementwise(loops)
    plain = [(kernel_, arch) for kernel_, arch in COMPILED if kernel_ is not hints]
    before = [(ttir(function, signature, arch), ptx(function, signature, arch)) for function, arch in plain]
    state = everything()
    for i in range(1000):
        function, reference = ELEMENTWISE[i % len(ELEMENTWISE)]
        torch.testing.assert_close(run_elementwise(function), reference(vector()), rtol=1e-4, atol=1e-4)
        which = i % len(plain)
        assert ttir(plain[which][0], signature, plain[which][1]) == before[which][0]
        if i % 41 == 40:
            assert ptx(plain[which][0], signature, plain[which][1]) == before[which][1]
    gc.collect()
    after = everything()
    assert {name for name in state | after if state.get(name) != after.get(name)} == set()


BUILTINS = """
import tiles.interpreter
from triton.compiler.code_generator import CodeGenerator
print({name for name, meaning in CodeGenerator.builtin_namespace.items() if "interpreter" in meaning.__module__})
"""


def test_the_compiler_keeps_its_own_builtins():
    """It remembers what `min` and `max` mean when it is imported, so that must not be while they are replaced."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", BUILTINS], env=environment, capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stdout + done.stderr


def test_a_tensor_without_numbers_is_refused():
    """Its address is 0: reading there would end the process."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.zeros(8)
    for x in (fake, torch.zeros(8, device="meta")):
        with pytest.raises(KernelError, match=r"x is a fake tensor.* wrap_triton\(softmax\)\[grid\]"):
            softmax[(1,)](x, x)


def test_a_refused_launch_leaves_nothing_behind():
    run_elementwise(softmax)
    state = everything()
    launch_add(ADD.replace("offs < n", "offs <= n"), 1)
    after = everything()
    assert {name for name in state | after if state.get(name) != after.get(name)} == set()


def test_a_kernel_called_without_a_grid():
    with pytest.raises(RuntimeError, match="Cannot call @triton.jit'd outside of the scope of a kernel"):
        nested_helpers(vector(), vector())


# ---------------------------------------------------------------------------------- threads, processes, notebooks


def test_threads():
    def one(seed):
        x = vector(seed=seed)
        torch.testing.assert_close(run_elementwise(softmax, x), x.softmax(0))
        return 1

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(one, range(24))) == 24


def in_a_fork(task):
    """What `task()` returns (text) in a forked child; "nothing within 20 s" when it hangs."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = task()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    try:
        if select.select([reading], [], [], 20)[0]:
            return os.read(reading, 10_000).decode()
        os.kill(child, 9)
        return "nothing within 20 s"
    finally:
        os.close(reading)
        os.waitpid(child, 0)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a child of a process with OpenMP threads would hang in torch
    try:
        run_elementwise(softmax)

        def right():
            torch.testing.assert_close(run_elementwise(softmax), vector().softmax(0))
            return "right"

        assert in_a_fork(right) == "right"
        assert in_a_fork(lambda: str(launch_add(ADD.replace("offs < n", "offs <= n"), 1))) == (
            "The kernel read x[1], one past the end of x (line 8, program 0)."
        )
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            busy = pool.submit(lambda: [run_elementwise(softmax) for _ in range(40)])
            assert [in_a_fork(right) for _ in range(5)] == ["right"] * 5
            busy.result()
    finally:
        torch.set_num_threads(threads)


def test_redefining_kernels_and_helpers():
    scope = cell(
        "@triton.jit\ndef f(x):\n    return x + 1\n@triton.jit\ndef k(x_ptr, out_ptr):\n    tl.store(out_ptr, f(tl.load(x_ptr)))\n"
    )
    x, out = torch.ones(1), torch.zeros(1)
    scope["k"][(1,)](x, out)
    assert out.item() == 2
    scope["f"] = kernel("@triton.jit\ndef f(x):\n    return x + 10")
    scope["k"][(1,)](x, out)
    assert out.item() == 11
    scope["k"] = kernel("@triton.jit\ndef k(x_ptr, out_ptr):\n    tl.store(out_ptr, 5.0)")
    scope["k"][(1,)](x, out)
    assert out.item() == 5


def test_arrays_among_the_globals():
    scope = cell("data = np.arange(3)\n@triton.jit\ndef k(out_ptr):\n    tl.store(out_ptr, 5.0)\n", np=np)
    names = set(scope)
    out = torch.zeros(1)
    scope["k"][(1,)](out)
    assert out.item() == 5 and set(scope) == names


NOTEBOOK = [
    "import torch, triton, triton.language as tl\nfrom tiles.interpreter import count\nout = torch.zeros(4)",
    "@triton.jit\ndef value(pid):\n    return pid + 1.0",
    "@triton.jit\ndef fill_kernel(out_ptr, n):\n    pid = tl.program_id(0)\n    tl.store(out_ptr + pid, value(pid), mask=pid <= n)",
    "with count() as traffic:\n    fill_kernel[(4,)](out, 4)\nprint(out.tolist(), traffic.stored)",
    "@triton.jit\ndef value(pid):\n    return pid + 10.0",
    "fill_kernel[(4,)](out, 4)\nprint(out.tolist())",
    "fill_kernel[(5,)](out, 4)",
]


def test_a_notebook():
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in NOTEBOOK])
    NotebookClient(notebook, kernel_name="python3", allow_errors=True, timeout=60).execute()
    outputs = [cell_.outputs for cell_ in notebook.cells]
    assert [out for cell_ in outputs[:3] for out in cell_] == []
    assert outputs[3][0].text == "[1.0, 2.0, 3.0, 4.0] {'out': 16}\n"
    assert outputs[5][0].text == "[10.0, 11.0, 12.0, 13.0]\n"
    assert outputs[6][0].traceback == ["The kernel stored out[4], one past the end of out (line 4, program 4)."]


# ------------------------------------------------------------------------------------------------------ the machine


def test_interpret_mode_is_refused(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(RuntimeError, match="TRITON_INTERPRET is set.*unset the variable"):
        kernel("@triton.jit\ndef k(out_ptr):\n    tl.store(out_ptr, 5.0)")


def test_selftest_is_quick_and_says_what_to_do(monkeypatch):
    selftest()
    start = time.process_time()
    selftest()
    assert time.process_time() - start < 0.05
    module = sys.modules["tiles.interpreter.selftest"]
    monkeypatch.setattr(module, "_refusal", lambda *_: None)
    with pytest.raises(
        RuntimeError, match=rf"Triton {re.escape(triton.__version__)} is installed.*load outside is not noticed.*3\.6\.0 to 3"
    ):
        selftest()


def test_a_machine_without_triton(monkeypatch):
    from tiles.interpreter import support

    monkeypatch.setattr(support.importlib.util, "find_spec", lambda name: None if name == "triton" else object())
    with pytest.raises(ImportError, match="triton is not installed here. The NumPy lessons run without"):
        support.require_triton()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_tensors_of_a_gpu_run_there_or_are_interpreted():
    x = vector().cuda()
    for _ in range(3):
        out = torch.zeros(32, device="cuda")
        with count() as native:
            softmax[(1,)](x, out)
        torch.testing.assert_close(out, x.softmax(0))
        with count(interpret=True) as traffic:
            softmax[(1,)](x, out.zero_())
        torch.testing.assert_close(out, x.softmax(0))
        assert not native.launches and traffic.bytes == 256
        with interpreted():
            assert refused(nested_helpers, x, torch.zeros(31, device="cuda")).index == 31
