"""Wrong answers of lesson 13 about pipelines, tensor cores and the cross-entropy, and what they give for a check's inputs."""

from __future__ import annotations

import re

import numpy as np

# ---- 13.4a: a pipeline, read from a compiled kernel k


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


A_LINE_EACH = (
    "That is one line for each operand. How many tiles a line reserves stands behind its memdesc<: "
    "`first_number` with all words up to the number."
)
NOT_IN_FLIGHT = "How often an instruction stands there is another number: what stands behind cp.async.wait_group?"

COUNTED = "wait_group", "commit_group"

# ---- 13.4b: the deepest pipeline


def stages(one_buffer, more=(0, 1)):
    """Exercise 13.4b with another size of a buffer; more: stages beyond the buffers, with wgmma and without."""

    def given(BLOCK_M, BLOCK_N, BLOCK_K, itemsize, wgmma, target, programs):
        room = target.shared_per_sm // programs - target.shared_reserved
        return max(1, room // one_buffer(BLOCK_M, BLOCK_N, BLOCK_K, itemsize) + more[0 if wgmma else 1])

    return given


def of_both(m, n, k, itemsize):
    return (m + n) * k * itemsize


def no_whole_number(*sizes, result):
    return result if result != int(result) else None


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


def near(logits, labels, scale, result):
    """The result, where it is right to three digits or so."""
    rights = cross_entropy()(logits, labels, scale)
    return tuple(
        result if np.shape(result) == right.shape and np.abs(result - right).max() < 2e-3 * np.abs(right).max() else None
        for right in rights
    )


MISTAKES = {
    "13.4a": {
        "A tile has two sides; a stack of tiles has a number before them. Which lines of the TTGIR reserve a stack?": first(
            lambda k: (numbers(r"memdesc<(\d+)", k.ttgir) or [0])[0]
        ),
        A_LINE_EACH: first(lambda k: k.ttgir.count("local_alloc : ()")),
        "With mma.sync there is one buffer fewer than stages, and none without a pipeline. Read it from the TTGIR.": first(
            lambda k: k.num_stages
        ),
        "With wgmma there are as many buffers as stages. Read it from the TTGIR.": first(lambda k: k.num_stages - 1),
        "That is the last wait, behind the loop, where nothing may be left: take the first one.": second(lambda k: waits(k)[-1]),
        "There is a group for each operand, two in a turn; they are counted one by one.": second(lambda k: waits(k)[0] // 2),
        "wgmma.wait_group counts products that go on; copies wait by cp.async.wait_group.": second(
            lambda k: (numbers(r"wgmma\.wait_group\.sync\.aligned\s+(\d+)", k.ptx) or [0])[0]
        ),
        NOT_IN_FLIGHT: lambda k, result: (
            None,
            result if result in [k.ptx.count(before + word) for before in ("", "cp.async.") for word in COUNTED] else None,
        ),
    },
    "13.4b": {
        "Part of a buffer is no buffer: the number must be whole, `//`.": no_whole_number,
        "Without wgmma there is a stage more than buffers: one turn multiplies from registers.": stages(of_both, (0, 0)),
        "With wgmma there are as many stages as buffers, and 1 at least.": stages(of_both, (1, 1)),
        "It is the other way round: wgmma needs a buffer more for as many stages.": stages(of_both, (1, 0)),
        "Here only the tile of a has a buffer. The tile of b lies beside it.": stages(lambda m, n, k, itemsize: m * k * itemsize),
        "Here only the tile of b has a buffer. The tile of a lies beside it.": stages(lambda m, n, k, itemsize: n * k * itemsize),
        "These are elements: an element has itemsize bytes.": stages(lambda m, n, k, itemsize: (m + n) * k),
        "The tile of c stays in registers; buffers hold the tiles of a and of b.": stages(lambda m, n, k, itemsize: m * n * itemsize),
        "That is rounded up: the last buffer does not fit.": lambda *given: stages(of_both, (1, 2))(*given),
        "num_stages is 1 at least, also where no buffer fits: `max(1, ...)`.": lambda *given: 0,
    },
    "13.5": {
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
        "The columns are shared by groups, and a group is four warps.": lambda arch, m, n, num_warps, itemsize: (
            None, None, n // num_warps, None,
        ),
    },
    "13.7a": {
        "Those are the six elements of the four steps: one kernel reads a logit once and writes its gradient once.": planned(
            lambda m, n, i: m * (6 * n * i + 12)
        ),
        "The labels and the losses move too: 8 and 4 bytes for each row.": planned(lambda m, n, i: 2 * m * n * i),
        "The gradient is written too: as many bytes as the logits.": planned(lambda m, n, i: m * (n * i + 12)),
        "These are elements: a logit has itemsize bytes.": planned(lambda m, n, i: m * (2 * n + 12)),
        "There is a label and a loss for each row, n_rows of them.": planned(lambda m, n, i: 2 * m * n * i + 12),
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

FAULTED = {
    "13.7b": {
        "No index picks a number out of a tile: load that logit once more, by its address.": lambda fault, case: (
            "not iterable" in fault.message
        ),
    }
}
