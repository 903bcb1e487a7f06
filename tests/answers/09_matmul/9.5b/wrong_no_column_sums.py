# expects: The mean is subtracted as it is: it must be multiplied by the column sums first.
# Exercise 9.5b
def fold(w, bias, gamma, beta):
    """Weights, bias and column sums, for a product with x as it is."""
    w_folded = gamma[:, None] * w
    bias_folded = bias + beta @ w
    column_sums = w_folded.sum(0)
    return w_folded, bias_folded, column_sums


def norm_linear(x, w, bias, gamma, beta, eps=1e-5):
    w, bias, column_sums = fold(w, bias, gamma, beta)
    K = x.shape[1]
    mean = x.sum(1) / K
    rstd = 1 / np.sqrt((x * x).sum(1) / K - mean * mean + eps)
    return rstd[:, None] * (x @ w - mean[:, None]) + bias
