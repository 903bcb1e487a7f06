"""FLOPs counted by running an operation, against the conventions of lesson 04."""

import pytest

from tiles.flops import OPERATIONS, Number, counted, numbers


@pytest.mark.parametrize(
    "operation, shapes, flops, elements",
    [
        ("softmax", [(3, 5)], 5 * 15, 2 * 15),
        ("layernorm", [(3, 5), (5,), (5,)], 7 * 15, 2 * 15 + 10),
        ("gemm", [(2, 3), (3, 5)], 2 * 2 * 3 * 5, 6 + 15 + 10),
    ],
)
def test_flops_and_elements(operation, shapes, flops, elements):
    assert counted(operation, *shapes) == (flops, elements)
    assert counted(operation, *shapes) == (flops, elements), "it starts from 0 again"


def test_the_operations_compute():
    ((a, b),) = OPERATIONS["softmax"]([[Number(0.0), Number(0.0)]])
    assert (a.value, b.value) == (0.5, 0.5)
    ((c,),) = OPERATIONS["gemm"]([[Number(2.0), Number(3.0)]], [[Number(5.0)], [Number(7.0)]])
    assert c.value == 31
    ((low, high),) = OPERATIONS["layernorm"]([[Number(-1.0), Number(1.0)]], numbers(2), numbers(2))
    assert (low.value, high.value) == pytest.approx((0, 2), abs=1e-4)


def test_another_operation_is_refused():
    with pytest.raises(KeyError):
        counted("add", (3,))
