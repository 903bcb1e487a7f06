"""Measuring and recording, with a clock of our own in the place of a GPU."""

import dataclasses
import json
import re
import sys
from pathlib import Path

import pytest

from classroom import bench as classroom_bench
from classroom.lesson import LessonError
from tiles import bench


def run(exercise="7.1", provider="ours", shape=(1024,), ms=1.0, value=100.0):
    return bench.Run("07", exercise, "add", shape, "float32", provider, ms, "GB/s", value)


def record(*runs, torch="2.0", texts=()):
    return bench.Record("NVIDIA H200", torch, "3.0", "2026-01-02", runs, texts)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "RECORDED", tmp_path)
    return tmp_path


@pytest.fixture
def gpu(monkeypatch):
    """A machine on which "ours" takes 2 ms a call and everything else 1 ms."""
    monkeypatch.setattr(bench, "has_gpu", lambda: True)
    monkeypatch.setattr(bench, "this_machine", lambda runs=(): record(*runs))
    monkeypatch.setattr(
        bench, "time_in_turns", lambda functions, rounds: {f: [2.0 if f == "ours" else 1.0] * 3 for f in functions}
    )
    monkeypatch.setattr(bench, "measured", [])


def contestants(n):
    return {"ours": (lambda: None, 12 * n), "copy": (lambda: None, 8 * n)}


def test_every_other_turn_goes_backwards(monkeypatch):
    order = []
    monkeypatch.setattr("triton.testing.do_bench", lambda function, return_mode: order.append(function()) or 1.0)
    turns = bench.time_in_turns({name: (lambda name=name: name) for name in "abc"}, rounds=3)
    assert "".join(order) == "abccbaabc" and turns == {name: [1.0] * 3 for name in "abc"}


def test_a_record_comes_back_as_it_was_saved(folder):
    saved = record(run(), run(provider="copy", shape=(3, 5)))
    path = bench.save(saved, "h200")
    assert bench.recorded("h200") == saved
    assert [p.name for p in folder.iterdir()] == ["h200.json"]
    stored = json.loads(path.read_text())
    assert list(stored) == ["device", "torch", "triton", "date", "runs", "texts"]
    assert list(stored["runs"][0]) == "lesson exercise op shape dtype provider ms metric value turns".split()


def test_a_record_without_runs_can_be_saved(folder):
    bench.save(record(), "h200")
    assert bench.recorded("h200") == record()


def test_without_a_gpu_the_recorded_runs_are_returned_and_nothing_is_called(folder, monkeypatch):
    monkeypatch.setattr(bench, "has_gpu", lambda: False)
    bench.save(record(run(), run(exercise="7.3")), "h200")
    assert bench.bandwidth("7.1", "add", lambda n: 1 / 0, shapes=[(1024,)]).runs == (run(),)


def test_without_a_record_a_sentence_says_how_to_make_one(folder, monkeypatch):
    monkeypatch.setattr(bench, "has_gpu", lambda: False)
    empty = bench.bandwidth("7.1", "add", contestants, shapes=[(1024,)])
    assert "make bench" in empty.source and str(empty) == ""


def test_values_are_work_over_time(gpu):
    measured = bench.bandwidth("7.1", "add", contestants, shapes=[(10**6,)])
    assert measured.value("ours", (10**6,)) == 6.0  # 12 MB in 2 ms
    assert measured.value("copy", (10**6,)) == 8.0  # 8 MB in 1 ms
    assert bench.measured == list(measured.runs)
    assert measured.runs[0].lesson == "07"
    flops = bench.throughput("9.1", "matmul", lambda n: {"ours": (lambda: None, 4e12)}, shapes=[(64,)])
    assert flops.value("ours", (64,)) == 2000.0


def test_curves_and_tables(gpu):
    measured = bench.bandwidth("7.1", "add", contestants, shapes=[(10**9,), (10**6,)])
    assert measured.curve("ours") == ([10**6, 10**9], [6.0, 6000.0])
    assert str(measured).splitlines() == [
        "         GB/s   ours   copy",
        "1,000,000,000  6,000  8,000",
        "    1,000,000      6      8",
    ]
    with pytest.raises(KeyError, match="no run of 'torch'"):
        measured.value("torch", (1,))


