"""The table of GPUs: figures that must agree with one another, and a source for each column."""

import pytest

from tiles.compiled.targets import TARGETS
from tiles.gpus import COLUMNS, GPUS, KIB, sources, table


def test_targets_are_these_gpus():
    assert list(TARGETS) == list(GPUS)
    for name, gpu in GPUS.items():
        target = TARGETS[name]
        assert (target.arch, target.multiprocessors, target.shared_per_sm) == (gpu.arch, gpu.sms, gpu.shared_per_sm)
        assert target.shared_per_block + target.shared_reserved == gpu.shared_per_sm


@pytest.mark.parametrize("gpu", GPUS.values(), ids=lambda gpu: gpu.name)
def test_figures_agree(gpu):
    assert 1.3e9 < gpu.clock < 2.1e9, "the clock that follows from the fp32 rate"
    assert gpu.register_bytes == gpu.sms * 256 * KIB
    assert gpu.threads == gpu.sms * gpu.warps_per_sm * 32
    assert gpu.fp16 > gpu.fp32 and gpu.ridge(gpu.fp16) > gpu.ridge(gpu.fp32) > 5
    latencies = [gpu.shared_latency, gpu.l1_latency, gpu.l2_latency, gpu.memory_latency]
    known = [latency for latency in latencies if latency]
    assert known == sorted(known), "farther memory is slower"


@pytest.mark.parametrize(
    ("name", "clock"), [("T4", 1.59e9), ("A100", 1.41e9), ("H100", 1.98e9), ("H200", 1.98e9), ("B200", 1.965e9)]
)
def test_the_clock_is_near_the_boost_clock(name, clock):
    assert GPUS[name].clock == pytest.approx(clock, rel=0.01)


def test_ridge_and_seconds():
    h200 = GPUS["H200"]
    assert h200.ridge(h200.fp32) == pytest.approx(67 / 4.8)
    assert h200.seconds(h200.clock) == pytest.approx(1)
    assert GPUS["T4"].shared_bandwidth is None and GPUS["H200"].l2_bandwidth is None
    assert GPUS["A100"].l2_bandwidth == pytest.approx(7.22e12, rel=0.01)


def test_table():
    lines = table("sms", "l2_bandwidth", "bandwidth").splitlines()
    assert len(lines) == 1 + len(GPUS)
    assert lines[0].split() == ["SMs", "L2", "bandwidth", "bandwidth"]
    assert lines[4].split() == ["H200", "132", "-", "4,800", "GB/s"]
    assert all(len(line) == len(lines[0]) for line in lines)
    assert len(table().splitlines()[0]) > len(lines[0])


def test_every_column_has_a_source():
    lines = sources().splitlines()
    assert len([line for line in lines if not line.startswith(" ")]) == len(COLUMNS)
    assert max(map(len, lines)) <= 92
    assert sources("sms").startswith("SMs: NVIDIA")


def test_an_unknown_column_is_refused():
    with pytest.raises(ValueError, match="there is no column 'cores'; there are sms, "):
        table("cores")
