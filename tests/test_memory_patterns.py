"""Address patterns: segments, sectors, useful share and bank conflicts against their definitions, on random patterns."""

import numpy as np
import pytest

from tiles.memory import SECTOR, bank_conflict_degree, count_segments, sectors_per_warp, useful_share

SEEDS = range(40)
HIGH = 2**57  # addresses of a GPU have up to 57 bits


def bytes_of(address, itemsize):
    return range(int(address), int(address) + itemsize)


def segments(addresses, itemsize, segment):
    return {byte // segment for address in addresses for byte in bytes_of(address, itemsize)}


def degree(addresses, itemsize, banks=32, width=4):
    """Each part of the warp asks every bank for its different words, one after another."""
    parts = max(1, itemsize // width)
    worst = 0
    for part in np.array_split(np.asarray(addresses, dtype=object), parts):
        words = {byte // width for address in part if address is not None for byte in bytes_of(address, itemsize)}
        asked = [word % banks for word in words]
        worst = max([worst, *(asked.count(bank) for bank in set(asked))])
    return worst


def pattern(rng, lanes, itemsize, aligned=True):
    """One of the ways in which lanes address memory: strided, random in a window, equal, reversed or far apart."""
    step = itemsize if aligned else 1
    base = int(rng.integers(0, HIGH // step - 2**20)) * step
    choice = rng.integers(5)
    offsets = np.arange(lanes) * int(rng.integers(1, 70))
    if choice == 1:
        offsets = rng.integers(0, int(rng.integers(1, 400)), lanes)
    elif choice == 2:
        offsets = offsets * 0
    elif choice == 3:
        offsets = rng.permutation(offsets)
    elif choice == 4:
        offsets = rng.integers(0, 2**20 // itemsize, lanes)
    return base + offsets.astype(np.int64) * step


@pytest.mark.parametrize("seed", SEEDS)
def test_segments_are_those_that_some_byte_lies_in(seed):
    rng = np.random.default_rng(seed)
    itemsize, segment = int(rng.choice([1, 2, 3, 4, 8, 16])), int(rng.choice([4, 32, 64, 128]))
    addresses = pattern(rng, int(rng.integers(0, 70)), itemsize, aligned=seed % 2 == 0)
    assert count_segments(addresses, itemsize, segment) == len(segments(addresses, itemsize, segment))


@pytest.mark.parametrize("seed", SEEDS)
def test_sectors_and_useful_share_are_counted_warp_by_warp(seed):
    rng = np.random.default_rng(seed)
    itemsize = int(rng.choice([1, 2, 4, 8, 16]))
    warps = np.stack([[pattern(rng, 32, itemsize, aligned=seed % 3 > 0) for _ in range(3)] for _ in range(2)])
    mask = rng.random(warps.shape) < rng.choice([0.0, 0.5, 1.0])
    sectors, asked = np.zeros((2, 3), int), 0
    for index in np.ndindex(2, 3):
        active = warps[index][mask[index]]
        sectors[index] = len(segments(active, itemsize, SECTOR))
        asked += len({byte for address in active for byte in bytes_of(address, itemsize)})
    assert np.array_equal(sectors_per_warp(warps, itemsize, mask), sectors)
    assert useful_share(warps, itemsize, mask) == (asked / (SECTOR * sectors.sum()) if sectors.sum() else 1.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_conflicts_are_the_words_that_the_worst_bank_gives(seed):
    rng = np.random.default_rng(seed)
    itemsize = int(rng.choice([1, 2, 4, 8, 16]))
    warps = np.stack([pattern(rng, 32, itemsize) % 2**17 // itemsize * itemsize for _ in range(4)])
    mask = rng.random(warps.shape) < rng.choice([0.3, 1.0])
    expected = [degree([a if live else None for a, live in zip(*rows)], itemsize) for rows in zip(warps, mask)]
    assert list(bank_conflict_degree(warps, itemsize, mask=mask)) == expected


@pytest.mark.parametrize("stride, sectors, share", [(1, 4, 1.0), (2, 8, 0.5), (4, 16, 0.25), (8, 32, 0.125), (32, 32, 0.125)])
def test_a_strided_warp(stride, sectors, share):
    addresses = 4 * stride * np.arange(32)
    assert sectors_per_warp(addresses, 4) == sectors and useful_share(addresses, 4) == share


def test_addresses_of_57_bits_and_accesses_that_straddle():
    assert count_segments([HIGH - 2], 4, 32) == 2 and count_segments([HIGH - 4], 4, 32) == 1
    assert count_segments([0], 16, 4) == 4
    assert count_segments([96, 0, 96, 4], 4, 32) == 2


def test_nobody_asks():
    assert count_segments([], 4, 128) == 0
    assert sectors_per_warp(np.arange(32), 4, mask=False) == 0 and useful_share(np.arange(32), 4, mask=False) == 1.0
    assert bank_conflict_degree(np.arange(32) * 4, mask=np.zeros(32, bool)) == 0
    assert sectors_per_warp(np.zeros((0, 32), int), 4).shape == (0,)


@pytest.mark.parametrize(
    "addresses, itemsize, expected",
    [
        (4 * np.arange(32), 4, 1),  # one word from each bank
        (8 * np.arange(32), 4, 2),  # stride 2: every second bank, twice
        (128 * np.arange(32), 4, 32),  # a column of a 32 x 32 tile: one bank
        (132 * np.arange(32), 4, 1),  # the same column, rows padded by one word
        (4 * (np.arange(32) ^ 5), 4, 1),  # swizzled
        (0 * np.arange(32), 4, 1),  # one word, given to all
        (2 * np.arange(32), 2, 1),  # two lanes a word
        (8 * np.arange(32), 8, 1),  # half a warp at a time
        (16 * np.arange(32), 16, 1),  # a quarter of a warp at a time
        (128 * np.arange(32), 16, 8),
    ],
)
def test_known_bank_conflicts(addresses, itemsize, expected):
    assert bank_conflict_degree(addresses, itemsize) == expected


def test_what_is_no_pattern_is_refused():
    with pytest.raises(ValueError, match="starts at a multiple of 8"):
        bank_conflict_degree(4 * np.arange(32), itemsize=8)
    with pytest.raises(ValueError, match="byte offsets from 0"):
        count_segments([-4], 4, 32)
    with pytest.raises(ValueError, match="at least one byte"):
        count_segments([0], 0, 32)
    with pytest.raises(ValueError, match="cannot be served in 4 parts"):
        bank_conflict_degree(16 * np.arange(6), itemsize=16)
