"""Mistakes in lesson 09, matrix multiplication: see `tiles.mistakes`."""

from collections import OrderedDict
from itertools import product

import numpy as np

BLOCK = 32  # the sides of the tiles in the checks of 9.1, 9.3c and 9.5


# ---- 9.1 and 9.3c: products


def in_steps(a, b, block=BLOCK):
    """The tiles of one row and one column of tiles, step by step: pairs of columns of a and rows of b."""
    return [(a[:, s : s + block], b[s : s + block]) for s in range(0, a.shape[1], block)]


def b_stays(a, b, **tile):
    return sum(left @ b[: right.shape[0]] for left, right in in_steps(a, b))


def b_moves_in_its_rows(a, b, **tile):
    """Rows of b that start BLOCK elements further on in each step, not BLOCK rows; of matrices without gaps."""
    flat, n = b.ravel(), b.shape[1]
    steps = [(left, step * BLOCK + np.arange(left.shape[1] * n)) for step, (left, _) in enumerate(in_steps(a, b))]
    return sum(left @ flat[places].reshape(-1, n) for left, places in steps)


def last_step_only(a, b, **tile):
    left, right = in_steps(a, b)[-1]
    return left @ right


def products_in_half(a, b, result):
    """The product of each step rounded to float16. Where all but a few elements agree, the others lie between two roundings."""
    given = sum((left @ right).astype(np.float16).astype(float) for left, right in in_steps(a, b))
    return result if np.mean(np.isclose(given, result, rtol=1e-6, atol=1e-6, equal_nan=True)) > 0.95 else given


def counts_acc_twice(a, b, **tile):
    acc = 0.0
    for left, right in in_steps(a, b):
        acc = 2 * acc + left @ right
    return acc


def up_to_what_is_left(a, b, **tile):
    K = a.shape[1]
    steps = [
        (left[:, : max(0, K - 2 * s)], right[: max(0, K - 2 * s)]) for s, (left, right) in zip(range(0, K, BLOCK), in_steps(a, b))
    ]
    return sum(left @ right for left, right in steps)


def with_b_transposed(a, b, **tile):
    return a @ b.T if b.shape[0] == b.shape[1] else None


def lane_by_lane(a, b, result, **tile):
    return result if a.shape == b.shape and np.allclose(result, a * b, rtol=1e-2, atol=1e-2) else None


def one_tile_of_two(a, b, **tile):
    """What is left where program 1 goes to a second row of tiles, which does not exist, in place of the second column."""
    if not (a.shape[0] <= BLOCK < b.shape[1] <= 2 * BLOCK):
        return None
    c = a @ b
    c[:, BLOCK:] = np.nan
    return c


def tile_of(pid, num_pid_m, num_pid_n, group):
    size = group * num_pid_n
    first, place = pid // size * group, pid % size
    rows = max(1, min(num_pid_m - first, group))
    return first + place % rows, place // rows


