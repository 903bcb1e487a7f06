# expects: Those are the SMs that have a block
# Exercise 1.4
def tail(blocks, sms, per_sm):
    """Waves of a launch, blocks in the last wave, and SMs without a block in it."""
    waves = grid_size(blocks, sms * per_sm)[0]
    last = blocks - (waves - 1) * sms * per_sm
    idle = min(sms, last)
    return waves, last, idle
