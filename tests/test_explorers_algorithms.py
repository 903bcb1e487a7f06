"""The explorers of lessons 05, 06, 09 and 10 compute what the solved lessons compute, over a thousand settings each."""

from __future__ import annotations

import ast
import json
import re
import types
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("py_mini_racer")

import explorers_helper as helper  # noqa: E402

from classroom.lesson import lesson_paths, read  # noqa: E402
from tiles import CountedArray  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
INFINITE = "(key, value) => (value === -Infinity ? '-inf' : value)"
"""JSON has no infinity: what a result of the scripts says instead."""


def functions(number: str, *wanted: str, **given: Any) -> types.SimpleNamespace:
    """Functions of a solved lesson, by name; `given`: what they use besides each other and NumPy."""
    (path,) = lesson_paths(ROOT, [number])
    names: dict[str, Any] = {"np": np, **given}
    for cell in read(path).notebook.cells:
        if cell.cell_type == "code":
            for node in ast.parse(cell.source).body:
                if isinstance(node, ast.FunctionDef) and node.name in wanted:
                    exec(compile(ast.Module([node], []), str(path), "exec"), names)
    return types.SimpleNamespace(**{name: names[name] for name in wanted})


def call(expression: str, many: list[Any]) -> list[Any]:
    """What a JavaScript function says to each of many values; −inf may be among them, and among what it says."""
    source = f"JSON.stringify({json.dumps(many)}.map({expression}), {INFINITE})"
    return json.loads(helper.engine().eval(source))


def number(value: float | str) -> float:
    return float(value)


def close(values: Any, expected: Any) -> bool:
    return np.allclose(np.array(values, dtype=float), expected, rtol=1e-12, atol=1e-300)


# ---- softmax


@pytest.fixture(scope="module")
def lesson05() -> types.SimpleNamespace:
    return functions("05", "blocks", "safe_softmax", "online_softmax", "softmax_two_passes", "part")


def test_the_row_of_scores_has_the_m_l_acc_and_weights_of_lesson_05(lesson05):
    many = helper.settings("softmax")
    assert len({chosen["row"] for chosen in many}) == 9
    for chosen, result in zip(many, call("(settings) => explorers.softmax.compute(settings)", many)):
        x, v, size = np.array(result["x"], dtype=float), np.array(result["v"], dtype=float), chosen["block_size"]
        assert x.size == v.size == chosen["n"]
        assert result["read"] == min(chosen["n"], size * chosen["step"])
        seen, state = x[: result["read"]], result["state"]
        counted = CountedArray(seen)
        assert close([state["m"], state["l"]], lesson05.online_softmax(counted, size)) and counted.reads == result["read"]
        assert close(state["acc"], lesson05.part(seen, v[: seen.size])[2])

        out = np.full(x.size, np.nan)
        lesson05.softmax_two_passes(x, size, out)
        assert close(result["weights"], out)
        if x.max() > -np.inf:
            assert np.allclose(result["safe"], lesson05.safe_softmax(x), rtol=1e-12)
        assert result["end"] == (chosen["step"] > len(result["steps"]))


def test_any_row_is_taken_in_block_by_block(lesson05):
    rng = np.random.default_rng(5)
    rows = []
    for _ in range(400):
        x = rng.normal(size=rng.integers(1, 17)) * rng.choice([1, 20, 300]) + rng.choice([0, 700, -900])
        x[rng.random(x.size) < rng.choice([0, 0.3, 0.9, 1])] = -np.inf
        rows.append([x.tolist(), rng.normal(size=x.size).tolist(), int(rng.integers(1, 10))])
    for (x, v, size), steps in zip(rows, call("([x, v, size]) => explorers.softmax.walk(x, v, size)", rows)):
        x, v, added = np.array(x), np.array(v), 0.0
        cuts = [(offs.start, offs.stop) for offs in lesson05.blocks(x.size, size)]
        assert [(step["start"], step["stop"]) for step in steps] == cuts
        for step in steps:
            before, after = (lesson05.part(x[:end], v[:end]) for end in (step["start"], step["stop"]))
            shift = after[0] if after[0] > -np.inf else 0.0
            p = np.exp(x[step["start"] : step["stop"]] - shift)
            added += p.sum()
            assert close(step["alpha"], np.exp(before[0] - shift)) and close(step["p"], p)
            assert number(step["top"]) == x[step["start"] : step["stop"]].max()
            assert close([step["carried"]["l"], step["added"]["l"]], [before[1] * np.exp(before[0] - shift), p.sum()])
            for moment, expected in (("before", before), ("after", after)):
                found = [number(step[moment][name]) for name in ("m", "l", "acc")]
                assert found[0] == expected[0] and close(found[1], expected[1])
                assert np.isclose(found[2], expected[2], rtol=1e-12, atol=1e-12 * abs(v).sum())
            assert close(step["after"]["kept"], added)


