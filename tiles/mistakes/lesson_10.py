"""Mistakes in lesson 10, the forward pass of flash attention: see `tiles.mistakes`. The others are in lesson_10_backward.

Attention is computed here block by block, by functions whose steps can be exchanged for wrong ones.
"""

import numpy as np

LOG2E = float(np.log2(np.e))
NOTHING = -np.inf


def online(
    m_new=lambda m_i, s: np.maximum(m_i, s.max(axis=1)),
    alpha=lambda m_i, m_new: np.exp(m_i - m_new),
    p=lambda s, m_new: np.exp(s - m_new[:, None]),
    old_l=lambda l_i, alpha: l_i * alpha,
    old_acc=lambda acc, alpha: acc * alpha[:, None],
    new_l=lambda sums, alpha: sums,
    weights=lambda s, p: p,
    sums_of=lambda p: p.sum(axis=1),
):
    """One block of keys taken into m_i, l_i and acc, with steps of its own. s: products q k, without scale."""

    def step(s, v_j, scale, m_i, l_i, acc):
        s = s * scale
        m = m_new(m_i, s)
        a, terms = alpha(m_i, m), p(s, m)
        return m, old_l(l_i, a) + new_l(sums_of(terms), a), old_acc(acc, a) + weights(s, terms) @ v_j

    return step


def base_2(
    factor=LOG2E,
    largest=lambda m_i, s, scale: np.maximum(m_i, s.max(axis=1) * scale),
    alpha=lambda m_i, m_new: np.exp2(m_i - m_new),
    p=lambda s, scale, m_new: np.exp2(s * scale - m_new[:, None]),
):
    """The step of exercise 10.3b, with steps of its own. factor: what the launcher puts into the scale."""

    def step(s, v_j, scale, m_i, l_i, acc):
        scale = factor * scale
        m = largest(m_i, s, scale)
        a, terms = alpha(m_i, m), p(s, scale, m)
        return m, l_i * a + terms.sum(axis=1), acc * a[:, None] + terms @ v_j

    return step


def right_key(j, start_m, start_n, BLOCK_M, BLOCK_N):
    return j


def seen_keys(i, j, sizes):
    return i >= j


