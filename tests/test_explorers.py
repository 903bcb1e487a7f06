"""The explorers: what they compute agrees with `tiles` and with the solved lessons, and what they draw stays in its frame."""

from __future__ import annotations

import json
import re
import types
from pathlib import Path

import nbformat
import numpy as np
import pytest

pytest.importorskip("py_mini_racer")

import explorers_helper as helper  # noqa: E402
from docutils import nodes  # noqa: E402
from docutils.utils import new_document  # noqa: E402

from classroom import explorers, recorded  # noqa: E402
from classroom.lesson import lesson_paths, read  # noqa: E402
from tiles import bench  # noqa: E402
from tiles.compiled.targets import TARGETS, occupancy  # noqa: E402
from tiles.gpus import GPUS  # noqa: E402
from tiles.memory import count_segments, sectors_per_warp, useful_share  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
KINDS = explorers.KINDS
MOST = 60_000  # bytes of all scripts


def solved(number: str, exercise: str) -> str:
    """The solution of an exercise."""
    (path,) = lesson_paths(ROOT, [number])
    return read(path).exercises[exercise].answer.source


# ---- the numbers


def test_sectors_are_counted_as_tiles_counts_them():
    many = helper.settings("sectors")
    for chosen, result in zip(many, helper.computed("sectors", many)):
        size = chosen["itemsize"]
        addresses = (chosen["offset"] + np.arange(32) * chosen["stride"]) * size
        assert len(result["sectors"]) == sectors_per_warp(addresses, size) == count_segments(addresses, size, 32), chosen
        assert result["lines"] == count_segments(addresses, size, 128), chosen
        assert result["useful"] == pytest.approx(useful_share(addresses, size), rel=1e-12), chosen
        assert result["moved"] == 32 * len(result["sectors"]) and result["asked"] == 32 * size
        for sector in result["sectors"]:
            inside = np.flatnonzero(addresses // 32 == sector["number"])
            assert (sector["first"], sector["last"]) == (inside[0], inside[-1]), chosen


def test_the_picture_of_sectors_has_as_many_wanted_bytes_as_the_warp():
    many = helper.settings("sectors", 100)
    for chosen, result, shown in zip(many, helper.computed("sectors", many), helper.shown("sectors", many)):
        strips = [float(w) for w in re.findall(r'width="([\d.]+)" height="9" rx="0" class="ours"', shown["picture"])]
        (cell,) = {float(w) for w in re.findall(r'width="([\d.]+)" height="31"', shown["picture"])}
        assert sum(strips) / cell * 32 == pytest.approx(result["wanted"], abs=0.5), chosen


def test_occupancy_is_that_of_tiles():
    many = helper.settings("occupancy")
    assert {chosen["gpu"] for chosen in many} == set(TARGETS)
    for chosen, result in zip(many, helper.computed("occupancy", many)):
        expected = occupancy(chosen["registers"], 1024 * chosen["shared"], chosen["warps"], chosen["gpu"])
        limits = {resource["name"]: resource["fit"] for resource in result["resources"] if resource["fit"] is not None}
        assert (result["blocks"], result["warps"]) == (expected.blocks, expected.warps), chosen
        assert result["share"] == pytest.approx(expected.share)
        assert limits == expected.limits and set(result["scarcest"]) == set(expected.limited_by.split(" and ")), chosen


def test_occupancy_is_that_of_the_solved_exercise():
    names = {"round_up": lambda number, unit: -(-number // unit) * unit}
    exec(solved("03", "3.2"), names)
    many = helper.settings("occupancy", seed=11)
    for chosen, result in zip(many, helper.computed("occupancy", many)):
        gpu = TARGETS[chosen["gpu"]]
        shared = 1024 * chosen["shared"]
        if shared or gpu.shared_reserved:  # the exercise divides by what a block takes
            assert result["blocks"] == names["blocks_per_sm"](chosen["registers"], shared, chosen["warps"], gpu), chosen


def test_the_block_that_does_not_fit_sticks_out():
    """The dashed block begins where the last one ends, and goes beyond what whole warps can use, in the scarcest resources alone."""
    many = helper.settings("occupancy", 300, seed=12)
    for chosen, result in zip(many, helper.computed("occupancy", many)):
        for resource in result["resources"]:
            beyond = (result["blocks"] + 1) * resource["each"] > resource["usable"]
            assert beyond == (resource["name"] in result["scarcest"]), (chosen, resource)


def amount(power: float) -> float:
    """What a slider in powers of ten stands for: two digits."""
    return float(f"{10**power:.1e}")


def test_the_roofline_is_that_of_tiles():
    many = helper.settings("roofline")
    for chosen, result in zip(many, helper.computed("roofline", many)):
        gpu = GPUS[chosen["gpu"]]
        peak = getattr(gpu, chosen["rate"])
        flops, nbytes = amount(chosen["flops"]), amount(chosen["bytes"])
        assert result["ridge"] == pytest.approx(gpu.ridge(peak))
        assert result["seconds"] == pytest.approx(max(flops / peak, nbytes / gpu.bandwidth))
        assert result["attainable"] == pytest.approx(flops / result["seconds"])
        assert result["memory"] == (flops / nbytes < gpu.ridge(peak)), chosen


def test_the_roofline_is_that_of_the_solved_exercise():
    names = {}
    exec(solved("04", "4.2a"), names)
    (roofline,) = (value for value in names.values() if isinstance(value, types.FunctionType))
    many = helper.settings("roofline", 200, seed=13)
    for chosen, result in zip(many, helper.computed("roofline", many)):
        gpu = GPUS[chosen["gpu"]]
        answer = roofline(amount(chosen["flops"]), amount(chosen["bytes"]), getattr(gpu, chosen["rate"]), gpu.bandwidth)
        expected = result["ridge"], result["attainable"], result["memory"]
        assert list(map(float, answer)) == pytest.approx(list(map(float, expected))), (answer, expected)


def test_kernels_on_the_roofline_are_the_recorded_ones():
    found = explorers.data()["kernels"]
    record = bench.recorded()
    points = [row.point for row in recorded.rows(record) if row.point]
    assert len(found["points"]) > 20 and found["gpu"] in record.device
    for name, _, intensity, flops in found["points"]:
        assert any((intensity, flops) == pytest.approx(point, rel=1e-3) for point in points), name


# ---- every kind


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_stay_in_their_frame(kind):
    many = helper.settings(kind, 30, seed=14) + helper.extremes(kind)
    for width in helper.WIDTHS:
        heights = set()
        for chosen, shown in zip(many, helper.shown(kind, many, width)):
            assert helper.faults(shown["picture"]) == [], (chosen, width)
            heights.add(re.search(r' height="([\d.]+)"', shown["picture"])[1])
        assert len(heights) == 1, "the height depends on nothing but the width, or the page would move"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_and_shown_has_room(kind):
    many = helper.settings(kind, 80, seed=15) + helper.extremes(kind)
    counts = set()
    for chosen, shown in zip(many, helper.shown(kind, many)):
        said = shown["says"]
        assert 20 < len(said) <= 180 and said.endswith("."), said
        assert not re.search(r"NaN|undefined|Infinity|\b1 [a-z]{3,}s\b", said), said
        for name, value in shown["facts"]:
            assert name and 0 < len(str(value)) <= 18 and "NaN" not in str(value), (chosen, name, value)
        counts.add(len(shown["facts"]))
    assert len(counts) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_extremes_work_and_what_does_not_exist_is_put_right(kind):
    assert len({json.dumps(chosen) for chosen in helper.extremes(kind)}) > 3
    source = """(name) => {
      const kind = explorers[name], wild = [-1e9, 1e9, NaN, null, undefined, "", "x", "1e400", {}];
      return wild.map((value) => settle(kind, Object.fromEntries(kind.controls.map((control) => [control.name, value]))));
    }"""
    for settled in helper.call(source, kind):
        assert None not in settled.values() and settled == helper.settled(kind, settled)
        assert helper.faults(helper.shown(kind, [settled])[0]["picture"]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_controls_have_labels_and_names_that_an_attribute_can_have(kind):
    title, controls = helper.call("(kind) => [explorers[kind].title, explorers[kind].controls]", kind)
    assert title and controls
    for control in controls:
        assert control["name"] == control["name"].lower() and control["name"] not in ("kind", "id", "class", "style", "role")
        assert control["label"]
    assert len({control["name"] for control in controls}) == len(controls)


def test_a_drag_leads_to_settings_that_exist():
    rng = np.random.default_rng(16)
    kinds = helper.call("() => Object.keys(explorers).filter((kind) => explorers[kind].drag)")
    assert {"sectors", "occupancy", "roofline"} <= set(kinds)
    for kind in kinds:
        assert helper.call("(kind) => explorers[kind].hint", kind), "nobody finds out that it can be dragged"
        for chosen in helper.settings(kind, 12, seed=16):
            path = [(float(x), float(y)) for x, y in rng.uniform(-40, 800, (6, 2))]
            after = helper.dragged(kind, chosen, path)
            assert after == helper.settled(kind, after)
            assert helper.faults(helper.shown(kind, [after])[0]["picture"]) == []


def test_dragging_moves_what_it_says():
    start = {"itemsize": 4, "stride": 8, "offset": 0}
    assert helper.dragged("sectors", start, [(50, 80), (50 + 22, 80)])["offset"] > 0, "the first sector shifts the load"
    assert helper.dragged("sectors", start, [(50 + 40, 80), (50 + 80, 80)])["stride"] > 8, "another one stretches it"
    left, right = (helper.dragged("roofline", {}, [(x, 100)])["flops"] for x in (300, 400))
    assert left < right
    registers = helper.dragged("occupancy", {}, [(100, 170), (140, 170)])["registers"]
    assert registers > helper.settled("occupancy", {})["registers"], "a block pulled longer takes more of the registers"


# ---- stills, lessons, pages


def test_the_stills_are_what_the_scripts_draw():
    for name, text in explorers.stills().items():
        path = ROOT / explorers.STILLS / name
        assert path.exists() and path.read_text(encoding="utf-8") == text, "draw them anew: python -m classroom.explorers"
        assert helper.faults(text) == [] and len(text) < 60_000
    kept = {path.name for path in (ROOT / explorers.STILLS).glob("explorer-*.svg")}
    assert kept == set(explorers.stills()), "a still picture that is in no table"


def test_each_picture_is_shown_in_a_lesson_and_described():
    shown = {}
    for path in lesson_paths(ROOT):
        for cell in nbformat.read(path, 4).cells:
            for alt, name in re.findall(r"!\[([^\]]*)\]\(\.\./book/figures/(explorer-[\w-]+)\.svg\)", cell.source):
                shown[name] = alt
    assert set(shown) == set(explorers.PICTURES)
    assert all(len(alt) > 60 for alt in shown.values())


def test_all_scripts_together_are_small():
    texts = explorers.scripts()
    assert list(texts)[:2] == ["explorer.js", "data.js"]
    assert {name.removesuffix(".js") for name in texts} == {"explorer", "data", *KINDS}
    assert sum(len(text.encode()) for text in texts.values()) < MOST
    assert not any(re.search(r"\bfetch\(|\bimport\b.*from|https?://(?!www\.w3\.org)", text) for text in texts.values())


def test_a_picture_is_wrapped_where_it_stands():
    document = new_document("page")
    alone, beside = nodes.image(uri="../book/figures/explorer-sectors.svg"), nodes.image(uri="x/explorer-roofline.svg")
    other = nodes.image(uri="book/figures/tiles-light.svg")
    document += [nodes.paragraph("", "", *inside) for inside in ([alone], [nodes.Text("see "), beside], [other])]
    explorers.wrap_pictures(None, document)
    first, image, last, paragraph, untouched = document.children
    assert (first.astext(), last.astext()) == ('<tiles-explorer kind="sectors" stride="2">', "</tiles-explorer>")
    assert image is alone
    assert [type(child) for child in paragraph] == [nodes.Text, nodes.raw, nodes.image, nodes.raw]
    assert untouched.children == [other]


def test_scripts_are_loaded_where_there_is_an_explorer():
    loaded = []
    app = types.SimpleNamespace(add_js_file=lambda name, **how: loaded.append((name, how)))
    document = new_document("page")
    explorers.add_scripts(app, "page", "page.html", {}, document)
    explorers.add_scripts(app, "search", "search.html", {}, None)
    assert loaded == []
    document += nodes.paragraph("", "", nodes.image(uri="../book/figures/explorer-sectors.svg"))
    explorers.wrap_pictures(None, document)
    explorers.add_scripts(app, "page", "page.html", {}, document)
    assert [name for name, _ in loaded] == [f"explorers/{name}.js" for name in ("explorer", "data", "sectors")]
    assert all(how == {"loading_method": None} for _, how in loaded), "deferred, the page would move when they come"