def test_a_ratio_is_the_median_of_the_pairs():
    ours, peer = (dataclasses.replace(run(), provider=name) for name in ("ours", "peer"))
    cooling = record(dataclasses.replace(ours, turns=(1.0, 2.0, 4.0)), dataclasses.replace(peer, turns=(2.0, 3.0, 4.0)))
    assert cooling.ratio("ours", "peer", (1024,)) == 1.5
    assert cooling.ratios("ours", "peer") == {(1024,): 1.5}
    assert record(run(ms=2.0), run(provider="peer")).ratio("ours", "peer", (1024,)) == 0.5  # an older record, without turns
    assert cooling.ratios("ours", "absent") == {}
    with pytest.raises(KeyError, match="'absent'"):
        cooling.ratio("ours", "absent", (1024,))


def test_a_wrong_result_is_not_timed(gpu):
    import torch

    x, out, parts = torch.rand(100), torch.empty(100), (torch.empty(100), torch.empty(100))

    def doubled(factor):
        return lambda n: {"ours": (lambda: torch.mul(x, factor, out=out), 8 * n, out), "torch": (lambda: x + x, 8 * n)}

    assert bench.bandwidth("7.1", "double", doubled(2), shapes=[(100,)], against="torch").runs
    with pytest.raises(ValueError, match="ours is not timed: its result differs from that of torch by 5.0e-01"):
        bench.bandwidth("7.1", "double", doubled(3), shapes=[(100,)], against="torch")

    def half_written(n):
        return {"ours": (lambda: parts[0].copy_(x), 8 * n, parts), "torch": (lambda: (x, x), 8 * n)}

    with pytest.raises(ValueError, match="by nan of the norm"):
        bench.bandwidth("7.1", "copies", half_written, shapes=[(100,)], against="torch")


def test_what_a_tool_wrote_is_recorded(gpu, folder, monkeypatch):
    monkeypatch.setattr(bench, "written", [])
    there = bench.text("11.4", "softmax by Inductor", lambda: "def triton_():\n    ...  # µs")
    assert there.texts[0].text.startswith("def triton_") and bench.written == list(there.texts)
    bench.save(record(run(), texts=there.texts), "h200")
    monkeypatch.setattr(bench, "has_gpu", lambda: False)
    here = bench.text("11.4", "softmax by Inductor", lambda: pytest.fail("nothing can be written"))
    assert here.texts == there.texts and here.source.startswith("recorded on NVIDIA H200")
    assert "make bench" in bench.text("11.4", "another", str).source
    merged = classroom_bench.merge(record(texts=there.texts), record(run()))
    assert merged.texts == there.texts and merged.runs == (run(),)


@pytest.mark.skipif(not bench.has_gpu(), reason="needs a GPU")
def test_on_a_gpu_a_graph_does_what_the_function_does():
    import torch

    x, out = torch.rand(2, 1000, device="cuda")
    replay = bench._replayed(lambda: torch.mul(x, 2, out=out))
    out.zero_()
    replay()
    torch.testing.assert_close(out, 2 * x)

    def contestants(n):
        return {"ours": (lambda: torch.mul(x, 2, out=out), 8 * n, out), "torch": (lambda: x + x, 8 * n)}

    timed = bench.bandwidth("7.1", "double", contestants, shapes=[(1000,)], against="torch", graph=True)
    assert timed.value("ours", (1000,)) > 0
    most = bench.peak_memory("7.1", "double", contestants, shapes=[(1000,)])
    assert most.value("ours", (1000,)) == 0 and most.value("torch", (1000,)) > 0


def test_memory_is_recorded_like_time(folder, monkeypatch):
    monkeypatch.setattr(bench, "has_gpu", lambda: False)
    most = dataclasses.replace(run(exercise="10.2"), metric="MB", ms=0.0)
    bench.save(record(run(exercise="10.2"), most), "h200")
    assert bench.peak_memory("10.2", "add", contestants, shapes=[(1024,)], dtype="float32").runs == (most,)


def test_a_new_record_replaces_the_exercises_that_it_measured():
    old = record(run(value=1.0), run(exercise="8.1", value=2.0))
    merged = classroom_bench.merge(old, record(run(value=3.0)))
    assert [(r.exercise, r.value) for r in merged.runs] == [("7.1", 3.0), ("8.1", 2.0)]


def test_old_runs_never_stand_under_new_versions():
    with pytest.raises(ValueError, match="8.1"):
        classroom_bench.merge(record(run(exercise="8.1")), record(run(), torch="2.1"))
    assert classroom_bench.merge(record(run()), record(run(value=3.0), torch="2.1")).torch == "2.1"


