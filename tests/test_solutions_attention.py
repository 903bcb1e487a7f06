"""The kernels of lesson 10 over many more shapes than their checks show: forward, backward, and their neighbours.

Heads as views of one packed projection, transposed and sliced tensors, ragged lengths, n_q and n_k that differ, every width of
a head, and rows that start beyond element 2**31. See test_solutions.py.
"""

from collections.abc import Callable, Iterator

import pytest
import torch
from test_solutions import FAR, GPU, laid_out, lesson
from test_solutions import memory as memory  # a fixture

ACCURACY = 16  # roundings of the largest number of a result that an error may be
LAYOUTS = ("contiguous", "packed", "transposed", "sliced columns", "sliced rows")
SIZES = [(1, 1, 1, 1, 16), (2, 3, 1, 33, 24), (1, 2, 33, 17, 32), (1, 1, 127, 70, 80), (1, 2, 65, 129, 20), (1, 1, 64, 64, 128)]
SAME = [(1, 1, 1, 1, 16), (2, 3, 33, 33, 24), (1, 1, 127, 127, 96), (1, 1, 128, 128, 64), (2, 1, 17, 17, 20)]
LARGE = [(1, 2, 1000, 1000, 128), (2, 16, 127, 127, 64), (70_000, 1, 1, 1, 16), (1, 1, 4097, 4097, 80)]
DTYPES = (torch.float16, torch.bfloat16, torch.float32)


def placed(values: torch.Tensor, layout: str) -> torch.Tensor:
    """The same values as a view of larger memory; "packed": as one of q, k and v that a layer computes together."""
    if layout != "packed":
        return laid_out(values, layout)
    batch, heads, n, d = values.shape
    return values.new_full((batch, n, 3, heads, d), float("nan"))[:, :, 1].transpose(1, 2).copy_(values)


