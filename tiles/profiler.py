"""Two profilers, in a form that is small enough to keep: a trace of torch.profiler, and counters of NVIDIA's ncu.

    trace(step)                        what happened when: kernels on the GPU, and the calls on the CPU that launched them
    counters(launches, add_kernel)     what a kernel did: bytes, sectors, registers, warps

Both need a GPU, and return text for `tiles.bench.text`, which keeps it for machines without one: JSON, and a CSV that `table` reads.
"""

from __future__ import annotations

import csv
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tiles.bench import Missing

GPU_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
"""The categories of a trace's events that take time on the GPU."""

MARK = "warm from here on"
"""The name of the event in a trace behind the calls that only warm up."""

METRICS = {
    "ns": "gpu__time_duration.sum",
    "dram_read": "dram__bytes_read.sum",
    "dram_write": "dram__bytes_write.sum",
    "sectors_loaded": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "sectors_stored": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "sectors_spilled": "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "l2_pct": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "tensor_pct": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "issue_pct": "sm__inst_issued.avg.pct_of_peak_sustained_active",
    "warps_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "most_warps_pct": "sm__maximum_warps_per_active_cycle_pct",
    "programs": "launch__grid_size",
    "threads": "launch__block_size",
    "registers": "launch__registers_per_thread",
}
"""Short names, and what ncu calls these metrics."""

SCRIPT = """
import torch
import triton
import triton.language as tl

{sources}

for name, launch in {launches}("cuda").items():
    launch()  # compiled here, and not profiled
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    launch()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()
    print("launched", name, flush=True)
"""


def trace(function: Callable[[], object], calls: int = 2) -> str:
    """A trace of some calls in Chrome's format, as JSON: a list of {name, cat, ts, dur, args}, in order of time.

    Calls before them warm up, within the recording too: the first ones that a profiler records take longer.

    ts: start in µs, from the first event on. dur: µs. cat: "kernel", "gpu_memcpy" or "gpu_memset" for work of the GPU, "launch"
    for a call on the CPU that starts such work, "wait" for one that waits for the GPU.
    args: correlation, equal for a launch and its work; stream, for work.
    A trace as torch.profiler writes it has much more, with the same names.
    """
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function

    def several(times: int) -> None:
        for _ in range(times):
            function()
        torch.cuda.synchronize()

    several(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a profile ends where it ends
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
            several(5)
            with record_function(MARK):
                pass
            several(calls)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        return json.dumps(compact(json.loads(path.read_text())["traceEvents"]))


def compact(raw: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of the events of a trace, those that `trace` describes: behind the mark, where there is one."""
    timed = [event for event in raw if event.get("ph") == "X"]
    mark = max((event["ts"] for event in timed if event.get("cat") == "user_annotation" and event["name"] == MARK), default=0)
    early = {event["args"]["correlation"] for event in timed if event["ts"] < mark and "correlation" in event.get("args", {})}
    timed = [event for event in timed if event["ts"] >= mark and event.get("args", {}).get("correlation") not in early]
    work = {event["args"]["correlation"] for event in timed if event.get("cat") in GPU_WORK}
    operators = {e["args"]["External id"]: e["name"] for e in timed if e.get("cat") == "cpu_op" and "External id" in e["args"]}
    kept = []
    for event in sorted(timed, key=lambda event: event["ts"]):
        cat, args = event.get("cat"), event.get("args", {})
        if cat in GPU_WORK:
            name = operators.get(args.get("External id"), event["name"])
            kept.append({"name": _short(name), "cat": cat, "args": {k: args[k] for k in ("correlation", "stream")}})
        elif cat in ("cuda_runtime", "cuda_driver") and args.get("correlation") in work:
            kept.append({"name": event["name"], "cat": "launch", "args": {"correlation": args["correlation"]}})
        elif cat in ("cuda_runtime", "cuda_driver") and "Synchronize" in event["name"]:
            kept.append({"name": event["name"], "cat": "wait", "args": {}})
        else:
            continue
        kept[-1] |= {"ts": event["ts"], "dur": event["dur"]}
    start = min((event["ts"] for event in kept), default=0)
    return [event | {"ts": round(event["ts"] - start, 3)} for event in kept]


def _short(name: str) -> str:
    """The name of a kernel without its namespaces, types and arguments."""
    return re.sub(r"<.*|\(.*", "", name).removeprefix("void ").split("::")[-1]


def find_ncu() -> str | None:
    """The path of NVIDIA's Nsight Compute on the command line, None where it is not installed."""
    places = [shutil.which("ncu"), "/usr/local/cuda/bin/ncu", *sorted(Path("/opt/nvidia/nsight-compute").glob("*/ncu"))]
    return next((str(place) for place in places if place and Path(place).exists()), None)


def counters(launches: Callable[[str], Mapping[str, Callable]], *needed: Any) -> str:
    """What ncu counts in some launches, as CSV: their names, then the columns of METRICS.

    launches: a function that gets a device and returns {name: a function that launches one kernel}. needed: the kernels and
    functions that it uses. Both are run in a process of their own, from their sources, with torch, triton and tl imported.
    ncu runs each launch several times, with cold caches, and leaves the clocks alone.
    Raises tiles.bench.Missing where ncu is not installed or may not count, and RuntimeError where it fails.
    """
    ncu = find_ncu()
    if ncu is None:
        raise Missing("ncu is not here: it comes with CUDA, and as the package nsight-compute.")
    sources = "\n\n".join(inspect.getsource(getattr(part, "fn", part)) for part in (*needed, launches))
    with tempfile.TemporaryDirectory() as folder:
        script, log = Path(folder) / "launches.py", Path(folder) / "ncu.csv"
        script.write_text(SCRIPT.format(sources=sources, launches=launches.__name__), encoding="utf-8")
        command = [ncu, "--clock-control", "none", "--profile-from-start", "off", "--metrics", ",".join(METRICS.values())]
        command += ["--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log), sys.executable, str(script)]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
        said = log.read_text(encoding="utf-8") if log.exists() else ""
    if "ERR_NVGPUCTRPERM" in said + done.stderr:
        raise Missing("ncu may not count here: the driver keeps the counters for administrators (ERR_NVGPUCTRPERM).")
    names = re.findall(r"^launched (.*)$", done.stdout, re.MULTILINE)
    rows = read_report(said)
    if done.returncode or len(rows) != len(names):
        raise RuntimeError(f"ncu reports {len(rows)} kernels of {len(names)} launches:\n{said[-2000:]}{done.stderr[-2000:]}")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["launch", *METRICS])
    for name, row in zip(names, rows):
        writer.writerow([name, *(row[metric] for metric in METRICS.values())])
    return out.getvalue()


def read_report(said: str) -> list[dict[str, str]]:
    """The rows of what `ncu --csv --page raw` writes, one a kernel; its messages and the row of units are left out."""
    lines = [line for line in said.splitlines() if not line.startswith("==")]
    return list(csv.DictReader(lines))[1:]


def table(text: str) -> dict[str, dict[str, float]]:
    """What `counters` wrote: for each launch, its numbers by their short names."""
    return {
        row.pop("launch"): {name: float(value.replace(",", "")) for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    }
