"""FLOPs, counted: softmax, LayerNorm and GEMM as loops over numbers that count what is computed with them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


class Number:
    """A number; Number.flops counts the operations between numbers, one FLOP each."""

    flops = 0

    def __init__(self, value: float = 1.0):
        self.value = value

    @staticmethod
    def _counted(operation: Callable[[float, float], float]) -> Callable[..., Number]:
        def method(self: Number, other: Number | float = 0.0) -> Number:
            Number.flops += 1
            return Number(operation(self.value, getattr(other, "value", other)))

        return method

    __add__ = __radd__ = _counted(lambda a, b: a + b)
    __sub__ = _counted(lambda a, b: a - b)
    __mul__ = _counted(lambda a, b: a * b)
    __truediv__ = _counted(lambda a, b: a / b)
    larger = _counted(max)
    exp = _counted(lambda a, _: float(np.exp(a)))


def softmax(x: list) -> list:
    out = []
    for row in x:
        m = Number(-np.inf)
        for value in row:
            m = m.larger(value)  # compare
        terms = [(value - m).exp() for value in row]  # subtract, exponential
        total = sum(terms)  # add
        out.append([term / total for term in terms])  # divide
    return out


def layernorm(x: list, weight: list, bias: list) -> list:
    out = []
    for row in x:
        mean = sum(row).value / len(row)
        centred = [value - mean for value in row]
        variance = sum(c * c for c in centred).value / len(row)
        out.append([c / np.sqrt(variance + 1e-5) * w + b for c, w, b in zip(centred, weight, bias)])
    return out


def gemm(a: list, b: list) -> list:
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


OPERATIONS: dict[str, Callable[..., list]] = {"softmax": softmax, "layernorm": layernorm, "gemm": gemm}


def numbers(*shape: int) -> list | Number:
    """Numbers in nested lists; one Number for no shape."""
    return [numbers(*shape[1:]) for _ in range(shape[0])] if shape else Number()


def counted(operation: str, *shapes: tuple[int, ...]) -> tuple[int, int]:
    """FLOPs of an operation, and the elements that it reads and writes, each once; found by running it.

    operation: "softmax" (x), "layernorm" (x, weight, bias) or "gemm" (a, b). shapes: of these arrays.
    Raises KeyError for another operation.
    """
    arrays = [numbers(*shape) for shape in shapes]
    Number.flops = 0
    out = OPERATIONS[operation](*arrays)
    return Number.flops, sum(int(np.size(array)) for array in [*arrays, out])
