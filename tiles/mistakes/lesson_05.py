"""Mistakes in lesson 05, online softmax: see `tiles.mistakes`."""

import numpy as np


def _block(x, block_size, offs):
    return x[offs : offs + block_size]


def running(update, swapped=False):
    """Exercise 5.3 with another update of l: update(l, alpha, terms)."""

    def given(x, block_size):
        m, l = -np.inf, 0.0
        for offs in range(0, x.size, block_size):
            block = _block(x, block_size, offs)
            m_new = max(m, block.max())
            shift = m_new if m_new > -np.inf else 0.0
            l, m = update(l, np.exp(m - shift), np.exp(block - shift).sum()), m_new
        return (l, m) if swapped else (None, l)

    return given


def merged(combine, factors=lambda m_a, m_b, shift: (np.exp(m_a - shift), np.exp(m_b - shift))):
    """Exercise 5.4 with other factors, or another combination of an l (or acc) of each side: combine(a, alpha_a, b, alpha_b)."""

    def part(x, v):
        seen = x > -np.inf
        m = x[seen].max(initial=-np.inf)
        terms = np.exp(x[seen] - m)
        return m, terms.sum(), terms @ v[seen]

    def merge(a, b):
        (m_a, l_a, acc_a), (m_b, l_b, acc_b) = a, b
        m = max(m_a, m_b)
        alpha_a, alpha_b = factors(m_a, m_b, m if m > -np.inf else 0.0)
        return m, combine(l_a, alpha_a, l_b, alpha_b), combine(acc_a, alpha_a, acc_b, alpha_b)

    def given(x, v, cuts, order, grouping):
        parts = [part(*both) for both in zip(np.split(x, cuts), np.split(v, cuts))]
        parts = [parts[i] for i in order]
        while len(parts) > 1:
            at = {"left": 0, "middle": len(parts) // 2 - 1, "right": len(parts) - 2}[grouping]
            parts[at : at + 2] = [merge(parts[at], parts[at + 1])]
        _, l, acc = parts[0]
        return None, l, acc

    return given


def both(a, alpha_a, b, alpha_b):
    return alpha_a * a + alpha_b * b


def one_value(x):
    """m and l of a row, as the student has them in exercise 5.6."""
    return x.max(), np.exp(x[x > -np.inf] - x.max()).sum()


def of_statistics(lse):
    """Exercise 5.6 with another lse: lse(m, l)."""
    return lambda x, block_size: (lse(*one_value(x)), None)


MISTAKES = {
    "5.1": {
        "The weights do not add up to 1: what is still missing after the exponential?": lambda x: np.exp(x - x.max()),
    },
    "5.2": {
        "`l` is an array, one number for each score of a block: is a sum missing?":
            lambda x, block_size: np.ones(x.size) if x.size == min(x.size, block_size) > 1 else None,
        "`m` is an array, one number for each score of a block: np.maximum compares score by score, and `max` gives one number.":
            lambda x, block_size: np.full(x.size, 1 / x.size) if x.size <= block_size and np.ptp(x) > 0 else None,
    },
    "5.3": {
        "l is 0 after the first block: alpha is exp(-inf) = 0 there. Which of the two parts may it multiply?":
            running(lambda l, alpha, terms: alpha * (l + terms)),
        "l is 0 after the first block: alpha is exp(-inf) = 0 there. It belongs to the sum so far, not to the new terms.":
            running(lambda l, alpha, terms: l + alpha * terms),
    },
    "5.4": {
        "Both sides are added as they are, unscaled: measured against which maximum is each of them?":
            merged(lambda a, alpha_a, b, alpha_b: a + b),
        "The second side is added unscaled: that is right as long as it holds the larger maximum.":
            merged(lambda a, alpha_a, b, alpha_b: alpha_a * a + b),
        "The first side is added unscaled: that is right as long as it holds the larger maximum.":
            merged(lambda a, alpha_a, b, alpha_b: a + alpha_b * b),
        "The factors have changed sides: each side is multiplied by its own.":
            merged(lambda a, alpha_a, b, alpha_b: alpha_b * a + alpha_a * b),
        "A factor is above 1: in its exponent, the larger maximum is taken from the smaller one, so that it is 1 at most.":
            merged(both, lambda m_a, m_b, shift: (np.exp(shift - m_a), np.exp(shift - m_b))),
    },
    "5.6": {
        "exp(lse) should be exp(m) · l: is the logarithm of a product a product?": of_statistics(lambda m, l: m * np.log(l)),
        "m is a logarithm already: exp(lse) should be exp(m) · l.": of_statistics(lambda m, l: np.log(m) + np.log(l)),
        "exp(lse) should be exp(m) · l: where is m?": of_statistics(lambda m, l: np.log(l)),
        "exp(lse) should be exp(m) · l: m is a logarithm already, and l is not.": of_statistics(lambda m, l: m + l),
        "That is lse to the base 2: np.log is the natural logarithm.": of_statistics(lambda m, l: m + np.log2(l)),
    },
}  # fmt: skip

WARNED = {
    "5.3": {
        "alpha is not between 0 and 1: is it an exponential, and which of the two maxima is the larger?":
            lambda values: not 0 <= values["alpha"] <= 1 and not np.isnan(values["alpha"]),
    },
    "5.4": {
        "A factor is above 1: in its exponent, the larger maximum is taken from the smaller one, so that it is 1 at most.":
            lambda values: max(values["alpha_a"], values["alpha_b"]) > 1,
    },
    "5.6": {
        "m is a logarithm already: exp(lse) should be exp(m) · l.": lambda values: values["m"] <= 0 < values["l"],
    },
}  # fmt: skip