def with_tiles(a, b, choose):
    """The tiles that programs reach whose tile is chosen by another rule; nan elsewhere."""
    c, right = np.full((a.shape[0], b.shape[1]), np.nan), a @ b
    num_pid_m, num_pid_n = -(-a.shape[0] // BLOCK), -(-b.shape[1] // BLOCK)
    for pid in range(num_pid_m * num_pid_n):
        m, n = choose(pid, num_pid_m, num_pid_n)
        where = slice(m * BLOCK, (m + 1) * BLOCK), slice(n * BLOCK, (n + 1) * BLOCK)
        c[where] = right[where]
    return c


def counts_exchanged(a, b, GROUP_M=2, **tile):
    return with_tiles(a, b, lambda pid, m, n: tile_of(pid, n, m, GROUP_M))


def pair_exchanged(a, b, GROUP_M=2, **tile):
    return with_tiles(a, b, lambda pid, m, n: tile_of(pid, m, n, GROUP_M)[::-1])


def sizes_for_counts(a, b, GROUP_M=2, **tile):
    return with_tiles(a, b, lambda pid, m, n: tile_of(pid, a.shape[0], b.shape[1], GROUP_M))


def columns_of_m(a, b, **tile):
    """The columns n % M; those that stick out stand for column n % M too, and are not stored."""
    return a @ b[:, np.arange(b.shape[1]) % a.shape[0]]


def beyond(fault, argument, axis):
    """Whether a load of that argument went past its end, and by how many whole rows along an axis."""
    return fault.kind == "load outside" and fault.argument == argument and fault.index[axis] >= fault.shape[axis]


def whole_rows(fault, case):
    return beyond(fault, "b", 0) and fault.count >= case.sizes["N"] > 1 and fault.count % case.sizes["N"] == 0


# ---- 9.3a: the order


def order_with(rule):
    def order(num_pid_m, num_pid_n, GROUP_M):
        return np.array([rule(pid, num_pid_m, num_pid_n, GROUP_M) for pid in range(num_pid_m * num_pid_n)])

    return order


def full_groups(pid, m, n, group):
    return pid // (group * n) * group + pid % (group * n) % group, pid % (group * n) // group


def row_by_row(pid, m, n, group):
    return pid // n, pid % n


def group_number_for_row(pid, m, n, group):
    size = group * n
    rows = min(m - pid // size, group)
    return pid // size + pid % size % rows, pid % size // rows


def without_group(pid, m, n, group):
    rows = min(m - pid // (group * n) * group, group)
    return pid % (group * n) % rows, pid % (group * n) // rows


def rows_for_programs(pid, num_pid_m, num_pid_n, GROUP_M):
    first = pid // (GROUP_M * num_pid_n) * GROUP_M
    place, rows = pid - first, min(num_pid_m - first, GROUP_M)
    return first + place % rows, place // rows


def place_is_pid(pid, m, n, group):
    first = pid // (group * n) * group
    rows = min(m - first, group)
    return first + pid % rows, pid // rows


def larger_for_smaller(pid, m, n, group):
    first, place = pid // (group * n) * group, pid % (group * n)
    rows = max(m - first, group)
    return first + place % rows, place // rows


# ---- 9.3b: L2


def misses(name_of_b=lambda m, n, k: ("b", k, n), b_size=lambda a, b: b, touch=True, newest=False, held_counts=True, tiles=False):
    """Exercise 9.3b with other steps."""

    def given(order, steps, a_bytes, b_bytes, capacity, together):
        cache, held, missed = OrderedDict(), 0, 0
        for first in range(0, len(order), together):
            wave = np.asarray(order[first : first + together], int).tolist()
            for k in range(steps):
                wanted = {("a", m, k): a_bytes for m, _ in wave}
                wanted |= {name_of_b(m, n, k): b_size(a_bytes, b_bytes) for m, n in wave}
                for tile, size in wanted.items():
                    if tile in cache:
                        if touch is not None:
                            cache.move_to_end(tile, last=touch)
                    else:
                        cache[tile] = size
                        held, missed = held + size * held_counts, missed + (1 if tiles else size)
                    while held > capacity:
                        held -= cache.popitem(last=newest)[1]
        return missed

    return given


# ---- 9.4a: precision


def error_of(multiply, K, scale=1.0):
    rng = np.random.default_rng(K)
    a, b = (scale * rng.standard_normal((16, K))).astype(np.float32), rng.standard_normal((K, 16)).astype(np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    return float(np.linalg.norm(multiply(a, b) - exact) / np.linalg.norm(exact))


def wrong_about(question):
    """A mistake of 9.4a: of `error`, that for small numbers, that for long sums, and the answer that was given."""

    def given(multiply, result):
        errors = error_of(multiply, 16), error_of(multiply, 16, 2.0**-20), error_of(multiply, 1024)
        return result if question(*errors, int(result)) else None

    return given


# ---- 9.5: the epilogue and LayerNorm


def gelu(v):
    return 0.5 * v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3)))


def activated(y, activation):
    return {"relu": np.maximum(y, 0), "gelu": gelu(y), "none": y}[activation]


def largest_of_columns(x, w, bias, activation, **tile):
    if activation != "relu" or len(x) > BLOCK:
        return None
    return np.broadcast_to((x @ w + bias).max(0), (len(x), w.shape[1]))


def norm_linear(
    weights=lambda w, gamma: gamma[:, None] * w,
    shift=lambda w, beta, folded: beta @ w,
    sums=lambda w, folded: folded.sum(0),
    end=None,
):
    """Exercise 9.5b with other steps; end: of acc, the mean, the column sums, rstd and the bias."""

    def given(x, w, bias, gamma, beta):
        folded = weights(w, gamma)
        if folded.shape != w.shape:
            return None
        column_sums, bias = sums(w, folded), bias + shift(w, beta, folded)
        mean, rstd = x.mean(1)[:, None], 1 / np.sqrt(x.var(1) + 1e-5)[:, None]
        return (end or right_end)(x @ folded, mean, column_sums, rstd, bias)

    return given


def right_end(acc, mean, sums, rstd, bias):
    return rstd * (acc - mean * sums) + bias


def bias_inside(acc, mean, sums, rstd, bias):
    return rstd * (acc - mean * sums + bias)


def mean_outside(acc, mean, sums, rstd, bias):
    return rstd * acc - mean * sums + bias


def mean_added(acc, mean, sums, rstd, bias):
    return rstd * (acc + mean * sums) + bias


def without_sums(acc, mean, sums, rstd, bias):
    return rstd * (acc - mean) + bias


def without_mean(acc, mean, sums, rstd, bias):
    return rstd * acc + bias


def divided(acc, mean, sums, rstd, bias):
    return (acc - mean * sums) / rstd + bias


def fused(mean=lambda x: x.mean(1), variance=None, end=right_end, rstd=lambda v: 1 / np.sqrt(v + 1e-5)):
    """Exercises 9.5c and 9.5d with other steps. variance: of x and the mean."""

    def given(x, w, bias, column_sums, **tile):
        m = mean(x)
        v = x.var(1) if variance is None else variance(x, m)
        return gelu(end(x @ w, m[:, None], column_sums, rstd(v)[:, None], bias))

    return given


def by_descriptor(multiplied, activation=gelu):
    """Exercise 9.7c with another product in the place of x @ w, from the tiles of x and w in each step."""

    def given(x, w, bias, column_sums):
        mean, rstd = x.mean(1)[:, None], 1 / np.sqrt(x.var(1) + 1e-5)[:, None]
        return activation(right_end(multiplied(in_steps(x, w, 64)), mean, column_sums, rstd, bias))

    return given


def exchanged_offsets(x, w, bias, column_sums, result):
    """Exercise 9.7c where the tiles of x, or of w, start at [column, row]: the nearer of the two results."""

    def tile(matrix, row, col, rows, cols):  # what lies outside is 0
        found, there = np.zeros((rows, cols)), matrix[row : row + rows, col : col + cols]
        found[: there.shape[0], : there.shape[1]] = there
        return found

    (M, K), N = x.shape, w.shape[1]
    mean, rstd, mistaken = x.mean(1)[:, None], 1 / np.sqrt(x.var(1) + 1e-5)[:, None], []
    for x_step, w_step in ((-1, 1), (1, -1)):
        acc = np.zeros((M + 128, N + 256))
        for row, col, start in product(range(0, M, 128), range(0, N, 256), range(0, K, 64)):
            x_tile, w_tile = tile(x, *(row, start)[::x_step], 128, 64), tile(w, *(start, col)[::w_step], 64, 256)
            acc[row : row + 128, col : col + 256] += x_tile @ w_tile
        mistaken.append(gelu(right_end(acc[:M, :N], mean, column_sums, rstd, bias)))
    return min(mistaken, key=lambda given: np.abs(result - given).max())


def rows_for_columns(x, w, bias, column_sums, **tile):
    """[None, :] and [:, None] exchanged, in a tile of BLOCK x BLOCK whose rows and columns wrap around."""
    (M, _), N = x.shape, w.shape[1]
    if max(M, N) > BLOCK:
        return None
    mean, rstd = x.mean(1), 1 / np.sqrt(x.var(1) + 1e-5)
    of_row, of_column = np.arange(N) % M, (np.arange(M) % N)[:, None]
    return gelu(rstd[of_row] * (x @ w - mean[of_row] * column_sums[of_column]) + bias[of_column])


def statistics_as_rows(x, w, bias, column_sums, **tile):
    """mean and rstd without [:, None], in a tile of BLOCK x BLOCK whose rows wrap around."""
    (M, _), N = x.shape, w.shape[1]
    if max(M, N) > BLOCK:
        return None
    of_column = np.arange(N) % M
    mean, rstd = x.mean(1)[of_column], 1 / np.sqrt(x.var(1) + 1e-5)[of_column]
    return gelu(rstd * (x @ w - mean * column_sums) + bias)


def of_tile(values):
    """The sum over a tile of BLOCK rows that wrap around, for each row; None for more rows."""
    often = np.bincount(np.arange(BLOCK) % len(values), minlength=len(values))
    return np.full(len(values), often @ values.sum(1)) if len(values) <= BLOCK else None


def sums_of_columns(x, w, bias, column_sums, **tile):
    """Sums along the wrong axis of a tile of BLOCK x BLOCK whose rows wrap around."""
    (M, K), lanes = x.shape, np.arange(BLOCK)
    if K > BLOCK or M > BLOCK:
        return None
    held = np.pad(x, ((0, 0), (0, BLOCK - K)))[lanes % M]
    mean = held.sum(0)[:M, None] / K
    variance = (held * held).sum(0)[:M, None] / K - mean * mean
    return gelu((x @ w - mean * column_sums) / np.sqrt(variance + 1e-5) + bias)


def last_tile(x):
    return x[:, (x.shape[1] - 1) // BLOCK * BLOCK :]


def padded(x):
    """How many lanes a tile has that holds a row."""
    return 1 << (x.shape[1] - 1).bit_length()


def not_centred_at_the_end(x, m):
    return x.var(1) + (padded(x) - x.shape[1]) * m * m / x.shape[1]


AFTER_THE_FIRST = {
    "In the second step `b` is read where it was in the first: `b_ptrs` must move too.": b_stays,
    "In each step `b_ptrs` must move BLOCK_K rows down: BLOCK_K times the stride from row to row.": b_moves_in_its_rows,
    "It is the product of the last step alone: what becomes of `acc` in each step?": last_step_only,
    "`tl.dot(a, b, acc)` is `acc + a @ b` already: with `+=`, `acc` counts twice.": counts_acc_twice,
    "The mask compares with `start` twice: `offs_k` counts from 0 in each step, and K - start are left.": up_to_what_is_left,
    "It is a times the transpose of b: which index of `b_ptrs` is a column, `[:, None]`, and which stride goes with it?": with_b_transposed,
    "It is the product lane by lane, `a * b`: the product of matrices is `tl.dot`.": lane_by_lane,
}

SCALED = {
    "The bias is added after the scaling, and not scaled.": bias_inside,
    "μ Σ wₖ is subtracted from the product before it is scaled.": mean_outside,
    "μ Σ wₖ is subtracted, not added.": mean_added,
    "The mean is subtracted as it is: it must be multiplied by the column sums first.": without_sums,
    "The mean is never subtracted.": without_mean,
    "It is multiplied by the standard deviation, where it should be divided: rstd is 1 / √(variance + ε).": divided,
}

MISTAKES = {
    "9.1": {
        **AFTER_THE_FIRST,
        "Program 1 owns the second tile of the first row of tiles: pid // num_pid_n is its row, and pid % num_pid_n its column.": one_tile_of_two,
    },
    "9.2": {
        "Each matrix counts once: but how many tiles of c load the same rows of a?": lambda M, N, K, m, n, size: (
            size * (M * K + K * N + M * N)
        ),
        "Have the two counts of tiles changed places? A row of a is loaded by the tiles of c beside each other.": (
            lambda M, N, K, m, n, size: size * (M * K * -(-M // m) + K * N * -(-N // n) + M * N)
        ),
        "That counts whole tiles; lanes that the mask switches off move nothing.": (
            lambda M, N, K, m, n, size: size * (-(-M // m) * -(-N // n) * (m + n) * K + M * N)
        ),
        "A tile that is not whole is a tile: round up, with `triton.cdiv`.": (
            lambda M, N, K, m, n, size: size * (M * K * (N // n) + K * N * (M // m) + M * N)
        ),
        "There is no part of a tile: round up, with `triton.cdiv`.": (
            lambda M, N, K, m, n, size: size * (M * K * N / n + K * N * M / m + M * N)
        ),
        "The stores of c are missing.": lambda M, N, K, m, n, size: size * (M * K * -(-N // n) + K * N * -(-M // m)),
        "These are elements: how many bytes has each?": lambda M, N, K, m, n, size: (
            M * K * -(-N // n) + K * N * -(-M // m) + M * N
        ),
        "That is what one tile loads, not all of them.": lambda M, N, K, m, n, size: size * ((m + n) * K + M * N),
        "c is stored and never loaded: it counts once.": (
            lambda M, N, K, m, n, size: size * (M * K * -(-N // n) + K * N * -(-M // m) + 2 * M * N)
        ),
    },
    "9.3a": {
        "The last group may have fewer than GROUP_M rows: how many are left below `first_pid_m`?": order_with(full_groups),
        "That is row by row: within a group, `place` counts down each column first.": order_with(row_by_row),
        "`pid // group_size` is the number of the group: how many rows of tiles lie above it?": order_with(group_number_for_row),
        "Every group starts at row 0: add `first_pid_m`.": order_with(without_group),
        "In the second group, `place` must start at 0 again: it is what is left of pid after the groups before.": order_with(
            place_is_pid
        ),
        "`place` counts programs, and `first_pid_m` rows: what is left of pid after the programs of the groups before?": order_with(
            rows_for_programs
        ),
        "Of GROUP_M and the rows that are left, `rows` is the smaller one.": order_with(larger_for_smaller),
        "pid_m and pid_n have changed places.": lambda m, n, group: order_with(tile_of)(m, n, group)[:, ::-1],
    },
    "9.3b": {
        "A tile of b is named by k and pid_n: its row of tiles and its column.": misses(lambda m, n, k: ("b", k, m)),
        "The tile of b changes from step to step: k belongs into its name.": misses(lambda m, n, k: ("b", n)),
        "A tile of b has the name of a tile of a, and is taken for it.": misses(lambda m, n, k: ("a", k, n)),
        "A tile of b has `b_bytes`.": misses(b_size=lambda a, b: a),
        "A tile that is used again must go to the end, or it is thrown away as if it had not been used.": misses(touch=None),
        "A tile that is used again goes to the end of the order, not to its start.": misses(touch=False),
        "It throws away the tile used last: the one to go is the first.": misses(newest=True),
        "`missed` counts tiles: how many bytes has each?": misses(tiles=True),
        "Nothing is ever thrown away: does `held` grow?": misses(held_counts=False),
    },
    "9.3c": {
        **AFTER_THE_FIRST,
        "The columns of b wrap around at N, not at M.": columns_of_m,
        "`grouped_tile` takes the tiles below each other first, then those side by side.": counts_exchanged,
        "`grouped_tile` returns pid_m first, then pid_n.": pair_exchanged,
        "`grouped_tile` takes numbers of tiles, not of rows and columns: `tl.cdiv`.": sizes_for_counts,
    },
    "9.4a": {
        "This function is exact to six digits, as only float32 is: what is the error of 11 digits, and what that of 24?": (
            wrong_about(lambda error, small, long, said: error < 1e-5 and said != 0)
        ),
        "Its error is near 2⁻¹¹, a thousand times that of float32.": wrong_about(
            lambda error, small, long, said: error > 1e-5 and said == 0
        ),
        "It is as good for numbers near 2⁻²⁰ as for others, so it has the range of float32, as TF32 has.": (
            wrong_about(lambda error, small, long, said: small < 3 * error and said > 1)
        ),
        "For numbers near 2⁻²⁰ its error is many times as large: TF32 has the range of float32.": (
            wrong_about(lambda error, small, long, said: small > 3 * error and said == 1)
        ),
        "Its error grows with K: that is what an accumulator of few digits does.": (
            wrong_about(lambda error, small, long, said: long > 3 * error and said == 2)
        ),
        "Its error is the same for a long sum as for a short one: the accumulator has more digits than the inputs.": (
            wrong_about(lambda error, small, long, said: long < 3 * error and said == 3)
        ),
    },
    "9.4b": {
        "The product of each step is still rounded to float16 before it is added.": products_in_half,
        "It is the product of the last step alone: what becomes of `acc` in each step?": last_step_only,
        "The inputs are rounded to float16: 11 digits.": (
            lambda a, b: a.astype(np.float16).astype(float) @ b.astype(np.float16).astype(float)
        ),
    },
    "9.5a": {
        "The bias is missing.": lambda x, w, bias, activation, **_: activated(x @ w, activation),
        "The bias is added before the activation, not after it.": lambda x, w, bias, activation, **_: (
            activated(x @ w, activation) + bias
        ),
        "GELU is not applied: `gelu(acc)` returns a new tile.": (
            lambda x, w, bias, activation, **_: x @ w + bias if activation == "gelu" else None
        ),
        "ReLU is not applied.": lambda x, w, bias, activation, **_: x @ w + bias if activation == "relu" else None,
        "ReLU is applied where ACTIVATION is something else.": (
            lambda x, w, bias, activation, **_: np.maximum(x @ w + bias, 0) if activation != "relu" else None
        ),
        "GELU is applied where ACTIVATION is something else.": (
            lambda x, w, bias, activation, **_: gelu(x @ w + bias) if activation == "none" else None
        ),
        "GELU is applied after ReLU: `elif` keeps them apart.": (
            lambda x, w, bias, activation, **_: gelu(np.maximum(x @ w + bias, 0)) if activation == "relu" else None
        ),
        "It is the largest value of each column: `tl.max` takes the maximum of a tile, `tl.maximum` compares lane by lane.": largest_of_columns,
    },
    "9.5b": {
        "The column sums are those of the weights as they were: x is multiplied by the folded ones.": norm_linear(
            sums=lambda w, folded: w.sum(0)
        ),
        "β goes through the weights as they were: γ does not multiply it.": norm_linear(
            shift=lambda w, beta, folded: beta @ folded
        ),
        "β is added up: each βₖ must be multiplied by its row of w.": norm_linear(shift=lambda w, beta, folded: beta.sum()),
        "The bias of the linear layer is missing.": lambda x, w, bias, gamma, beta: norm_linear()(x, w, 0 * bias, gamma, beta),
        "β is missing.": norm_linear(shift=lambda w, beta, folded: 0.0),
        "γ belongs to the rows of w: `gamma[:, None]`.": norm_linear(
            weights=lambda w, gamma: w * gamma if w.shape == (w * gamma).shape else np.empty(0)
        ),
        **{sentence: norm_linear(end=end) for sentence, end in SCALED.items()},
    },
    "9.5c": {
        "The sums are those of the columns: along K, the rows of a tile are added up, `axis=1`.": sums_of_columns,
        "What belongs to a row of the tile is a column, `[:, None]`, and what belongs to a column is a row, `[None, :]`.": rows_for_columns,
        **{sentence: fused(end=end) for sentence, end in SCALED.items()},
        "`squares` is the sum of the squares, not the square of the sum: square each element, then add up.": fused(
            variance=lambda x, m: sum(x[:, : s + BLOCK].sum(1) ** 2 for s in range(0, x.shape[1], BLOCK)) / x.shape[1] - m * m
        ),
        "mean and rstd belong to the rows of the tile: there they are columns, `[:, None]`.": statistics_as_rows,
        "`tl.sum(x)` adds up the whole tile: each row has a sum of its own, `axis=1`.": fused(
            mean=lambda x: of_tile(x) / x.shape[1], variance=lambda x, m: of_tile(x * x) / x.shape[1] - m * m
        ),
        "The mean is `total` over the K elements of the row, not over BLOCK_K.": fused(
            mean=lambda x: x.sum(1) / BLOCK, variance=lambda x, m: (x * x).mean(1) - m * m
        ),
        "The square of the mean is still to be subtracted from the mean of the squares.": fused(
            variance=lambda x, m: (x * x).mean(1)
        ),
        "The sums are those of the last tile alone.": fused(
            mean=lambda x: last_tile(x).sum(1) / x.shape[1], variance=lambda x, m: (last_tile(x) ** 2).sum(1) / x.shape[1] - m * m
        ),
        "A mean is over all K elements of the row, not over BLOCK_K.": fused(
            mean=lambda x: x.sum(1) / BLOCK, variance=lambda x, m: (x * x).sum(1) / BLOCK - m * m
        ),
        "The variance is the mean of the squares less the square of the mean.": fused(variance=lambda x, m: (x * x).mean(1) - m),
        "1 / (variance + ε) lacks the root: `tl.rsqrt`.": fused(rstd=lambda v: 1 / (v + 1e-5)),
        "LayerNorm divides by K, not by K - 1.": fused(variance=lambda x, m: x.var(1, ddof=1)),
    },
    "9.5d": {
        **{sentence: fused(end=end) for sentence, end in SCALED.items()},
        "Lanes beyond the end of the row hold 0 - mean, and their squares go into the sum: `tl.where(mask, ..., 0.0)`.": fused(
            variance=not_centred_at_the_end
        ),
        "A mean is over the K elements of the row, not over the lanes of the tile.": fused(
            mean=lambda x: x.sum(1) / padded(x), variance=lambda x, m: ((x - m[:, None]) ** 2).mean(1)
        ),
        "`tl.sum` adds up: the mean is the sum over K.": fused(
            mean=lambda x: x.sum(1), variance=lambda x, m: ((x - m[:, None]) ** 2).mean(1)
        ),
        "The mean is not taken away before the squares.": fused(variance=lambda x, m: (x * x).mean(1)),
        "rstd is read from where the means are.": fused(rstd=lambda v: v, variance=lambda x, m: m),
        "Every row has the statistics of the first one: the addresses are `mean_ptr + offs_m % M`.": fused(
            mean=lambda x: np.repeat(x.mean(1)[:1], len(x)), variance=lambda x, m: np.repeat(x.var(1)[:1], len(x))
        ),
    },
    "9.7c": {
        **{sentence: fused(end=end) for sentence, end in SCALED.items()},
        "acc holds the last step alone: `tl.dot(..., acc)` adds to it.": by_descriptor(lambda steps: steps[-1][0] @ steps[-1][1]),
        "The tile of x never moves on along K: it starts at column `start`.": by_descriptor(
            lambda steps: sum(steps[0][0][:, : len(w)] @ w for _, w in steps)
        ),
        "First the row, then the column: the tile of x starts at [row, start], and that of w at [start, col].": exchanged_offsets,
        "The tile of w never moves on along K: it starts at row `start`.": by_descriptor(
            lambda steps: sum(x @ steps[0][1][: x.shape[1]] for x, _ in steps)
        ),
        "GELU is not applied: `gelu(y)` returns a new tile.": by_descriptor(
            lambda steps: sum(x @ w for x, w in steps), lambda y: y
        ),
    },
}

ALONG_K = "The last step sticks out along K: of `offs_k`, only those below K - start exist, in a and in b."

RAISED = {
    "9.3a": {
        "A full group has GROUP_M rows, and the last one those that are left below `first_pid_m`.": "ZeroDivisionError",
    },
    "9.5b": {
        "`gamma` has a number for each row of w: as a column, `gamma[:, None]`.": r"shapes (\((1,)?8,?\) \(8,3\)|\(8,3\) \((1,)?8,?\))",
        "mean and rstd have a number for each row of x: as columns, `[:, None]`.": r"shapes .*\(2,\)",
        "A column sum adds up the rows of w, `.sum(0)`: there is one for each column.": r"shapes \(2,3\) \(2,8\)",
    },
}

FAULTED = {
    "9.5a": {
        "`tl.max` takes the maximum of a tile, `tl.maximum` compares lane by lane.": (
            lambda fault, case: "tl.max(" in (fault.text or "") and "Error" in fault.message
        ),
    },
    "9.1": {
        "One row too many: when `start` of K are used, K - start are left, numbered from 0.": (
            lambda fault, case: whole_rows(fault, case) and fault.count == case.sizes["N"]
        ),
        ALONG_K: whole_rows,
        "The tile of b sticks out along N: its mask needs `offs_n < N` too.": lambda fault, case: beyond(fault, "b", 0),
    },
    "9.3c": {
        "The tiles below each other, and side by side, are rounded up: `tl.cdiv`.": lambda fault, case: fault.side == "before",
        "`mask_k` switches off rows of b: there it is a column, `[:, None]`.": (
            lambda fault, case: beyond(fault, "b", 0) and fault.count == -case.sizes["K"] % BLOCK > 0
        ),
        ALONG_K: lambda fault, case: beyond(fault, "b", 0) and case.sizes["K"] % BLOCK > 0,
        "Columns of b that do not exist are read: `(offs_n % N)[None, :]` makes each one that does.": lambda fault, case: beyond(
            fault, "b", 0
        ),
        "Rows or columns that do not exist are stored: the mask compares `offs_m` with M and `offs_n` with N, as they are.": (
            lambda fault, case: fault.kind == "store outside" or (fault.kind == "race" and fault.argument == "c")
        ),
    },
    "9.5d": {
        "There is a mean for each row: its address has `offs_m`, and wraps around at M.": (
            lambda fault, case: fault.kind == "load outside" and fault.argument in ("mean", "rstd")
        ),
    },
}