def test_without_rescaling_a_rising_row_has_a_wrong_sum_and_a_falling_one_a_right_sum():
    base = {"n": 8, "block_size": 2, "values": False, "step": 5}
    rising, falling = (helper.computed("softmax", [{**base, "row": row}])[0]["state"] for row in ("rising", "falling"))
    assert rising["kept"] > 2 * rising["l"] and falling["kept"] == falling["l"]
    picture = [helper.shown("softmax", [{**base, "row": row}])[0]["picture"] for row in ("rising", "falling")]
    assert ["line-through" in svg for svg in picture] == [True, False]


def test_the_formula_of_alpha_stands_only_beside_acc():
    """It is a blank of exercise 5.3, and part of the table of lesson 06."""
    many = helper.settings("softmax", 300, seed=6)
    for chosen, shown in zip(many, helper.shown("softmax", many)):
        blocks = -(-chosen["n"] // chosen["block_size"])
        found = re.search(r">= (\d+ / \d+|exp\(\S+ − \S+\))<", shown["picture"])
        assert bool(found) == (chosen["values"] and 1 <= chosen["step"] <= blocks), chosen


# ---- matmul


@pytest.fixture(scope="module")
def lesson09() -> types.SimpleNamespace:
    """The functions that need no GPU; `jit` leaves the plain one within reach, as Triton's does."""
    triton = types.SimpleNamespace(jit=lambda f: types.SimpleNamespace(fn=f), cdiv=lambda a, b: -(-a // b))
    names = ("order_by_loops", "grouped_tile", "grouped_order", "l2_misses", "bytes_moved")
    return functions("09", *names, triton=triton, OrderedDict=OrderedDict)


def product(chosen: dict[str, Any], steps: int = 4, a_bytes: int = 16384, b_bytes: int = 16384) -> tuple[int, ...]:
    return steps, a_bytes, b_bytes, 1024 * chosen["capacity"], chosen["together"]


def test_programs_and_misses_are_those_of_lesson_09(lesson09):
    many = helper.settings("matmul")
    for chosen, result in zip(many, helper.computed("matmul", many)):
        tiles = chosen["num_pid_m"], chosen["num_pid_n"]
        order = lesson09.order_by_loops(*tiles, chosen["group_m"])
        assert result["order"] == order.tolist() == lesson09.grouped_order(*tiles, chosen["group_m"]).tolist()
        assert result["missed"] == lesson09.l2_misses(order, *product(chosen)), chosen
        M, N = (128 * number for number in tiles)
        assert result["loaded"] == lesson09.bytes_moved(M, N, 256, 128, 128, 2) - 2 * M * N  # without the stores of c
        if chosen["step"] and chosen["step"] % 4 == 0:  # a wave is done
            done = min(len(order), chosen["step"] // 4 * chosen["together"])
            assert result["now"]["missed"] == lesson09.l2_misses(order[:done], *product(chosen))
            assert result["now"]["loaded"] == 4 * done * 2**15


def test_every_group_m_has_its_bar(lesson09):
    many = helper.settings("matmul", 100, seed=7)
    for chosen, result in zip(many, helper.computed("matmul", many)):
        tiles = chosen["num_pid_m"], chosen["num_pid_n"]
        expected = [lesson09.l2_misses(lesson09.order_by_loops(*tiles, g), *product(chosen)) for g in range(1, tiles[0] + 1)]
        assert result["groups"] == expected and result["groups"][chosen["group_m"] - 1] == result["missed"]
        assert min(expected) >= result["once"]


def test_misses_of_any_product_are_those_of_lesson_09(lesson09):
    """With tiles of other sizes, more steps, and a cache in which not even one tile stays."""
    rng = np.random.default_rng(9)
    many = []
    for _ in range(400):
        names = ("num_pid_m", "num_pid_n", "group_m", "together", "steps", "a_bytes", "b_bytes")
        chosen = {name: int(rng.integers(1, 10)) for name in names}
        many.append({**chosen, "capacity": int(rng.integers(0, 200)) / 1024, "step": 0})
    for chosen, result in zip(many, helper.computed("matmul", many)):
        order = lesson09.order_by_loops(chosen["num_pid_m"], chosen["num_pid_n"], chosen["group_m"])
        rest = product(chosen, chosen["steps"], chosen["a_bytes"], chosen["b_bytes"])
        assert result["missed"] == lesson09.l2_misses(order, *rest), chosen


def test_a_step_hits_what_l2_held_and_misses_the_rest():
    many = [{**chosen, "step": step} for chosen in helper.settings("matmul", 40, seed=8) for step in range(1, 6)]
    many = [chosen for chosen in many if chosen == helper.call("(given) => settle(explorers.matmul, given)", chosen)]
    before = helper.computed("matmul", [{**chosen, "step": chosen["step"] - 1} for chosen in many])
    for chosen, earlier, result in zip(many, before, helper.computed("matmul", many)):
        now = result["now"]
        wave = result["order"][now["first"] : now["last"] + 1]
        wanted = {f"a {m} {now['k']}" for m, _ in wave} | {f"b {now['k']} {n}" for _, n in wave}
        assert wanted == {*now["hits"], *now["misses"]} and set(now["hits"]) <= set(earlier["inCache"])
        assert 16 * len(result["inCache"]) <= chosen["capacity"]
        assert now["missed"] - (earlier["now"] or {"missed": 0})["missed"] == 16384 * len(now["misses"])


# ---- attention


@pytest.fixture(scope="module")
def lesson06() -> types.SimpleNamespace:
    return functions("06", "blocks", "indices", "nothing_yet", "blockwise_attention", "causal_attention", "cdiv", "ledger")


class Watched:
    """v, which notes at each load what q, k and v have had read so far."""

    def __init__(self, q: CountedArray, k: CountedArray, v: CountedArray):
        self.arrays, self.shape, self.notes = (q, k, v), v.shape, []

    def __getitem__(self, offs: slice) -> np.ndarray:
        block = self.arrays[2][offs]
        self.notes.append([array.reads for array in self.arrays])
        return block


def run(lesson06, n: int, d: int, block_m: int, block_n: int, causal: bool) -> list[list[int]]:
    """Numbers of q, k and v read after each tile, by the solved function, on counted arrays."""
    q, k, v = (CountedArray(np.ones((n, d), np.float32)) for _ in "qkv")
    watched = Watched(q, k, v)
    attention = lesson06.causal_attention if causal else lesson06.blockwise_attention
    attention(q, k, watched, block_m, block_n)
    return watched.notes


def tile_kinds(chosen: dict[str, Any]) -> tuple[int, int, int]:
    """How many tiles are full, masked and hidden, as lesson 10 sorts them."""
    n, (block_m, block_n) = chosen["seq_len"], (chosen["block_m"], chosen["block_n"])
    seen = np.tri(n, dtype=bool) if chosen["causal"] else np.ones((n, n), bool)
    tiles = [seen[i : i + block_m, j : j + block_n] for i in range(0, n, block_m) for j in range(0, n, block_n)]
    full, some = sum(tile.all() for tile in tiles), sum(tile.any() for tile in tiles)
    return full, some - full, len(tiles) - some


def test_the_walk_reads_what_the_functions_of_lesson_06_read(lesson06):
    """1,000 settings with small sizes, tile by tile, while the functions run on counted arrays."""
    rng = np.random.default_rng(6)
    many = []
    for _ in range(1000):
        sizes = {name: int(size) for name, size in zip(("seq_len", "d", "block_m", "block_n"), rng.integers(1, (20, 4, 8, 8)))}
        many.append({**sizes, "causal": bool(rng.random() < 0.6), "step": int(rng.integers(0, 12))})
    for chosen, result in zip(many, helper.computed("attention", many)):
        notes = run(lesson06, *(chosen[name] for name in ("seq_len", "d", "block_m", "block_n", "causal")))
        step = min(chosen["step"], len(notes))
        so_far = [result["soFar"][name] for name in "qkv"]
        assert len(notes) == len(result["tiles"]), chosen
        assert so_far == (notes[step - 1] if step else [0, 0, 0]), chosen
        assert [result["inAll"][name] for name in "qkv"] == notes[-1] and result["inAll"]["out"] == chosen["seq_len"] * chosen[
            "d"
        ]
        masked = sum(tile["masked"] for tile in result["tiles"])
        assert (len(notes) - masked, masked, result["hidden"]) == tile_kinds(chosen), chosen


def test_the_bytes_are_those_of_the_ledger(lesson06):
    """1,000 settings of the explorer. A causal walk reads k and v up to the last query of each block; q and out stay as they are."""
    many = helper.settings("attention")
    for chosen, result in zip(many, helper.computed("attention", many)):
        sizes = [chosen[name] for name in ("seq_len", "d", "block_m", "block_n")]
        standard, flash, fast = lesson06.ledger(*sizes)
        n, d, block_m, block_n = sizes
        keys = sum(offs_m.stop for offs_m in lesson06.blocks(n, block_m))
        assert (result["standard"], result["fast"]) == (standard, fast), chosen
        assert result["inAll"]["all"] == (2 * n * d + 2 * keys * d if chosen["causal"] else flash), chosen
        rows_done = sum(tile["last"] for tile in result["tiles"][: chosen["step"]])
        assert result["soFar"]["out"] == min(n, rows_done * block_m) * d
        if chosen["step"] == len(result["tiles"]):
            assert result["soFar"] == result["inAll"]


def test_some_settings_of_the_explorer_itself_are_run(lesson06):
    for chosen in helper.settings("attention", 4, seed=3):
        notes = run(lesson06, *(chosen[name] for name in ("seq_len", "d", "block_m", "block_n", "causal")))
        (result,) = helper.computed("attention", [chosen])
        assert (len(result["tiles"]) - result["masked"], result["masked"], result["hidden"]) == tile_kinds(chosen)
        assert [result["soFar"][name] for name in "qkv"] == (notes[chosen["step"] - 1] if chosen["step"] else [0, 0, 0])


def test_small_blocks_move_more_than_the_standard_form():
    """Lesson 06 says so of blocks that fast memory is too small for; the explorer must let the reader find it."""
    many = [{"seq_len": 512, "d": 128, "block_m": block, "block_n": 32, "causal": False, "step": 0} for block in (32, 128)]
    small, large = helper.computed("attention", many)
    assert small["inAll"]["all"] > small["standard"] and large["inAll"]["all"] < large["standard"]