@pytest.fixture
def lesson(folder, gpu, tmp_path, monkeypatch):
    """A lesson with three measuring cells, of which the second fails."""
    import nbformat

    cells = ["from tiles import bench\n\ndef work(n):\n    return {'ours': (lambda: None, 8 * n)}"]
    cells += [
        "bench.bandwidth('7.1', 'add', work, shapes=[(1000,)])",
        "1 / 0",
        "bench.bandwidth('7.3', 'add', work, shapes=[(10**6,)])",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    for cell in notebook.cells[1:]:
        cell.metadata["tags"] = ["gpu", "nbval-ignore-output"]
    path = tmp_path / "07_sample.ipynb"
    nbformat.write(notebook, path)
    monkeypatch.setattr(classroom_bench, "lesson_paths", lambda root, names: [path] if names in ([], ["07"]) else [])
    return path


def test_what_can_be_measured_is_recorded(lesson):
    path, errors = classroom_bench.record()
    assert {run.exercise for run in bench.recorded(path.stem).runs} == {"7.1", "7.3"}
    assert len(errors) == 1 and "ZeroDivisionError" in errors[0] and "<07_sample, code cell 2>" in errors[0]


def test_one_exercise_is_measured_alone(lesson):
    bench.save(record(run(value=-1.0), run(exercise="7.3", value=-3.0)), "h200")
    classroom_bench.record(["7.3"])
    values = {run.exercise: run.value for run in bench.recorded("h200").runs}
    assert values["7.1"] == -1.0 and values["7.3"] > 0
    assert bench.only is None


def test_what_was_measured_before_the_end_is_recorded(lesson, monkeypatch):
    ends = classroom_bench.run_lesson

    def measure_and_end(path):
        ends(path)
        raise KeyboardInterrupt

    monkeypatch.setattr(classroom_bench, "run_lesson", measure_and_end)
    with pytest.raises(KeyboardInterrupt):
        classroom_bench.record()
    assert {run.exercise for run in bench.recorded("h200").runs} == {"7.1", "7.3"}


def test_names_of_devices_and_lessons(tmp_path):
    assert classroom_bench.file_name("NVIDIA H200") == "h200"
    assert classroom_bench.file_name("Tesla T4") == "tesla-t4"
    (tmp_path / "solutions").mkdir()
    with pytest.raises(LessonError, match="No lesson is called 99"):
        classroom_bench.lessons(["99"], tmp_path)


def test_without_a_gpu_recording_says_so(monkeypatch, capsys):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert classroom_bench.main([]) == 1
    assert "no GPU" in capsys.readouterr().err


def test_the_source_says_whether_it_was_recorded_or_measured():
    recorded = record(run())
    assert recorded.source == "recorded on NVIDIA H200, torch 2.0, Triton 3.0, 2026-01-02"
    measured = bench.Record("NVIDIA H200", "2.0", "3.0", "2026-01-02", (run(),), measured=True)
    assert measured.select(provider="ours").source == "measured here, on NVIDIA H200, torch 2.0, Triton 3.0, 2026-01-02"


def test_a_file_of_what_was_measured_is_a_record(folder):
    bench.save(bench.Record("NVIDIA H200", "2.0", "3.0", "2026-01-02", (run(),), measured=True), "h200")
    assert bench.recorded().source.startswith("recorded on NVIDIA H200")


def test_measuring_can_be_switched_off(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert bench.has_gpu()
    monkeypatch.setenv("TILES_MEASURE", "0")
    assert not bench.has_gpu()


def test_without_torch_the_recorded_runs_are_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert not bench.has_gpu()
    shown = bench.bandwidth("1.5", "copy", lambda n: pytest.fail("nothing can be measured"), shapes=[(1024,)])
    assert shown.source.startswith("recorded on")


def pair(ours: float, peer: float, **changes) -> tuple[bench.Run, bench.Run]:
    """Runs of ours and of a library, so many ms a call."""
    return tuple(dataclasses.replace(run(provider=p, ms=ms), **changes) for p, ms in (("ours", ours), ("torch.add", peer)))


def report(old: bench.Record, new: bench.Record, *names: str) -> tuple[str, bool]:
    return classroom_bench.report(*classroom_bench.compare(old, new, names))


def test_a_ratio_that_has_fallen_is_found():
    """Both slower, as on a machine that is busy or hot, is no fall; nor is 9 %."""
    old = record(*pair(1.0, 2.0))
    for new, good in ((pair(3.0, 6.0), True), (pair(1.09, 2.0), True), (pair(1.12, 2.0), False), (pair(1.0, 1.7), False)):
        text, right = report(old, record(*new))
        assert right == good and text.startswith("fallen" if not good else "1 ratios compared; 0 have fallen")
    assert "7.1 add, 1024 float32: ours / torch.add: 2.00 -> 1.79 (-11 %)" in report(old, record(*pair(1.12, 2.0)))[0]
    assert report(old, record(*pair(0.5, 2.0))) == (
        "risen    7.1 add, 1024 float32: ours / torch.add: 2.00 -> 4.00 (+100 %)\n"
        "1 ratios compared; 0 have fallen by more than 10%, 0 measurements are missing.",
        True,
    )


def test_what_the_new_record_lacks_is_said():
    old = record(*pair(1.0, 2.0), *pair(1.0, 2.0, op="scale"), dataclasses.replace(run(provider="copy"), op="copy"))
    text, right = report(old, record(*pair(1.0, 2.0)))
    assert not right and "missing  7.1 scale, 1024 float32\n" in text and "missing  7.1 copy, 1024 float32\n" in text
    text, right = report(old, record(*pair(1.0, 2.0)[1:], *old.runs[2:]))
    assert not right and "missing  7.1 add, 1024 float32: ours\n" in text
    text, right = report(old, record(*pair(1.0, 2.0)[:1], *old.runs[2:]))  # a peer need not be installed
    assert right and "no peer  7.1 add: torch.add\n" in text and "1 ratios compared" in text


def test_nothing_compared_is_not_good():
    with pytest.raises(ValueError, match="the old record has no run"):
        report(record(), record(*pair(1.0, 2.0)))
    assert not report(record(run()), record(run()))[1]


def test_some_lessons_are_compared_alone():
    old = record(*pair(1.0, 2.0), *pair(1.0, 2.0, exercise="8.1", lesson="08"))
    for names in (["07"], ["07_vector_add"], ["7.1"]):
        assert report(old, record(*pair(1.0, 2.0)), *names)[1]
    assert not report(old, record(*pair(1.0, 2.0)))[1]


def test_runs_of_two_devices_are_not_compared():
    with pytest.raises(ValueError, match="the old runs are of NVIDIA H200, the new ones of Tesla T4"):
        report(record(*pair(1.0, 2.0)), dataclasses.replace(record(*pair(1.0, 2.0)), device="Tesla T4"))


def test_peak_memory_has_no_ratio_of_times():
    most = tuple(dataclasses.replace(one, metric="MB", ms=0.0) for one in pair(1.0, 1.0))
    assert "1 ratios compared" in report(record(*pair(1.0, 2.0), *most), record(*pair(1.0, 2.0)))[0]


def test_the_comparison_of_two_folders(tmp_path, capsys):
    old, new, empty = tmp_path / "old", tmp_path / "new", tmp_path / "empty"
    bench.save(record(*pair(1.0, 2.0)), "h200", old)
    for ms, status in ((1.0, 0), (1.5, 1)):
        bench.save(record(*pair(ms, 2.0), torch="2.1"), "h200", new)
        assert classroom_bench.main(["--compare", str(old), str(new)]) == status
        told = capsys.readouterr().out
        assert "old: recorded on NVIDIA H200, torch 2.0" in told and "new: recorded on NVIDIA H200, torch 2.1" in told
    assert classroom_bench.main(["--compare", str(old), str(empty)]) == 1
    assert "there is no record in" in capsys.readouterr().err
    bench.save(record(*pair(1.0, 2.0)), "t4", new)
    assert classroom_bench.main(["--compare", str(old), str(new)]) == 1
    assert "the old runs are of t4" in capsys.readouterr().err


def test_a_record_of_its_own_keeps_no_old_run(lesson, tmp_path):
    bench.save(record(run(exercise="8.1"), torch="1.0"), "h200")
    before = bench.recorded("h200")
    path, _ = classroom_bench.record(out=tmp_path / "fresh")
    assert path == tmp_path / "fresh" / "h200.json" and bench.recorded("h200") == before
    assert {run.exercise for run in bench.recorded("h200", path.parent).runs} == {"7.1", "7.3"}


def test_the_workflow_calls_what_there_is():
    yaml = pytest.importorskip("yaml")
    root = Path(__file__).resolve().parent.parent
    workflow = yaml.safe_load((root / ".github/workflows/gpu.yml").read_text(encoding="utf-8"))
    triggers = workflow[True]  # YAML reads the word `on` so
    assert set(triggers) == {"push", "workflow_dispatch"}, "a pull request's code would run on our machine"
    assert all("gpu" in job["runs-on"] for job in workflow["jobs"].values())
    called = {line for job in workflow["jobs"].values() for step in job["steps"] for line in step.get("run", "").split("\n")}
    targets = re.findall(r"^([a-z]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    made = [line.split()[1] for line in called if line.startswith("make ")]
    assert sorted(made) == ["bench", "test"] and set(made) <= set(targets)
