"""Mistakes in lesson 08, the neighbours of softmax (exercises 8.4 to 8.6): see `tiles.mistakes`."""

import re

import numpy as np

EPS = 1e-6


def sources(traffic):
    """The text of all kernels that were launched."""
    return "\n".join({launch.request[0].src for launch in traffic.launches if launch.request})


def along(x, power=1):
    """Mean of a power of each row, as a column."""
    return np.mean(x**power, axis=-1, keepdims=True)


def tile(x):
    """How many lanes the tile of a row has, and how many of them hold no element."""
    n_cols = x.shape[-1]
    lanes = 1 << (n_cols - 1).bit_length()
    return lanes, lanes - n_cols


# ---- 8.4: RMSNorm


def rms(x, eps=EPS):
    """One over the root mean square of each row, as a column."""
    return 1 / np.sqrt(along(x, 2) + eps)


def squares_in_float16(x, w):
    """RMSNorm where the squares of some rows overflow to inf; None where none do."""
    overflows = along(x, 2) * x.shape[-1] > np.finfo(np.float16).max
    return np.where(overflows, 0.0, x * rms(x) * w) if overflows.any() else None


def rmsnorm_gradients(rstd=rms, g=lambda dy, w: dy * w, dx=None, dw=None):
    """(dx, dw) of RMSNorm with other steps; None for a gradient that the mistake does not touch."""

    def given(x, w, dy):
        scale, each = rstd(x), g(dy, w)
        x_hat = x * scale
        return dx and dx(x, x_hat, each, scale), dw and dw(x, x_hat, each, dy)

    return given


def right_rms_dx(x, x_hat, g, rstd):
    return rstd * (g - x_hat * along(g * x_hat))


# ---- 8.5: LayerNorm


def variance(x):
    return along(x - along(x), 2)


def layernorm(mean=along, var=variance, end=lambda x_hat, w, b: x_hat * w + b):
    """LayerNorm with other steps."""
    return lambda x, w, b: end((x - mean(x)) / np.sqrt(var(x) + EPS), w, b)


def lost_digits(x, w, b, result):
    """The result where each row is off by a factor of its own, or nan, and lies far from 0: its variance is wrong."""
    centred, far = x - along(x), np.abs(along(x)) > 30 * np.sqrt(variance(x))
    terms, shifted = centred * w, np.asarray(result, float) - b
    if not far.all():
        return None
    factor = np.sum(shifted * terms, axis=-1, keepdims=True) / np.sum(terms * terms, axis=-1, keepdims=True)
    return np.where(np.isnan(factor), np.nan, factor * terms) + b


def layernorm_gradients(var=variance, g=lambda dy, w: dy * w, dx=None, dw=None, db=None):
    """(dx, dw, db) of LayerNorm with other steps; None for a gradient that the mistake does not touch."""

    def given(x, w, dy):
        rstd, each = 1 / np.sqrt(var(x) + EPS), g(dy, w)
        x_hat = (x - along(x)) * rstd
        return dx and dx(x_hat, each, rstd), dw and dw(x, x_hat, each, dy), db and db(x_hat, each)

    return given


def right_dx(x_hat, g, rstd):
    return rstd * (g - along(g) - x_hat * along(g * x_hat))


def mean_of_dy(x, w, dy):
    """dx of LayerNorm where the mean of dy is taken away, not that of g."""
    x_hat, rstd = (x - along(x)) / np.sqrt(variance(x) + EPS), 1 / np.sqrt(variance(x) + EPS)
    return right_dx(x_hat, dy * w, rstd) + rstd * (along(dy * w) - along(dy)), None, None


def of_last_rows(terms, programs=4):
    """The sum over rows where each program keeps its last row alone; None where no program has two."""
    G = min(len(terms), programs)
    return sum(terms[pid::G][-1] for pid in range(G)) if len(terms) > G else None


def last_rows(x, w, dy):
    x_hat = (x - along(x)) / np.sqrt(variance(x) + EPS)
    return None, of_last_rows(dy * x_hat), of_last_rows(dy)


