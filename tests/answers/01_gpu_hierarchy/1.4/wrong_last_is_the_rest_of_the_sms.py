# expects: 150 blocks, 108 SMs
# expects: A full wave takes sms * per_sm blocks
# Exercise 1.4
def tail(blocks, sms, per_sm):
    """Waves of a launch, blocks in the last wave, and SMs without a block in it."""
    waves = grid_size(blocks, sms * per_sm)[0]  # a full wave takes sms * per_sm blocks
    last = blocks % sms
    idle = max(0, sms - last)
    return waves, last, idle
