# expects: one fewer than all of them
# Exercise 1.4
def tail(blocks, sms, per_sm):
    """Waves of a launch, blocks in the last wave, and SMs without a block in it."""
    waves = grid_size(blocks, sms * per_sm)[0]
    last = blocks - waves * sms * per_sm
    idle = max(0, sms - last)
    return waves, last, idle
