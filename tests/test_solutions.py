"""The kernels of the solved lessons over many more shapes than their checks show.

Empty tensors, one element, powers of two and their neighbours, tensors with gaps, transposed and sliced ones, and rows that
start beyond element 2**31. Without a GPU everything is interpreted, strictly; with one, it runs natively as well, on larger
shapes and with 16 bits.
"""

import ast
import contextlib
import io
import linecache
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from torch.nn import functional as F

from tiles.interpreter import count

SOLUTIONS = Path(__file__).resolve().parent.parent / "solutions"
GPU = torch.cuda.is_available()
EPS = 1e-6  # of RMSNorm and LayerNorm in lesson 08

# ---- the lessons


@cache
def lesson(number: str) -> types.ModuleType:
    """What a solved lesson defines: the definitions of its cells, without checks, measurements and figures."""
    (path,) = SOLUTIONS.glob(f"{number}_*.ipynb")
    module = types.ModuleType(f"lesson_{number}")
    for position, cell in enumerate(nbformat.read(path, as_version=4).cells):
        skipped = ("check-", "hidden-check-", "gpu")
        if cell.cell_type == "code" and not any(tag.startswith(skipped) for tag in cell.metadata.get("tags", [])):
            name = f"<lesson {number}, cell {position}>"
            linecache.cache[name] = (len(cell.source), None, cell.source.splitlines(keepends=True), name)
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(definitions(cell.source), name, "exec"), module.__dict__)
    return module


