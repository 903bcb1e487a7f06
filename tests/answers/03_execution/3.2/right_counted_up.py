# The largest number of blocks for which everything fits, tried from above.
# Exercise 3.2
def blocks_per_sm(registers, shared, warps, gpu):
    units = -(-registers * 32 // gpu.register_unit)

    def fit(blocks):
        deepest = -(-blocks * warps // 4)  # warps of the fullest quarter
        memory = blocks * round_up(shared + gpu.shared_reserved, gpu.shared_unit)
        return (
            deepest * units * gpu.register_unit * 4 <= gpu.registers_per_sm
            and memory <= gpu.shared_per_sm
            and blocks * warps <= gpu.warps_per_sm
        )

    return next(blocks for blocks in range(gpu.blocks_per_sm, -1, -1) if fit(blocks))