def with_the_other_lanes(x):
    """The variance where lanes without an element hold -mean and count."""
    return (np.sum((x - along(x)) ** 2, axis=-1, keepdims=True) + tile(x)[1] * along(x) ** 2) / x.shape[-1]


def over_the_tile(x):
    """One over the root mean square where the mean is taken over all lanes."""
    return 1 / np.sqrt(along(x, 2) * x.shape[-1] / tile(x)[0] + EPS)


# ---- 8.6: SwiGLU


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def swiglu_gradients(da=None, db=None):
    """(da, db) of SwiGLU, one of them by a wrong formula and the other one None."""
    return lambda a, b, dout: (da and da(a, b, dout, sigmoid(a)), db and db(a, b, dout, sigmoid(a)))


LAST_ROW = "Each program keeps its last row alone: add every row to the sum, with `+=`."
LANES = "The mean is over the n_cols elements of the row, not over the lanes of the tile."
RSQRT = "Divide by the root, or multiply by `tl.rsqrt`: yours multiplies by the root."

MISTAKES = {
    "8.4a": {
        "Squares of numbers from 256 on do not fit into float16: put `.to(tl.float32)` behind the load.": squares_in_float16,
        LANES: lambda x, w: x * over_the_tile(x) * w,
        RSQRT: lambda x, w: x / rms(x) * w,
        "The weights are missing: column n is multiplied by w[n].": lambda x, w: x * rms(x),
        "eps is missing: it keeps rows of zeros, and rows of very small numbers, from a division by (nearly) 0.":
            lambda x, w: x * rms(x, 0.0) * w,
        "That is the square of the sum: the sum of the squares is `tl.sum(x * x)`.":
            lambda x, w: x / np.sqrt(along(x) ** 2 * x.shape[-1] + EPS) * w,
        "eps is added to the mean of the squares, under the root, not to the root.":
            lambda x, w: x / (np.sqrt(along(x, 2)) + EPS) * w,
        "Yours is divided by the mean of the squares: the root is missing.": lambda x, w: x * rms(x) ** 2 * w,
        "Yours is divided by the root of the sum of the squares: it should be their mean.":
            lambda x, w: x / np.sqrt(along(x, 2) * x.shape[-1] + EPS) * w,
        "RMSNorm subtracts no mean: that is LayerNorm.": lambda x, w: (x - along(x)) / np.sqrt(variance(x) + EPS) * w,
    },
    "8.4b": {
        "g is dy * w: the weights are missing in it.": rmsnorm_gradients(g=lambda dy, w: dy, dx=right_rms_dx),
        LAST_ROW: lambda x, w, dy: (None, of_last_rows(dy * x * rms(x))),
        "dw takes the normalised row: `dy * x_hat`, not `dy * x`.": rmsnorm_gradients(dw=lambda x, x_hat, g, dy: (dy * x).sum(0)),
        "dw takes dy itself: w acts on x_hat, and how large it is does not matter for its own gradient.":
            rmsnorm_gradients(dw=lambda x, x_hat, g, dy: (g * x_hat).sum(0)),
        "dw adds up dy alone: that would be the gradient of a bias.": rmsnorm_gradients(dw=lambda x, x_hat, g, dy: dy.sum(0)),
        "x acts through rstd as well: take away `x_hat * mean(g * x_hat)`.":
            rmsnorm_gradients(dx=lambda x, x_hat, g, rstd: rstd * g),
        "The sum of g * x_hat must be divided by n_cols: it is a mean.":
            rmsnorm_gradients(dx=lambda x, x_hat, g, rstd: rstd * (g - x_hat * along(g * x_hat) * x.shape[-1])),
        "The mean of g * x_hat is over the n_cols elements of the row, not over the lanes of the tile.":
            rmsnorm_gradients(dx=lambda x, x_hat, g, rstd: rstd * (g - x_hat * along(g * x_hat) * x.shape[-1] / tile(x)[0])),
        "The mean belongs to g * x_hat: yours is the mean of g.":
            rmsnorm_gradients(dx=lambda x, x_hat, g, rstd: rstd * (g - x_hat * along(g))),
        "rstd is missing: the whole bracket is multiplied by it.":
            rmsnorm_gradients(dx=lambda x, x_hat, g, rstd: g - x_hat * along(g * x_hat)),
        "A factor rstd is missing: x_hat stands in both places, and the whole bracket is multiplied by rstd.":
            rmsnorm_gradients(dx=lambda x, x_hat, g, rstd: rstd * g - x_hat * along(g * x_hat)),
        "The sign is wrong: `x_hat * mean(g * x_hat)` is taken away.":
            rmsnorm_gradients(dx=lambda x, x_hat, g, rstd: rstd * (g + x_hat * along(g * x_hat))),
    },
    "8.5a": {
        "The variance of a row that lies far from 0 has lost its digits: subtract the mean first, then square.": lost_digits,
        "Lanes without an element hold 0 - mean after the subtraction, and count: `tl.where(mask, ..., 0.0)`.":
            layernorm(var=with_the_other_lanes),
        LANES: layernorm(
            mean=lambda x: along(x) * x.shape[-1] / tile(x)[0],
            var=lambda x: np.sum((x - along(x) * x.shape[-1] / tile(x)[0]) ** 2, axis=-1, keepdims=True) / x.shape[-1],
        ),
        "The variance is over the n_cols elements of the row, not over the lanes of the tile.":
            layernorm(var=lambda x: variance(x) * x.shape[-1] / tile(x)[0]),
        "The variance is the mean of the squares: divide by n_cols, not by n_cols - 1.":
            layernorm(var=lambda x: variance(x) * x.shape[-1] / (x.shape[-1] - 1)),
        "The mean is subtracted for the variance, but not from the x that is normalised.":
            lambda x, w, b: x / np.sqrt(variance(x) + EPS) * w + b,
        "The mean is not subtracted: that is RMSNorm with a bias.": lambda x, w, b: x * rms(x) * w + b,
        "That is the mean of x²: the variance is the mean of the squares of `x - mean`.": layernorm(var=lambda x: along(x, 2)),
        "Only the bias is left: tl.where takes `x - mean` where the mask is true, and 0.0 elsewhere.": lambda x, w, b: 0 * x + b,
        "eps is missing: it keeps rows of equal numbers, and of nearly equal ones, from a division by (nearly) 0.":
            lambda x, w, b: (x - along(x)) / np.sqrt(variance(x)) * w + b,
        "eps is added to the variance, under the root, not to the root.":
            lambda x, w, b: (x - along(x)) / (np.sqrt(variance(x)) + EPS) * w + b,
        "The bias is missing: `+ b` at the end.": layernorm(end=lambda x_hat, w, b: x_hat * w),
        "The weights are missing.": layernorm(end=lambda x_hat, w, b: x_hat + b),
        "The bias comes last: it is not multiplied by w.": layernorm(end=lambda x_hat, w, b: (x_hat + b) * w),
        RSQRT: lambda x, w, b: (x - along(x)) * np.sqrt(variance(x) + EPS) * w + b,
        "Yours is divided by the variance: the root is missing.": lambda x, w, b: (x - along(x)) / (variance(x) + EPS) * w + b,
    },
    "8.5b": {
        "Lanes without an element hold 0 - mean after the subtraction, and count in the variance: `tl.where(mask, ..., 0.0)`.":
            layernorm_gradients(
                with_the_other_lanes, dx=right_dx, dw=lambda x, x_hat, g, dy: (dy * x_hat).sum(0)
            ),
        "eps is missing in rstd: it is that of exercise 8.5a.": layernorm_gradients(
            lambda x: variance(x) - EPS, dx=right_dx, dw=lambda x, x_hat, g, dy: (dy * x_hat).sum(0)
        ),
        "rstd is missing: the whole bracket is multiplied by it.":
            layernorm_gradients(dx=lambda x_hat, g, rstd: right_dx(x_hat, g, 1.0)),
        "The sum of g must be divided by n_cols: it is a mean.":
            layernorm_gradients(dx=lambda x_hat, g, rstd: right_dx(x_hat, g, rstd) - rstd * along(g) * (g.shape[-1] - 1)),
        "The sum of g * x_hat must be divided by n_cols: it is a mean.": layernorm_gradients(
            dx=lambda x_hat, g, rstd: right_dx(x_hat, g, rstd) - rstd * x_hat * along(g * x_hat) * (g.shape[-1] - 1)
        ),
        "The first mean is that of g, which is dy * w: yours is the mean of dy.": mean_of_dy,
        "Both means are taken away from g: the sign of mean(g) is wrong.":
            layernorm_gradients(dx=lambda x_hat, g, rstd: rstd * (g + along(g) - x_hat * along(g * x_hat))),
        "Both means are taken away from g: the sign of `x_hat * mean(g * x_hat)` is wrong.":
            layernorm_gradients(dx=lambda x_hat, g, rstd: rstd * (g - along(g) + x_hat * along(g * x_hat))),
        LAST_ROW: last_rows,
        "That is the gradient of RMSNorm: take away `mean(g)` too.":
            layernorm_gradients(dx=lambda x_hat, g, rstd: rstd * (g - x_hat * along(g * x_hat))),
        "x acts through rstd as well: take away `x_hat * mean(g * x_hat)`.":
            layernorm_gradients(dx=lambda x_hat, g, rstd: rstd * (g - along(g))),
        "The whole bracket is multiplied by rstd.":
            layernorm_gradients(dx=lambda x_hat, g, rstd: rstd * g - along(g) - x_hat * along(g * x_hat)),
        "The two sums must be divided by n_cols: they are means.": layernorm_gradients(
            dx=lambda x_hat, g, rstd: rstd * (g - g.shape[-1] * (along(g) + x_hat * along(g * x_hat)))
        ),
        "g is dy * w: the weights are missing in it.": layernorm_gradients(g=lambda dy, w: dy, dx=right_dx),
        "dw takes dy itself: w acts on x_hat, and how large it is does not matter for its own gradient.":
            layernorm_gradients(dw=lambda x, x_hat, g, dy: (g * x_hat).sum(0)),
        "dw takes the normalised row: `dy * x_hat`, not `dy * x`.":
            layernorm_gradients(dw=lambda x, x_hat, g, dy: (dy * x).sum(0)),
        "db takes dy itself: the bias is added after the weights.": layernorm_gradients(db=lambda x_hat, g: g.sum(0)),
    },
    "8.6a": {
        "That is silu(b) * a: the other input is the gate.": lambda a, b: a * b * sigmoid(b),
        "silu(a) is a * sigmoid(a): a itself is missing.": lambda a, b: sigmoid(a) * b,
        "b is missing: that is silu(a).": lambda a, b: a * sigmoid(a),
        "The gate sees a alone: yours is silu of the product.": lambda a, b: a * b * sigmoid(a * b),
        "The sign in the exponential is wrong: sigmoid(a) is 1 / (1 + exp(-a)).": lambda a, b: a * b * sigmoid(-a),
    },
    "8.6b": {
        "silu(a) is a product: the slope of sigmoid is one part, `s * (1 - s) * a`, and s itself the other.":
            swiglu_gradients(da=lambda a, b, dout, s: dout * b * s * (1 - s)),
        "a is a factor in silu(a): `s * (1 - s)` is multiplied by it, and s is added.":
            swiglu_gradients(da=lambda a, b, dout, s: dout * b * a * s * (1 - s)),
        "The slope of silu(a) is s * (1 + a * (1 - s)): yours has only its first part, s.":
            swiglu_gradients(da=lambda a, b, dout, s: dout * b * s),
        "b is missing in da: out is silu(a) times b.":
            swiglu_gradients(da=lambda a, b, dout, s: dout * s * (1 + a * (1 - s))),
        "The sign is wrong: the slope is s * (1 + a * (1 - s)).":
            swiglu_gradients(da=lambda a, b, dout, s: dout * b * s * (1 - a * (1 - s))),
        "1 - s, not s: the slope is s * (1 + a * (1 - s)).":
            swiglu_gradients(da=lambda a, b, dout, s: dout * b * s * (1 + a * s)),
        "That is db: each gradient is stored where it belongs.": swiglu_gradients(da=lambda a, b, dout, s: dout * a * s),
        "a is missing in db: it is dout * silu(a), and silu(a) is a * s.": swiglu_gradients(db=lambda a, b, dout, s: dout * s),
        "s is missing in db: it is dout * silu(a), and silu(a) is a * s.": swiglu_gradients(db=lambda a, b, dout, s: dout * a),
        "dout is missing in da: the chain rule multiplies by it.":
            swiglu_gradients(da=lambda a, b, dout, s: b * s * (1 + a * (1 - s))),
        "dout is missing in db: the chain rule multiplies by it.": swiglu_gradients(db=lambda a, b, dout, s: a * s),
    },
}  # fmt: skip


