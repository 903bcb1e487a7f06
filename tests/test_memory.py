"""CountedArray: what counts as a read and as a write. LoadCounter."""

import copy
import pickle

import numpy as np
import pytest

from tiles import CountedArray, LoadCounter, memory
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


def test_the_largest_load(x):
    x[2:6], x[3], list(x)
    assert largest_load(x) == 4
    np.max(x)
    assert largest_load(x) == 10


@pytest.mark.parametrize("name", ["_data", "_written", "uncounted", "unwritten", "__dict__", "data_"])
def test_the_values_are_not_to_be_had_uncounted(x, name):
    with pytest.raises(AttributeError):
        getattr(x, name)


def test_the_counts_only_grow(x):
    x[:]

    class Fake:
        __slots__ = ("__weakref__",)

    changes = [lambda name=name: setattr(x, name, 0) for name in ("reads", "writes", "free")]
    changes += [lambda: setattr(x, "__class__", Fake), lambda: object.__setattr__(x, "__class__", Fake)]
    changes += [lambda: setattr(type(x), "reads", 0), lambda: delattr(type(x), "reads")]
    for change in changes:
        with pytest.raises(AttributeError):
            change()
    with pytest.raises(TypeError, match="nothing can be derived"):
        type("Lying", (CountedArray,), {"reads": 0})
    with pytest.raises(TypeError, match="has its values already"):
        x.__init__(np.zeros(10))
    assert x.reads == 10


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: x.copy()])
def test_a_copy_is_a_read_of_every_element(x, made):
    copied = made(x)
    assert type(copied) is np.ndarray and copied.tolist() == list(range(10))
    assert x.reads == largest_load(x) == 10


def test_an_array_that_is_gone_leaves_nothing_behind():
    before = len(memory._MEMORIES)
    x = CountedArray(np.zeros(4))
    assert len(memory._MEMORIES) == before + 1
    del x
    assert len(memory._MEMORIES) == before
