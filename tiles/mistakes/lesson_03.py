"""Mistakes in lesson 03, execution: see `tiles.mistakes`."""

import re

import numpy as np


def issued(if_warps, else_warps):
    """Exercise 3.1 with other warps that issue a side."""
    return lambda takes_if, n_if, n_else: n_if * if_warps(takes_if).sum() + n_else * else_warps(takes_if).sum()


def some(takes_if):
    return takes_if.any(axis=1)


def some_not(takes_if):
    return (~takes_if).any(axis=1)


def round_up(number, unit):
    return -(-number // unit) * unit


def fitting(
    of_warp=lambda registers, warps, gpu: round_up(32 * registers, gpu.register_unit),
    by_registers=lambda registers_of_warp, warps, gpu: 4 * (gpu.registers_per_sm // 4 // registers_of_warp) // warps,
    of_block=lambda shared, gpu: round_up(shared + gpu.shared_reserved, gpu.shared_unit),
    scarcest=lambda registers, shared, warps, blocks: min(registers, shared, warps, blocks),
):
    """Exercise 3.2 with other registers of a warp, blocks by registers, shared memory of a block, or another choice."""

    def given(registers, shared, warps, gpu):
        blocks = by_registers(of_warp(registers, warps, gpu), warps, gpu)
        by_shared = gpu.shared_per_sm // max(1, of_block(shared, gpu))
        return scarcest(blocks, by_shared, gpu.warps_per_sm // warps, gpu.blocks_per_sm)

    return given


def part_of_a_block(registers, shared, warps, gpu, result):
    """Exercise 3.2: a number of blocks that is not whole."""
    return result if np.ndim(result) == 0 and float(result) % 1 else None


def first_warps(limit):
    """Exercise 3.3 with another limit of registers."""
    return lambda M, N: next((w for w in (4, 8, 16) if M * N // (32 * w) < limit(w)), 0)


def levels(fold):
    """Exercise 3.5 with another step from level to level."""

    def given(x):
        found = []
        while len(x) > 1:
            x = fold(x, len(x) // 2)
            found.append(x)
        return np.concatenate(found)

    return given


def rows_elsewhere(x, result):
    """Exercise 3.6b: the means, where row follows row in other steps, among those that answers have."""
    (n_rows, n_cols), flat = x.shape, x.ravel()
    for step in (n_rows, 1, 32, 64, 128, 256):
        places = step * np.arange(n_rows)[:, None] + np.arange(n_cols)
        if n_rows > 1 and step != n_cols and places.max() < flat.size:
            means = flat[places].mean(axis=0)
            if np.allclose(result, means, rtol=1e-4, atol=1e-5):
                return means
    return None


def sums_of_all_columns(x):
    """Exercise 3.6b: every column of a tile of 64 gets the sum over all columns of the tile."""
    tiles = np.arange(x.shape[1]) // 64
    return np.array([x[:, tiles == tile].sum() / len(x) for tile in tiles])


def loads_beside_the_atomic(fault, case):
    """Exercise 3.6a: total is loaded, and added to by an atomic operation."""
    return fault.kind == "race" and "atomic_add" in fault.source and bool(re.search(r"load\(\s*total_ptr", fault.source))


def row_in_the_address_of_total(fault, case):
    """Exercise 3.6a: program 0 stays within total, a later one does not."""
    return fault.kind.endswith("outside") and fault.argument == "total" and fault.program > 0


def update_without_a_mask(fault, case):
    """Exercise 3.6a: an atomic operation gets beyond total, and has no mask."""
    beyond = fault.kind == "atomic outside" and fault.argument == "total"
    return beyond and not re.search(r"atomic_\w+\([^\n]*mask", fault.source)


def start_added_twice(fault, case):
    """Exercise 3.6b: the start of a program's columns is in offs, and again in the address of the load."""
    names = re.findall(r"(\w+) = tl\.program_id\(0\)\s*(?:#.*)?$", fault.source, re.MULTILINE)
    number = "|".join([r"tl\.program_id\(0\)", *names])
    start = rf"({number}) \* BLOCK_SIZE|BLOCK_SIZE \* ({number})"
    in_offs = re.search(rf"offs = [^\n]*({start})", fault.source)
    loads = re.findall(r"load\(\s*x_ptr\b[^\n]*", fault.source)
    return in_offs and any("offs" in load and re.search(start, load) for load in loads)


def stores_what_the_atomic_returns(traffic, case):
    of_total = {tally.kind for tally in traffic.tallies if tally.argument == "total" and tally.lanes}
    return {"atomic", "store"} <= of_total


def grid_of_the_constants(fault, case):
    """Exercise 3.4: far too many programs, on a grid of the sizes of a tile."""
    constants = fault.constants or {}
    return fault.kind == "grid" and fault.count in (
        constants["TILES"] * constants["BLOCK_SIZE"],
        constants["BLOCK_SIZE"],
        case.outputs[0].shape[0],
    )


def stores(traffic):
    return [tally for tally in traffic.tallies if tally.kind == "store" and tally.argument == "out"]


def tiles_on_each_other(traffic, case):
    """Exercise 3.4: more elements are stored than there are."""
    return sum(tally.lanes for tally in stores(traffic)) > case.outputs[0].shape[0]


def one_tile_each(traffic, case):
    (launch,) = traffic.launches
    return sum(tally.executed for tally in stores(traffic)) == launch.programs < launch.programs * launch.constants["TILES"]


def programs_to_spare(traffic, case):
    (launch,) = traffic.launches
    return launch.programs > -(-case.outputs[0].shape[0] // (launch.constants["TILES"] * launch.constants["BLOCK_SIZE"]))


MISTAKES = {
    "3.1": {
        "Those are threads: a warp issues an instruction once for all of its threads.": issued(
            lambda takes_if: takes_if, lambda takes_if: ~takes_if
        ),
        "A warp whose threads agree issues one side only.": issued(
            lambda takes_if: np.ones(len(takes_if)), lambda takes_if: np.ones(len(takes_if))
        ),
        "A warp whose threads disagree issues both sides, one after the other.": issued(some, lambda t: ~some(t)),
        "One thread of a warp is enough to make it issue a side.": issued(lambda t: ~some_not(t), some_not),
        "A warp whose threads disagree issues both sides; yours issues neither.": issued(lambda t: ~some_not(t), lambda t: ~some(t)),
        "The threads of a warp are a row of takes_if: along which axis do you ask for any?": issued(
            lambda takes_if: takes_if.any(axis=0), lambda takes_if: (~takes_if).any(axis=0)
        ),
        "All the warps are taken for one: each of them issues for itself.": issued(np.any, lambda takes_if: np.any(~takes_if)),
        "The sides have changed places.": lambda takes_if, n_if, n_else: (
            n_else * some(takes_if).sum() + n_if * some_not(takes_if).sum()
        ),
    },
    "3.2": {
        "A block comes whole or not at all: `//` rounds down.": part_of_a_block,
        "A quarter of an SM has only a fourth of registers_per_sm.": fitting(
            by_registers=lambda r, warps, gpu: 4 * (gpu.registers_per_sm // r) // warps
        ),
        "A warp gets its registers in units: what does one with 33 a thread take?": fitting(of_warp=lambda r, warps, gpu: 32 * r),
        "A warp has 32 threads, and each of them takes these registers.": fitting(
            of_warp=lambda r, warps, gpu: round_up(r, gpu.register_unit)
        ),
        "A warp lives in one quarter: how many whole warps has a quarter registers for?": fitting(
            by_registers=lambda r, warps, gpu: gpu.registers_per_sm // r // warps
        ),
        "The registers of each warp are rounded up, not those of a block.": fitting(
            of_warp=lambda r, warps, gpu: round_up(32 * r * warps, gpu.register_unit),
            by_registers=lambda r, warps, gpu: gpu.registers_per_sm // r,
        ),
        "The warps of a block may live in different quarters: count the warps of all four, then the blocks.": fitting(
            by_registers=lambda r, warps, gpu: 4 * (gpu.registers_per_sm // 4 // r // warps)
        ),
        "Those are the blocks of one quarter, and an SM has four.": fitting(
            by_registers=lambda r, warps, gpu: gpu.registers_per_sm // 4 // r // warps
        ),
        "Each block also takes the shared memory that is reserved in it.": fitting(
            of_block=lambda shared, gpu: round_up(shared, gpu.shared_unit)
        ),
        "Shared memory comes in units, too.": fitting(of_block=lambda shared, gpu: shared + gpu.shared_reserved),
        "What is reserved is rounded up together with what the block asks for.": fitting(
            of_block=lambda shared, gpu: round_up(shared, gpu.shared_unit) + gpu.shared_reserved
        ),
        "The scarcest resource decides, not the most plentiful one.": fitting(scarcest=lambda *limits: max(limits)),
        "An SM holds blocks_per_sm blocks at most, however small they are.": fitting(
            scarcest=lambda registers, shared, warps, blocks: min(registers, shared, warps)
        ),
        "An SM holds warps_per_sm warps at most: how many blocks are these?": fitting(
            scarcest=lambda registers, shared, warps, blocks: min(registers, shared, blocks)
        ),
        "`warps` are those of one block: how many such blocks fit into warps_per_sm?": lambda registers, shared, warps, gpu: (
            fitting(scarcest=lambda by_registers, by_shared, by_warps, blocks: min(by_registers, by_shared, warps, blocks))(
                registers, shared, warps, gpu
            )
        ),
        "The registers do not count in your answer.": fitting(
            scarcest=lambda registers, shared, warps, blocks: min(shared, warps, blocks)
        ),
        "The shared memory does not count in your answer.": fitting(
            scarcest=lambda registers, shared, warps, blocks: min(registers, warps, blocks)
        ),
        "Those are warps: how many blocks are they?": lambda registers, shared, warps, gpu: (
            warps * fitting()(registers, shared, warps, gpu)
        ),
    },
    "3.3": {
        "With so few warps each thread holds more floats than a thread can have registers.": first_warps(lambda w: 65_536 // (32 * w)),
        "With so many warps the threads share the registers of the SM: how many are left for each?": first_warps(lambda w: 255),
        "This tile does fit: how many of its floats has each of 32 * num_warps threads, and how many registers?": lambda M, N: 0,
        "Fewer warps hold this tile as well.": lambda M, N: 8 if M * N <= 16_384 else 16,
    },
    "3.4": {
        "Where does the shift come in?": lambda x, log_scale, shift: x * np.exp(log_scale),
        "The shift is scaled as well: scale x, then add the shift.": lambda x, log_scale, shift: (x + shift) * np.exp(log_scale),
        "The scale is the exponential of log_scale.": lambda x, log_scale, shift: x * log_scale + shift,
    },
    "3.5": {
        "Those are sums of neighbours: what lies half a level further on?": levels(lambda x, half: x[0::2] + x[1::2]),
        "One half is added to itself.": levels(lambda x, half: 2 * x[half:]),
        "The second half is turned round: thread 0 adds the first element of it.": levels(lambda x, half: x[:half] + x[half:][::-1]),
        "That is the first half alone: what does a thread add to what it holds?": levels(lambda x, half: x[:half]),
        "That is the second half alone: to what is it added?": levels(lambda x, half: x[half:]),
        "Of two numbers nothing is left: with which place does the second half begin?": lambda x: x[:0] if len(x) == 2 else None,
        "A level holds sums, not means.": levels(lambda x, half: (x[:half] + x[half:]) / 2),
    },
    "3.6a": {
        "Only row 0 has been added: is there a program for every row?": lambda x: x[0] / len(x),
    },
    "3.6b": {
        "The element (row, col) of x lies at row * n_cols + col: which of your numbers is multiplied?": lambda x: (
            x.reshape(x.shape[1], x.shape[0]).mean(axis=1)
        ),
        "Every column needs a sum of its own: what does tl.sum add up?": sums_of_all_columns,
        "How far apart are two rows of x?": rows_elsewhere,
        "That is the last row alone: does acc keep the rows before it?": lambda x: x[-1] / len(x),
        "Every turn of the loop adds row 0: where does the number of the row come in?": lambda x: x[0],
        "A mean of a column divides by the number of rows.": lambda x: x.sum(axis=0) / x.shape[1],
        "That is the sum of a column, not the mean.": lambda x: x.sum(axis=0),
    },
}  # fmt: skip

RAISED = {
    "3.2": {
        "With shared = 0 a block still takes the bytes that are reserved in it.": r"^ZeroDivisionError",
    },
    "3.5": {
        "x stays an array, of half as many numbers: add two slices of it, element by element.": r"^TypeError: .*has no len",
    },
}

FAULTED = {
    "3.4": {
        "Those are the sizes of a program's share: how many programs does it take for n_elements?": grid_of_the_constants,
    },
    "3.6a": {
        "tl.atomic_add loads and adds by itself: give it `x` alone.": loads_beside_the_atomic,
        "The load has a mask, and the update has no mask.": update_without_a_mask,
        "total has one row, which all programs share: does the row belong in its address?": row_in_the_address_of_total,
    },
    "3.6b": {
        "offs already has the program's start: what is left to add, for each row?": start_added_twice,
    },
}

LAUNCHED = {
    "3.6a": {
        "tl.atomic_add stores by itself, and returns what was there before: no tl.store around it.": stores_what_the_atomic_returns,
    },
    "3.4": {
        "A program stores some elements several times, and others not at all: how does `tile` move the offsets?": tiles_on_each_other,
        "Each program stores one tile, and it owns TILES of them.": one_tile_each,
        "More programs start than are needed: each of them owns TILES tiles.": programs_to_spare,
    },
}
