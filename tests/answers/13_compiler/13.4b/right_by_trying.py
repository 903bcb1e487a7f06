# Exercise 13.4b
def deepest(BLOCK_M, BLOCK_N, BLOCK_K, itemsize, wgmma, target, programs):
    """Add a stage until it no longer fits."""
    def fits(stages):
        held = stages - 1 + bool(wgmma)
        taken = held * (BLOCK_M * BLOCK_K + BLOCK_K * BLOCK_N) * itemsize + target.shared_reserved
        return taken * programs <= target.shared_per_sm

    stages = 1
    while fits(stages + 1):
        stages += 1
    return stages
