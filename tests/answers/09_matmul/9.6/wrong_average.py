# expects: whole tiles
# Exercise 9.6
def estimate(kernel, tile, M, N, K, gpu):
    """Seconds that c = a @ b takes. kernel: as compiled; tile: (BLOCK_M, BLOCK_N, BLOCK_K)."""
    BLOCK_M, BLOCK_N, BLOCK_K = tile
    if kernel.spills or kernel.tensor_core != "wgmma" or kernel.occupancy.blocks == 0:  # what rules it out
        return float("inf")

    tiles = triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N)
    tiles_of_sm = tiles / gpu.sms  # of the busiest SM
    blocks = min(kernel.occupancy.blocks, tiles_of_sm)  # on that SM at a time

    flops = 2 * BLOCK_M * BLOCK_N * BLOCK_K  # of one turn of the loop
    loaded = 2 * (BLOCK_M + BLOCK_N) * BLOCK_K  # bytes, by one turn of the loop

    l2_rate = GPUS["A100"].l2_per_clock * gpu.clock  # bytes a second; a figure is published for the A100 alone
    in_flight = blocks * (kernel.num_stages - 1) * loaded  # bytes on their way to this SM
    rate = min(l2_rate / gpu.sms, in_flight / gpu.seconds(gpu.memory_latency))

    turns = tiles_of_sm * triton.cdiv(K, BLOCK_K)
    return turns * max(flops / (gpu.fp16 / gpu.sms), loaded / rate)  # seconds
