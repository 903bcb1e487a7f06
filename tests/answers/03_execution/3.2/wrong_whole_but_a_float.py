# expects: The values are right, but the result is
# expects: `//` gives one
# Exercise 3.2
def blocks_per_sm(registers, shared, warps, gpu):
    """How many blocks fit on one SM. registers: of a thread; shared (bytes) and warps: of a block."""
    registers_of_warp = round_up(32 * registers, gpu.register_unit)  # what one warp takes
    warps_of_quarter = gpu.registers_per_sm / 4 // registers_of_warp
    by_registers = 4 * warps_of_quarter // warps

    by_shared = gpu.shared_per_sm // round_up(shared + gpu.shared_reserved, gpu.shared_unit)  # for whose shared memory

    return min(by_registers, by_shared, gpu.warps_per_sm // warps, gpu.blocks_per_sm)
