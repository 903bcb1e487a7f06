"""Wrong answers of lesson 13 about pipelines, tensor cores and the cross-entropy, and what they give for a check's inputs."""

from __future__ import annotations

import re

import numpy as np

# ---- 13.4: a pipeline, read from a compiled kernel k


def numbers(pattern, text):
    return [int(n) for n in re.findall(pattern, text)]


def buffers(k):
    return (numbers(r"local_alloc : \(\) -> !ttg\.memdesc<(\d+)", k.ttgir) or [0])[0]


def waits(k):
    return numbers(r"cp\.async\.wait_group\s+(\d+)", k.ptx) or [0]


def first(rule):
    """A mistake in the first result, where it differs from the right one."""
    return lambda k: (None if rule(k) == buffers(k) else rule(k), None)


def second(rule):
    return lambda k: (None, None if rule(k) == waits(k)[0] else rule(k))


NO_STACK = (
    "No number stands right behind these words in that text. Stacks are reserved in the TTGIR: print "
    '`k.excerpt("ttgir", "local_alloc")`, and copy what its lines share, up to the number.'
)
NO_WAIT = (
    "Either no number stands right behind these words in that text (the copies' waits are in the PTX), "
    "or that is the last wait, behind the loop: take the first one."
)
A_LINE_EACH = (
    "That is one line for each operand. How many tiles a line reserves stands behind its memdesc<: "
    "`first_number` with all words up to the number."
)
NOT_IN_FLIGHT = "How often an instruction stands there is another number: what stands behind cp.async.wait_group?"

COUNTED = "wait_group", "commit_group"

# ---- 13.5: the rule


