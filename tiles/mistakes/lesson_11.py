"""Wrong answers of lesson 11, what to say to each, and what they give for a check's inputs."""

from __future__ import annotations

import numpy as np


def kept(rule, place):
    """A mistake in how many numbers are kept, result number `place`: rule(result, size of each input) says whether it fits."""
    return lambda *given, result, **options: (*[None] * place, result if rule(result, [np.size(a) for a in given]) else None)


def empty(count):
    """Results in which nothing was stored: memory is filled with nan before a kernel runs."""
    return lambda *given, result, **options: (result if np.size(result) > 1 and np.isnan(result).all() else None,) * count


AS_ATTRIBUTE = "A tensor hangs on ctx as an attribute: it belongs into save_for_backward, which watches its version."
ORDER = "Derivatives are returned in the order of the inputs."
UNUSED = "There is no derivative for an input that needs one: return one for each, in the order of the inputs."
NOTHING_STORED = "Nothing is stored there: it is new memory, in which no kernel has written. Call the launcher before you return."

# ---- 11.1: softmax


def softmax(x):
    p = np.exp(x - x.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def by_formula(y, dy):
    return y * (dy - (y * dy).sum(axis=-1, keepdims=True))


def near(mistaken, result):
    """The result, if the mistake explains it up to roundings of the mistake's own, which may be larger than the right ones."""
    return (
        result if np.shape(result) == mistaken.shape and np.abs(result - mistaken).max() < 1e-4 * np.abs(mistaken).max() else None
    )


def softmax_backward(formula):
    """Exercise 11.1a with another backward pass."""
    return lambda x, dy, result: (None, near(formula(x, softmax(x), dy), result))


def cubes(quotient):
    """Exercise 11.1b with another quotient of f(x) = c x³, element by element."""
    return lambda x, h: (None, None, quotient(np.arange(1, x.size + 1).reshape(x.shape), x, h))


def rows_at_once(c, x, h):
    """All elements of x[i] moved together."""
    of_rows = (c * (3 * x**2 + h**2)).reshape(len(x), -1).sum(axis=1)
    return np.broadcast_to(of_rows.reshape(-1, *[1] * (x.ndim - 1)), x.shape)


# ---- 11.2 and 11.3b: attention


def attention(delta=True, unmasked=False):
    """o and gradients of attention, with mistakes in the backward pass."""

    def given(q, k, v, do, causal):
        scale = q.shape[-1] ** -0.5
        s, hidden = scale * q @ k.swapaxes(-1, -2), ~np.tri(q.shape[2], dtype=bool) & causal
        s_seen = np.where(hidden, -np.inf, s)
        lse = np.logaddexp.reduce(s_seen, axis=-1, keepdims=True)
        right, dp = np.exp(s_seen - lse), do @ v.swapaxes(-1, -2)
        row = delta * (right * dp).sum(axis=-1, keepdims=True)
        p = np.exp((s if unmasked else s_seen) - lse)
        ds = scale * p * (dp - row)
        return right @ v, ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ do

    return given


def exchanged(*order):
    """The results of attention in another order."""
    return lambda *given, **options: tuple(attention()(*given, **options)[place] for place in order)


OTHER_ORDER = {"dq and dk": (0, 2, 1, 3), "dk and dv": (0, 1, 3, 2), "dq and dv": (0, 3, 2, 1)}
EXCHANGED = {
    f"{names} have changed places, or are one tensor. {ORDER}": exchanged(*order) for names, order in OTHER_ORDER.items()
}
STEPS = {
    "delta is missing in ds, or is 0: row_products fills it.": attention(delta=False),
    "The backward kernels are not told that attention is causal: pass ctx.causal.": attention(unmasked=True),
}

# ---- 11.4: reading a kernel


def whole_tiles(M, N, size, X, R, result):
    """The bytes of tiles that lie beyond the last row or the last column too."""
    rows, cols = -(-M // X) * X, -(-N // R) * R
    return (None, None, result if result in [3 * m * n * size for m, n in ((rows, cols), (rows, N), (M, cols))] else None)


# ---- 11.5: a block


def rms(x, w):
    return x * w / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6)


def block(cut="right", join=True, order="qkv", first=True, second=True, add_normalised=False, halves=1, norm2=True, always=None):
    """The loss of exercise 11.5b with other steps; always: how many heads, from dim alone."""

    def given(x, dy, norm1, norm2_, qkv, out, up, down, heads=2):
        batch, n, dim = x.shape
        heads = always(dim) if always else heads
        h = rms(x, norm1) @ qkv.T
        if cut == "heads first":
            parts = h.reshape(batch, n, heads, 3, -1).transpose(3, 0, 2, 1, 4)
        elif cut == "viewed":
            parts = h.reshape(3, batch, heads, n, -1)
        elif cut == "tokens first":
            parts = h.reshape(batch, n, 3, heads, -1).transpose(2, 0, 1, 3, 4)
        else:
            parts = h.reshape(batch, n, 3, heads, -1).transpose(2, 0, 3, 1, 4)
        q, k, v = (parts["qkv".index(letter)] for letter in order)
        s = np.where(np.tri(q.shape[2], dtype=bool), q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5, -np.inf)
        o = softmax(s) @ v
        o = (o.swapaxes(1, 2) if join else o).reshape(batch, n, dim) @ out.T
        x = o + (rms(x, norm1) if add_normalised else x * first)
        a, b = np.split((rms(x, norm2_) if norm2 else x) @ up.T, 2, axis=-1)[::halves]
        y = x * second + (a / (1 + np.exp(-a)) * b) @ down.T
        return ((y * dy).mean(),)

    return given


MISTAKES = {
    "11.1a": {
        NOTHING_STORED: empty(3),
        "backward has stored into y, which is saved and still the caller's: fill a new tensor. A kernel's store changes no version.":
            lambda x, dy: (np.zeros_like(x),) if x.shape[1] > 1 else None,
        "Was x saved in the place of y? The formula for dx is made of y and dy.": softmax_backward(lambda x, y, dy: by_formula(x, dy)),
        "Which of y and dy comes first? softmax_backward(y, dy, dx).": softmax_backward(lambda x, y, dy: by_formula(dy, y)),
        "x is kept as well, and the gradient does not need it.": kept(lambda result, sizes: result == 2 * sizes[0], 3),
        AS_ATTRIBUTE: kept(lambda result, sizes: result == 0, 3),
    },
    "11.1b": {
        "That is the square root of u: h² and u / h are alike where h³ = u.": lambda x, h: (2.0**-12, 2.0**-26.5, None),
        "u is half of eps: eps is the distance from 1 to its neighbour.": lambda x, h: (2.0 ** (-23 / 3), 2.0 ** (-52 / 3), None),
        "1 // 3 is 0 in Python, and u⁰ is 1: write 1 / 3.": lambda x, h: (1.0, 1.0, None),
        "** binds tighter than /: u ** 1 / 3 is a third of u. Write u ** (1 / 3).": lambda x, h: (2.0**-24 / 3, 2.0**-53 / 3, None),
        "x may have any shape: x[i] is a whole row of a matrix. np.ndindex(x.shape) goes over all its places.": cubes(rows_at_once),
        "That is a one-sided difference: from x - h to x + h, the odd errors cancel.": cubes(lambda c, x, h: c * ((x + h) ** 3 - x**3) / h),
        "That is a one-sided difference, downwards.": cubes(lambda c, x, h: c * (x**3 - (x - h) ** 3) / h),
        "It is twice as large as it should be: from x - h to x + h it is 2 h.": cubes(lambda c, x, h: 2 * c * (3 * x**2 + h**2)),
        "It has the opposite sign.": cubes(lambda c, x, h: -c * (3 * x**2 + h**2)),
        "All elements move at once: move one element at a time.": cubes(lambda c, x, h: np.full(x.shape, (c * (3 * x**2 + h**2)).sum())),
        "Elements that were moved stay so: each goes back before the next one moves.":
            cubes(lambda c, x, h: np.cumsum(c * (3 * x**2 + h**2)).reshape(x.shape)),
    },
    "11.2": {
        "delta is new memory, in which no kernel has written: row_products fills it.":
            lambda *given, result, **options: (None, *[result if np.isnan(result).all() else None] * 4),
        **STEPS,
        **EXCHANGED,
        "lse is a tensor: it belongs into save_for_backward too.": kept(lambda result, sizes: result == 4 * sizes[0], 5),
        "o is there in any case, as the result: save it, and nothing is computed twice.":
            lambda q, k, v, do, causal, result: (*[None] * 5, result if result == 3 * q.size + q[..., 0].size else None),
        "More is kept than q, k, v, o and lse. p must not be: it has n² numbers for each head.":
            lambda q, k, v, do, causal, result: (*[None] * 5, result if result > 4 * q.size + q[..., 0].size else None),
        AS_ATTRIBUTE: kept(lambda result, sizes: True, 6),
        "ctx.needs_input_grad says which derivatives are wanted: launch for those alone.":
            lambda *given, result, **options: (*[None] * 7, result, result),
    },
    "11.3a": {
        "Was the input saved in the place of the output? The formula for dx is made of y and dy.":
            lambda x, dy: (None, 2 * by_formula(2 * x, dy)),
        "Which of y and dy comes first? softmax_backward_op(y, dy).": lambda x, dy: (None, 2 * by_formula(dy, softmax(2 * x))),
    },
    "11.3b": {**STEPS, **EXCHANGED},
    "11.4": {
        "The grid is rounded up: the last program may have fewer rows.": lambda M, N, size, X, R: (M // X, None, None),
        "A program has XBLOCK rows, not one.": lambda M, N, size, X, R: (M, None, None),
        "The rows are not cut across programs: count the programs along x alone.": lambda M, N, size, X, R: (-(-M // X) * -(-N // R), None, None),
        "There are two loops, and each goes over the whole row.": lambda M, N, size, X, R: (None, -(-N // R), None),
        "The last turn may have fewer columns: round up.": lambda M, N, size, X, R: (None, 2 * (N // R), None),
        "Those are the turns of all programs: one program was asked for.": lambda M, N, size, X, R: (None, 2 * -(-N // R) * -(-M // X), None),
        "There are two loads, and each reads the whole row; what is stored travels as well.": lambda M, N, size, X, R: (None, None, 2 * M * N * size),
        "Count the lines again: there are two loads and a store.": lambda M, N, size, X, R: (None, None, 4 * M * N * size),
        "Those are numbers, and bytes were asked for.": lambda M, N, size, X, R: (None, None, 3 * M * N),
        "Lanes that the mask switched off move nothing.": whole_tiles,
        "That is what one program moves: all programs together were asked for.": lambda M, N, size, X, R: (None, None, 3 * X * N * size),
    },
    "11.5a": {
        "Nothing is stored there. reshape makes a copy where it cannot make a view, and the kernel filled the copy: make out and dx contiguous.": empty(3),
        AS_ATTRIBUTE: kept(lambda result, sizes: result == 0, 3),
        "out was saved in the place of x: the backward kernel wants the input.": lambda x, w, dy: (None, backward_of_out(x, w, dy), None),
        "More is kept than x and w, and the gradient does not need it.": kept(lambda result, sizes: result > sizes[0] + sizes[1], 3),
    },
    "11.5b": {
        "The outcome of attention is added to x, it does not replace it.": block(first=False),
        "The outcome of the MLP is added to x, it does not replace it.": block(second=False),
        "What is added to is x as it was, not the normalised one.": block(add_normalised=True),
        "The last dimension holds all heads of q, then of k, then of v: 3 comes before the heads in the view.": block(cut="heads first"),
        "view alone mixes tokens and heads: split the last dimension, then permute.": block(cut="viewed"),
        "The heads of a token must stand side by side: transpose before you reshape.": block(join=False),
        "Attention takes (batch, heads, n, d) for each of q, k and v: the heads come before the tokens. Yours lets each head attend to the others.":
            block(cut="tokens first"),
        "Attention takes (batch, heads, n, d), and gives o so: the heads come before the tokens, until o is transposed back.":
            block(cut="tokens first", join=False),
        "Not every block has 2 heads: self.heads says how many.": block(always=lambda dim: 2),
        "Not every head has 16 numbers: the block has self.heads heads, and dim is shared among them.": block(always=lambda dim: dim // 16),
        "q, k and v stand in this order.": block(order="kqv"),
        "q, k and v stand in this order, and v is not k.": block(order="qvk"),
        "silu goes to the first half, a.": block(halves=-1),
        "The second half of the block begins with a normalisation too, by norm2.": block(norm2=False),
        "Compute it with what `ops` holds: self.ops.attention(qkv), and so on. Else every block is the same one.":
            lambda *given, result, heads=2: (*[None] * 8, *[0] * 3),
    },
}  # fmt: skip
"""For each exercise: a sentence, and the function of the check's inputs whose result it explains."""


def backward_of_out(x, w, dy):
    x = rms(x, w)
    rstd = 1 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6)
    x_hat, g = x * rstd, dy * w
    return rstd * (g - x_hat * np.mean(g * x_hat, axis=-1, keepdims=True))


NO_RECORD = {
    "forward returns the result alone: what the gradient needs goes into save_for_backward.": "'tuple' object has no attribute 'grad_fn'",
    "The result has no record: return the tensor that the kernel filled, and mark nothing.": "does not require grad",
    "forward returns nothing: it ends in `return` and its result.": "'NoneType' object has no attribute",
}
NO_DERIVATIVE = {
    UNUSED: "appears to not have been used in the graph",
    "One derivative for each input of forward, and None for what is no tensor.": "returned an incorrect number of gradients",
    f"{ORDER} Each has the shape of its input.": "returned an invalid gradient",
}
SAVED = {
    "ctx.saved_tensors is a tuple, even of one: (y,) = ctx.saved_tensors.": "must be Tensor, not tuple|'tuple' object has no attribute",
    "save_for_backward takes tensors alone: a flag may be an attribute of ctx.": "save_for_backward can only save",
}
SCHEMA = {
    "The operator changes an input, against its promise mutates_args=(): fill a new tensor.": "is not defined as mutable but was mutated",
    "An operator may not return an input, or a view of one: return a new tensor.": "alias|may not alias|same storage",
}
IN_THE_GRADIENT = "Everything in the gradient must be an operator, so that it can be recorded as well: call"
RAISED = {
    "11.1b": {"x may have any shape: np.ndindex(x.shape) goes over all its places.": "^IndexError"},
    "11.1a": NO_RECORD | NO_DERIVATIVE | SAVED,
    "11.2": {
        "do comes with any strides, and the descriptors want the last one to be 1: do.contiguous().": "Last dimension must be contiguous|16-byte aligned",
        f"{UNUSED} backward_kv runs if dk or dv is needed, backward_q if dq is.": "appears to not have been used in the graph",
        **NO_RECORD, **NO_DERIVATIVE, **SAVED,
    },
    "11.3a": {
        f"{IN_THE_GRADIENT} softmax_backward_op.": "wrap_triton.softmax_backward_kernel",
        "Launch by wrap_triton(softmax_kernel)[grid](...), so that the compiler can record it: softmax(x, y) does not.": "fake tensor, which has",
        f"{IN_THE_GRADIENT} softmax_backward_op, not a launcher.": "Cannot access data pointer",
        "inputs is a tuple of all inputs; and which of x and y does the formula for dx need?": "save_for_backward can only save.*tuple",
        "The operator has one result, so output is a tensor, not a tuple: ctx.save_for_backward(output).":
            "softmax_backward.* (positional|arguments?).*(were|was) given|[Ee]xpected at most 2",
        "ctx.saved_tensors is a tuple: unpack it, (y,) = ctx.saved_tensors.": "argument 'y'.*'?tuple",
        "Nothing was saved: register_autograd needs setup_context too.": "missing value for argument",
        "setup_context is called with three arguments: ctx, inputs and output.": "save_for_softmax\\(\\)",
        "Has the gradient been registered, by softmax_op.register_autograd(...)?": "does not require grad|autograd",
        **SCHEMA, **SAVED,
    },
    "11.3b": {
        "A fake implementation computes nothing: it returns empty tensors.": "wrap_triton.attention_kernel",
        "Neither may launch a kernel: a fake implementation returns empty tensors, and the gradient calls attention_backward_op.":
            "fake tensor, which has|Cannot access data pointer|data_ptr",
        "A fake implementation may not call its own operator: it returns empty tensors.": "recursion",
        "With two outputs, the gradient gets two derivatives: backward(ctx, do, dlse).": "positional arguments but 3 were given",
        "One derivative for each input of the operator, q, k, v and causal: None for the last.": "returned an incorrect number of gradients",
        "attention_op returns two tensors, o and lse, and attention_backward_op three: the fake ones do too.":
            "mismatch in number of returns|is not an instance of 'sequence'",
        "Fake derivatives are like q, k and v in shape, dtype, device and strides: torch.empty_like.":
            "attention_backward.*([Dd]types|[Ss]tride|[Dd]evice)",
        "The fake result must have the dtype of the real one: lse is float32.": "[Dd]types? torch",
        "The fake result must have the shape of the real one: lse has a number for each query of each head.": "[Ss]hape|[Ss]izes|size",
        "The fake result must have the strides of the real one: empty_like keeps them.": "[Ss]tride",
        **SCHEMA, **NO_DERIVATIVE, **SAVED,
    },
    "11.5a": {
        "The kernels take matrices: x.reshape(-1, x.shape[-1]).": "too many values to unpack|not enough values to unpack",
        "A transposed x, or dy, has no such view: reshape makes a copy where it must.": "view size is not compatible|view\\(\\)",
        **NO_RECORD, **NO_DERIVATIVE, **SAVED,
    },
    "11.5b": {
        "Attention takes four dimensions, (batch, heads, n, d), for each of q, k and v: cut the heads out too.": "IndexError: tuple index out of range",
        "A parameter takes no part in the result: norm1, norm2 and each linear map are used once.": "appears to not have been used in the graph",
    },
}  # fmt: skip
"""For each exercise: a sentence, and the regular expression of an exception that it explains."""
