# Exercise 5.1
def safe_softmax(x):
    """p_i = 1 / Σ_j exp(x_j − x_i), sorted, with differences that never overflow."""

    result = np.empty_like(x)
    top = sorted(x.tolist())[-1]
    total = sum(float(np.exp(score - top)) for score in sorted(x.tolist()))
    for i, score in enumerate(x.tolist()):
        result[i] = 2.0 ** ((score - top) / np.log(2.0)) / total
    return result
