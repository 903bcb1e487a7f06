"""Mistakes in lesson 04, roofline, fusion, tiling: see `tiles.mistakes`."""


def work(operation, flops=lambda *shape: None, elements=lambda *shape: None, itemsize=lambda itemsize: itemsize):
    """Exercise 4.1 with other FLOPs or elements of one operation."""

    def given(named, shape, size):
        if named != operation:
            return None, None
        counted = elements(*shape)
        return flops(*shape), counted and counted * itemsize(size)

    return given


def tiled(from_a, from_b):
    """Exercise 4.4 with other loads of a and b."""

    def given(M, N, K, block_m, block_n, itemsize):
        across, down = -(-N // block_n), -(-M // block_m)
        return itemsize * (M * K * from_a(across, down, M, N) + K * N * from_b(across, down, M, N) + M * N), None

    return given


def speedup(seconds, compare=lambda before, after: before / after):
    """Exercise 4.6 with another time of a kernel, or another comparison."""

    def given(before, after, *machine):
        return compare(*(sum(seconds(flops, nbytes, *machine) for flops, nbytes in kernels) for kernels in (before, after)))

    return given


def least(flops, nbytes, peak, bandwidth, overhead):
    return max(flops / peak, nbytes / bandwidth, overhead)


def one_of(result, *values):
    """The result where it is near one of the values, else None."""
    return result if any(abs(float(result) - value) <= 1e-9 * abs(value) for value in values) else None


MISTAKES = {
    "4.1": {
        "a has M rows and K columns.": work("gemm", elements=lambda M, N, K: M * N + N * K + M * N),
        "b has K rows and N columns.": work("gemm", elements=lambda M, N, K: M * K + M * N + M * N),
        "A multiplication and an addition are two FLOPs.": work("gemm", lambda M, N, K: M * N * K),
        "By the conventions a sum of K numbers is K additions.": work("gemm", lambda M, N, K: M * N * (2 * K - 1)),
        "a has M · K numbers, b has K · N and c M · N: those are the sizes of their sides.": work(
            "gemm", elements=lambda M, N, K: M + N + K
        ),
        "c is written as well.": work("gemm", elements=lambda M, N, K: M * K + K * N),
        "A number that is used many times is still read once.": work("gemm", elements=lambda M, N, K: 2 * M * N * K + M * N),
        "The last line multiplies by itemsize already.": work(
            "gemm", elements=lambda M, N, K: M * K + K * N + M * N, itemsize=lambda size: size**2
        ),
        "Those are elements: each of them takes itemsize bytes.": work(
            "softmax", elements=lambda m, n: 2 * m * n, itemsize=lambda size: 1
        ),
        "The last line multiplies by itemsize already: count elements here.": work(
            "layernorm", elements=lambda m, n: 2 * m * n + 2 * n, itemsize=lambda size: size**2
        ),
        "Those are the FLOPs of one row: there are n_rows.": work("layernorm", lambda m, n: 7 * n),
        "weight and bias have a number for each column, not one number each.": work("layernorm", elements=lambda m, n: 2 * m * n + 2),
        "That is what softmax takes: count the operations in the row of LayerNorm.": work("layernorm", lambda m, n: 5 * m * n),
        "weight and bias are read as well.": work("layernorm", elements=lambda m, n: 2 * m * n),
        "Both weight and bias are read, n_cols numbers each: yours is one array short.": work(
            "layernorm", elements=lambda m, n: 2 * m * n + n
        ),
        "weight and bias are read once, not once for every row.": work("layernorm", elements=lambda m, n: 4 * m * n),
        "weight and bias have one number for each column.": work("layernorm", elements=lambda m, n: 2 * m * n + 2 * m),
    },
    "4.2a": {
        "That is bytes for each FLOP: how many FLOPs does the peak allow while one byte arrives?":
            lambda flops, nbytes, peak, bandwidth: (bandwidth / peak, None, None),
        "That follows from bytes for each FLOP: the intensity is FLOPs for each byte.":
            lambda flops, nbytes, peak, bandwidth: (None, min(peak, nbytes / flops * bandwidth), None),
        "That is above the peak: memory could feed more than the GPU can compute.":
            lambda flops, nbytes, peak, bandwidth: (None, flops / nbytes * bandwidth, None),
        "That is the peak, but at this intensity memory brings work for less.":
            lambda flops, nbytes, peak, bandwidth: (None, peak, None),
        "That is FLOP/B, not FLOP/s: how many bytes arrive in a second?":
            lambda flops, nbytes, peak, bandwidth, result: (None, one_of(result, flops / nbytes, peak / bandwidth), None),
        "FLOP/B divided by B/s gives no FLOP/s: what do you do with bandwidth instead?":
            lambda flops, nbytes, peak, bandwidth: (None, min(peak, flops / nbytes / bandwidth), None),
        "The bandwidth is in B/s: how many FLOPs does each byte bring?":
            lambda flops, nbytes, peak, bandwidth: (None, min(peak, bandwidth), None),
        "Those are seconds, and asked are FLOPs in a second.":
            lambda flops, nbytes, peak, bandwidth, result: (None, one_of(result, flops / peak, nbytes / bandwidth), None),
        "How many bytes arrive in a second, the peak or the bandwidth?":
            lambda flops, nbytes, peak, bandwidth: (None, min(peak, flops / nbytes * peak), None),
        "On the other side: is it below the ridge point, or above, that memory holds an operation back?":
            lambda flops, nbytes, peak, bandwidth: (None, None, flops / nbytes > peak / bandwidth),
    },
    "4.2b": {
        "Those are FLOPs for each millisecond: a TFLOP/s is 1e12 FLOPs in a second.":
            lambda flops, nbytes, ms, peak, bandwidth: (flops / ms, None),
        "That is a million times too little: are ms / 1e3 the seconds, or ms * 1e3?":
            lambda flops, nbytes, ms, peak, bandwidth: (flops / (ms * 1e3) / 1e12, None),
        "That is a million times too little: there are 1e3 milliseconds in a second.":
            lambda flops, nbytes, ms, peak, bandwidth: (None, max(flops / peak, nbytes / bandwidth) / 1e3),
        "That is in FLOP/s: a TFLOP is 1e12 FLOPs.":
            lambda flops, nbytes, ms, peak, bandwidth: (flops / (ms / 1e3), None),
        "ms are milliseconds: how many seconds are they?":
            lambda flops, nbytes, ms, peak, bandwidth: (flops / ms / 1e12, None),
        "That is in GFLOP/s, and a TFLOP is 1e12 FLOPs.":
            lambda flops, nbytes, ms, peak, bandwidth: (flops / ms / 1e6, None),
        "Those are bytes, not FLOPs, in a second.":
            lambda flops, nbytes, ms, peak, bandwidth: (nbytes / ms / 1e9, None),
        "That is in seconds.":
            lambda flops, nbytes, ms, peak, bandwidth: (None, max(flops / peak, nbytes / bandwidth)),
        "Arithmetic and traffic go on at the same time: the longer of the two is enough.":
            lambda flops, nbytes, ms, peak, bandwidth: (None, 1e3 * (flops / peak + nbytes / bandwidth)),
        "That is the time of the FLOPs, and here the bytes take longer.":
            lambda flops, nbytes, ms, peak, bandwidth: (None, 1e3 * flops / peak),
        "That is the time of the bytes, and here the FLOPs take longer.":
            lambda flops, nbytes, ms, peak, bandwidth: (None, 1e3 * nbytes / bandwidth),
    },
    "4.3": {
        "The other arrays are read as well.":
            lambda nbytes, others: (2 * len(others) * nbytes if sum(others) else None, None),
        "Each operation also reads the result of the one before it, and writes its own.":
            lambda nbytes, others: (sum(others) * nbytes, None),
        "Each kernel writes its result, and the next kernel reads it back.":
            lambda nbytes, others: ((1 + len(others) + sum(others)) * nbytes if len(others) > 1 else None, None),
        "Each kernel writes its result as well.":
            lambda nbytes, others: ((len(others) + sum(others)) * nbytes, None),
        "The other arrays are read, and not written.":
            lambda nbytes, others: (2 * (len(others) + sum(others)) * nbytes, None),
        "The other arrays must be read by the fused kernel as well.": lambda nbytes, others: (None, 2 * nbytes),
        "The fused kernel writes its result as well.": lambda nbytes, others: (None, (1 + sum(others)) * nbytes),
        "Inside one kernel, the result of the operation before is on the chip: it is not read.":
            lambda nbytes, others: (None, (1 + len(others) + sum(others)) * nbytes),
        "Those are arrays: each of them takes nbytes.":
            lambda nbytes, others: (2 * len(others) + sum(others), 2 + sum(others)),
    },
    "4.4": {
        "The line below multiplies by itemsize already: count elements here.":
            lambda M, N, K, block_m, block_n, itemsize: (
                itemsize * (itemsize * (M * K * -(-N // block_n) + K * N * -(-M // block_m)) + M * N), None,
            ),
        "Tiles side by side load the same rows of a: do M and block_m count these, or N and block_n?":
            tiled(lambda across, down, M, N: down, lambda across, down, M, N: across),
        "That is once for all tiles, but every tile loads its rows and columns itself.":
            tiled(lambda across, down, M, N: 1, lambda across, down, M, N: 1),
        "No tile loads all of a and b: it loads its own rows and columns.":
            tiled(lambda across, down, M, N: across * down, lambda across, down, M, N: across * down),
        "That is what one tile loads: how many tiles are there?":
            lambda M, N, K, block_m, block_n, itemsize: (itemsize * (block_m * K + K * block_n + M * N), None),
        "That is without tiles: every element of c loads its row and its column.":
            tiled(lambda across, down, M, N: N, lambda across, down, M, N: M),
    },
    "4.5": {
        "`*` multiplies element by element; the matrix product is `@`.":
            lambda a, b, *_: a * b if a.shape == b.shape else None,
        "That is the first block along K alone: is it the length that blocks gets first, and then the size?":
            lambda a, b, block_m, block_n, block_k, counter: a[:, :block_k] @ b[:block_k] if block_k < len(b) else None,
        "That is the product with the transpose of b: in counter.load(b, rows, cols), which slice do its rows get?":
            lambda a, b, *_: a @ b.T if a.shape == b.shape else None,
    },
    "4.6": {
        "That is how much slower the kernels after are.": speedup(least, lambda before, after: after / before),
        "Those are the seconds saved: how many times as fast is a ratio.": speedup(least, lambda before, after: before - after),
        "By itself, no launch takes less than the overhead, however little it does.":
            speedup(lambda flops, nbytes, peak, bandwidth, overhead: max(flops / peak, nbytes / bandwidth)),
        "FLOPs and bytes are not seconds: what turns each into a time?":
            speedup(lambda flops, nbytes, peak, bandwidth, overhead: max(flops, nbytes, overhead)),
        "The overhead is a least time here: it does not come on top of a longer one.": speedup(
            lambda flops, nbytes, peak, bandwidth, overhead: max(flops / peak, nbytes / bandwidth) + overhead
        ),
        "Arithmetic, traffic and launch go on at the same time: the longest of the three is enough.": speedup(
            lambda flops, nbytes, peak, bandwidth, overhead: flops / peak + nbytes / bandwidth + overhead
        ),
        "The arithmetic may be what takes longest.":
            speedup(lambda flops, nbytes, peak, bandwidth, overhead: max(nbytes / bandwidth, overhead)),
        "The traffic may be what takes longest.":
            speedup(lambda flops, nbytes, peak, bandwidth, overhead: max(flops / peak, overhead)),
        "A kernel is done when the slowest of the three is, not the fastest.": speedup(
            lambda flops, nbytes, peak, bandwidth, overhead: min(flops / peak, nbytes / bandwidth, overhead)
        ),
    },
}  # fmt: skip

RAISED = {
    "4.5": {
        "b is K x N: which of your slices cuts its rows, and which its columns?": r"^ValueError: .*(not be broadcast|not broadcast|core dimension)",
    },
}