def definitions(source: str) -> ast.Module:
    """Imports, functions, classes and constants in capitals of a cell, in lines of their own as they stand."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if isinstance(node, DEFINING) or is_constant(node)]
    return tree


DEFINING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) and target.id.isupper() for target in node.targets)


# ---- tensors

LAYOUTS = ("contiguous", "transposed", "sliced columns", "sliced rows")


def laid_out(values: torch.Tensor, layout: str) -> torch.Tensor:
    """The same values as a view of larger memory, whose other elements are nan (99 where there is none)."""
    shape, index = list(values.shape), [slice(None)] * values.ndim
    if layout == "sliced columns" and shape:
        shape[-1], index[-1] = 2 * shape[-1] + 3, slice(2, 2 + 2 * shape[-1], 2)
    if layout == "sliced rows" and shape:
        shape[0], index[0] = 3 * shape[0] + 1, slice(1, 1 + 3 * shape[0], 3)
    if layout == "transposed":
        view = values.new_empty(shape[::-1]).permute(*range(len(shape) - 1, -1, -1))
    else:
        view = values.new_full(shape, float("nan") if values.is_floating_point() else 99)[tuple(index)]
    return view.copy_(values)


# ---- what is tried


HALVES = (torch.float16, torch.bfloat16)
DTYPES = (torch.float32, *HALVES)


@dataclass(frozen=True)
class Launcher:
    """A launcher of a lesson, and what it should do.

    shapes: of the inputs and of the outputs: "M,N N -> M,N". right: the outputs from the inputs, in float64.
    sizes: letter -> sizes that are tried, the first of each together, and so on; large: more of them, on a GPU.
    layouts: of the inputs and outputs. accuracy: how many roundings of the largest output an error may be.
    options: for the launcher. dtypes: of the inputs; bfloat16 on a GPU alone. out_dtype: of the outputs, where it is another.
    complete: what the launcher is given, from inputs that are random numbers.
    """

    lesson: str
    name: str
    shapes: str
    right: Callable[..., Any]
    sizes: dict[str, list[int]]
    large: dict[str, list[int]]
    layouts: tuple[str, ...] = LAYOUTS
    accuracy: float = 16
    options: dict[str, Any] = field(default_factory=dict)
    dtypes: tuple[torch.dtype, ...] = DTYPES
    out_dtype: torch.dtype | None = None
    complete: Callable[..., Iterable[torch.Tensor]] = lambda *values: values

    def __str__(self) -> str:
        return f"{self.lesson}-{self.name}"

    @property
    def function(self) -> Callable:
        return getattr(lesson(self.lesson), self.name)

    def cases(self, large: bool = False) -> Iterator[dict[str, int]]:
        """Letter -> size."""
        sizes = self.large if large else self.sizes
        for picked in zip(*sizes.values(), strict=True):
            yield dict(zip(sizes, picked, strict=True))

    def shapes_of(self, sizes: dict[str, int]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """Shapes of the inputs and of the outputs."""
        before, after = (
            [tuple(eval(size, {}, dict(sizes)) for size in shape.split(",")) for shape in side.split()]
            for side in self.shapes.split("->")
        )
        return before, after

    def run(self, sizes: dict[str, int], layout: str, dtype: torch.dtype, device: str) -> None:
        """Launch once, with inputs and outputs of that layout, and compare. Raises AssertionError."""
        shapes, filled_shapes = self.shapes_of(sizes)
        generator = torch.Generator().manual_seed(sum(sizes.values()))
        values = list(self.complete(*[torch.randn(shape, generator=generator).to(device, dtype) for shape in shapes]))
        nothing = [torch.full(shape, float("nan"), dtype=self.out_dtype or dtype, device=device) for shape in filled_shapes]
        given, filled = ([laid_out(v, layout) for v in side] for side in (values, nothing))
        self.compare(values, given, filled, f"{sizes}, {layout}, {dtype}")

    def compare(self, values: list[torch.Tensor], given: list[torch.Tensor], filled: list[torch.Tensor], case: str) -> None:
        """Launch with `given`, views of the values, and hold what is filled against what is right for the values."""
        self.function(*given, *filled, **self.options)
        right = self.right(*[value.double() for value in values])
        for got, expected in zip(filled, right if isinstance(right, tuple) else (right,), strict=True):
            assert got.shape == expected.shape, f"{self}: the specification does not fit the shapes"
            if got.numel():
                allowed = self.accuracy * torch.finfo(got.dtype).eps * max(1.0, float(expected.abs().max()))
                error = float((got.double() - expected).abs().max())
                assert error <= allowed, f"{self}: off by {error:.2g}, {allowed:.2g} are allowed; {case}"


AROUND = {"M": [0, 3, 1, 1, 2, 3, 4, 3, 2], "N": [5, 0, 1, 2, 31, 32, 33, 127, 257]}
WITH_ELEMENTS = {"M": AROUND["M"][2:], "N": AROUND["N"][2:]}  # the largest of no number is none
LARGE = {"M": [1, 1000, 4097, 70_000, 33], "N": [16_384, 1023, 4096, 5, 8193]}
PRODUCTS = {"M": [0, 3, 1, 2, 33, 64, 65, 130], "K": [3, 0, 1, 31, 64, 65, 33, 72], "N": [5, 4, 1, 7, 65, 63, 64, 264]}
EVEN = {name: [size - size % 2 for size in sizes] if name == "K" else sizes for name, sizes in PRODUCTS.items()}
NORMED = {name: sizes[2:] for name, sizes in PRODUCTS.items()}  # rows without elements have no mean
LARGE_PRODUCTS = {"M": [1, 1000, 1023, 4095, 2048], "K": [4096, 1022, 512, 1024, 2048], "N": [4096, 513, 1025, 4097, 2048]}
ALONG = {"n": [0, 1, 2, 127, 128, 129, 1023, 1024, 1025, 5000]}
AT_LEAST_ONE = {"n": ALONG["n"][1:]}
FAR_ALONG = {"n": [1, 1023, 2**20 + 1, 2**24]}
NO_STRIDES = ("contiguous",)


def gradients(function: Callable) -> Callable:
    """The gradients of a function of all inputs but the last, which is that of its result."""

    def right(*inputs):
        *inputs, dy = inputs
        with torch.enable_grad():
            inputs = [x.requires_grad_() for x in inputs]
            return torch.autograd.grad(function(*inputs), inputs, dy)

    return right


def softmax(x):
    return torch.softmax(x, dim=-1)


def softmax_gradient(y, dy):
    return y * (dy - (y * dy).sum(-1, keepdim=True))


def partial_sums(x):
    return torch.stack([part.sum(-1) for part in x.split(128, dim=1)], dim=1)


def rms_norm(x, w):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS) * w


def layer_norm(x, w, b):
    return F.layer_norm(x, x.shape[-1:], w, b, EPS)


def layer_norm_gradients(x, w, dy):
    return gradients(layer_norm)(x, w, torch.zeros_like(w), dy)


def swiglu(a, b):
    return F.silu(a) * b


def linear_gelu(x, w, bias):
    return F.gelu(x @ w + bias, approximate="tanh")


def norm_linear_gelu(x, w, bias, column_sums):
    return linear_gelu(F.layer_norm(x, x.shape[-1:], eps=1e-5), w, bias)


def with_column_sums(x, w, bias, _):
    return x, w, bias, w.float().sum(0)


def lora(x, w, a, b):
    return x @ w + 0.5 * (x @ a) @ b


def int8_product(x, w, scale):
    return x @ (w * scale)


def int4_product(x, packed, scale):
    low, high = packed % 16 - 8, packed // 16 - 8
    return x @ (torch.cat([low, high]) * scale)


def with_int8(x, w, scale):
    return x, (50 * w).clamp(-128, 127).to(torch.int8), scale.float()


def with_uint8(x, packed, scale):
    return x, (128 + 50 * packed.float()).clamp(0, 255).to(torch.uint8), scale.float()


LAUNCHERS = [
    Launcher("07", "vector_add", "n n -> n", torch.add, ALONG, FAR_ALONG),
    Launcher("07", "differences", "n -> n-1", torch.diff, AT_LEAST_ONE, FAR_ALONG, NO_STRIDES),
    Launcher("07", "multiply_add_relu", "n n n -> n", lambda x, y, z: F.relu(x * y + z), ALONG, FAR_ALONG, NO_STRIDES),
    Launcher("07", "add_row", "M,N N -> M,N", torch.add, AROUND, LARGE),
    Launcher("07", "outer_sum", "M N -> M,N", lambda x, y: x[:, None] + y, AROUND, LARGE),
    Launcher("07", "row_sum", "M,N -> M", lambda x: x.sum(-1), AROUND, LARGE, accuracy=64, out_dtype=torch.float32),
    Launcher("07", "row_max", "M,N -> M", lambda x: x.amax(-1), WITH_ELEMENTS, LARGE),
    Launcher("07", "lag", "n -> n", lambda x: torch.diff(x, prepend=x.new_zeros(1)), AT_LEAST_ONE, FAR_ALONG, NO_STRIDES),
    Launcher("07", "partial_sums", "M,N -> M,(N+127)//128", partial_sums, WITH_ELEMENTS, LARGE, accuracy=64, dtypes=DTYPES[:1]),
    Launcher("08", "softmax", "M,N -> M,N", softmax, AROUND, LARGE),
    Launcher("08", "softmax_long", "M,N -> M,N", softmax, AROUND, LARGE),
    Launcher("08", "softmax_relay", "M,N -> M,N", softmax, AROUND, LARGE),
    Launcher("08", "softmax_backward", "M,N M,N -> M,N", softmax_gradient, AROUND, LARGE, accuracy=64),
    Launcher("08", "rmsnorm", "M,N N -> M,N", rms_norm, AROUND, LARGE),
    Launcher("08", "rmsnorm_backward", "M,N N M,N -> M,N N", gradients(rms_norm), AROUND, LARGE, accuracy=64),
    Launcher("08", "layernorm", "M,N N N -> M,N", layer_norm, AROUND, LARGE, accuracy=64),
    Launcher("08", "layernorm_backward", "M,N N M,N -> M,N N N", layer_norm_gradients, AROUND, LARGE, accuracy=256),
    Launcher("08", "swiglu", "M,N M,N -> M,N", swiglu, AROUND, LARGE),
    Launcher("08", "swiglu_backward", "M,N M,N M,N -> M,N M,N", gradients(swiglu), AROUND, LARGE),
    Launcher("09", "matmul", "M,K K,N -> M,N", torch.matmul, PRODUCTS, LARGE_PRODUCTS, accuracy=64),
    Launcher("09", "grouped_matmul", "M,K K,N -> M,N", torch.matmul, PRODUCTS, LARGE_PRODUCTS, accuracy=64),
    Launcher(
        "09", "linear", "M,K K,N N -> M,N", linear_gelu, PRODUCTS, LARGE_PRODUCTS, options={"activation": "gelu"}, dtypes=HALVES
    ),
    *[
        Launcher(
            "09", name, "M,K K,N N N -> M,N", norm_linear_gelu, NORMED, LARGE_PRODUCTS, dtypes=HALVES, complete=with_column_sums
        )
        for name in ("norm_linear_gelu", "statistics_linear_gelu", "norm_linear_tma")
    ],
    Launcher("09", "matmul_tma", "M,K K,N -> M,N", torch.matmul, PRODUCTS, LARGE_PRODUCTS, dtypes=HALVES),
    Launcher("09", "matmul_persistent", "M,K K,N -> M,N", torch.matmul, PRODUCTS, LARGE_PRODUCTS, dtypes=HALVES),
    Launcher("09", "lora", "M,K K,N K,16 16,N -> M,N", lora, PRODUCTS, LARGE_PRODUCTS, options={"scale": 0.5}, dtypes=HALVES),
    Launcher(
        "09", "lora_rows", "M,K K,N K,16 16,N -> M,N", lora, PRODUCTS, LARGE_PRODUCTS, options={"scale": 0.5}, dtypes=HALVES
    ),
    Launcher("09", "matmul_int8", "M,K K,N N -> M,N", int8_product, PRODUCTS, LARGE_PRODUCTS, dtypes=HALVES, complete=with_int8),
    Launcher("09", "matmul_int4", "M,K K//2,N N -> M,N", int4_product, EVEN, LARGE_PRODUCTS, dtypes=HALVES, complete=with_uint8),
]

# ---- tests


EACH = [
    pytest.param(launcher, layout, id=f"{launcher}-{layout.replace(' ', '-')}")
    for launcher in LAUNCHERS
    for layout in launcher.layouts
]


@pytest.mark.parametrize("launcher, layout", EACH)
def test_interpreted(launcher, layout):
    for sizes in launcher.cases():
        for dtype in [dtype for dtype in launcher.dtypes if dtype != torch.bfloat16][: None if layout == "contiguous" else 1]:
            launcher.run(sizes, layout, dtype, "cpu")


@pytest.mark.skipif(not GPU, reason="needs a GPU")
@pytest.mark.parametrize("launcher, layout", EACH)
def test_on_the_gpu(launcher, layout):
    for sizes in [*launcher.cases(), *launcher.cases(large=True)]:
        for dtype in launcher.dtypes:
            launcher.run(sizes, layout, dtype, "cuda")


FAR = 8 * -(-(2**31) // 56)  # elements from row to row, or column to column: fits into 32 bits, and seven times as much does not
LOOPS_OVER_ROWS = {"rmsnorm_backward": 1, "layernorm_backward": 2}  # of lesson 08, and how many sums over all rows they make
MATRICES = [launcher for launcher in LAUNCHERS if launcher.lesson != "07" and "," in launcher.shapes]


@pytest.fixture(scope="module", params=["cpu", "cuda"] if GPU else ["cpu"])
def memory(request):
    """Room for a float16 matrix of eight rows, FAR apart. On the CPU, only what is touched becomes real."""
    if request.param == "cuda" and torch.cuda.mem_get_info()[0] < 20 * FAR:
        pytest.skip("needs 5 GB on the GPU")
    try:
        return torch.empty(8 * FAR, dtype=torch.float16, device=request.param)
    except RuntimeError:
        pytest.skip("needs 4 GB of address space")


@pytest.mark.parametrize("along", ["rows", "columns"])
@pytest.mark.parametrize("launcher", MATRICES, ids=str)
def test_offsets_beyond_32_bits(launcher, along, memory):
    """Each matrix in turn, outputs too on a GPU, has its rows or its columns so far apart that offsets take 64 bits."""
    sizes = dict.fromkeys(launcher.sizes, 8)
    inputs, outputs = launcher.shapes_of(sizes)
    device = memory.device.type
    for number, axes in enumerate(" ".join(launcher.shapes.split("->")).split()):
        is_output = number >= len(inputs)
        far = axes.split(",")[along == "columns"] if "," in axes else ""
        if far not in ("M", "N") or (is_output and device == "cpu"):  # along K, a product advances its pointers, tile by tile
            continue
        values = list(launcher.complete(*[torch.randn(shape, dtype=torch.float16, device=device) for shape in inputs]))
        filled = [torch.empty(shape, dtype=launcher.out_dtype or torch.float16, device=device) for shape in outputs]
        tensors = [*values, *filled]
        view = memory.view(tensors[number].dtype).as_strided(tensors[number].shape, (FAR, 1) if along == "rows" else (1, FAR))
        tensors[number] = view.copy_(tensors[number])
        launcher.compare(values, tensors[: len(inputs)], tensors[len(inputs) :], f"tensor {number}, {along} far apart")


@pytest.mark.parametrize("name", LOOPS_OVER_ROWS)
def test_loops_over_rows_count_in_64_bits(name):
    x, w = torch.empty(64, 32, dtype=torch.float16), torch.empty(32, dtype=torch.float16)
    with count() as traffic:
        getattr(lesson("08"), name)(x, w, x, torch.empty_like(x), *[torch.empty_like(w) for _ in range(LOOPS_OVER_ROWS[name])])
    loop = traffic.launches[0].compiled().excerpt("ttir", r"scf\.for")
    assert loop.rstrip(" {").endswith("i64"), loop


@pytest.mark.parametrize("n_cols", [4096, 8192, 16_384, 32_768])
@pytest.mark.parametrize("name", LOOPS_OVER_ROWS)
def test_loops_over_long_rows_fit_into_shared_memory(name, n_cols):
    x, w = torch.empty(1, n_cols), torch.empty(n_cols)
    with count() as traffic:
        getattr(lesson("08"), name)(x, w, x, torch.empty_like(x), *[torch.empty_like(w) for _ in range(LOOPS_OVER_ROWS[name])])
    traffic.launches[0].compiled("H200")  # raises CompileError where it does not


def test_every_lesson_with_launchers_is_here():
    assert {launcher.lesson for launcher in LAUNCHERS} == {"07", "08", "09"}
