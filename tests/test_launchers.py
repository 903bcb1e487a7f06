"""Checks of launchers: guarded tensors, the rules of a launcher, budgets, and what a student reads."""

import contextlib
import ctypes
import functools
import inspect
import io
import threading

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tiles import NotYet, check, interpreter, launchers, run, tensors
from tiles.device import DEVICE
from tiles.launchers import strides_with_gaps

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


def test_a_program_for_each_element():
    said = verdict(launcher(add_kernel, lambda n, block: n), cases=tensors("n, n -> n", n=[1, 3000]))
    assert (
        "The grid of add_kernel starts 3,000 programs.\n  24 tiles of 128 cover the output, 3,000 elements. One program" in said
    )
    said = verdict(launcher(add_kernel, lambda n, block: n), cases=tensors("n, n -> n", n=[1, 500]))
    assert "The grid of add_kernel starts 500 programs, and 165 of the first 169 store nothing.\n  4 tiles of 128 cover" in said


def test_small_tiles_and_programs_that_have_nothing_to_do_are_right(capsys):
    def small(x, y, out):
        add_kernel[(triton.cdiv(x.numel(), 16),)](x, y, out, x.numel(), x.stride(0), y.stride(0), out.stride(0), BLOCK_SIZE=16)

    check("7.1", small, against=add_spec, cases=CASES, moves=lambda n: 3 * n)
    check("7.1", launcher(add_kernel, lambda n, block: 132), against=add_spec, cases=CASES, moves=lambda n: 3 * n)
    assert capsys.readouterr().out.count("passed") == 2


def torch_adds(x, y, out):
    out.copy_(x + y)


def numpy_adds(x, y, out):
    out.numpy()[:] = x.numpy() + y.numpy()


def bytes_are_saved(x, y, out):
    torch.save(x, io.BytesIO())


def half_is_torch(x, y, out):
    doubled = x * 2
    launcher(add_kernel)(doubled, y, out)


def returns(x, y, out):
    result = torch.empty_like(x)
    launcher(add_kernel)(x, y, result)
    return result


def grid_computes(x, y, out):
    class Grid(tuple):
        __len__ = functools.partial(torch.add, x, y, out=out)

    class Copies(tuple):
        __len__ = functools.partial(out.copy_, x)

    for grid in (Grid((1,)), Copies((1,))):
        with contextlib.suppress(TypeError):
            add_kernel[grid](x, y, out, 0, 1, 1, 1, 16)


def thread_computes(x, y, out):
    thread = threading.Thread(target=torch.add, args=(x, y), kwargs={"out": out})
    thread.start()
    thread.join()


def after_a_default_device(x, y, out):
    torch.set_default_device("cpu")
    try:
        out.fill_(0)
    finally:
        torch.set_default_device(None)


