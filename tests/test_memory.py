"""CountedArray: what counts as a read and as a write. LoadCounter."""

import numpy as np
import pytest

from tiles import CountedArray, LoadCounter
from tiles.memory import largest_load, uncounted, unwritten


@pytest.fixture
def x():
    return CountedArray(np.arange(10.0, dtype=np.float32))


def test_a_block_is_read_once_however_often_it_is_used(x):
    block = x[2:6]
    assert block.sum() + block.max() == 2 + 3 + 4 + 5 + 5
    assert (x.reads, x.writes) == (4, 0)


def test_a_block_is_a_copy(x):
    x[0:4][:] = 7
    assert uncounted(x)[0] == 0 and x.writes == 0


def test_a_store_is_counted(x):
    x[8:20] = 1.0
    assert x.writes == 2 and list(uncounted(x)[7:]) == [7, 1, 1]


@pytest.mark.parametrize(
    "whole",
    [np.max, np.exp, lambda x: x.max(), lambda x: x - 1, lambda x: 1 - x, lambda x: -x, lambda x: x > 3, list, sum, np.asarray,
     lambda x: x[:], lambda x: x[::-1], lambda x: x @ np.ones(10), lambda x: x.reshape(2, 5), lambda x: np.float32(1) + x],
)  # fmt: skip
def test_the_whole_array_is_one_read_an_element(x, whole):
    whole(x)
    assert x.reads == 10


def test_both_operands_are_read():
    a, b = CountedArray([1.0, 2.0]), CountedArray([3.0, 4.0])
    assert list(a * b) == [3, 8] and (a.reads, b.reads) == (2, 2)


def test_an_element_is_a_number(x):
    assert x[3] == 3 and x[-1].dtype == np.float32 and x.reads == 2


def test_metadata_is_free(x):
    assert (len(x), x.shape, x.size, x.ndim, x.dtype) == (10, (10,), 10, 1, np.float32) and x.reads == 0
    assert "0 read" in repr(x)


def test_the_source_is_not_changed():
    source = np.zeros(3)
    CountedArray(source)[0] = 1
    assert source[0] == 0


def test_what_was_never_written():
    out = CountedArray(np.zeros(4))
    out[1:3] = np.nan
    assert unwritten(out).tolist() == [True, False, False, True]


def test_a_load_counter_counts_blocks_and_their_elements():
    counter = LoadCounter()
    matrix = CountedArray(np.arange(12.0).reshape(3, 4))
    block = counter.load(matrix, slice(1, 9), slice(0, 2))
    block += 1
    assert block.tolist() == [[5, 6], [9, 10]] and uncounted(matrix)[1, 0] == 4
    assert (counter.elements, counter.loads, matrix.reads) == (4, 1, 4)
    counter.load(np.zeros((2, 2)), slice(0, 1), slice(0, 2))
    assert (counter.elements, counter.loads) == (6, 2)
    with pytest.raises(TypeError, match="two slices"):
        counter.load(matrix, 0, 1)
