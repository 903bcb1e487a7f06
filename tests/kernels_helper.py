"""Kernels that test_interpreter.py imports, as a lesson imports helpers from a module."""

import triton
import triton.language as tl


@triton.jit
def double(tile):
    return tile * 2


@triton.jit
def doubled_relu(tile):
    return double(tl.where(tile > 0, tile, 0.0))


@triton.jit
def load_shifted(pointers, by):
    return tl.load(pointers + by)
