"""What a student is told to do about each fault that the interpreter catches."""

from types import SimpleNamespace

import pytest

from tiles.advice import advice, of_exception, precedence
from tiles.cases import tensors
from tiles.interpreter.kernels import Value

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
        ("load outside", dict(MATRIX, index=(4, 0), count=5, program=(0, 4)), PLAIN, [], "a program (0, 4), and no row 4"),
        ("load outside", dict(MATRIX, index=(2, 5), count=1, program=2), PLAIN, [], "One too many"),
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


@pytest.mark.parametrize(
    "source, words",
    [
        ("def k():\n    x = tl.load(p, mask=mask & offs > 0)", "In `mask & offs > 0`, `&` binds before the comparison"),
        ("def k():\n    mask = (a < M) | b < N", "In `(a < M) | b < N`, `|` binds before the comparison"),
        ("def k():\n    mask = row < M & col < N", "In `row < M & col < N`, `&` binds"),
        ("def k():\n    mask = (offs > 0) & (offs < n)\n    even = offs & 1 == 0", ""),
        ("def k(:", ""),
    ],
)
def test_ampersands_that_bind_first(source, words):
    said = precedence(source)
    assert words in said and bool(said) == bool(words)


def poisoned(body):
    return advice(SimpleNamespace(kind="poison", source=f"def k():\n    {body}", line=1), PLAIN, [])


def test_a_reduction_in_the_place_of_a_comparison():
    words = "`tl.max(a, 0)` is the largest of a whole tile, along its axis 0; `tl.maximum(a, 0.0)` compares lane by lane."
    assert poisoned("tl.store(p, tl.max(x * y, 0), mask=mask)") == words
    assert poisoned("out = tl.max(x, 0)\n    tl.store(p, out, mask=mask)") == poisoned("tl.max(x, 0.0)") == words
    assert "too narrow?" in poisoned("e = tl.exp(x - tl.max(x, 0))\n    tl.store(p, e, mask=mask)")
    assert "that of the store too wide?" in poisoned("tl.store(p, x, mask=mask)")


def failing(message, values=None, widened=None):
    fault = SimpleNamespace(kind="error in kernel", message=message, text="", source="", line=1, values=values, widened=widened)
    return advice(fault, PLAIN, [])


@pytest.mark.parametrize(
    "message, values, words",
    [
        ("invalid operands of type pointer<fp32>", {"x": Value("addresses", (8,), 4)}, "`x` holds addresses, made in line 4"),
        ("invalid operands of type pointer<fp32>", {"x_ptr": Value("addresses", (), None)}, ""),
        ("Cannot cast ufunc 'add'", {"acc": Value("NumPy array", (8,), 3)}, "`acc` is a NumPy array (line 3)"),
        ("Value argument cannot be block type if pointer argument", {"acc": Value("tile", (8,), 3)}, "`acc` is a tile, [8]"),
        ("Cannot make_shape_compatible: incompatible dimensions", {"x": Value("tile", (1, 8), 3)}, "There `x` is [1, 8]"),
        ("arange() missing 1 required positional argument", {}, "A tile is `tl.arange(0, BLOCK_SIZE)`"),
        ("arange's arguments must be of type tl.constexpr", {}, "A tile is `tl.arange(0, BLOCK_SIZE)`"),
    ],
)
def test_what_the_variables_of_a_line_tell(message, values, words):
    said = failing(message, values)
    assert words in said and bool(said) == bool(words)


@pytest.mark.parametrize(
    "message, line, words",
    [
        (
            "TypeError: 'int' object is not iterable",
            "acc = tl.zeros(BLOCK_SIZE, tl.float32)",
            "A shape is a list: `[BLOCK_SIZE]`.",
        ),
        ("TypeError: 'int' object is not iterable", "acc += sum(x)", "Python's own functions cannot go through a tile"),
        ("TypeError: 'int' object is not iterable", "x = x_ptr[offs]", "A pointer is no array"),
        ("Shape element 0 must have type `int`, got tensor", "acc = tl.zeros([n_cols], tl.float32)", "or a `tl.constexpr`"),
        (
            "operands could not be broadcast together with remapped shapes [original->remapped]: (8,) and requested shape (1,)",
            "tl.atomic_add(total_ptr, x)",
            "one address for 8 values: a tile of addresses is `total_ptr + offs`",
        ),
    ],
)
def test_what_a_line_tells(message, line, words):
    assert words in advice(SimpleNamespace(kind="error in kernel", message=message, text=line, source="", line=1), PLAIN, [])


@pytest.mark.parametrize(
    "line, words",
    [
        ("grid = (tl.cdiv(n, 64),)", "Outside a kernel it is `triton.cdiv`."),
        ("add_kernel(x, out, n, 64)", "`add_kernel[grid](...)`"),
        ("offs = tl.arange(0, 64)", "inside a kernel alone"),
    ],
)
def test_what_belongs_into_a_kernel(line, words):
    assert words in of_exception("Cannot call @triton.jit'd outside of the scope of a kernel", line)
    assert of_exception("division by zero", line) == ""


def test_a_mask_larger_than_its_addresses():
    said = failing("Expected pointer argument to have shape [1]", {"row": Value("tile", (4, 8), 5)}, {5: ((8,), (4, 8))})
    assert said == "In line 5 the addresses are [8] and the mask [4, 8], so `row` is [4, 8]. Give it a mask like its addresses."


@pytest.mark.parametrize(
    "shapes, constants, count, words",
    [
        ("n -> n", {"BLOCK_SIZE": 128}, 1000, "8 tiles of 128 cover the output, 1,000 elements. One program for each tile"),
        ("n -> n", {"BLOCK_SIZE": 1}, 1000, "The tiles, 1, are small: let each program take more of the 1,000 elements."),
        ("n -> n n", {"BLOCK_M": 1024, "BLOCK_N": 1024}, 1000, "1 tile of 1024 by 1024 covers the output"),
        ("n -> n", {}, 5000, "The output has 1,000 elements. One program for each tile, not for each element, is enough."),
    ],
)
def test_a_grid_that_is_far_too_large(shapes, constants, count, words):
    (case,) = tensors(shapes, n=[1000])
    assert words in advice(SimpleNamespace(kind="grid", constants=constants, count=count), case, [])
