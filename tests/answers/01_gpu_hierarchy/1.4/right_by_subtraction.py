# Exercise 1.4
def tail(blocks, sms, per_sm):
    """Takes off full waves until at most one is left; counts the SMs that the last wave reaches."""
    waves, places = 1, per_sm * sms
    while blocks > places:
        waves, blocks = waves + 1, blocks - places
    return waves, blocks, len(set(range(sms)) - {card % sms for card in range(blocks)})