def attention(
    step=None,
    k_of=right_key,
    v_of=right_key,
    visible=seen_keys,
    exists=lambda i, j, sizes: j < sizes["n_k"],
    scale=lambda d: d**-0.5,
    end=lambda state: state[2] / state[1][:, None],
    causal_alone=False,
    skips=False,
):
    """o (batch, heads, n_q, d) with other steps, from blocks.

    k_of, v_of: which key is loaded as key j. visible, exists: of the numbers of queries and keys, and {n_q, n_k, start_m, start_n, BLOCK_M, BLOCK_N}.
    causal_alone: a mistake of causal attention; None without it. skips: blocks of keys that nobody sees are left out.
    """
    step = step or online()

    def given(q, k, v, causal=False, BLOCK_M=16, BLOCK_N=16, **others):
        if causal_alone and not causal:
            return None
        q, k, v = (x.astype(np.float32) for x in (q, k, v))
        (batch, n_heads, n_q, d), n_k, o = q.shape, k.shape[2], np.zeros(q.shape)
        for z, h, start_m in np.ndindex(batch, n_heads, -(-n_q // BLOCK_M)):
            start_m *= BLOCK_M
            i = np.arange(start_m, start_m + BLOCK_M)
            q_i = np.zeros((BLOCK_M, d), np.float32)
            q_i[: n_q - start_m] = q[z, h, start_m : start_m + BLOCK_M]
            state = tuple(x.astype(np.float32) for x in (np.full(BLOCK_M, NOTHING), np.zeros(BLOCK_M), np.zeros((BLOCK_M, d))))
            for start_n in range(0, n_k, BLOCK_N):
                j = np.arange(start_n, start_n + BLOCK_N)
                sizes = dict(n_q=n_q, n_k=n_k, start_m=start_m, start_n=start_n, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
                place = start_m, start_n, BLOCK_M, BLOCK_N
                s = q_i @ rows_of(k[z, h], k_of(j, *place)).T
                keep = exists(i[:, None], j[None, :], sizes) & (visible(i[:, None], j[None, :], sizes) if causal else True)
                if skips and not keep.any():
                    continue
                state = step(np.where(keep, s, np.float32(NOTHING)), rows_of(v[z, h], v_of(j, *place)), scale(d), *state)
            o[z, h, start_m : start_m + BLOCK_M] = end(state)[: n_q - start_m]
        return o

    return given


def rows_of(x, numbers):
    """Rows of a matrix; those that do not exist are 0."""
    inside = (0 <= numbers) & (numbers < len(x))
    return np.where(inside[:, None], x[np.where(inside, numbers, 0)], np.float32(0))


def one_head(mistaken, BLOCK_N=16):
    """Exercise 10.1: one block of queries, without text and head."""

    def given(q, k, v):
        BLOCK_M = max(16, 1 << (len(q) - 1).bit_length())
        return mistaken(q[None, None], k[None, None], v[None, None], BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)[0, 0]

    return given


def packed(mistaken):
    """Exercise 10.3d: q (batch, words, heads, d), k and v in one tensor (batch, words, 2, heads, d)."""
    return lambda q, kv, **options: mistaken(np.swapaxes(q, 1, 2), *kv.transpose(2, 0, 3, 1, 4), **options)


def first_block(j, start_m, start_n, BLOCK_M, BLOCK_N):
    return j - start_n


STEPS = {
    "m_new is the largest score of this block alone: where a larger one came before, alpha overflows. Compare with m_i.":
        online(m_new=lambda m_i, s: s.max(axis=1)),
    "Each query has a maximum of its own, along its row of the tile: `tl.max(s_ij, axis=1)`.":
        online(m_new=lambda m_i, s: np.maximum(m_i, s.max())),
    "acc is not rescaled: what it holds was measured against m_i, like l_i, and wants the factor alpha too.": online(old_acc=lambda acc, a: acc),
    "l_i is not rescaled: the terms so far were measured against m_i, and want the factor alpha.": online(old_l=lambda l_i, a: l_i),
    "acc holds the last block alone: `tl.dot(p, v_j, acc * alpha[:, None])` adds to what is there.": online(old_acc=lambda acc, a: 0 * acc),
    "l_i holds the last block alone: add to what is there.": online(old_l=lambda l_i, a: 0 * l_i),
    "alpha is left out: l_i and acc are not rescaled when the maximum rises.": online(old_l=lambda l_i, a: l_i, old_acc=lambda acc, a: acc),
    "acc sums up scores times values: its weights are the terms p.": online(weights=lambda s, p: s),
    "The new terms are measured against m_new already: alpha belongs to what was there before.": online(new_l=lambda sums, a: sums * a),
    "The sum for each query goes along its row of the tile: axis=1.": online(sums_of=lambda p: p.sum(axis=0)),
    "Each query has a sum of its own, along its row of the tile: `tl.sum(p, axis=1)`.": online(sums_of=lambda p: p.sum()),
    "alpha has a number for each row of acc, and stands there as a row: `alpha[:, None]` is a column.":
        online(old_acc=lambda acc, alpha: acc * alpha[None, :]),
    "alpha is upside down: terms measured against m_i become smaller when the maximum rises, by exp(m_i - m_new).":
        online(alpha=lambda m_i, m_new: np.exp(m_new - m_i)),
}  # fmt: skip

MASKS = {
    "Query i does not see key i: it sees its own, `>=`.": attention(visible=lambda i, j, sizes: i > j, causal_alone=True),
    "Queries see the keys after them, and none before: row >= column where a key is visible.":
        attention(visible=lambda i, j, sizes: i <= j, causal_alone=True),
    "Queries and keys are compared by their places in the tile: the keys of this step are start_n + offs_n.":
        attention(visible=lambda i, j, sizes: i >= j - sizes["start_n"], causal_alone=True),
    "Queries and keys are compared by their places in the tile: the queries of this program are pid_m * BLOCK_M + ...":
        attention(visible=lambda i, j, sizes: i - sizes["start_m"] >= j, causal_alone=True),
    "Causal attention is asked for, and every query sees all keys.": attention(visible=lambda i, j, sizes: i >= 0, causal_alone=True),
    "Keys are compared with the number of queries: n_k says which exist.": attention(exists=lambda i, j, sizes: j < sizes["n_q"]),
    "Keys that do not exist take part, with a score of 0: their scores must be -inf.": attention(exists=lambda i, j, sizes: j >= 0),
}  # fmt: skip

POINTERS = {
    "The keys are those of the first block in each step: `k_ptr` must move on.": attention(k_of=first_block),
    "The values are those of the first block in each step: `v_ptr` must move on.": attention(v_of=first_block),
    "Keys and values are those of the first block in each step: `k_ptr` and `v_ptr` must move on.": attention(k_of=first_block, v_of=first_block),
    "k_ptr moves along a row: a block of keys is BLOCK_N rows, each stride_kn after the last.":
        attention(k_of=lambda j, start_m, start_n, BLOCK_M, BLOCK_N: j - start_n + start_n // 16),
    "v_ptr moves along a row: a block of values is BLOCK_N rows, each stride_vn after the last.":
        attention(v_of=lambda j, start_m, start_n, BLOCK_M, BLOCK_N: j - start_n + start_n // 16),
}  # fmt: skip


def full_of(sizes):
    return sizes["start_m"] // sizes["BLOCK_N"] * sizes["BLOCK_N"]


def from_the_start(j, start_m, start_n, BLOCK_M, BLOCK_N):
    """The key that is loaded as key j where the pointers do not go on in the second loop."""
    full = start_m // BLOCK_N * BLOCK_N
    return j - full if start_n >= full else j


RANGES = {
    "Queries see keys after them: blocks on the diagonal belong to the second loop, and that is the one with MASKED.":
        attention(visible=lambda i, j, sizes: j < -(-(sizes["start_m"] + sizes["BLOCK_M"]) // sizes["BLOCK_N"]) * sizes["BLOCK_N"], causal_alone=True, skips=True),
    "The diagonal is missing: the last query of a block sees key (pid_m + 1) * BLOCK_M - 1, so `end` lies behind that.":
        attention(visible=lambda i, j, sizes: (i >= j) & (j < full_of(sizes)), causal_alone=True, skips=True),
    "The keys of the last block, which sticks out, are lost: without causal, `end` is n_k.":
        attention(exists=lambda i, j, sizes: j < sizes["n_k"] // sizes["BLOCK_N"] * sizes["BLOCK_N"]),
    "The first loop did not run: the second one begins at `full`, and k_ptr still stands at key 0.":
        attention(
            k_of=lambda j, start_m, start_n, BLOCK_M, BLOCK_N: j - start_m // BLOCK_N * BLOCK_N,
            v_of=lambda j, start_m, start_n, BLOCK_M, BLOCK_N: j - start_m // BLOCK_N * BLOCK_N,
            visible=lambda i, j, sizes: (i >= j) & (j >= full_of(sizes)), causal_alone=True, skips=True,
        ),
    "The second loop reads from key 0 again: attend_blocks returns k_ptr and v_ptr where they end, at key `full`; assign them.":
        attention(k_of=from_the_start, v_of=from_the_start, causal_alone=True, skips=True),
    "0 / 0: no key has come into l_i. attend_blocks returns m_i, l_i and acc, and changes nothing in place: assign what it returns.":
        lambda q, k, v, causal=False, **tile: np.full(q.shape, np.nan),
}  # fmt: skip

BASES = {
    "Without the factor log2(e), two to the power of the scores is taken: put it into the scale.": base_2(factor=1.0),
    "The scale is divided by log2(e), or multiplied by ln(2), the same: e to the power of x is two to the power of x log2(e).":
        base_2(factor=1 / LOG2E),
    "m_new is in units without the scale: the maximum is that of the scores times `scale`.":
        base_2(largest=lambda m_i, s, scale: np.maximum(m_i, s.max(axis=1))),
    "m_i is scaled already, and is scaled again: only the maximum of the new scores wants the factor.":
        base_2(largest=lambda m_i, s, scale: np.maximum(m_i, s.max(axis=1)) * scale),
    "m_new is scaled already, and in p it is scaled again: scale the scores, then subtract.":
        base_2(p=lambda s, scale, m_new: np.exp2((s - m_new[:, None]) * scale)),
    "In p, the scores lack the scale.": base_2(p=lambda s, scale, m_new: np.exp2(s - m_new[:, None])),
    "alpha is a power of e, and the terms are powers of 2.": base_2(alpha=lambda m_i, m_new: np.exp(m_i - m_new)),
    "The terms are powers of e, and alpha is a power of 2.": base_2(p=lambda s, scale, m_new: np.exp(s * scale - m_new[:, None])),
}  # fmt: skip

TILES = {
    "The tile of k stays where it is: it starts at word `start_n`.": attention(k_of=first_block),
    "The tile of v stays where it is: it starts at word `start_n`.": attention(v_of=first_block),
    "The tiles of k and v stay where they are: they start at word `start_n`.": attention(k_of=first_block, v_of=first_block),
}


def with_values_of(which):
    """Exercise 10.3d with keys in the place of values, or the other way round."""
    right = attention()
    return lambda q, k, v, **options: right(q, k, k, **options) if which == "k" else right(q, v, v, **options)


def queries_at(first):
    """Exercise 10.3d with queries of other words. first: of the number of a block and BLOCK_M."""

    def given(q, k, v, causal=False, BLOCK_M=16, BLOCK_N=16, **others):
        moved = np.zeros(q.shape)
        for start_m in range(0, q.shape[2], BLOCK_M):
            rows = q[:, :, first(start_m // BLOCK_M, BLOCK_M) :][:, :, : min(BLOCK_M, q.shape[2] - start_m)]
            moved[:, :, start_m : start_m + rows.shape[2]] = rows
        return attention()(moved, k, v, causal, BLOCK_M, BLOCK_N)

    return given


TILES |= {
    "The values are the keys: v_desc brings the tiles of v.": with_values_of("k"),
    "A tile of q starts at a word, pid_m * BLOCK_M, and not at pid_m, the number of the block.": queries_at(
        lambda pid_m, BLOCK_M: pid_m
    ),
}


def keys_by(coordinates):
    """Exercise 10.3d with tiles of k from elsewhere. coordinates: of text, head and word; what lies outside is 0."""

    def given(q, k, v, causal=False, BLOCK_M=16, BLOCK_N=16, **others):
        moved, (batch, n_heads, n_k, _) = np.zeros(k.shape), k.shape
        for z, h, j in np.ndindex(batch, n_heads, n_k):
            start_n = j // BLOCK_N * BLOCK_N
            first = coordinates(z, h, start_n)
            place = (*first[:2], first[2] + j - start_n)
            if all(number < size for number, size in zip(place, k.shape)):
                moved[z, h, j] = k[place]
        return attention()(q, moved, v, causal, BLOCK_M, BLOCK_N)

    return given


TILES |= {
    "The coordinates of k are in another order: text, head, word, column.": keys_by(lambda z, h, start_n: (h, z, start_n)),
    "The coordinates of a tile are in another order: text, head, word, column.": keys_by(lambda z, h, start_n: (z, start_n, h)),
}


def keys_and_values_by(read, both=True):
    """Exercise 10.3d with other tiles. read: of k or v of a head, the number of the first word, and of the loop's first one."""

    def given(q, k, v, causal=False, BLOCK_M=16, BLOCK_N=16, **others):
        if causal:  # where the loops begin depends on the queries
            return None

        def moved(x):
            y, n = np.zeros(x.shape), x.shape[2]
            for z, h, start_n in np.ndindex(x.shape[0], x.shape[1], -(-n // BLOCK_N)):
                start_n *= BLOCK_N
                lo = n // BLOCK_N * BLOCK_N if start_n >= n // BLOCK_N * BLOCK_N else 0
                tile = read(x[z, h], start_n, lo)[:BLOCK_N]
                tile = tile[: n - start_n]
                y[z, h, start_n : start_n + len(tile), : tile.shape[1]] = tile
            return y

        return attention()(q, moved(k), moved(v) if both else v, False, BLOCK_M, BLOCK_N)

    return given


for both in (True, False):
    of = "k and v" if both else "k"
    TILES |= {
        f"The tiles of {of} move along d: the third coordinate is the word, and that is start_n.": keys_and_values_by(
            lambda x, start_n, lo: x[:, start_n:], both
        ),
        f"Each step of a loop reads the first tile of {of}, at word lo: it starts at start_n.": keys_and_values_by(
            lambda x, start_n, lo: x[lo:], both
        ),
    }


def chosen(
    unfit=lambda k: k.stack > 128 or k.tensor_core != "wgmma",
    scores=lambda k, tile: k.occupancy.blocks * tile[0] * tile[1],
    rank=lambda scores, k: (scores, k.occupancy.blocks),
):
    """Exercise 10.3c with other steps: the four numbers of the tile."""

    def given(kernels):
        def ranked(tile):
            k = kernels[tile]
            return rank(0 if unfit(k) else scores(k, tile), k)

        return max(kernels, key=ranked)

    return given


CHOICES = {
    "A kernel that spills is chosen: more than 128 B of stack are not fit.": chosen(unfit=lambda k: k.tensor_core != "wgmma"),
    "A kernel without wgmma is chosen.": chosen(unfit=lambda k: k.stack > 128),
    "A kernel is unfit for either reason: one of the two is enough.": chosen(
        unfit=lambda k: k.stack > 128 and k.tensor_core != "wgmma"
    ),
    "128 B of stack are allowed; unfit is what has more.": chosen(unfit=lambda k: k.stack > 0 or k.tensor_core != "wgmma"),
    "Up to 128 B of stack are allowed, 128 included.": chosen(unfit=lambda k: k.stack >= 128 or k.tensor_core != "wgmma"),
    "Scores in flight come first, the number of programs second.": chosen(rank=lambda scores, k: (k.occupancy.blocks, scores)),
    "Of tiles with as many scores in flight, the one with more programs on an SM wants to be chosen.": chosen(
        rank=lambda scores, k: scores
    ),
    "Of tiles with as many scores in flight, the one with fewer programs is chosen.": chosen(
        rank=lambda scores, k: (scores, -k.occupancy.blocks)
    ),
    "The scores of one program are counted: how many programs are on an SM at a time?": chosen(
        scores=lambda k, tile: tile[0] * tile[1]
    ),
}


def log_sums(of):
    """Exercise 10.4: o, and lse from the largest score and the sum of the terms of each row, in base 2."""

    def given(q, k, v, causal=False, **tile):
        s = q @ np.swapaxes(k, -1, -2) * (LOG2E * q.shape[-1] ** -0.5)
        s = np.where(np.tri(*s.shape[-2:], dtype=bool), s, NOTHING) if causal else s
        m = s.max(axis=-1)
        return None, of(m, np.exp2(s - m[..., None]).sum(axis=-1))

    return given


def without_scale(q, k, v, causal=False, **tile):
    """Exercise 10.4 where the maximum lacks the scale."""
    s = q @ np.swapaxes(k, -1, -2)
    s = np.where(np.tri(*s.shape[-2:], dtype=bool), s, NOTHING) if causal else s
    m = s.max(axis=-1)
    return None, m + np.log2(np.exp2((s - m[..., None]) * (LOG2E * q.shape[-1] ** -0.5)).sum(axis=-1))


LOGS = {
    "m_i lacks the scale: look at base2_step, exercise 10.3b, where m_i is to be a maximum of scores times `scale`.": without_scale,
    "The logarithm of l_i is taken in base e, and m_i is in base 2: `tl.log2`.": log_sums(lambda m, sums: m + np.log(sums)),
    "m_i is missing: l_i is a sum of terms that were divided by two to the power of m_i.": log_sums(
        lambda m, sums: np.log2(sums)
    ),
    "That is the largest score of each row alone: the logarithm of l_i is missing.": log_sums(lambda m, sums: m),
    "The logarithm of l_i is subtracted: log(a b) = log(a) + log(b).": log_sums(lambda m, sums: m - np.log2(sums)),
    "m_i and the logarithm are multiplied: log(a b) = log(a) + log(b).": log_sums(lambda m, sums: m * np.log2(sums)),
    "That is the log-sum-exp in base e: the backward pass takes powers of 2, so keep base 2.": log_sums(
        lambda m, sums: (m + np.log2(sums)) / LOG2E
    ),
}

MISTAKES = {
    "10.1": {sentence: one_head(attention(step)) for sentence, step in STEPS.items()},
    "10.2": {**MASKS, **POINTERS},
    "10.3a": RANGES,
    "10.3b": {sentence: attention(step, skips=True) for sentence, step in BASES.items()},
    "10.3c": CHOICES,
    "10.3d": {sentence: packed(mistaken) for sentence, mistaken in TILES.items()},
    "10.4": LOGS,
}


# ---- what launches did, and faults


def keys_read(traffic, case, by_each):
    """Whether as many bytes of k were read as when each block of queries reads by_each keys."""
    sizes, itemsize = case.sizes, 2 if case.inputs[0].dtype == np.float16 else 4
    blocks = -(-sizes["n_q"] // sizes["BLOCK_M"])
    return traffic.loaded["k"] == sizes["batch"] * sizes["n_heads"] * sizes["d"] * itemsize * blocks * by_each


HEADS = "The address of a head has two parts: `off_hz // n_heads` is its text, with stride_z, and `off_hz % n_heads` its place there, with stride_h."


def reads_everything(traffic, case):
    return case.options["causal"] and case.sizes["n_k"] > case.sizes["BLOCK_N"] and keys_read(traffic, case, case.sizes["n_k"])


def one_text(traffic, case):
    sizes = case.sizes
    return sizes["batch"] > 1 and traffic.launches[0].programs == -(-sizes["n_q"] // sizes["BLOCK_M"]) * sizes["n_heads"]


def of_keys(fault, case):
    return fault.argument in ("k", "v")


def is_race(fault, case):
    return fault.kind == "race"


def says(words):
    return lambda fault, case: words in fault.summary


LAUNCHED = {
    "10.2": {"The grid has programs for the heads of one text alone.": one_text},
    "10.3a": {
        "Blocks of keys after the last query of a block are read, and then hidden: where does `end` lie?": reads_everything
    },
}

FAULTED = {
    "10.1": {
        "tl.max goes along an axis of one tile; tl.maximum compares two.": says("out of bounds"),
        "`tl.dot` wants both factors in one dtype: `p.to(v_j.dtype)`.": says("same dtype"),
        "A maximum, or a sum, for each query goes along its row of the tile: axis=1.": says("make_shape_compatible"),
    },
    "10.2": {
        HEADS: lambda fault, case: fault.argument == "q" and case.sizes["n_heads"] > 1,
        "The kernel finds block and head from program_id(0) alone: the grid has one axis, and its length is the product.":
            lambda fault, case: is_race(fault, case) and "Programs (" in fault.summary,
        "All programs of a head take the same queries: those of a program begin at pid_m * BLOCK_M.": is_race,
        "A tile has BLOCK_D columns, a power of two, and a key has d: mask_d says which exist.":
            lambda fault, case: of_keys(fault, case) and not case.strided and case.sizes["d"] & (case.sizes["d"] - 1),
        "mask_n is about the keys of this step, start_n + offs_n, which end at n_k.":
            lambda fault, case: of_keys(fault, case) and not case.strided,
        "v_ptr moves by strides of v: BLOCK_N * stride_vn.": lambda fault, case: fault.argument == "v",
        "k_ptr moves by strides of k: BLOCK_N * stride_kn.": lambda fault, case: fault.argument == "k",
    },
    "10.3a": {
        "Without causal, `full` ends before a block that sticks out: that one needs the mask of the second loop.":
            lambda fault, case: of_keys(fault, case) and not case.options["causal"],
        "The loops do not meet: after the first one k_ptr stands at key `full`, which is counted in keys and a multiple of BLOCK_N; "
        "the second one begins there.": of_keys,
    },
    "10.3d": {
        "A tile of o starts at a word, pid_m * BLOCK_M, and not at pid_m, the number of the block.": is_race,
        "The tile of the descriptor and the one in `reshape` differ in size: k and v come BLOCK_N words at a time, q and o BLOCK_M.":
            says("cannot change total number"),
        "A tile arrives as [1, 1, words, BLOCK_D]: `.reshape(words, BLOCK_D)` drops the two ones.": says("equal ranks"),
        "A store takes a tile of four dimensions, `.reshape(1, 1, BLOCK_M, BLOCK_D)`, and the descriptor of o has that shape too: see `words`.":
            lambda fault, case: fault.kind == "error in kernel" and ".store(" in (fault.text or ""),
    },
    "10.4": {
        "Rows from n_q on do not exist, and their place belongs to the next head: the store needs a mask.":
            lambda fault, case: is_race(fault, case) and case.sizes["n_q"] % case.sizes["BLOCK_M"],
        "Head off_hz begins at number off_hz * n_q of lse.": is_race,
    },
}  # fmt: skip
