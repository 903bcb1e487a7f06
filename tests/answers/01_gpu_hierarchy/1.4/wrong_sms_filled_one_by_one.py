# expects: dealt like cards
# Exercise 1.4
def tail(blocks, sms, per_sm):
    """Waves of a launch, blocks in the last wave, and SMs without a block in it."""
    waves = grid_size(blocks, sms * per_sm)[0]
    last = blocks - (waves - 1) * sms * per_sm
    idle = sms - math.ceil(last / per_sm)
    return waves, last, idle
