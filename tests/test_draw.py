"""Pictures say what was counted, and counts with compiled lanes are exact."""

import matplotlib
import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tiles.compiled import CompileError
from tiles.draw import draw_programs, draw_sectors, programs_of
from tiles.interpreter import count

matplotlib.use("Agg")


@triton.jit
def fill_kernel(out_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(out_ptr + offs_m[:, None] * N + offs_n[None, :], 1.0, mask=mask)


@triton.jit
def copy_kernel(x_ptr, out_ptr, stride_xm, stride_xn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    offs_m, offs_n = tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N)
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :] * stride_xn)
    tl.store(out_ptr + offs_m[:, None] * BLOCK_N + offs_n[None, :], x)


@triton.jit
def strided_kernel(x_ptr, out_ptr, stride, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(out_ptr + offs, tl.load(x_ptr + offs * stride))


@triton.jit
def lists_kernel(x_ptr, out_ptr):
    parts = [tl.load(x_ptr)]
    parts.append(tl.load(x_ptr + 1))
    tl.store(out_ptr, parts[0] + parts[1])


@triton.jit
def everywhere_kernel(out_ptr):
    tl.atomic_add(out_ptr + tl.arange(0, 2), 1.0)


def filled(trace=True):
    with count(trace=trace) as traffic:
        fill_kernel[(2, 3)](torch.empty(3, 10), 3, 10, BLOCK_M=2, BLOCK_N=4)
    return traffic


def test_which_program_stores_which_element():
    programs = programs_of(filled(), "out")
    expected = [[(m // 2 + 2 * (n // 4),) for n in range(10)] for m in range(3)]
    assert programs.tolist() == expected


def test_several_programs_of_one_element():
    with count(trace=True) as traffic:
        everywhere_kernel[(3,)](torch.zeros(2))
    assert programs_of(traffic, "out", "atomic").tolist() == [[(0, 1, 2), (0, 1, 2)]]


def test_the_drawing_has_a_box_for_each_element():
    axes = draw_programs(filled(), "out")
    assert len(axes.patches) == 30 and {text.get_text() for text in axes.texts} == set("012345")


def test_what_cannot_be_drawn_says_why():
    with pytest.raises(ValueError, match=r"there is nothing: use count\(trace=True\)"):
        draw_programs(filled(trace=False), "out")
    with pytest.raises(ValueError, match=r"no load of x was traced; there is out \(store\)"):
        draw_programs(filled(), "x", "load")
    with count(trace=True) as traffic:
        fill_kernel[(1, 1)](torch.empty(64, 64), 64, 64, BLOCK_M=64, BLOCK_N=64)
    with pytest.raises(ValueError, match="out has 4,096 elements; at most 2,048"):
        draw_programs(traffic, "out")


@pytest.mark.parametrize(
    "addresses, title",
    [
        (np.arange(32) * 4, "32 lanes, 4 sectors, 100 % of their bytes asked for"),
        (np.arange(32) * 8, "32 lanes, 8 sectors, 50 %"),
        (np.arange(32) * 32, "32 lanes, 32 sectors, 12 %"),
        (np.arange(32) * 4 + 20, "32 lanes, 5 sectors, 80 %"),
        (np.array([1000]), "1 lanes, 1 sectors, 12 %"),
    ],
)
def test_sectors_of_a_warp(addresses, title):
    assert draw_sectors(addresses).get_title().startswith(title)


def test_a_warp_has_at_most_32_lanes():
    with pytest.raises(ValueError, match="not 33"):
        draw_sectors(np.arange(33))


@pytest.mark.parametrize("transposed, model, compiled", [(False, 128, 128), (True, 1024, 128)])
def test_sectors_with_the_lanes_of_the_compiled_kernel(transposed, model, compiled):
    x = torch.randn(32, 32)
    x = x.t() if transposed else x
    for target, sectors, title in ((None, model, "1 program\n"), ("H100", compiled, "1 program, lanes as compiled for H100\n")):
        with count(target=target) as traffic:
            copy_kernel[(1,)](x, torch.empty(32, 32), *x.stride(), BLOCK_M=32, BLOCK_N=32)
        assert traffic.sectors == {"x": sectors, "out": 128} and title in str(traffic)


@pytest.mark.parametrize("stride, sectors", [(1, 128), (2, 256), (4, 512), (8, 1024), (16, 1024), (32, 1024)])
def test_strided_copy_with_lanes_in_order(stride, sectors):
    with count() as traffic:
        strided_kernel[(4,)](torch.randn(1024 * stride), torch.empty(1024), stride, BLOCK_SIZE=256)
    assert traffic.sectors == {"x": sectors, "out": 128}
    assert (traffic.loaded, traffic.stored) == ({"x": 4096}, {"out": 4096})


@pytest.mark.parametrize("stride, sectors", [(1, 128), (2, 512), (4, 1024)])
def test_strided_copy_as_compiled(stride, sectors):
    """The store makes the compiler give each lane two neighbours; of x, a lane then loads them one after the other."""
    with count(target="A100") as traffic:
        strided_kernel[(4,)](torch.randn(1024 * stride), torch.empty(1024), stride, BLOCK_SIZE=256)
    assert traffic.sectors == {"x": sectors, "out": 128}


def test_counting_for_a_target_refuses_what_it_would_refuse():
    with pytest.raises(CompileError, match="append"), count(target="H100"):
        lists_kernel[(1,)](torch.ones(2), torch.ones(1))


def test_a_launch_can_be_compiled_afterwards():
    launch = filled().launches[0]
    assert launch.compiled("A100").registers > 0 and launch.compiled("A100").target.name == "A100"
