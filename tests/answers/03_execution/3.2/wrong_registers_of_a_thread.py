# expects: registers = 255
# expects: A warp has 32 threads
# Exercise 3.2
def blocks_per_sm(registers, shared, warps, gpu):
    """How many blocks fit on one SM. registers: of a thread; shared (bytes) and warps: of a block."""
    registers_of_warp = round_up(registers, gpu.register_unit)
    warps_of_quarter = gpu.registers_per_sm // 4 // registers_of_warp
    by_registers = 4 * warps_of_quarter // warps

    by_shared = gpu.shared_per_sm // round_up(shared + gpu.shared_reserved, gpu.shared_unit)

    return min(by_registers, by_shared, gpu.warps_per_sm // warps, gpu.blocks_per_sm)