def attention(q, k, v, visible=None):
    """o and the log-sum-exp in base 2, in float64; o = 0 for a query that sees no key."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, dim=1) for x in (k, v))
    s = q @ k.mT * q.shape[-1] ** -0.5
    s = s if visible is None else s.masked_fill(~visible, -torch.inf)
    lse = torch.logsumexp(s, dim=-1)
    p = torch.exp(s - lse[..., None].nan_to_num(neginf=0.0))
    return p @ v, lse / torch.log(torch.tensor(2.0, dtype=torch.float64))


def below(n_q, n_k, window=None, device=None):
    """Which keys a query sees: those up to its own, in the window."""
    ago = torch.arange(n_q, device=device)[:, None] - torch.arange(n_k, device=device)
    return (ago >= 0) & (ago < (window or n_q))


def random(shapes, dtype, device, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator).to(device, dtype) for shape in shapes]


def nothing(shape, layout, dtype, device):
    return placed(torch.full(shape, float("nan"), dtype=dtype, device=device), layout)


def close(got, expected, case):
    allowed = ACCURACY * torch.finfo(got.dtype).eps * max(1.0, float(expected.abs().max()))
    error = float((got.double() - expected).abs().max())
    assert error <= allowed, f"off by {error:.2g}, {allowed:.2g} are allowed; {case}"


# ---- what is tried: each takes (sizes, layout, dtype, device, causal)


def forward(sizes, layout, dtype, device, causal):
    batch, heads, n_q, n_k, d = sizes
    values = random([(batch, heads, n, d) for n in (n_q, n_k, n_k)], dtype, device)
    q, k, v = (placed(x, layout) for x in values)
    o, other, lse = (nothing(values[0].shape, layout, dtype, device) for _ in range(3))
    lse = torch.full((batch, heads, n_q), float("nan"), device=device)
    lesson("10").flash_attention(q, k, v, other, causal)
    lesson("10").flash_attention_forward(q, k, v, o, lse, causal)
    expected, expected_lse = attention(*(x.double() for x in values), below(n_q, n_k, device=device) if causal else None)
    close(other, expected, (sizes, layout, dtype, causal))
    close(o, expected, (sizes, layout, dtype, causal))
    close(lse, expected_lse, (sizes, layout, dtype, causal))


def backward(sizes, layout, dtype, device, causal):
    batch, heads, n_q, n_k, d = sizes
    values = random([(batch, heads, n, d) for n in (n_q, n_k, n_k, n_q)], dtype, device)
    exact = [x.double().requires_grad_() for x in values[:3]]
    o, lse = attention(*exact, below(n_q, n_k, device=device) if causal else None)
    expected = torch.autograd.grad(o, exact, values[3].double())
    q, k, v, do = (placed(x, layout) for x in values)
    saved = placed(o.detach().to(dtype), layout)
    got = [nothing(x.shape, layout, dtype, device) for x in (q, k, v)]
    lesson("10").flash_attention_backward(q, k, v, saved, do, lse.detach().float(), *got, causal)
    for name, gradient, right in zip(("dq", "dk", "dv"), got, expected, strict=True):
        close(gradient, right, (name, sizes, layout, dtype, causal))


def grouped(sizes, layout, dtype, device, causal):
    batch, heads, n_q, n_k, d = sizes
    for group in (1, 3):
        shapes = [(batch, heads * group, n_q, d), (batch, heads, n_k, d), (batch, heads, n_k, d)]
        values = random(shapes, dtype, device)
        o = nothing(shapes[0], layout, dtype, device)
        lesson("10").grouped_flash_attention(*(placed(x, layout) for x in values), o, causal)
        expected, _ = attention(*(x.double() for x in values), below(n_q, n_k, device=device) if causal else None)
        close(o, expected, (sizes, layout, dtype, causal, f"groups of {group}"))


def windowed(sizes, layout, dtype, device, causal):
    batch, heads, n_q, n_k, d = sizes
    values = random([(batch, heads, n, d) for n in (n_q, n_k, n_k)], dtype, device)
    for window in (1, 20, n_q):
        o = nothing(values[0].shape, layout, dtype, device)
        lesson("10").window_attention(*(placed(x, layout) for x in values), o, window)
        expected, _ = attention(*(x.double() for x in values), below(n_q, n_k, window, device))
        close(o, expected, (sizes, layout, dtype, f"window of {window}"))


def decoded(sizes, layout, dtype, device, causal):
    batch, heads, _, n_k, d = sizes
    values = random([(batch, heads, n, d) for n in (1, n_k, n_k)], dtype, device)
    for splits in (1, 5, 16):
        o = nothing(values[0].shape, layout, dtype, device)
        lesson("10").decode(*(placed(x, layout) for x in values), o, splits)
        close(o, attention(*(x.double() for x in values))[0], (sizes, layout, dtype, f"{splits} splits"))


KERNELS: dict[str, tuple[Callable, tuple[bool, ...]]] = {
    "forward": (forward, (False, True)),
    "backward": (backward, (False, True)),
    "grouped": (grouped, (False, True)),
    "windowed": (windowed, (True,)),
    "decoded": (decoded, (False,)),
}


def each(causal: bool, large: bool = False) -> Iterator[tuple[int, ...]]:
    yield from SAME if causal else SIZES
    yield from LARGE if large else ()


# ---- tests


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", KERNELS)
def test_interpreted(name, layout):
    run, ways = KERNELS[name]
    for causal in ways:
        sizes = list(each(causal))
        for size in sizes if layout == "contiguous" else sizes[1:2]:
            run(size, layout, torch.float16, "cpu", causal)
    run((1, 2, 33, 33, 24), layout, torch.float32, "cpu", ways[-1])


@pytest.mark.skipif(not GPU, reason="needs a GPU")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", KERNELS)
def test_on_the_gpu(name, layout):
    run, ways = KERNELS[name]
    for causal in ways:
        for dtype in DTYPES:
            for size in each(causal, large=dtype != torch.float32):
                run(size, layout, dtype, "cuda", causal)


@pytest.mark.parametrize("far", range(3), ids=("texts", "heads", "words"))
@pytest.mark.parametrize("name", ("flash_attention", "grouped_flash_attention", "window_attention", "decode"))
def test_offsets_beyond_32_bits(name, far, memory):
    """Each tensor in turn has its texts, heads or words 2**30 elements apart: offsets take 64 bits."""
    device, shape = memory.device.type, (3, 3, 3, 16)
    shapes = [(3, 3, 1, 16) if name == "decode" else shape, shape, shape]
    options = {"flash_attention": (False,), "grouped_flash_attention": (False,), "window_attention": (9,)}.get(name, (2,))
    values = random(shapes, torch.float16, device)
    visible = below(3, 3, device=device) if name == "window_attention" else None
    expected, _ = attention(*(x.double() for x in values), visible)
    for moved in range(4 if device == "cuda" else 3):
        tensors = [*values, torch.full(shapes[0], float("nan"), dtype=torch.float16, device=device)]
        if tensors[moved].shape[far] < 3:
            continue
        strides = [16 * 9, 16 * 3, 16, 1]
        strides[far] = FAR
        tensors[moved] = memory.as_strided(tensors[moved].shape, strides).copy_(tensors[moved])
        getattr(lesson("10"), name)(*tensors, *options)
        close(tensors[3], expected, f"tensor {moved} far apart")
