"""The pretended GPU: its clock, its queue, its cache and its marks."""

import pytest

from tiles.timeline import PretendGPU, Span, draw_timeline


def test_a_launch_returns_before_the_work_is_done():
    gpu = PretendGPU(launch_ms=1, compile_ms=20, bandwidth=2)
    call = gpu.kernel(megabytes=12)
    call()
    assert gpu.now() == 21
    gpu.synchronize()
    assert gpu.now() == 27
    gpu.synchronize()
    assert gpu.now() == 27


def runs(gpu):
    gpu.synchronize()
    return [span.end - span.start for span in gpu.spans if span.side == "GPU" and span.name != "flush"]


def test_what_was_used_last_stays_in_the_cache():
    gpu = PretendGPU(bandwidth=2, l2_bandwidth=6, l2=16)
    call, small, large = gpu.kernel(megabytes=12), gpu.kernel(megabytes=4), gpu.kernel(megabytes=18)
    for one in (call, call, small, call, gpu.flush, call, large, large):
        one()
    assert runs(gpu) == [6, 2, 2, 2, 6, 9, 9]


def test_delays_come_over_and_over():
    gpu = PretendGPU(bandwidth=1, l2=0, delays=(0, 5))
    call = gpu.kernel(megabytes=3)
    for _ in range(4):
        call()
    assert runs(gpu) == [3, 8, 3, 8]


@pytest.mark.parametrize("flushed, ms", [(False, 7), (True, 6)])
def test_a_mark_in_an_empty_queue_also_times_the_launch(flushed, ms):
    gpu = PretendGPU(l2=0 if not flushed else 16)
    call = gpu.kernel(megabytes=12)
    call()
    gpu.synchronize()
    if flushed:
        gpu.flush()
    start, end = gpu.Event(enable_timing=True), gpu.Event(enable_timing=True)
    start.record()
    call()
    end.record()
    with pytest.raises(RuntimeError, match="completed"):
        start.elapsed_time(end)
    end.synchronize()
    assert start.elapsed_time(end) == ms


def test_marks_that_tell_no_time_are_refused_as_torch_refuses_them():
    gpu = PretendGPU()
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        gpu.Event().elapsed_time(gpu.Event(enable_timing=True))
    with pytest.raises(RuntimeError, match="recorded"):
        gpu.Event(enable_timing=True).elapsed_time(gpu.Event(enable_timing=True))


def test_a_timeline_has_a_row_for_each_side():
    axes = draw_timeline(
        [Span("CPU", "launch", 0, 1), Span("GPU", "a kernel with a long name", 1, 2), Span("GPU", "add", 2, 9)], unit="µs"
    )
    assert [label.get_text() for label in axes.get_yticklabels()] == ["CPU", "GPU"]
    assert [text.get_text() for text in axes.texts] == ["launch", "add"] and axes.get_xlabel() == "µs"