@pytest.mark.parametrize(
    "answer, words",
    [
        (grid_computes, "the launcher lets torch compute (`add`)"),
        (thread_computes, "the launcher starts a thread"),
        (after_a_default_device, "the launcher fills its output (`fill_`)"),
        (torch_adds, "the launcher lets torch compute (`add`)"),
        (half_is_torch, "the launcher lets torch compute (`mul`)"),
        (numpy_adds, "the launcher takes a tensor out of torch (`numpy`)"),
        (bytes_are_saved, "the launcher takes a tensor out of torch"),
        (lambda x, y, out: list(x.untyped_storage()), "the launcher takes a tensor out of torch (`untyped_storage`)"),
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


@triton.jit
def plus(x, y):
    return x + y


@triton.jit
def calls_fn_kernel(x_ptr, y_ptr, out_ptr, n_elements, stride_x, stride_y, stride_out, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs * stride_x, mask=mask)
    y = tl.load(y_ptr + offs * stride_y, mask=mask)
    tl.store(out_ptr + offs * stride_out, plus.fn(x, y), mask=mask)


def test_a_kernel_that_calls_plain_python_is_refused_by_a_verdict():
    """Triton cannot hash such a kernel."""
    with pytest.raises(RuntimeError):
        hash(calls_fn_kernel)
    assert "The compiler refuses" in verdict(launcher(calls_fn_kernel))


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


def test_strides_of_one_call_are_pairwise_different():
    for shapes in ([(5,)] * 4, [(4, 7), (7,), (4, 7)], [(3, 4), (3, 4), (3, 4)], [(2, 3, 4), (6,), (6, 2), (2, 3, 4)]):
        found = list(strides_with_gaps(shapes))
        every = [stride for strides in found for stride in strides]
        assert len(set(every)) == len(every)
        for shape, strides in zip(shapes, found):
            places = np.add.reduce(np.meshgrid(*(np.arange(n) * s for n, s in zip(shape, strides)), indexing="ij"))
            assert np.unique(places).size == places.size  # no two elements in one place
            assert places.max() >= places.size  # and gaps


@triton.jit
def add_row_kernel(x_ptr, row_ptr, out_ptr, M, N, stride_m, stride_n, stride_row, stride_om, stride_on, BLOCK: tl.constexpr):
    offs_m, offs_n = tl.program_id(0), tl.arange(0, BLOCK)
    mask = offs_n < N
    x = tl.load(x_ptr + offs_m * stride_m + offs_n * stride_n, mask=mask)
    row = tl.load(row_ptr + offs_n * stride_row, mask=mask)
    tl.store(out_ptr + offs_m * stride_om + offs_n * stride_on, x + row, mask=mask)


@pytest.mark.parametrize("swapped", range(5))
def test_a_stride_of_another_tensor_is_noticed(swapped):
    def add_row(x, row, out):
        M, N = x.shape
        strides = [*x.stride(), *row.stride(), *out.stride()]
        strides[swapped] = strides[(swapped + 3) % 5]
        add_row_kernel[(M,)](x, row, out, M, N, *strides, BLOCK=16)

    with pytest.raises(NotYet, match="strided"):
        check("7.4", add_row, against=lambda x, row: x + row, cases=tensors("M N, N -> M N", M=[5], N=[7], strided=True)[1:])


@triton.jit
def add_scratch_kernel(x_ptr, s_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + tl.load(s_ptr + offs, mask=mask), mask=mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(
    "scratch",
    [lambda x, dtype: torch.empty(x.shape, dtype=dtype), lambda x, dtype: torch.empty_like(x, dtype=dtype),
     lambda x, dtype: x.new_empty(x.shape, dtype=dtype), lambda x, dtype: torch.empty_strided(x.shape, (1,), dtype=dtype)],
)  # fmt: skip
def test_scratch_memory_holds_nothing_that_may_be_used(scratch, dtype):
    def launch(x, out):
        between = scratch(x, dtype)
        add_scratch_kernel[(triton.cdiv(x.numel(), 128),)](x, between, out, x.numel(), BLOCK_SIZE=128)

    if dtype == torch.bfloat16:  # not interpreted
        with launchers._OnlyLaunches([]):
            made = scratch(torch.zeros(5), dtype)
        assert made.isnan().all()
        return
    said = verdict(launch, cases=tensors("n -> n", n=[5]), against=lambda x: x, moves=None)
    assert "5 elements of out: computed from scratch memory in which nothing had been stored. torch.empty holds" in said
    assert "exponential" not in said


def test_scratch_memory_that_is_filled_first(capsys):
    def twice(x, out):
        between, zero = torch.empty_like(x), torch.zeros_like(x)
        for source, target in ((x, between), (between, out)):
            add_scratch_kernel[(triton.cdiv(x.numel(), 128),)](source, zero, target, x.numel(), BLOCK_SIZE=128)

    check("7.1", twice, against=lambda x: x, cases=tensors("n -> n", n=[5, 200], dtypes=("float32", "float16")))
    assert "passed" in capsys.readouterr().out


@triton.jit
def divide_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs, mask=mask, other=1.0)
    tl.store(out_ptr + offs, x / (x - x), mask=mask)


def test_exponentials_are_not_blamed_where_there_are_none():
    def divide(x, out):
        divide_kernel[(1,)](x, out, x.numel(), BLOCK_SIZE=128)

    given = dict(cases=tensors("n -> n", n=[5]), moves=None)
    assert "an exponential overflowed" in verdict(divide, against=lambda x: np.exp(x), **given)
    said = verdict(divide, against=lambda x: 2 * x, **given)
    assert "inf or nan: it comes from a division by 0" in said and "exponential" not in said


@triton.jit
def only_blocks_of_one_kernel(x_ptr, y_ptr, out_ptr, n_elements, stride_x, stride_y, stride_out, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < n_elements
    x = tl.load(x_ptr + offs * stride_x, mask=mask)
    y = tl.load(y_ptr + offs * stride_y, mask=mask)
    if BLOCK_SIZE == 1:
        total = x + y
    else:
        total = sum([x, y][1:], start=x)
    tl.store(out_ptr + offs * stride_out, total, mask=mask)


def test_every_set_of_constants_is_compiled_once(monkeypatch):
    def vector_add(kernel, x, y, out):
        BLOCK_SIZE = 1 if x.numel() == 1 else 128
        grid = (triton.cdiv(x.numel(), BLOCK_SIZE),)
        kernel[grid](x, y, out, x.numel(), x.stride(0), y.stride(0), out.stride(0), BLOCK_SIZE=BLOCK_SIZE)

    said = verdict(lambda x, y, out: vector_add(only_blocks_of_one_kernel, x, y, out))
    assert "n = 127" in said and "The compiler refuses line" in said
    built, compiled = [], interpreter.Launch.compiled
    monkeypatch.setattr(
        interpreter.Launch, "compiled", lambda self, target: built.append(self.constants) or compiled(self, target)
    )
    check("7.1", lambda x, y, out: vector_add(add_kernel, x, y, out), against=add_spec, cases=CASES)
    assert built == [{"BLOCK_SIZE": 1}, {"BLOCK_SIZE": 128}]


def test_an_output_that_no_kernel_filled():
    def through_ctypes(x, y, out):
        address = (ctypes.c_float * out.numel()).from_address(out.data_ptr())
        launcher(add_kernel)(x[:1], y[:1], out[:1])
        np.frombuffer(address, np.float32)[:] = 1

    said = verdict(through_ctypes, cases=tensors("n, n -> n", n=[100]))
    assert "100 elements of out are filled, and the kernels stored 1. Only a kernel stores there." in said


def test_a_file_is_no_part_of_triton_because_of_its_name():
    made = {}
    exec(compile("def computed(x, y):\n    return x + y\n", "/triton/tiles/interpreter/torch/own.py", "exec"), made)
    said = verdict(lambda x, y, out: launcher(add_kernel)(made["computed"](x, y), y, out))
    assert "Line 2: the launcher lets torch compute (`add`)" in said
