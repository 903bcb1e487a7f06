"""Mistakes in lesson 06, flash attention: see `tiles.mistakes`.

Attention is computed here block by block, in the precision of the lesson, by functions whose steps can be exchanged for wrong ones.
"""

import numpy as np

INFINITY = np.float32(np.inf)


def spans(n, block):
    """Slices that cut n elements into blocks."""
    return [slice(start, min(start + block, n)) for start in range(0, n, block)]


def right_scale(q, k, v):
    return q.shape[1] ** -0.5


def at_or_before(row, col, offs_m, offs_n, i, j):
    return row >= col


def row_maximum(m_i, s_ij):
    return np.maximum(m_i, s_ij.max(axis=-1))


def carried(state, alpha, is_last):
    return state * alpha


def as_it_is(new, alpha):
    return new


def forward(
    scale=right_scale,
    keys=lambda k, v, block_k: (k, v),
    visible=at_or_before,
    hidden=-INFINITY,
    scores=lambda s_ij: s_ij,
    m_new=row_maximum,
    old_l=carried,
    old_acc=carried,
    end=lambda acc, l_i, count: acc / l_i,
    queries=lambda n_q, block_q: n_q,
    keys_of=lambda offs_m, offs_n: offs_n,
    sums_of=lambda p: p.sum(axis=-1),
    new_l=as_it_is,
    new_acc=as_it_is,
    late=False,
    guarded=False,
):
    """Exercises 6.1 to 6.4 with other steps: (o, m, l) of float32 inputs.

    keys: which keys and values the loop sees. visible: of rows and columns, the slices they are in and the numbers of those; hidden: the score of
    what is not. m_new, old_l, old_acc: the steps of the inner loop. end: the output, after `count` blocks. queries: how many are answered.
    keys_of: which keys a step loads. sums_of: of the new terms; new_l, new_acc: what is added. late: scores are hidden after the maximum, in the tiles
    above the diagonal too where it is EVERYWHERE.
    guarded: no -inf is subtracted from -inf where a row has seen nothing yet.
    """

    def given(q, k, v, block_q, block_k, causal=False):
        q, k, v = (array.astype(np.float32) for array in (q, k, v))
        factor = np.float32(scale(q, k, v))
        k, v = keys(k, v, block_k)
        o, (m, sums) = np.zeros((len(q), v.shape[1]), np.float32), np.zeros((2, len(q)), np.float32)
        for i, offs_m in enumerate(spans(queries(len(q), block_q), block_q)):
            m_i = np.full(len(q[offs_m]), -INFINITY)
            l_i, acc = np.zeros(len(m_i), np.float32), np.zeros((len(m_i), v.shape[1]), np.float32)
            for j, offs_n in enumerate(spans(len(k), block_k)):
                loaded = keys_of(offs_m, offs_n)
                everything = s_ij = scores(q[offs_m] @ k[loaded].T * factor)
                if causal:
                    row, col = np.arange(len(q))[offs_m, None], np.arange(len(k))[None, offs_n]
                    if visible is at_or_before and hidden == -INFINITY and late != EVERYWHERE and offs_n.start >= offs_m.stop:
                        continue
                    s_ij = np.where(visible(row, col, offs_m, offs_n, i, j), s_ij, np.float32(hidden))
                new = m_new(m_i, everything if late else s_ij)
                shift = np.where(new > -INFINITY, new, np.float32(0)) if guarded else new
                alpha, p = np.exp(m_i - shift), np.exp(s_ij - shift[:, None])
                is_last = offs_n.stop >= len(k)
                l_i = old_l(l_i, alpha, is_last) + new_l(sums_of(p), alpha)
                acc = old_acc(acc, alpha[:, None], is_last) + new_acc(p @ v[loaded], alpha[:, None])
                m_i = new
            count = len(spans(len(k), block_k))
            o[offs_m], m[offs_m], sums[offs_m] = end(acc, l_i[:, None], count), m_i, l_i
        return o, m, sums

    return given


def output(**steps):
    """The output alone."""
    run = forward(**steps)
    return lambda q, k, v, block_q, block_k, causal=False: run(q, k, v, block_q, block_k, causal)[0]


def one_block_of_queries(**steps):
    """Exercise 6.2: all queries are one block."""
    run = forward(**steps)
    return lambda q, k, v, block_k: run(q, k, v, len(q), block_k)[0]


