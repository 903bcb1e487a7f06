# expects: 300 blocks, 132 SMs, 2 at a time
# expects: Each SM holds per_sm blocks at a time
# Exercise 1.4
def tail(blocks, sms, per_sm):
    """Waves of a launch, blocks in the last wave, and SMs without a block in it."""
    waves = grid_size(blocks, sms)[0]
    last = blocks - (waves - 1) * sms * per_sm
    idle = max(0, sms - last)
    return waves, last, idle
