"""What a student is told to do about each fault that the interpreter catches."""

from types import SimpleNamespace

import pytest

from tiles.advice import advice
from tiles.cases import tensors

PLAIN, GAPS = tensors("n, n -> n", n=[1000], strided=True)
VECTOR = dict(argument="x", extent=1000, shape=(1000,), side="after")
MATRIX = dict(argument="x", extent=15, shape=(3, 5), side="after")


@pytest.mark.parametrize(
    "kind, facts, case, passed, words",
    [
        ("load outside", dict(VECTOR, index=1000, count=1), PLAIN, [], "One too many"),
        ("load outside", dict(VECTOR, index=1000, count=24), PLAIN, [], "mask of the load: which"),
        ("store outside", dict(VECTOR, index=1007, count=1), PLAIN, [], "mask of the store: which"),
        ("load outside", dict(VECTOR, index=-1, count=1, side="before"), PLAIN, [], "negative"),
        ("load outside", dict(VECTOR, index=None, count=5, side="between"), GAPS, [], "leaves out a stride"),
        ("load outside", dict(VECTOR, index=1003, count=9), GAPS, [PLAIN], "Without gaps, tensors of these sizes are right"),
        ("load outside", dict(MATRIX, index=(0, 5), count=1), PLAIN, [], "One too many"),
        ("load outside", dict(MATRIX, index=(3, 5), count=1), PLAIN, [], "which stride belongs to which index"),
        ("store outside", dict(MATRIX, index=(3, 0), count=4), PLAIN, [], "which stride belongs to which index"),
        ("race", dict(message="Programs 0 and 1 both stored out[0]"), PLAIN, [], "elements of its own"),
        ("race", dict(message="Program 1 read out[0], which program 0 stored"), PLAIN, [], "second launch"),
        ("poison", {}, PLAIN, [], "`other=`"),
        ("error in kernel", dict(message="arange's range must be a power of 2", text=""), PLAIN, [], "power of two"),
        ("error in kernel", dict(message="TypeError", text="x = x_ptr[offs]"), PLAIN, [], "tl.load(pointer + offsets)"),
        ("error in kernel", dict(message="AttributeError", text="offs = np.arange(8)"), PLAIN, [], "use `tl`"),
        ("error in kernel", dict(message="NameError: name 'arange' is not defined", text=None), PLAIN, [], "Is it `tl.arange`?"),
        ("error in kernel", dict(message="NameError: name 'offset' is not defined", text=""), PLAIN, [], ""),
    ],
)
def test_advice(kind, facts, case, passed, words):
    said = advice(SimpleNamespace(kind=kind, **facts), case, passed)
    assert words in said and bool(said) == bool(words)