def every_row_to_memory(traffic, case):
    """Whether a sum over rows is updated in memory."""
    return any(tally.kind == "atomic" for tally in traffic.tallies)


def growing_exponential(traffic, case):
    """Whether the sigmoid is computed by hand as exp(a) / (1 + exp(a))."""
    return re.search(r"exp\(a\)", sources(traffic)) is not None


TILES = "n_tiles programs share a row: the row is `pid // n_tiles`, the tile in it `pid % n_tiles`."


def without_tiles(source):
    """Whether a kernel of exercise 8.6a works out the row, or the columns, from the whole program number."""
    row, offs = (re.search(rf"^ *{name} = (.*)$", source, re.MULTILINE) for name in ("row", "offs"))
    return "//" not in row[1] or "%" not in offs[1]


def tiles_of_launches(traffic, case):
    return without_tiles(sources(traffic))


def tiles_of_source(fault, case):
    return without_tiles(fault.source)


KEPT = "Each row travels to memory for the sum: keep the sum of a program's rows in registers, and store it once, after the loop."

LAUNCHED = {
    "8.4b": {KEPT: every_row_to_memory},
    "8.5b": {KEPT: every_row_to_memory},
    "8.6a": {
        TILES: tiles_of_launches,
        "exp(a) overflows where a is large, and inf / inf is nan: `tl.sigmoid(a)` takes exp(-a).": growing_exponential,
    },
}


