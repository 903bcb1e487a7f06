"""Mistakes in lesson 10, from the backward pass to the long cache (exercises 10.5 to 10.7): see `tiles.mistakes`."""

import numpy as np

LN2, HUGE = np.log(2), 65_504  # the largest float16


def cdiv(n, block):
    return -(-n // block)


# ---- 10.5: the backward pass, tile by tile, with other steps


def rounded(x):
    """To float16, as tiles are before they are multiplied."""
    return x.astype(np.float16).astype(float)


def gradients(
    score=lambda qk, scale: qk * scale / LN2,
    weight=lambda s, lse: np.exp2(s - lse),
    sees=lambda i, j: i >= j,
    fill=0.0,
    shown=lambda p: p,
    product=lambda q, k, v, do: do @ v.T,
    gradient=lambda p, dp, delta, scale: p * (dp - delta),
    add=lambda total, part: total + part,
    finish=lambda total, scale: total * scale,
    for_dq=lambda p, ds, k, v: ds @ k,
    for_dk=lambda p, ds, q, do: ds.T @ q,
    for_dv=lambda p, ds, do: p.T @ do,
    of_keys=lambda start, n, m, b: [(start, min(start + b, n), True), (min(start + b, n), n, False)],
    of_queries=lambda start, n, m, b: [(0, start // b * b, False), (start // b * b, min(start + m, n), True)],
    full_keys=lambda start, n, m, b: [(0, n // b * b, False), (n // b * b, n, True)],
    block_m=16,
    block_n=32,
):
    """dq, dk and dv with other steps: of_keys and of_queries say which rows a causal program visits, and where it masks."""

    def tile(z, i, j, masked, q, k, v, do, lse, delta):
        scale = q.shape[-1] ** -0.5
        p = weight(score(q[z][i] @ k[z][j].T, scale), lse[z][i, None])
        p = np.where(sees(i[:, None], j), shown(p), fill) if masked else p
        ds = gradient(p, product(q[z][i], k[z][j], v[z][j], do[z][i]), delta[z][i, None], scale)
        return rounded(p), rounded(ds)

    def visits(loops, block, n):
        for lo, hi, masked in loops:
            for first in range(lo, hi, block):
                if (rows := np.arange(first, min(first + block, n))).size:
                    yield rows, masked

    def dk_dv(q, k, v, do, lse, delta, causal):
        dk, dv, (n_q, n_k) = np.zeros_like(k), np.zeros_like(v), (q.shape[2], k.shape[2])
        for z in np.ndindex(q.shape[:2]):
            for start in range(0, n_k, block_n):
                j = np.arange(start, min(start + block_n, n_k))
                for i, masked in visits(of_keys(start, n_q, block_m, block_n) if causal else [(0, n_q, False)], block_m, n_q):
                    p, ds = tile(z, i, j, masked, q, k, v, do, lse, delta)
                    dk[z][j] = add(dk[z][j], for_dk(p, ds, q[z][i], do[z][i]))
                    dv[z][j] += for_dv(p, ds, do[z][i])
        return rounded(finish(dk, q.shape[-1] ** -0.5)), rounded(dv)

    def dq(q, k, v, do, lse, delta, causal):
        total, (n_q, n_k) = np.zeros_like(q), (q.shape[2], k.shape[2])
        for z in np.ndindex(q.shape[:2]):
            for start in range(0, n_q, block_m):
                i = np.arange(start, min(start + block_m, n_q))
                loops = of_queries(start, n_k, block_m, block_n) if causal else full_keys(start, n_k, block_m, block_n)
                for j, masked in visits(loops, block_n, n_k):
                    p, ds = tile(z, i, j, masked and causal, q, k, v, do, lse, delta)
                    total[z][i] = add(total[z][i], for_dq(p, ds, k[z][j], v[z][j]))
        return rounded(finish(total, q.shape[-1] ** -0.5))

    return dk_dv, dq


def of_keys(**steps):
    """Exercise 10.5b with other steps."""
    dk_dv = gradients(**steps)[0]
    return lambda q, k, v, do, lse, delta, causal, **tile: dk_dv(q, k, v, do, lse, delta, causal)


def of_queries(**steps):
    """Exercise 10.5c with other steps in dq."""
    dq = gradients(**steps)[1]
    return lambda q, k, v, o, do, lse, causal, **tile: (dq(q, k, v, do, lse, (o * do).sum(axis=3), causal), None, None)


def beyond_the_keys(q, k, v, o, do, lse, causal, **tile):
    """Exercise 10.5c where the last block is not masked: a key of zeros has the weight 2 to the power of -lse."""
    right = of_queries()(q, k, v, o, do, lse, causal)[0]
    return np.where(np.isinf(np.exp2(-lse).astype(np.float16))[..., None], np.nan, right), None, None


def counted_in_queries(q, k, v, o, do, lse, causal, block_m=16, block_n=32, **tile):
    """Exercise 10.5c where the blocks without a mask are those before start_m, causal or not: `beyond_the_keys` for later rows."""
    start = np.arange(q.shape[2]) // block_m * block_m // block_n * block_n
    wrong = beyond_the_keys(q, k, v, o, do, lse, causal)[0]
    right = of_queries()(q, k, v, o, do, lse, causal)[0]
    return np.where((start > k.shape[2] // block_n * block_n)[:, None] & (not causal), wrong, right), None, None


def in_float16(dk, scale):
    """A sum in float16, which overflows before it is scaled."""
    return np.where(np.abs(dk) > HUGE, np.sign(dk) * np.inf, dk * scale)


SHARED = {
    "delta is missing: when one score rises, all weights of the row lose, so ds = p * (dp - delta).":
        dict(gradient=lambda p, dp, delta, scale: p * dp),
    "The brackets are missing: ds = p * (dp - delta).": dict(gradient=lambda p, dp, delta, scale: p * dp - delta),
    "delta is to be subtracted: ds = p * (dp - delta).": dict(gradient=lambda p, dp, delta, scale: p * (dp + delta)),
    "The weights lack lse: p = 2 to the power of s - lse adds up to 1 in each row of queries.": dict(weight=lambda s, lse: np.exp2(s)),
    "Scores and lse are in base 2: `tl.exp2`, not `tl.exp`.": dict(weight=lambda s, lse: np.exp(s - lse)),
    "The scores are in base e, and lse is in base 2: the factor LOG2E is missing.": dict(score=lambda qk, scale: qk * scale),
    "The scores are not scaled: q k is to be multiplied by scale * LOG2E.": dict(score=lambda qk, scale: qk / LN2),
    "The sum holds the last block alone: `tl.dot(a, b, acc)` adds to it.": dict(add=lambda total, part: part),
    "The gradient is not scaled: multiply its sum by scale, once.": dict(finish=lambda total, scale: total),
    "The gradient is scaled twice: once, at the end, is enough.": dict(finish=lambda total, scale: total * scale**2),
    "The gradient has a factor LOG2E too many: base 2 leaves no trace, and what remains is scale.":
        dict(finish=lambda total, scale: total * scale / LN2),
}  # fmt: skip


# ---- 10.6: attention where some keys are visible


def attend(q, k, v, visible, heads=lambda h, group, kv_heads: h // group, pad=0, k_of=lambda k: k, least=-np.inf, divide=None):
    """Attention with other heads of k and v, `pad` keys of zeros behind the last, or a maximum that is `least` at least."""
    group, kv_heads = q.shape[1] // k.shape[1], k.shape[1]
    k, v = (np.pad(x, ((0, 0), (0, 0), (0, pad), (0, 0))) for x in (k_of(k), v))
    of = [heads(h, group, kv_heads) for h in range(q.shape[1])]
    s = np.where(visible(k.shape[2]), q @ k[:, of].swapaxes(2, 3) / np.sqrt(q.shape[3]), -np.inf)
    m = np.maximum(np.nan_to_num(s.max(axis=3, keepdims=True), neginf=-1e30), least)
    p = np.exp(s - m)
    l_i = p.sum(axis=3, keepdims=True)
    return p @ v[:, of] / (np.maximum(l_i, 1.0) if divide is None else divide(l_i))


def keys_before(n_q, group, BLOCK_M, BLOCK_N, short=0):
    """How many keys, in whole blocks, the program reads that owns each row of exercise 10.6a, causal: [group, n_q]."""
    last = (row_numbers(n_q, group) // BLOCK_M + 1) * BLOCK_M - 1
    return cdiv(last // group + 1 - short, BLOCK_N) * BLOCK_N


def row_numbers(n_q, group):
    return np.arange(n_q)[None, :] * group + np.arange(group)[:, None]


def grouped(sees=lambda i, j, row: i >= j, tail=False, beyond=False, short=0, **others):
    """Exercise 10.6a with another mask where it is causal, with keys that do not exist, or with other heads.

    tail, beyond: whether those count where it is not causal, and where it is.
    """

    def given(q, k, v, causal, BLOCK_M, BLOCK_N):
        (heads, n_q), (kv_heads, n_k) = q.shape[1:3], k.shape[1:3]
        group = heads // kv_heads
        read = np.tile(keys_before(n_q, group, BLOCK_M, BLOCK_N, short), (kv_heads, 1))[:, :, None]
        row = np.tile(row_numbers(n_q, group), (kv_heads, 1))[:, :, None]

        def visible(n):
            i, j = np.arange(n_q)[:, None], np.arange(n)
            known = (j < n_k) | (beyond if causal else tail)
            return known & (j < read) & sees(i, j, row) if causal else known & (j < cdiv(n_k, BLOCK_N) * BLOCK_N)

        return attend(q, k, v, visible, pad=BLOCK_N if tail or beyond else 0, **others)

    return given


def causal_anyway(q, k, v, causal, **tile):
    """Exercise 10.6a where the mask is the causal one in either case."""
    return None if causal else attend(q, k, v, lambda n: np.arange(q.shape[2])[:, None] >= np.arange(n))


def windowed(
    sees=lambda i, j, window: (j <= i) & (i - window < j),
    tail=False,
    hi=lambda start, block: start + block,
    first=lambda start, block, w: start - w + 1,
    **others,
):
    """Exercise 10.6b with another mask."""

    def given(q, k, v, window, BLOCK_M, BLOCK_N):
        i, n_k = np.arange(q.shape[2])[:, None], k.shape[2]
        start = i // BLOCK_M * BLOCK_M
        lo, most = np.maximum(first(start, BLOCK_M, window), 0) // BLOCK_N * BLOCK_N, np.minimum(hi(start, BLOCK_M), n_k)
        end = lo + cdiv(np.maximum(most - lo, 0), BLOCK_N) * BLOCK_N  # blocks are read whole

        def visible(n):
            j = np.arange(n)[None, :]
            return sees(i, j, window) & (lo <= j) & (j < end) & ((j < n_k) | tail)

        return attend(q, k, v, visible, pad=BLOCK_N if tail else 0, **others)

    return given


def from_minus_infinity(q, k, v, window, BLOCK_M, BLOCK_N):
    """Exercise 10.6b where the maximum starts at -inf: a row that sees nothing of the first block is nan ever after."""
    o, i = windowed()(q, k, v, window, BLOCK_M, BLOCK_N), np.arange(q.shape[2])
    lo = np.maximum(i // BLOCK_M * BLOCK_M - window + 1, 0) // BLOCK_N * BLOCK_N
    turns = np.minimum(i // BLOCK_M * BLOCK_M + BLOCK_M, k.shape[2]) > lo
    last, first = np.minimum(i, np.minimum(lo + BLOCK_N, k.shape[2]) - 1), np.maximum(i - window + 1, lo)
    o[:, :, turns & (last < first)] = np.nan
    return o


# ---- 10.7: one query against a long cache


def splits_of(
    result,
    q,
    k,
    v,
    block,
    m_of=np.maximum,
    rescale_l=lambda l_i, alpha: l_i * alpha,
    rescale_acc=lambda acc, alpha: acc * alpha,
    finish=lambda acc, l_i: acc,
    finish_part=lambda part, l_i: part,
    ends=lambda i, chunk, n: min(n, (i + 1) * chunk),
    score=lambda s, scale: s * scale / LN2,
):
    """m, l and acc of each split, block by block, with other steps."""
    splits, (n, d) = result.shape[2], k.shape[2:]
    chunk = cdiv(cdiv(n, splits), block) * block
    m, l_i, acc = np.full((*q.shape[:2], splits), -np.inf), np.zeros((*q.shape[:2], splits)), np.zeros((*q.shape[:2], splits, d))
    for at in np.ndindex(m.shape):
        z, i = at[:2], at[2]
        for start in range(i * chunk, ends(i, chunk, n), block):
            part = slice(start, min(start + block, ends(i, chunk, n)))
            s = score(k[z][part] @ q[z][0], d**-0.5)
            m_new = m_of(m[at], s.max())
            alpha, p = np.exp2(m[at] - m_new), np.exp2(s - m_new)
            m[at], l_i[at] = m_new, rescale_l(l_i[at], alpha) + p.sum()
            acc[at] = finish(rescale_acc(acc[at], alpha) + finish_part(p @ v[z][part], l_i[at]), l_i[at])
    return m, l_i, acc


def split(**steps):
    """Exercise 10.7a with other steps."""
    return lambda q, k, v, BLOCK_N, result: splits_of(result, q, k, v, BLOCK_N, **steps)


def elsewhere(place):
    """Exercise 10.7a with its results in another order. place: batch, heads, splits -> the axes as they are written."""

    def given(q, k, v, BLOCK_N, result):
        right = splits_of(result, q, k, v, BLOCK_N)
        return tuple(np.moveaxis(x, *place).reshape(x.shape) for x in right)

    return given


def merged(
    alpha=lambda m, largest: np.exp2(m - largest),
    l_of=lambda l_i, alpha: (l_i * alpha).sum(axis=2),
    acc_of=lambda acc, alpha: (acc * alpha[..., None]).sum(axis=2),
    divide=lambda acc, l_i: acc / l_i[..., None],
    largest=lambda m: m,
):
    """Exercise 10.7b with other steps."""

    def given(q, k, v, splits, BLOCK_N):
        m, l_i, acc = splits_of(np.empty((1, 1, splits)), q, k, v, BLOCK_N)
        factor = alpha(m, largest(m.max(axis=2, keepdims=True)))
        return divide(acc_of(acc, factor), l_of(l_i, factor))[:, :, None, :]

    return given


def mean_of_outputs(q, k, v, splits, BLOCK_N):
    _, l_i, acc = splits_of(np.empty((1, 1, splits)), q, k, v, BLOCK_N)
    return (acc / np.where(l_i > 0, l_i, 1.0)[..., None]).mean(axis=2)[:, :, None, :]


def launches_of(traffic, kernel):
    return [launch for launch in traffic.launches if launch.kernel == kernel]


def loaded(launches, argument):
    """Bytes of an argument that some launches load."""
    return sum(
        tally.bytes for launch in launches for tally in launch.tallies if tally.argument == argument and tally.kind == "load"
    )


def by_line(*words):
    """Whether a fault lies in a line of the kernel with one of these words."""
    return lambda fault, case: any(word in (fault.text or "") for word in words)


MISTAKES = {
    "10.5a": {
        "That is the sum of o alone: the products o * do are summed.": lambda o, do: o.sum(axis=3),
        "That is the sum of do alone: the products o * do are summed.": lambda o, do: do.sum(axis=3),
        "delta is a sum, not a mean.": lambda o, do: (o * do).mean(axis=3),
        "delta is a sum, not the largest of the products.": lambda o, do: (o * do).max(axis=3),
        "The products are rounded to float16 before they are added up: convert o and do first, then multiply.":
            lambda o, do: rounded(o * do).sum(axis=3),
        "That is the product of two sums: multiply first, then add up.": lambda o, do: o.sum(axis=3) * do.sum(axis=3),
    },
    "10.5b": {
        **{sentence: of_keys(**steps) for sentence, steps in SHARED.items()},
        "The mask is the wrong way round: a key is seen by its own query and by those after it.": of_keys(sees=lambda i, j: i <= j),
        "The mask hides a query's own key: `>=`, not `>`.": of_keys(sees=lambda i, j: i > j),
        "Nothing is hidden: in the blocks on the diagonal, up to start_n + BLOCK_N, a query does not see the keys after it.": of_keys(sees=lambda i, j: i == i),
        "p is a weight here, not a score: a hidden one is 0.": of_keys(fill=-np.inf),
        "The mask alone stands for p, as 0 and 1: `tl.where(mask, p, 0.0)` keeps the weights.": of_keys(shown=lambda p: 1.0),
        "The second loop starts at query 0, and has no mask: lo is where the first loop ends.":
            of_keys(of_keys=lambda start, n, m, b: [(start, 0, True), (0, n, False)]),
        "The diagonal ends BLOCK_N queries after start_n, as many as there are keys, not BLOCK_M.":
            of_keys(of_keys=lambda start, n, m, b: [(start, min(start + m, n), True), (min(start + m, n), n, False)]),
        "The blocks on the diagonal are never visited: the first query that sees key start_n is query start_n.":
            of_keys(of_keys=lambda start, n, m, b: [(min(start + b, n), n, False)]),
        "A row is counted in queries, not in blocks: the first one is start_n, not the number of the program.":
            of_keys(of_keys=lambda start, n, m, b: [(start // b, min(start + b, n), True), (min(start + b, n), n, False)]),
        "dv is the sum of p times do: that is ds times do.": of_keys(for_dv=lambda p, ds, do: ds.T @ do),
        "dk is the sum of ds times q: that is p times q.": of_keys(for_dk=lambda p, ds, q, do: p.T @ q),
        "dk is the sum of ds times q: that is ds times do.": of_keys(for_dk=lambda p, ds, q, do: ds.T @ do),
        "The sum overflows: float16 ends at 65,504. Keep dk and dv in float32 to the end, and convert them when they are stored.":
            of_keys(finish=in_float16),
        "dp is v times do: that is k times do.": of_keys(product=lambda q, k, v, do: do @ k.T),
    },
    "10.5c": {
        **{sentence: of_queries(**steps) for sentence, steps in SHARED.items()},
        "dp is do times v: that is do times k.": of_queries(product=lambda q, k, v, do: do @ k.T),
        "dp is do times v: that is q times v.": of_queries(product=lambda q, k, v, do: q @ v.T),
        "dq is the sum of ds times k: that is ds times v.": of_queries(for_dq=lambda p, ds, k, v: ds @ v),
        "dq is the sum of ds times k: that is p times k.": of_queries(for_dq=lambda p, ds, k, v: p @ k),
        "The blocks on the diagonal are never visited: query start_m sees keys up to its own.":
            of_queries(of_queries=lambda start, n, m, b: [(0, start // b * b, False)]),
        "The diagonal is visited up to the first query alone: the last one of the block is start_m + BLOCK_M - 1.":
            of_queries(of_queries=lambda start, n, m, b: [(0, start // b * b, False), (start // b * b, start, True)]),
        "Without CAUSAL every query sees all n_k keys: there, end is n_k.":
            of_queries(full_keys=lambda start, n, m, b: [(0, n // b * b, False), (n // b * b, min(start + m, n), True)]),
        "The last keys are never visited: whole blocks end at n_k // BLOCK_N * BLOCK_N, and the rest is up to n_k.":
            of_queries(full_keys=lambda start, n, m, b: [(0, n // b * b, False)]),
        "start_m is not a whole number of blocks of keys: round it down; and without CAUSAL, take the whole blocks among n_k.":
            of_queries(full_keys=lambda start, n, m, b: [(0, start, False), (start, n, True)]),
        "Without CAUSAL, `whole` is counted among the keys, n_k // BLOCK_N * BLOCK_N: from start_m, blocks that stick out go without a mask.":
            counted_in_queries,
        "Without whole blocks nothing is masked: start_m may lie in the middle of a block of keys. Round it down.":
            of_queries(of_queries=lambda start, n, m, b: [(0, start, False), (start, min(start + m, n), True)]),
        "The last block sticks out, and is not masked: a key that does not exist has a score of 0, and a weight that overflows.":
            beyond_the_keys,
        "`whole` is rounded up: the last of these blocks has keys that its queries do not see.":
            of_queries(of_queries=lambda start, n, m, b: [(0, cdiv(start, b) * b, False), (cdiv(start, b) * b, min(start + m, n), True)]),
    },
    "10.6a": {
        "Heads h and h + 1 share k and v, not h and h + kv_heads: head off_kv * group is the first of its group.":
            grouped(heads=lambda h, group, kv_heads: h % kv_heads),
        "Every text takes the keys of the first: off_z * stride_kz is missing.": grouped(k_of=lambda k: np.broadcast_to(k[:1], k.shape)),
        "Every head takes the keys of the first: off_kv * stride_kh is missing.":
            grouped(k_of=lambda k: np.broadcast_to(k[:, :1], k.shape)),
        "Nothing is hidden where it is causal: query i sees the keys 0 to i.": grouped(sees=lambda i, j, row: i >= 0 * j),
        "Without CAUSAL every query sees all n_k keys: the mask compares places only where CAUSAL.": causal_anyway,
        "Causal is flipped: query i sees the keys 0 to i.": grouped(sees=lambda i, j, row: i <= j, beyond=True),
        "A query's own key is hidden: `>=`, not `>`.": grouped(sees=lambda i, j, row: i > j),
        "The mask counts rows of the tile, where it should count queries: offs_m.": grouped(sees=lambda i, j, row: row >= j, beyond=True),
        "The last key of a program is not read: its last row sees the key of its own query, and `end` is one more.": grouped(short=1),
        "Keys that do not exist have a score of 0, and count: hide those from n_k on.": grouped(tail=True),
    },
    "10.6b": {
        "One key too many: the window has `window` keys, the query's own included.": windowed(lambda i, j, w: (j <= i) & (i - w <= j)),
        "One key too few: the window has `window` keys, the query's own included.": windowed(lambda i, j, w: (j <= i) & (i - w + 1 < j)),
        "A query's own key is hidden: it stands 0 places ago.": windowed(lambda i, j, w: (j < i) & (i - w < j)),
        "Keys after the query are visible: `ago` is below 0 there.": windowed(lambda i, j, w: i - w < j),
        "Keys older than the window are visible.": windowed(lambda i, j, w: j <= i),
        "The window looks ahead: `ago` counts from the key to the query, i - j.": windowed(lambda i, j, w: (i <= j) & (j - w < i)),
        "Keys that do not exist have a score of 0, and count: hide those from n_k on.": windowed(tail=True),
        "The last query of a program sees keys up to its own: `hi` is start_m + BLOCK_M, or n_k.":
            windowed(hi=lambda start, block: start + 1),
        "The first query of a program sees the earliest key, start_m - window + 1: `lo` starts at the block of that one.":
            windowed(first=lambda start, block, w: start + block - w),
        "A row that sees nothing of its first block has -inf - (-inf), and stays nan: let m_i start at LOWEST.": from_minus_infinity,
        "A maximum that starts at 0 is too large for a row whose scores all lie below: its sum is less than 1. Start at LOWEST.":
            windowed(least=0.0),
        "A query that sees no key is 0 / 0: count its sum as 1 at least, with `tl.maximum`.": windowed(divide=lambda l_i: l_i),
    },
    "10.7a": {
        "Each split goes on to the last key: it ends where the next one starts.": split(ends=lambda i, chunk, n: n),
        "(split + 1) * chunk is where a split ends; `chunk` is only how long it is.": split(ends=lambda i, chunk, n: min(chunk, n)),
        "The scores are scaled twice: the scale is in q already.": split(score=lambda s, scale: s * scale**2 / LN2),
        "m_new forgets the blocks before: the larger of m_i and the maximum of this block.": split(m_of=lambda m, new: new),
        "l_i is not rescaled: what was measured against m_i is multiplied by alpha.": split(rescale_l=lambda l_i, alpha: l_i),
        "acc is not rescaled: what was measured against m_i is multiplied by alpha.": split(rescale_acc=lambda acc, alpha: acc),
        "acc is divided by l: the merge does that, once, at the end.": split(finish=lambda acc, l_i: acc / l_i),
        "A part of acc is divided by l: the merge does that, once, at the end.": split(finish_part=lambda part, l_i: part / l_i),
        "The results stand in another order: splits of one head are neighbours, and heads of one text.": elsewhere((1, 2)),
    },
    "10.7b": {
        "Splits are measured against different maxima: a factor 2 to the power of m_i - m brings them together.":
            merged(alpha=lambda m, largest: np.where(np.isfinite(m), 1.0, 0.0)),
        "m is in base 2: `tl.exp2`, not `tl.exp`.": merged(alpha=lambda m, largest: np.exp(m - largest)),
        "The factors are upside down, or divided by l_i: 2 to the power of m_i - m is 1 for the largest split and 0 for one without keys; "
        "divide once, by the sum of all.":
            merged(alpha=lambda m, largest: np.exp2(largest - m)),
        "l is summed without the factors: it was measured against the m of its split, as acc was.": merged(l_of=lambda l_i, alpha: l_i.sum(axis=2)),
        "acc is summed without the factors: it was measured against the m of its split, as l was.":
            merged(acc_of=lambda acc, alpha: acc.sum(axis=2)),
        "acc is not divided by l.": merged(divide=lambda acc, l_i: acc),
        "The divisor is the sum of l_i * alpha: that of the factors alone leaves l out.": merged(l_of=lambda l_i, alpha: alpha.sum(axis=2)),
        "Outputs of the splits cannot be averaged: a split counts as much as its keys weigh.": mean_of_outputs,
        "A lane without a split counts as m = 0, which may be the largest: `other=` is -inf there.":
            merged(lambda m, largest: np.exp2((m - largest).astype(np.float32)), largest=lambda m: np.maximum(m, 0.0)),
    },
}  # fmt: skip

RAISED: dict[str, dict[str, str]] = {}


def sees_hidden_queries(traffic, case):
    """Exercise 10.5b: q is read more often than queries see keys."""
    n_q, n_k, d = (case.sizes[name] for name in ("n_q", "n_k", "d"))
    visited = sum(n_q - start for start in range(0, n_k, 32))
    return (
        case.options["causal"]
        and loaded(traffic.launches, "q_desc") > 2 * d * visited * case.sizes["batch"] * case.sizes["heads"]
    )


def sees_hidden_keys(traffic, case):
    """Exercise 10.5c: k is read more often than keys are seen."""
    n, d = case.sizes["n_q"], case.sizes["d"]
    seen = sum(min(n, cdiv(start + 16, 32) * 32) for start in range(0, n, 16))
    read = loaded(launches_of(traffic, "backward_q_kernel"), "k_desc")
    return case.options["causal"] and read > 2 * d * seen * case.sizes["batch"] * case.sizes["heads"]


LAUNCHED = {
    "10.5b": {
        "No query before start_n sees one of these keys: the first loop starts there.": sees_hidden_queries,
    },
    "10.5c": {
        "No query of a block sees keys from start_m + BLOCK_M on: `end` is there, or at n_k.": sees_hidden_keys,
    },
    "10.6a": {
        "Row r is query r // group of head r % group, as row 4 of the table: with other numbers, rows seem to lie beyond the last query.":
            lambda traffic, case: sum(t.lanes for t in traffic.tallies if t.kind == "store") != case.inputs[0].size,
        "Blocks of keys are read that no row sees: the last row of a program is pid_m * BLOCK_M + BLOCK_M - 1; of which query is it?":
            lambda traffic, case: case.options["causal"] and loaded(traffic.launches, "k") > keys_read(case),
    },
    "10.6b": {
        "Blocks of keys outside the window are read: the first query of a program sees the earliest key, the last one the latest.":
            lambda traffic, case: loaded(traffic.launches, "k") > window_read(case),
    },
}  # fmt: skip


def keys_read(case):
    """Bytes of k that exercise 10.6a reads, causal."""
    heads, kv_heads, n, tile = case.sizes["heads"], case.sizes["kv_heads"], case.sizes["n_q"], case.options
    ends = [(row + tile["BLOCK_M"] - 1) // (heads // kv_heads) + 1 for row in range(0, n * heads // kv_heads, tile["BLOCK_M"])]
    keys = sum(min(n, cdiv(end, tile["BLOCK_N"]) * tile["BLOCK_N"]) for end in ends)
    return case.sizes["batch"] * kv_heads * keys * case.sizes["d"] * case.inputs[1].itemsize


def window_read(case):
    """Bytes of k that exercise 10.6b reads."""
    n_q, n_k, m, b, window = (
        *(case.sizes[n] for n in ("n_q", "n_k")),
        *(case.options[n] for n in ("BLOCK_M", "BLOCK_N", "window")),
    )
    blocks = [j for start in range(0, n_q, m) for j in range(0, n_k, b) if j < start + m and j + b > start - window + 1]
    keys = sum(min(b, n_k - j) for j in blocks)
    return case.sizes["batch"] * case.sizes["heads"] * keys * case.sizes["d"] * case.inputs[1].itemsize


TRANSPOSED = (
    "In this exercise a row of s_ji, p, dp and ds belongs to a key: k_j q_iᵀ and v_j do_iᵀ; lse and delta are rows, `[None, :]`."
)
UPRIGHT = "In this exercise a row of s_ij, p, dp and ds belongs to a query: q_i k_jᵀ and do_i v_jᵀ; lse and delta are columns, `[:, None]`."
SHARES = "Heads off_kv * group to off_kv * group + group - 1 share head off_kv of k and v."
FAULTED = {
    "10.5a": {
        "A tile has BLOCK_D columns, of which HEAD_DIM exist, and BLOCK_M rows, of which some lie beyond n_q: mask both.":
            lambda fault, case: fault.kind == "load outside",
        "There is a sum for each row of the tile: along axis 1.": lambda fault, case: "incompatible dimensions" in fault.message,
    },
    "10.5b": {
        TRANSPOSED: lambda fault, case: "incompatible dimensions" in fault.message or "reduction dimensions" in fault.message,
        "Both factors of a product have one dtype: `ds.to(q_i.dtype)`.": lambda fault, case: "same dtype" in fault.message,
    },
    "10.5c": {
        UPRIGHT: lambda fault, case: "incompatible dimensions" in fault.message or "reduction dimensions" in fault.message,
        "Both factors of a product have one dtype: `ds.to(k_j.dtype)`.": lambda fault, case: "same dtype" in fault.message,
    },
    "10.6a": {
        "Rows count queries slowly and heads fast: row r has query r // group and head r % group of its group.":
            lambda fault, case: fault.kind == "load outside" and fault.argument == "q",
        SHARES: lambda fault, case: fault.kind in ("race", "store outside"),
        "k has kv_heads heads, and off_kv counts them already.": lambda fault, case: fault.argument in ("k", "v"),
    },
    "10.6b": {
        "There is no key before key 0: `tl.maximum(..., 0)`.":
            lambda fault, case: fault.kind == "load outside" and fault.argument in ("k", "v"),
    },
    "10.7a": {
        "A split reads keys before `end`, and columns before HEAD_DIM: `end` is at most n_k, and the mask has both.":
            lambda fault, case: fault.kind == "load outside" and fault.argument in ("k", "v"),
        "Each split of each head of each text has a place of its own: (off_z * heads + off_h) * splits + split.":
            lambda fault, case: fault.kind in ("race", "store outside"),
        "m_i, l_i and alpha are one number each, s and p have one for each key, acc one for each column: along which axis, then?":
            lambda fault, case: "block type" in fault.message or "incompatible dimensions" in fault.message,
    },
    "10.7b": {
        "Only `splits` of the BLOCK_S lanes have a split: mask the load with mask_s.": lambda fault, case: fault.kind == "load outside",
        "acc is [BLOCK_S, BLOCK_D]; the sum goes over the splits, axis 0.": lambda fault, case: "incompatible dimensions" in fault.message,
    },
}  # fmt: skip
