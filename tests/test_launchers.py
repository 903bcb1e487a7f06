"""Checks of launchers: guarded tensors, the rules of a launcher, budgets, and what a student reads."""

import inspect

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tiles import NotYet, check, run, tensors
from tiles.device import DEVICE

CASES = tensors("n, n -> n", n=[1, 127, 128, 129, 1000], strided=True)


def add_spec(x, y):
    return x + y


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n_elements, stride_x, stride_y, stride_out, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs * stride_x, mask=mask)
    y = tl.load(y_ptr + offs * stride_y, mask=mask)
    tl.store(out_ptr + offs * stride_out, x + y, mask=mask)


@triton.jit
def one_too_many_kernel(x_ptr, y_ptr, out_ptr, n_elements, stride_x, stride_y, stride_out, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs <= n_elements
    x = tl.load(x_ptr + offs * stride_x, mask=mask)
    y = tl.load(y_ptr + offs * stride_y, mask=mask)
    tl.store(out_ptr + offs * stride_out, x + y, mask=mask)


@triton.jit
def bare_store_kernel(x_ptr, y_ptr, out_ptr, n_elements, stride_x, stride_y, stride_out, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs * stride_x, mask=mask)
    y = tl.load(y_ptr + offs * stride_y, mask=mask)
    tl.store(out_ptr + offs * stride_out, x + y)


@triton.jit
def no_stride_kernel(x_ptr, y_ptr, out_ptr, n_elements, stride_x, stride_y, stride_out, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs * stride_y, mask=mask)
    tl.store(out_ptr + offs * stride_out, x + y, mask=mask)


@triton.jit
def greedy_kernel(x_ptr, y_ptr, out_ptr, n_elements, stride_x, stride_y, stride_out, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs * stride_x, mask=mask)
    x = (x + tl.load(x_ptr + offs * stride_x, mask=mask)) / 2
    y = tl.load(y_ptr + offs * stride_y, mask=mask)
    tl.store(out_ptr + offs * stride_out, x + y, mask=mask)


@triton.jit
def blank_kernel(x_ptr, y_ptr, out_ptr, n_elements, stride_x, stride_y, stride_out, BLOCK_SIZE: tl.constexpr):
    offs = ______  # the elements of this program
    tl.store(out_ptr + offs * stride_out, 0.0, mask=offs < n_elements)


@triton.jit
def in_place_kernel(x_ptr, y_ptr, out_ptr, n_elements, stride_x, stride_y, stride_out, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs * stride_x, mask=mask)
    y = tl.load(y_ptr + offs * stride_y, mask=mask)
    tl.store(x_ptr + offs * stride_x, x + y, mask=mask)
    tl.store(out_ptr + offs * stride_out, x + y, mask=mask)


def launcher(kernel, programs=triton.cdiv):
    def vector_add(x, y, out):
        n = x.numel()
        kernel[(programs(n, 128),)](x, y, out, n, x.stride(0), y.stride(0), out.stride(0), BLOCK_SIZE=128)

    return vector_add


def verdict(answer, **options) -> str:
    with pytest.raises(NotYet) as wrong:
        check("7.1", answer, **(dict(against=add_spec, cases=CASES, moves=lambda n: 3 * n) | options))
    return str(wrong.value)


def test_right(capsys):
    check("7.1", launcher(add_kernel), against=add_spec, cases=CASES, moves=lambda n: 3 * n)
    assert capsys.readouterr().out == "Exercise 7.1 passed: 5 sizes, strided too; 12 B per element moved, the minimum.\n"


@pytest.mark.parametrize(
    "kernel, words",
    [
        (bare_store_kernel, "n = 1, BLOCK_SIZE = 128."),
        (bare_store_kernel, "The kernel stored 127 elements past the end of out (line {store}, program 0, first at index 1)."),
        (bare_store_kernel, "Look at the mask of the store"),
        (one_too_many_kernel, "The kernel read x[1], one past the end of x (line {load}, program 0).\n  One too many"),
        (no_stride_kernel, "n = 127, strided"),
        (greedy_kernel, "moves 16 B per element of the output, where 12 B suffice"),
        (greedy_kernel, "Line {load} reads 4 B of x, line {again} reads 4 B of x, line"),
        (blank_kernel, "Exercise 7.1 still has 1 blank: line "),
        (in_place_kernel, "changed its input x"),
    ],
)
def test_wrong_kernels(kernel, words):
    source, first = inspect.getsourcelines(kernel.fn)
    loads = [first + number for number, line in enumerate(source) if "tl.load" in line] + [0, 0]
    store = next(first + number for number, line in enumerate(source) if "tl.store" in line)
    assert words.format(load=loads[0], again=loads[1], store=store) in verdict(launcher(kernel))


def test_too_few_programs():
    said = verdict(launcher(add_kernel, lambda n, block: max(1, n // block)))
    assert "n = 129, BLOCK_SIZE = 128" in said and "The last one was never written: that is one program too few" in said


def torch_adds(x, y, out):
    out.copy_(x + y)


def numpy_adds(x, y, out):
    out.numpy()[:] = x.numpy() + y.numpy()


def half_is_torch(x, y, out):
    doubled = x * 2
    launcher(add_kernel)(doubled, y, out)


def returns(x, y, out):
    result = torch.empty_like(x)
    launcher(add_kernel)(x, y, result)
    return result


@pytest.mark.parametrize(
    "answer, words",
    [
        (torch_adds, "the launcher lets torch compute (`add`)"),
        (half_is_torch, "the launcher lets torch compute (`mul`)"),
        (numpy_adds, "the launcher takes a tensor out of torch (`numpy`)"),
        (lambda x, y, out: None, "No kernel was launched"),
        (lambda x, y, out: out.fill_(0), "the launcher fills its output (`fill_`)"),
        (lambda x, y, out: out[:].zero_(), "the launcher fills its output (`zero_`)"),
        (returns, "Fill the tensor that it is given"),
        (lambda x, y, out: add_spec(x, y), "calls add_spec, the specification"),
        (lambda x, y, out: x.nonsense, "AttributeError"),
    ],
)
def test_rules_of_a_launcher(answer, words):
    assert words in verdict(answer)


def scratch(x, y, out):
    """Allowed: scratch memory, views, strides."""
    between = torch.empty_like(x)
    zero = torch.zeros(x.numel(), device=x.device, dtype=x.dtype)
    launcher(add_kernel)(x.view(-1) if x.is_contiguous() else x, zero, between)
    launcher(add_kernel)(between, y[:], out)


def test_scratch_memory_is_allowed(capsys):
    check("7.1", scratch, against=add_spec, cases=CASES)
    assert "passed" in capsys.readouterr().out


@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, stride_xm, stride_xn, stride_om, stride_on, BLOCK: tl.constexpr):
    offs_m, offs_n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (offs_m < M)[:, None] & (offs_n < N)[None, :]
    x = tl.load(x_ptr + offs_m[:, None] * stride_xm + offs_n[None, :] * stride_xn, mask=mask)
    tl.store(out_ptr + offs_n[None, :] * stride_om + offs_m[:, None] * stride_on, x, mask=mask)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](x, out, M, N, *x.stride(), *out.stride(), BLOCK=16)


def test_two_dimensions(capsys):
    cases = tensors("M N -> N M", M=[1, 3, 17], N=[5, 16, 33], strided=True, dtypes=("float32", "float16"))
    check("7.4", transpose, against=lambda x: x.T, cases=cases, moves=lambda M, N: 2 * M * N)
    assert "Exercise 7.4 passed: 3 sizes, strided too; 4 B per element moved" in capsys.readouterr().out


def test_swapped_strides_are_named():
    def swapped(x, out):
        M, N = x.shape
        grid = (triton.cdiv(M, 16), triton.cdiv(N, 16))
        transpose_kernel[grid](x, out, M, N, *x.stride(), out.stride(1), out.stride(0), BLOCK=16)

    cases = tensors("M N -> N M", M=[16], N=[16])
    with pytest.raises(NotYet, match="transposed"):
        check("7.4", swapped, against=lambda x: x.T, cases=cases)


def test_run_fills_and_returns():
    x = np.arange(5, dtype=np.float32)
    assert run(launcher(add_kernel), x, x, out=5).tolist() == [0, 2, 4, 6, 8]
    assert DEVICE in ("cpu", "cuda")


def test_cases_say_what_is_wrong_with_them():
    with pytest.raises(ValueError, match="names no output"):
        tensors("n, n", n=[1])
    with pytest.raises(ValueError, match="uses the sizes M, N; values were given for M"):
        tensors("M N -> M", M=[1])
    with pytest.raises(ValueError, match="there are no values called"):
        tensors("n -> n", n=[1], kinds=("odd",))


@triton.jit
def breaks_kernel(x_ptr, y_ptr, out_ptr, n_elements, stride_x, stride_y, stride_out, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    for _ in range(2):
        x = tl.load(x_ptr + offs * stride_x, mask=mask)
        break
    y = tl.load(y_ptr + offs * stride_y, mask=mask)
    tl.store(out_ptr + offs * stride_out, x + y, mask=mask)


@triton.jit
def first_come_kernel(x_ptr, y_ptr, out_ptr, turn_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """Each program takes a number, and adds only if the number is its own: right as long as they come in order."""
    turn = tl.atomic_add(turn_ptr, 1)
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.where(turn == tl.program_id(0), x + y, x), mask=mask)


def test_what_the_compiler_refuses_is_refused_on_a_laptop():
    said = verdict(launcher(breaks_kernel))
    assert "The compiler refuses line" in said and "A kernel has no break" in said


def test_a_result_that_depends_on_the_order_of_programs():
    def first_come(x, y, out):
        turn = torch.zeros(1, dtype=torch.int32, device=x.device)
        first_come_kernel[(triton.cdiv(x.numel(), 128),)](x, y, out, turn, x.numel(), BLOCK_SIZE=128)

    said = verdict(first_come, cases=tensors("n, n -> n", n=[128, 1000]), moves=None)
    assert "n = 1000, the programs in another order" in said and "depends on the order in which the programs run" in said


@triton.jit
def copy_kernel(x_ptr, out_ptr, M, N, stride_xm, stride_xn, stride_om, stride_on, BLOCK_SIZE: tl.constexpr):
    rows = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + rows * stride_xm + cols * stride_xn, mask=cols < N)
    tl.store(out_ptr + rows * stride_om + cols * stride_on, x, mask=cols < N)


def copy_rows(x, out, BLOCK_SIZE=128):
    (M, N) = x.shape
    copy_kernel[(M, triton.cdiv(N, BLOCK_SIZE))](x, out, M, N, *x.stride(), *out.stride(), BLOCK_SIZE)


def copied(launcher, orders="C", **options):
    cases = tensors("M N -> M N", M=[8, 16], N=[136, 40], orders=orders)
    check("2.6", launcher, against=lambda x: x, cases=cases, **options)


def test_a_budget_of_sectors(capsys):
    copied(copy_rows, sectors=lambda M, N: M * N // 4)
    assert capsys.readouterr().out == "Exercise 2.6 passed: 2 sizes; 100 % of every sector used.\n"
    with pytest.raises(NotYet) as wrong:
        copied(copy_rows, orders="F", sectors=lambda M, N: M * N // 4)
    said = str(wrong.value)
    assert "M = 8, N = 136, column by column" in said and "ask for 2,176 sectors, where 272 would do (12 % of" in said
    assert "asks for 1,088 sectors of x, line" in said


def test_tensors_that_lie_column_by_column(capsys):
    copied(lambda x, out: copy_rows(x.T, out.T), orders="F", sectors=lambda M, N: M * N // 4)
    copied(copy_rows, orders="CF")
    assert "4 cases" in capsys.readouterr().out


def test_what_a_compiled_launch_lacks(capsys):
    copied(copy_rows, compiled=lambda kernel: "" if kernel.widest_load == 4 else "No.")
    with pytest.raises(NotYet, match=r"M = 8, N = 136.*\n  The values are right. A lane loads 4 bytes"):
        copied(copy_rows, compiled=lambda kernel: f"A lane loads {kernel.widest_load} bytes.")