def without_mask(fault, case):
    """Whether an access that goes wrong has no mask."""
    return fault.kind in ("load outside", "store outside", "race") and "mask" not in fault.text


def same_partial(fault, case):
    """Whether programs store their partial sums in one row."""
    return fault.kind == "race" and fault.argument == "partial"


def parts_by_row(fault, case):
    """Whether a program stores its part where its last row is, in partial."""
    return fault.argument == "partial" and "outside" in fault.kind and re.search(r"partial_ptr \+ \(?row\b", fault.text)


def same_rows(fault, case):
    """Whether programs store the same rows of dx."""
    return fault.kind == "race" and fault.argument == "dx"


ROWS = "Several programs take the same rows: program pid starts at row pid and goes on by the number of programs, `tl.num_programs(0)`."
PARTS = "All programs store their part into one row of partial: give row pid to program pid, `partial_ptr + pid * n_cols + offs`."

BY_PROGRAM = "partial has a row for each program, not for each row of x: program pid stores its part in row pid."
NO_MASK = "A tile has more lanes than the row has elements, and this access has no mask."

FAULTED = {
    "8.4a": {NO_MASK: without_mask},
    "8.4b": {NO_MASK: without_mask, BY_PROGRAM: parts_by_row, ROWS: same_rows, PARTS: same_partial},
    "8.5a": {NO_MASK: without_mask},
    "8.6a": {NO_MASK: without_mask, TILES: tiles_of_source},
    "8.6b": {NO_MASK: without_mask},
    "8.5b": {
        NO_MASK: without_mask,
        "Two parts meet in partial: program pid owns row pid for dw, and row G + pid for db.": same_partial,
        ROWS: same_rows,
    },
}