def chosen(k=lambda itemsize: 32 // itemsize, columns=lambda n, groups, down: n // (groups // down)):
    """K and N by other rules, where the compiler takes mma.sync or wgmma."""

    def given(arch, BLOCK_M, BLOCK_N, num_warps, itemsize):
        if arch < 90 or num_warps < 4 or BLOCK_M < 64:
            return None, None, None, k(itemsize)
        groups = num_warps // 4
        return None, None, columns(BLOCK_N, groups, min(groups, BLOCK_M // 64)), k(itemsize)

    return given


# ---- 13.7a: the plan


def planned(nbytes=None, seconds=None):
    def given(n_rows, n_cols, itemsize, gpu):
        flops, right = 6 * n_rows * n_cols, n_rows * (2 * n_cols * itemsize + 12)
        times = flops / gpu.fp32, right / gpu.bandwidth
        return nbytes and nbytes(n_rows, n_cols, itemsize), None, seconds and seconds(*times, flops / gpu.fp16)

    return given


BESIDE = (
    "Beside logits and gradient, a row has a label of 8 bytes and a loss of 4, each moved once, and no more: "
    "the label's logit is among the logits."
)

# ---- 13.7b: cross-entropy


def cross_entropy(
    gradient=lambda p, hit, total, scale: scale * (p - hit),
    loss=lambda m, total, x: m + np.log(total) - x,
    ignored=(0, 0),
    pad=None,
):
    """dlogits and loss with other formulas; ignored: what rows that do not count are multiplied by; pad: lanes beyond the row."""

    def given(logits, labels, scale):
        rows, n_cols = logits.shape
        counts, hit = labels >= 0, np.arange(n_cols) == labels[:, None]
        m = logits.max(axis=1, keepdims=True)
        if pad is not None:
            m = np.maximum(m, pad)
        p = np.exp(logits - m)
        total = p.sum(axis=1, keepdims=True)
        if pad is not None:
            lanes = max(16, 1 << (n_cols - 1).bit_length()) - n_cols
            total = total + lanes * np.exp(pad - m)
        x = np.where(hit, logits, 0).sum(axis=1)
        keep = [np.where(counts, 1, factor) for factor in ignored]
        return keep[0][:, None] * gradient(p / total, hit, total, scale), keep[1] * loss(m[:, 0], total[:, 0], x)

    return given


def one_result(which, mistaken):
    """A mistake in one of the two results."""
    return lambda *given, **options: tuple(r if i == which else None for i, r in enumerate(mistaken(*given, **options)))


def logarithm_of_p(logits, labels, scale, result):
    """The losses, with inf where the softmax at the label is 0 in float32."""
    right = cross_entropy()(logits, labels, scale)[1]
    lost = np.isposinf(result) & (right > 80)
    return None, (np.where(lost, np.inf, right) if lost.any() else None)


def another_factor(logits, labels, scale, result):
    """The gradient of another number times the loss."""
    right = cross_entropy()(logits, labels, scale)[0]
    if np.shape(result) != right.shape or not np.any(right):
        return None, None
    return np.sum(result * right) / np.sum(right * right) * right, None


def one_short_tile(traffic, case):
    """Whether tiles shorter than a row stored too little, and all that they hold."""
    tiles = [value for launch in traffic.launches for value in launch.constants.values() if isinstance(value, int)]
    M, N = case.sizes["M"], case.sizes["N"]
    return max(tiles) < N and sum(traffic.stores.values()) in (M * max(tiles), M * max(tiles) + M)


def in_float16(values):
    return values.astype(np.float16).astype(float)


def near(logits, labels, scale, result):
    """The result, where it is right to three digits or so."""
    rights = cross_entropy()(logits, labels, scale)
    return tuple(
        result if np.shape(result) == right.shape and np.abs(result - right).max() < 2e-3 * np.abs(right).max() else None
        for right in rights
    )


MISTAKES = {
    "13.4": {
        NO_STACK: first(lambda k: 0),
        "A tile has two sides; a stack of tiles has a number before them. Which lines of the TTGIR reserve a stack?": first(
            lambda k: (numbers(r"memdesc<(\d+)", k.ttgir) or [0])[0]
        ),
        A_LINE_EACH: first(lambda k: k.ttgir.count("local_alloc : ()")),
        "With mma.sync there is one buffer fewer than stages, and none without a pipeline. Read it from the TTGIR.": first(
            lambda k: k.num_stages
        ),
        "With wgmma there are as many buffers as stages. Read it from the TTGIR.": first(lambda k: k.num_stages - 1),
        NO_WAIT: second(lambda k: waits(k)[-1]),
        "There is a group for each operand, two in a turn; they are counted one by one.": second(lambda k: waits(k)[0] // 2),
        "wgmma.wait_group counts products that go on; copies wait by cp.async.wait_group.": second(
            lambda k: (numbers(r"wgmma\.wait_group\.sync\.aligned\s+(\d+)", k.ptx) or [0])[0]
        ),
        NOT_IN_FLIGHT: lambda k, result: (
            None,
            result if result in [k.ptx.count(before + word) for before in ("", "cp.async.") for word in COUNTED] else None,
        ),
    },
    "13.5": {
        "A B200 too takes mma.sync for fewer than 64 rows, or fewer than four warps.": lambda arch, m, n, num_warps, itemsize: (
            5 if arch >= 100 and (m < 64 or num_warps < 4) else None, None, None, None,
        ),
        "64 rows and four warps are enough for `wgmma` and `tcgen05`, whatever the columns.": lambda arch, m, n, num_warps, itemsize: (
            2 if arch >= 90 and num_warps >= 4 and m >= 64 else None, None, None, None,
        ),
        "K is not the same for all: read the lines with float32 and with float8.": chosen(k=lambda itemsize: 16),
        "K times the bytes of an element is the same in every line: 32 bytes.": lambda *given, result: (
            None, None, None, result if result in (16 // given[4], 64 // given[4], 8 * given[4], 4 * given[4]) else None,
        ),
        "Warpgroups beyond the rows share its columns: 64 rows for two groups are one row of groups.": chosen(
            columns=lambda n, groups, down: n
        ),
        "Warpgroups take rows first: with 128 rows, two groups lie below each other, and each has all columns.": chosen(
            columns=lambda n, groups, down: n // groups
        ),
        "A group works through more than 64 rows one instruction after the other, and each has all of the group's columns.": (
            lambda arch, m, n, num_warps, itemsize: (
                None, None, m * n // 64 // max(1, num_warps // 4) if m // 64 > num_warps // 4 else None, None,
            )
        ),
        "64 columns are the most in the table, and no limit: a group has all columns that it does not share.": chosen(
            columns=lambda n, groups, down: min(64, n // (groups // down))
        ),
        "Four groups in one row of groups have a quarter of the columns each.": chosen(
            columns=lambda n, groups, down: n // 2 if groups // down > 2 else None
        ),
        "The columns are shared by groups, and a group is four warps.": lambda arch, m, n, num_warps, itemsize: (
            None, None, n // num_warps, None,
        ),
    },
    "13.7a": {
        "Those are the six elements of PyTorch's four steps: one kernel reads a logit once and writes its gradient once.":
            lambda m, n, i, gpu, result: (result if 0 <= result - m * 6 * n * i <= m * (2 * i + 12) else None, None, None),
        "The labels and the losses move too: 8 and 4 bytes for each row.": planned(lambda m, n, i: 2 * m * n * i),
        "The gradient is written too: as many bytes as the logits.": planned(lambda m, n, i: m * (n * i + 12)),
        "These are elements: a logit has itemsize bytes.": planned(lambda m, n, i: m * (2 * n + 12)),
        "There is a label and a loss for each row, n_rows of them.": planned(lambda m, n, i: 2 * m * n * i + 12),
        BESIDE: lambda m, n, i, gpu, result: (
            result if result in [m * (2 * n * i + more) for more in (4, 8, 16, 24, i, 2 * i, 4 + i, 8 + i, 12 + i, 12 + 2 * i)] else None, None, None,
        ),
        "On a slow chip the arithmetic can take longer than the memory: take the longer of the two.": planned(
            seconds=lambda a, b, c: b
        ),
        "Exponentials do not run on tensor cores: the peak is gpu.fp32.": planned(seconds=lambda a, b, c: max(b, c)),
        "Both go on at once, and the one that is finished last decides.": planned(seconds=lambda a, b, c: min(a, b)),
        "Arithmetic and memory go on at once: the longer of the two counts, not both.": planned(seconds=lambda a, b, c: a + b),
    },
    "13.7b": {
        "Lanes beyond the row count in the sum: load -inf there, whose exponential is 0.": cross_entropy(pad=0.0),
        "A row with label -100 does not count: its gradient and its loss are 0.": cross_entropy(ignored=(1, 1)),
        "In a row with label -100 the gradient is 0 too.": cross_entropy(ignored=(1, 0)),
        "In a row with label -100 the loss is 0 too.": one_result(1, cross_entropy(ignored=(0, 1))),
        "The gradient is that of scale * loss: scale is missing.": one_result(0, cross_entropy(lambda p, hit, total, scale: p - hit)),
        "That is the softmax alone: at the label, 1 goes off.": one_result(0, cross_entropy(lambda p, hit, total, scale: scale * p)),
        "The scale belongs to the softmax as well as to the 1 at the label.": one_result(
            0, cross_entropy(lambda p, hit, total, scale: scale * p - hit)
        ),
        "The sign is the other one: p minus 1 at the label.": one_result(
            0, cross_entropy(lambda p, hit, total, scale: scale * (hit - p))
        ),
        "The exponentials must be divided by their sum.": one_result(
            0, cross_entropy(lambda p, hit, total, scale: scale * (p * total - hit))
        ),
        "log2 is the logarithm of base 2; the loss has the natural one.": one_result(
            1, cross_entropy(loss=lambda m, total, x: m + np.log2(total) - x)
        ),
        "The exponentials were taken of x - m, so m + log(l) is the logarithm of the sum.": one_result(
            1, cross_entropy(loss=lambda m, total, x: np.log(total) - x)
        ),
        "The loss is 0 where the label is -100, and log-sum-exp minus the logit of the label elsewhere: is that logit missing?": one_result(
            1, cross_entropy(loss=lambda m, total, x: m + np.log(total))
        ),
        "The scale belongs to the gradient alone; the loss has none.": lambda logits, labels, scale: (
            None, scale * cross_entropy()(logits, labels, scale)[1],
        ),
        "That is right but for a factor, the same in all: it is that of scale * loss, with the scale that the launcher is given.":
            another_factor,
        "p at the label fell to 0, and has no logarithm: take m + log(l) - x, with the logit x of the label.": logarithm_of_p,
        "What is small has few digits in float16, or none, and the scale brings none back: multiply in float32, and let the store round.":
            one_result(0, cross_entropy(lambda p, hit, total, scale: scale * in_float16(p - hit))),
        "That is as near as float16 comes: `.to(tl.float32)` after the load, and float32 until the store.": near,
    },
}  # fmt: skip

RAISED = {
    "13.5": {
        "A tile that gets mma.sync came through to the warpgroups: it has fewer than 64 rows, or fewer than four warps.": (
            "ZeroDivisionError"
        ),
    },
}

LAUNCHED = {
    "13.7b": {
        "The tile has fewer places than the row has columns, and one tile takes a row: `triton.next_power_of_2(n_cols)`.":
            one_short_tile,
    }
}  # fmt: skip

FAULTED = {
    "13.7b": {
        "No index picks a number out of a tile: load that logit once more, by its address.": lambda fault, case: (
            "not iterable" in fault.message
        ),
    }
}
