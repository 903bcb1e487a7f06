# expects: `last = blocks
# expects: `[0]` takes the first
# Exercise 1.4
def tail(blocks, sms, per_sm):
    """Waves of a launch, blocks in the last wave, and SMs without a block in it."""
    waves = grid_size(blocks, sms * per_sm)
    last = blocks - (waves - 1) * sms * per_sm
    idle = max(0, sms - last)
    return waves, last, idle
