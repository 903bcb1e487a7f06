"""Mistakes in lesson 05, online softmax: see `tiles.mistakes`."""

import numpy as np


def _block(x, block_size, offs):
    return x[offs : offs + block_size]


def running(update):
    """Exercise 5.3 with another update of l: update(l so far, alpha, sum of the terms)."""

    def given(x, block_size):
        m, total = -np.inf, 0.0
        for offs in range(0, x.size, block_size):
            block = _block(x, block_size, offs)
            m_new = max(m, block.max())
            shift = m_new if m_new > -np.inf else 0.0
            total, m = update(total, np.exp(m - shift), np.exp(block - shift).sum()), m_new
        return None, total

    return given


def merged(combine, factors=lambda m_a, m_b, shift: (np.exp(m_a - shift), np.exp(m_b - shift)), only=None):
    """Exercise 5.4 with other factors, or another combination of an l (or acc) of each side: combine(a, alpha_a, b, alpha_b).

    only: the order of parts of which it speaks, all of them without it.
    """

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
        if only and tuple(order) != only:
            return None
        parts = [part(*both) for both in zip(np.split(x, cuts), np.split(v, cuts))]
        parts = [parts[i] for i in order]
        while len(parts) > 1:
            at = {"left": 0, "middle": len(parts) // 2 - 1, "right": len(parts) - 2}[grouping]
            parts[at : at + 2] = [merge(parts[at], parts[at + 1])]
        return None, *parts[0][1:]

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
    "5.2": {
        "`l` is an array, one number for each score of a block: is a sum missing?":
            lambda x, block_size: np.ones(x.size) if x.size == min(x.size, block_size) > 1 else None,
        "`m` is an array, one number for each score of a block: np.maximum compares score by score, and `max` gives one number.":
            lambda x, block_size: np.full(x.size, 1 / x.size) if x.size <= block_size and np.ptp(x) > 0 else None,
    },
    "5.3": {
        "l is 0 after the first block: alpha is exp(-inf) = 0 there. Which of the two parts may it multiply?":
            running(lambda total, alpha, terms: alpha * (total + terms)),
    },
    "5.4": {
        "The second side is added as it is: that is right as long as it holds the larger maximum.":
            merged(lambda a, alpha_a, b, alpha_b: alpha_a * a + b, only=(1, 0)),
        "The side with the smaller maximum is added as it is, measured against that: the larger one counts for both.":
            merged(lambda a, alpha_a, b, alpha_b: a + b),
        "The factors have changed sides: each side is multiplied by its own.":
            merged(lambda a, alpha_a, b, alpha_b: alpha_b * a + alpha_a * b),
        "A factor is above 1: in its exponent, the larger maximum is taken from the smaller one, so that it is 1 at most.":
            merged(both, lambda m_a, m_b, shift: (np.exp(shift - m_a), np.exp(shift - m_b))),
    },
    "5.6": {
        "exp(lse) should be exp(m) · l: is the logarithm of a product a product?": of_statistics(lambda m, total: m * np.log(total)),
        "m is a logarithm already: exp(lse) should be exp(m) · l.": of_statistics(lambda m, total: np.log(m) + np.log(total)),
        "exp(lse) should be exp(m) · l: where is m?": of_statistics(lambda m, total: np.log(total)),
        "exp(lse) should be exp(m) · l: m is a logarithm already, and l is not.": of_statistics(lambda m, total: m + total),
        "That is lse to the base 2: np.log is the natural logarithm.": of_statistics(lambda m, total: m + np.log2(total)),
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