def all_at_once(**steps):
    """Exercise 6.1: one block of everything, and no count of bytes."""
    run = forward(**steps)
    return lambda q, k, v: (run(q, k, v, len(q), len(k))[0], None)


def another_scale(q, k, v, block_q, block_k, result, causal=False):
    """The output with the scale that explains the wrong one best: a factor near 1 beside 1/√d, found by Newton's method."""

    def with_factor(factor):
        return output(scale=lambda q, k, v: factor * right_scale(q, k, v))(q, k, v, block_q, block_k, causal).astype(float)

    factor, wanted = 1.0, np.asarray(result, float)
    if wanted.shape != (len(q), v.shape[1]) or not np.isfinite(wanted).all():
        return None
    for _ in range(8):
        now, step = with_factor(factor), 1e-2
        slope = (with_factor(factor + step) - now) / step
        factor += float(((wanted - now) * slope).sum() / max(1e-12, (slope**2).sum()))
        if not 0.2 < factor < 5:
            return None
    return with_factor(factor) if abs(factor - 1) > 1e-4 else None


def whole_blocks(k, v, block_k):
    """Keys and values without the last block, where that is a shorter one."""
    return k[: len(k) // block_k * block_k], v[: len(k) // block_k * block_k]


def zeros_behind(k, v, block_k):
    more = -len(k) % block_k
    return np.pad(k, ((0, more), (0, 0))), np.pad(v, ((0, more), (0, 0)))


def first_block_again(k, v, block_k):
    again = np.concatenate([np.arange(min(block_k, len(k)))[: len(k[offs])] for offs in spans(len(k), block_k)])
    return k[again], v[again]


def left_alone(state, alpha, is_last):
    return state


def lost(state, alpha, is_last):
    return 0 * state


def times_alpha(new, alpha):
    return new * alpha


SCALE = {
    "The scores are not scaled: divide them by √d.": {"scale": lambda q, k, v: 1.0},
    "The scores are divided by d: the scale is 1/√d.": {"scale": lambda q, k, v: 1 / q.shape[1]},
    "The scores are multiplied by √d: divide them.": {"scale": lambda q, k, v: q.shape[1] ** 0.5},
    "The scale comes from the width of v: it belongs to the width of q and k, over which the products are summed.":
        {"scale": lambda q, k, v: v.shape[1] ** -0.5},
    "The scale comes from the number of keys: it belongs to the width of q and k, over which the products are summed.":
        {"scale": lambda q, k, v: len(k) ** -0.5},
}  # fmt: skip

LOOP = {
    "The maximum is that of the last block, and falls again: m_new may not be smaller than m_i.":
        {"m_new": lambda m_i, s_ij: s_ij.max(axis=-1)},
    "One maximum serves all rows of a tile, and rows far below it vanish: each row needs a maximum of its own.":
        {"m_new": lambda m_i, s_ij: np.maximum(m_i, s_ij.max())},
    "Neither l_i nor acc is rescaled: what they hold was measured against a smaller maximum.":
        {"old_l": left_alone, "old_acc": left_alone},
    "acc is rescaled, and l_i is not: the old sum was measured against a smaller maximum, too.": {"old_l": left_alone},
    "l_i is rescaled, and acc is not: what it holds was measured against a smaller maximum, too.": {"old_acc": left_alone},
    "Only the last block is left in both l_i and acc: add to what they held.": {"old_l": lost, "old_acc": lost},
    "Only the last block is left in acc: add to what it held.": {"old_acc": lost},
    "Only the last block is left in l_i: add to what it held.": {"old_l": lost},
    "l_i adds the terms of the whole tile: each row has a sum of its own, axis=-1.": {"sums_of": np.sum},
    "alpha multiplies the new terms in l_i too: it belongs to the old sum alone, and is 0 at the first block.": {"new_l": times_alpha},
    "alpha multiplies p @ v_j too: it belongs to the old acc alone, and is 0 at the first block.": {"new_acc": times_alpha},
    "alpha multiplies the new terms too: it belongs to the old sums alone, and is 0 at the first block.":
        {"new_l": times_alpha, "new_acc": times_alpha},
    "That is acc, before it is divided by l_i.": {"end": lambda acc, l_i, count: acc},
    "Every block is divided by its own sum, and then they are added: the weights of a row must add up to 1 over all blocks.":
        {"m_new": lambda m_i, s_ij: np.logaddexp.reduce(s_ij, axis=-1), "old_l": lost, "old_acc": left_alone,
         "end": lambda acc, l_i, count: acc},
    "Every block is divided by its own sum, and then they are averaged: a block with larger scores must weigh more.":
        {"m_new": lambda m_i, s_ij: np.logaddexp.reduce(s_ij, axis=-1), "old_l": lost, "old_acc": left_alone,
         "end": lambda acc, l_i, count: acc / np.float32(count)},
}  # fmt: skip

BLOCKS = {
    "The last keys are left out: those that do not fill a block count as well.": {"keys": whole_blocks},
    "The last block of k is filled up with zeros, and their scores of 0 count: cut the block short, or mask them with -inf.":
        {"keys": zeros_behind},
    "Every step reads the first block of k and v again: offs_n must say which block it is.": {"keys": first_block_again},
    "The scores are rounded to float16: keep them in float32.": {"scores": lambda s_ij: s_ij.astype(np.float16).astype(np.float32)},
    "The last queries have no output: those that do not fill a block count as well.":
        {"queries": lambda n_q, block_q: n_q // block_q * block_q},
}  # fmt: skip

EVERYWHERE = "everywhere"
LATE = "m has seen hidden scores: hide them before the maximum."
CAUSAL = {
    LATE: {"late": EVERYWHERE},
    "Causal is flipped: each query sees the keys from its own on, and should see those up to its own.":
        {"visible": lambda row, col, offs_m, offs_n, i, j: row <= col},
    "Causal is flipped, and the query's own key is left out: it should see those up to its own.":
        {"visible": lambda row, col, offs_m, offs_n, i, j: row < col},
    "Causal is off by one: a query's own key is hidden, and should be visible.":
        {"visible": lambda row, col, offs_m, offs_n, i, j: row > col},
    "Causal is off by one: the key after a query's own is visible, and should be hidden.":
        {"visible": lambda row, col, offs_m, offs_n, i, j: row + 1 >= col},
    "Nothing is hidden: with causal=True, a query sees the keys up to its own.":
        {"visible": lambda row, col, offs_m, offs_n, i, j: (row >= 0) & (col >= 0)},
    "The mask compares places within a tile: which query and which key of the whole sequence are they?":
        {"visible": lambda row, col, offs_m, offs_n, i, j: row - offs_m.start >= col - offs_n.start},
    "A hidden score is 0, and exp(0) is 1: give it -inf.": {"hidden": 0.0},
    "Every block of keys that reaches above the diagonal is left out whole: part of it is visible.":
        {"visible": lambda row, col, offs_m, offs_n, i, j: (row >= col) & (offs_n.stop - 1 <= offs_m.start)},
    "Whole blocks are hidden or visible: on the diagonal, the mask differs from row to row.":
        {"visible": lambda row, col, offs_m, offs_n, i, j: (row >= 0) & (col >= 0) & (offs_n.start < offs_m.stop)},
    "The keys end where the block of queries begins: its own keys are missing.":
        {"visible": lambda row, col, offs_m, offs_n, i, j: (row >= col) & (col < max(1, offs_m.start))},
    "The last visible key of each block is missing: the last query of the block sees key offs_m.stop - 1, its own.":
        {"visible": lambda row, col, offs_m, offs_n, i, j: (row >= col) & (col < offs_m.stop - 1)},
    "The last visible keys are missing, all but those of the first query: the last query of the block sees key offs_m.stop - 1.":
        {"visible": lambda row, col, offs_m, offs_n, i, j: (row >= col) & (col <= offs_m.start)},
    "The last visible keys are missing, all but as many as the block has rows: its last query sees key offs_m.stop - 1.":
        {"visible": lambda row, col, offs_m, offs_n, i, j: (row >= col) & (col < offs_m.stop - offs_m.start)},
    "Rows and columns have changed places in the mask: queries stand as a column, [:, None], and keys as a row, [None, :].":
        {"visible": lambda row, col, offs_m, offs_n, i, j: col - offs_n.start + offs_m.start >= row - offs_m.start + offs_n.start},
    "Queries and keys have changed places in the mask: queries stand as a column, [:, None], and keys as a row, [None, :].":
        {"visible": lambda row, col, offs_m, offs_n, i, j: row - offs_m.start + offs_n.start >= col - offs_n.start + offs_m.start},
    "There are as many blocks of keys as blocks of queries so far, and they differ in size: where do the queries end?":
        {"visible": lambda row, col, offs_m, offs_n, i, j: (row >= col) & (j <= i)},
    "The mask is missing on some tiles that cross the diagonal: what if block_q and block_k differ?":
        {"visible": lambda row, col, offs_m, offs_n, i, j: (row >= col) | (offs_n.start < offs_m.start)},
}  # fmt: skip


def causal_pass(steps):
    """(o, m, l) with wrong steps of a causal pass, guarded or not as the result has it; nothing for a pass that is not causal."""
    unguarded, guarded = forward(**steps), forward(**steps, guarded=True)

    def given(q, k, v, block_q, block_k, result, causal=False):
        if not causal:
            return None, None, None
        plain = unguarded(q, k, v, block_q, block_k, True)
        lost = [int(np.isnan(o).sum()) for o in (np.asarray(result, float), plain[0])]
        return plain if lost[0] == lost[1] else guarded(q, k, v, block_q, block_k, True)

    return given


def unasked(q, k, v, block_q, block_k, causal=False):
    """Exercise 6.3: causal without being told."""
    return None if causal else forward()(q, k, v, block_q, block_k, causal=True)


def rows_for_keys(q, k, v, block_q, block_k, causal=False):
    """Exercise 6.3: k[offs_m] and v[offs_m], where that gives tiles that fit together."""
    if causal or len(q) > len(k):
        return None
    return forward(keys_of=lambda offs_m, offs_n: offs_m)(q, k, v, block_q, block_k)


def without_result(run):
    return lambda q, k, v, block_q, block_k, result, causal: run(q, k, v, block_q, block_k, causal)


def always(run):
    """Exercise 6.4: a pass that is causal without being told."""
    return lambda q, k, v, block_q, block_k, result: run(q, k, v, block_q, block_k, result, causal=True)


def logarithm_of_l(*inputs):
    _, m, sums = forward()(*inputs)
    return None, None, m + np.log(sums)


def heads(head_of_k, head_of_v=None):
    """Exercise 6.5 with another head of k and of v for head h of q."""
    one_head = output()

    def given(q, k, v, block_q, block_k, causal=False):
        pairs = [(head_of_k(h, len(q), len(k)), (head_of_v or head_of_k)(h, len(q), len(k))) for h in range(len(q))]
        if any(not 0 <= head < len(k) for pair in pairs for head in pair):
            return None
        return np.stack([one_head(q[h], k[a], v[b], block_q, block_k, causal) for h, (a, b) in enumerate(pairs)])

    return given


def backward(
    lse=lambda m, l_i: m + np.log(l_i),
    p=lambda s, lse, m: np.exp(s - lse),
    delta=lambda p, dp, do, o: (do * o).sum(axis=-1, keepdims=True),
    dv=lambda p, ds, do: p.T @ do,
    ds=lambda p, dp, delta: p * (dp - delta),
    dq=lambda ds, k, scale: scale * ds @ k,
    dk=lambda ds, q, scale: scale * ds.T @ q,
    last_only="",
):
    """Exercise 6.6 with other steps: (lse, dq, dk, dv). last_only: a gradient that keeps the last block's part alone."""

    def given(q, k, v, o, m, l_i, do, block_q, block_k, causal=False):
        scale, saved = q.shape[1] ** -0.5, lse(m, l_i)
        dq_, dk_, dv_ = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
        for offs_n in spans(len(k), block_k):
            for offs_m in spans(len(q), block_q):
                q_i, k_j, do_i = q[offs_m], k[offs_n], do[offs_m]
                s = scale * q_i @ k_j.T
                if causal:
                    s = np.where(np.arange(len(q))[offs_m, None] >= np.arange(len(k))[None, offs_n], s, -np.inf)
                p_, dp = p(s, saved[offs_m, None], m[offs_m, None]), do_i @ v[offs_n].T
                ds_ = ds(p_, dp, delta(p_, dp, do_i, o[offs_m]))
                for name, gradient, offs, part in (
                    ("dq", dq_, offs_m, dq(ds_, k_j, scale)),
                    ("dk", dk_, offs_n, dk(ds_, q_i, scale)),
                    ("dv", dv_, offs_n, dv(p_, ds_, do_i)),
                ):
                    gradient[offs] = part if name == last_only else gradient[offs] + part
        return saved, dq_, dk_, dv_

    return given


def ledger(standard=None, flash=None, fast=None):
    """Exercise 6.7 with another account of one of the three."""

    def given(n, d, block_q, block_k):
        down, across = -(-n // block_q), -(-n // block_k)
        return tuple(None if one is None else one(n, d, block_q, block_k, down, across) for one in (standard, flash, fast))

    return given


MISTAKES = {
    "6.1": {
        **{sentence: all_at_once(**steps) for sentence, steps in SCALE.items()},
        "The weights of a row do not add up to 1: divide each row by its own sum.": all_at_once(**LOOP["That is acc, before it is divided by l_i."]),
        "The weights are divided by the sum of the whole matrix: each row has a sum of its own.": lambda q, k, v: (
            (e := np.exp((s := q @ k.T * q.shape[1] ** -0.5) - s.max(axis=-1, keepdims=True))) / e.sum() @ v, None,
        ),
        "The weights of a column add up to 1: it should be those of a row, axis=-1.": lambda q, k, v: (
            (e := np.exp((s := q @ k.T * q.shape[1] ** -0.5) - s.max(axis=-1, keepdims=True))) / e.sum(axis=0) @ v, None,
        ),
        "That is one matrix: the scores and the weights are two.": lambda q, k, v: (None, 4 * len(q) * len(k)),
        "Those are numbers: each takes 4 B.": lambda q, k, v: (None, 2 * len(q) * len(k)),
        "The matrices have a row for each query, and a column for each key.": lambda q, k, v: (None, 8 * len(q) * q.shape[1]),
        "The inputs are there anyway: count s and p alone.": lambda q, k, v: (None, 8 * len(q) * len(k) + 4 * (q.size + k.size + v.size)),
    },
    "6.2": {sentence: one_block_of_queries(**steps) for sentence, steps in (LOOP | BLOCKS | SCALE).items()},
    "6.3": {
        "Hidden although causal=False: put the mask behind `if causal:`.": unasked,
        "Each block of queries meets the keys of its own places, k[offs_m]: the inner loop goes over offs_n.": rows_for_keys,
        **{sentence: causal_pass(steps) for sentence, steps in CAUSAL.items()},
        **{sentence: output(**steps) for sentence, steps in (LOOP | BLOCKS | SCALE).items()},
        "The outputs fit another scale than 1/√d: what exactly are the scores divided by?": another_scale,
    },
    "6.4": {
        **{sentence: always(causal_pass(steps)) for sentence, steps in (CAUSAL | {LATE: {"late": True}}).items()},
        **{sentence: always(without_result(forward(**steps))) for sentence, steps in (LOOP | BLOCKS | SCALE).items()},
        "That is the log-sum-exp: l is the sum itself, measured against m.": always(without_result(logarithm_of_l)),
    },
    "6.5": {
        "Neighbouring heads of q share a head of k and v, but yours take turns.": heads(lambda h, heads, kv: h % kv),
        "Each head of k and v serves heads // kv_heads heads of q: that is what h must be divided by, and not kv_heads.":
            heads(lambda h, heads, kv: min(h // kv, kv - 1)),
        "All heads of q use the first head of k and v.": heads(lambda h, heads, kv: 0),
        "The heads of k and v are shared in reverse order.": heads(lambda h, heads, kv: kv - 1 - h // (heads // kv)),
        "k comes from the right head, and v does not: both have kv_heads heads.":
            heads(lambda h, heads, kv: h // (heads // kv), lambda h, heads, kv: h % kv),
        "v comes from the right head, and k does not: both have kv_heads heads.":
            heads(lambda h, heads, kv: h % kv, lambda h, heads, kv: h // (heads // kv)),
        "With causal=True, every head is causal: pass it on.":
            lambda q, k, v, block_q, block_k, causal=False: heads(lambda h, heads, kv: h // (heads // kv))(q, k, v, block_q, block_k)
            if causal else None,
    },
    "6.6": {
        "The logarithm of a product is a sum of logarithms: the largest score is one already.": backward(lse=lambda m, l_i: np.log(m) + np.log(l_i)),
        "That is m + l: the sum of exponentials enters as its logarithm.": backward(lse=lambda m, l_i: m + l_i),
        "That is log l: the maximum that was subtracted is missing.": backward(lse=lambda m, l_i: np.log(l_i)),
        "That is the logarithm in base 2.": backward(lse=lambda m, l_i: m + np.log2(l_i)),
        "That is m · log l: the logarithm of a product is a sum.": backward(lse=lambda m, l_i: m * np.log(l_i)),
        "dq lacks the scale: the scores are q k / √d.": backward(dq=lambda ds, k, scale: ds @ k),
        "dk lacks the scale: the scores are q k / √d.": backward(dk=lambda ds, q, scale: ds.T @ q),
        "dq has the scale twice.": backward(dq=lambda ds, k, scale: scale**2 * ds @ k),
        "dk has the scale twice.": backward(dk=lambda ds, q, scale: scale**2 * ds.T @ q),
        "Each dq_i keeps only its last block of keys: add up over the blocks.": backward(last_only="dq"),
        "Each dk_j keeps only its last block of queries: add up over the blocks.": backward(last_only="dk"),
        "Each dv_j keeps only its last block of queries: add up over the blocks.": backward(last_only="dv"),
        "Those are terms, not weights: measured against m, the terms of a row add up to l, and not to 1.":
            backward(p=lambda s, lse, m: np.exp(s - m)),
        "delta is missing in ds: a row's weights add up to 1, so what one gains the others lose.":
            backward(delta=lambda p, dp, do, o: 0.0),
        "delta is summed over one block only: it belongs to the whole row.":
            backward(delta=lambda p, dp, do, o: (p * dp).sum(axis=-1, keepdims=True)),
        "delta is added in ds: it is to be subtracted.": backward(delta=lambda p, dp, do, o: -(do * o).sum(axis=-1, keepdims=True)),
        "ds lacks the factor p: a score with a small weight changes little.": backward(ds=lambda p, dp, delta: dp - delta),
        "The minus sits outside: p multiplies dp and delta alike.": backward(ds=lambda p, dp, delta: p * dp - delta),
        "p is multiplied twice: once is enough.": backward(ds=lambda p, dp, delta: p * p * (dp - delta)),
        "ds takes the derivative of a sigmoid, p (1 - p): in a softmax, every score changes every weight of its row.":
            backward(ds=lambda p, dp, delta: p * (1 - p) * dp),
        "dv comes from the weights, not from ds.": backward(dv=lambda p, ds, do: ds.T @ do),
        "dq has the opposite sign.": backward(dq=lambda ds, k, scale: -scale * ds @ k),
        "dv lacks the weights: each query hands v_j its do in proportion to p.":
            backward(dv=lambda p, ds, do: np.ones_like(p).T @ do),
    },
    "6.7": {
        "Only k and v are read again for each block of queries: q is read, and o written, once.":
            ledger(flash=lambda n, d, bq, bk, down, across: 4 * n * d * down),
        "q is read once, for it stays in fast memory: only k and v are read again.":
            ledger(flash=lambda n, d, bq, bk, down, across: n * d + 3 * n * d * down),
        "k_j and v_j have block_k rows, and the tile of scores has block_k columns.":
            ledger(fast=lambda n, d, bq, bk, down, across: 4 * bq * d + bq * bq),
        "k_j and v_j have block_k rows: only q_i and acc have block_q.": ledger(fast=lambda n, d, bq, bk, down, across: 4 * bq * d + bq * bk),
        "q_i and acc have block_q rows: only k_j and v_j have block_k.": ledger(fast=lambda n, d, bq, bk, down, across: 4 * bk * d + bq * bk),
        "p overwrites the scores: that is one tile, block_q · block_k, and not two.":
            ledger(fast=lambda n, d, bq, bk, down, across: 2 * bq * d + 2 * bk * d + 2 * bq * bk),
        "q, k, v and o are read or written as well.": ledger(standard=lambda n, d, bq, bk, down, across: 4 * n * n),
        "s is written and read, and so is p: four times a matrix.": ledger(standard=lambda n, d, bq, bk, down, across: 4 * n * d + 2 * n * n),
        "p is written and read as well as s.": ledger(standard=lambda n, d, bq, bk, down, across: 4 * n * d + 3 * n * n),
        "Those are bytes, and numbers were asked for.": ledger(
            lambda n, d, bq, bk, down, across: 4 * (4 * n * d + 4 * n * n),
            lambda n, d, bq, bk, down, across: 4 * (2 * n * d + 2 * n * d * down),
            lambda n, d, bq, bk, down, across: 4 * (2 * bq * d + 2 * bk * d + bq * bk),
        ),
        "k and v are read once for each block of queries, not once.": ledger(flash=lambda n, d, bq, bk, down, across: 4 * n * d),
        "k and v are read once for each block of queries: count those, not the blocks of keys.":
            ledger(flash=lambda n, d, bq, bk, down, across: 2 * n * d + 2 * n * d * across),
        "k and v are read once for each block of queries, not for each query.": ledger(flash=lambda n, d, bq, bk, down, across: 2 * n * d + 2 * n * d * n),
        "o is written as well.": ledger(flash=lambda n, d, bq, bk, down, across: n * d + 2 * n * d * down),
        "v is read as often as k.": ledger(flash=lambda n, d, bq, bk, down, across: 2 * n * d + n * d * down),
        "q stays in fast memory for the whole inner loop: it is read once.":
            ledger(flash=lambda n, d, bq, bk, down, across: n * d + n * d * across + 2 * n * d * down),
        "The last block may be a shorter one: round the number of blocks up.":
            ledger(flash=lambda n, d, bq, bk, down, across: 2 * n * d + 2 * n * d * (n // bq)),
        "That is the tile of scores alone: q_i, acc, k_j and v_j are in fast memory as well.":
            ledger(fast=lambda n, d, bq, bk, down, across: bq * bk),
        "The tile of scores is in fast memory as well.": ledger(fast=lambda n, d, bq, bk, down, across: 2 * bq * d + 2 * bk * d),
        "acc is in fast memory as well: it is as large as q_i.": ledger(fast=lambda n, d, bq, bk, down, across: bq * d + 2 * bk * d + bq * bk),
        "v_j is in fast memory as well: it is as large as k_j.": ledger(fast=lambda n, d, bq, bk, down, across: 2 * bq * d + bk * d + bq * bk),
    },
}  # fmt: skip
"""For each exercise: a sentence, and the function of the check's inputs whose result it explains."""


NOTHING_IN_L = "l_i is 0: alpha multiplies the new terms too, and it is 0 at the first block; or l_i leaves them out."
WARNED = {
    exercise: {NOTHING_IN_L: lambda values: not np.any(values["l_i"]) and not np.any(values["alpha"])}
    for exercise in ("6.2", "6.3", "6.4")
}

SHAPES = r"ValueError: operands could not be broadcast together with shapes "
COLUMN = "A factor for each row stands as a column: x[:, None]."
IN_THE_LOOP = {
    COLUMN: SHAPES + r"(\(\d+,\d+\) \(\d+,\)|\(\d+,\) \(\d+,\d+\))",
    "np.maximum compares two arrays; max and np.max look for the largest in one.":
        "ValueError: The truth value of an array|TypeError: (only integer|only length-1|'.*' object cannot be interpreted as an integer)",
}  # fmt: skip
TILES = {
    "The tiles of a step belong together: k[offs_n] and v[offs_n], and a mask of [:, None] queries and [None, :] keys.":
        SHAPES + r"\(\d+,\d+\) \(\d+,\d+\)|mismatch in its core dimension",
}  # fmt: skip
RAISED = {
    "6.1": {
        "A sum for each row stands as a column: keepdims=True.": IN_THE_LOOP[COLUMN],
        "A score is the product of two rows: `k` is to be transposed, k.T.": "mismatch in its core dimension",
    },
    "6.2": IN_THE_LOOP,
    "6.3": IN_THE_LOOP | TILES,
    "6.4": IN_THE_LOOP | TILES,
    "6.5": {"Which head do heads 0, 1 and 2 share? Each head of k and v serves heads // kv_heads heads of q.": "IndexError"},
    "6.6": {
        "A number for each row stands as a column, and only for the rows of this block: x[offs_m, None].":
            SHAPES + r"\(\d+,\d+\) (\(\d+,\)|\(\d+,1\))",
        "Which index is summed? In a product, it is the second of the left tile and the first of the right one: transpose where it is not.":
            r"mismatch in its core dimension|non-broadcastable output|" + SHAPES,
    },
}  # fmt: skip
