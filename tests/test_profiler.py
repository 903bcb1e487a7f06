"""tiles.profiler: what it keeps of a trace, and of ncu's report; a script stands in for ncu."""

import json
from pathlib import Path

import pytest
import torch

from tiles import bench, profiler

OPERATOR = {"ph": "X", "cat": "cpu_op", "name": "aten::exp", "ts": 1.0, "dur": 9.0, "args": {"External id": 7}}
LAUNCH = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 5.0, "dur": 4.0, "args": {"correlation": 3}}
KERNEL = {
    "ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, f>(int)", "ts": 12.25, "dur": 2.0,
    "args": {"External id": 7, "correlation": 3, "stream": 7, "grid": [1, 1, 1]},
}  # fmt: skip
QUERY = {"ph": "X", "cat": "cuda_runtime", "name": "cudaOccupancyMax", "ts": 3.0, "dur": 1.0, "args": {"correlation": 2}}
WAIT = {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "ts": 15.0, "dur": 1.0, "args": {"correlation": 4}}
ARROW = {"ph": "s", "cat": "ac2g", "name": "ac2g", "ts": 5.0, "id": 3}


def test_a_trace_keeps_work_launches_and_waits():
    assert profiler.compact([KERNEL, WAIT, OPERATOR, ARROW, QUERY, LAUNCH]) == [
        {"name": "cudaLaunchKernel", "cat": "launch", "args": {"correlation": 3}, "ts": 0.0, "dur": 4.0},
        {"name": "exp", "cat": "kernel", "args": {"correlation": 3, "stream": 7}, "ts": 7.25, "dur": 2.0},
        {"name": "cudaDeviceSynchronize", "cat": "wait", "args": {}, "ts": 10.0, "dur": 1.0},
    ]


def test_what_was_launched_before_the_mark_is_left_out():
    mark = {"ph": "X", "cat": "user_annotation", "name": profiler.MARK, "ts": 10.0, "dur": 1.0, "args": {"External id": 9}}
    later = [event | {"ts": event["ts"] + 9, "args": event["args"] | {"correlation": 8}} for event in (LAUNCH, KERNEL)]
    kept = profiler.compact([LAUNCH, mark, KERNEL, WAIT, *later])
    assert [(event["cat"], event["ts"]) for event in kept] == [("launch", 0.0), ("wait", 1.0), ("kernel", 7.25)]


def test_a_trace_warms_up_before_it_records(monkeypatch):
    """torch's own profile of the CPU, with a kernel put in on each side of the mark."""
    profile, called = torch.profiler.profile, []

    def export(self, path):
        exported(self, path)
        raw = json.loads(Path(path).read_text())
        mark, *others = [event["ts"] for event in raw["traceEvents"] if event.get("name") == profiler.MARK]
        assert not others and len([event for event in raw["traceEvents"] if event.get("name") == "aten::exp"]) == 8
        raw["traceEvents"] += [KERNEL | {"ts": mark + 5 * side, "args": {"correlation": side, "stream": 7}} for side in (-1, 1)]
        Path(path).write_text(json.dumps(raw))

    exported = profile.export_chrome_trace
    monkeypatch.setattr(profile, "export_chrome_trace", export)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    kept = json.loads(profiler.trace(lambda: called.append(torch.ones(3).exp()), calls=3))
    assert len(called) == 13 and [event["cat"] for event in kept] == ["kernel"]


def test_a_kernel_without_an_operator_has_a_short_name():
    assert profiler.compact([KERNEL])[0]["name"] == "vectorized_elementwise_kernel"
    assert profiler.compact([KERNEL | {"name": "softmax_kernel"}])[0]["name"] == "softmax_kernel"
    assert profiler.compact([]) == []


def kernel():
    return "a kernel"


def launches(device):
    return {"one": kernel, "two": kernel}


NCU = """#!/usr/bin/env python3
import pathlib, sys
given = sys.argv
assert given[given.index("--clock-control") + 1] == "none"
script = pathlib.Path(given[-1]).read_text()
assert "def kernel" in script and 'launches("cuda").items()' in script
compile(script, "script", "exec")
print("launched one\\nlaunched two")
metrics = given[given.index("--metrics") + 1].split(",")
rows = [["ID", "Kernel Name", *metrics], ["", "", *("unit" for _ in metrics)]]
rows += [[number, "kernel", *(f"1,00{number}" for _ in metrics)] for number in range(LAUNCHED)]
log = "\\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
pathlib.Path(given[given.index("--log-file") + 1]).write_text("==PROF== Connected\\n" + log + "\\n==PROF== SAID\\n")
"""


@pytest.fixture
def ncu(tmp_path, monkeypatch):
    def install(launched=2, said=""):
        path = tmp_path / "ncu"
        path.write_text(NCU.replace("LAUNCHED", str(launched)).replace("SAID", said))
        path.chmod(0o755)
        monkeypatch.setattr(profiler, "find_ncu", lambda: str(path))

    return install


def test_a_report_becomes_a_table(ncu):
    ncu()
    table = profiler.table(profiler.counters(launches, kernel))
    assert list(table) == ["one", "two"]
    assert list(table["two"]) == list(profiler.METRICS)
    assert set(table["one"].values()) == {1000.0} and set(table["two"].values()) == {1001.0}


def test_a_launch_of_two_kernels_is_refused(ncu):
    ncu(launched=3)
    with pytest.raises(RuntimeError, match="3 kernels of 2 launches"):
        profiler.counters(launches, kernel)


def test_who_may_not_count_is_told_so(ncu):
    ncu(said="ERR_NVGPUCTRPERM")
    with pytest.raises(bench.Missing, match="administrators"):
        profiler.counters(launches, kernel)


def test_without_ncu_the_recorded_report_is_shown(monkeypatch, capsys):
    monkeypatch.setattr(profiler, "find_ncu", lambda: None)
    monkeypatch.setattr(bench, "has_gpu", lambda: True)
    old = bench.Text("12", "12.4", "counters", json.dumps("old"))
    monkeypatch.setattr(bench, "recorded", lambda: bench.Record("a GPU", "2", "3", "today", texts=(old,)))
    record = bench.text("12.4", "counters", lambda: profiler.counters(launches, kernel))
    assert record.texts == (old,) and not record.measured
    assert "ncu is not here" in capsys.readouterr().out


def test_an_empty_text_is_an_empty_table():
    assert profiler.table("") == {}
