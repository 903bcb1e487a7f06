"""The doctor finds what is there, says what is not, and never dies of what it finds."""

import json
import subprocess
import sys

import pytest

from tiles import doctor
from tiles.doctor import Finding


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "tiles", *arguments], capture_output=True, text=True, timeout=120)


def test_this_machine_is_healthy():
    done = run("doctor", "--json")
    whole = json.loads(done.stdout)
    assert done.returncode == 0 and whole["healthy"]
    status = {finding["name"]: finding["status"] for finding in whole["findings"]}
    assert status["Python"] == status["NumPy"] == status["Jupyter"] == "ok" and "broken" not in status.values()
    assert {lesson["name"] for lesson in whole["lessons"]} >= {"05_online_softmax", "07_vector_add"}


def test_usage():
    done = run("nonsense")
    assert done.returncode == 1 and "python -m tiles doctor" in done.stderr


@pytest.mark.parametrize("missing, name", [("torch", "PyTorch"), ("triton", "Triton")])
def test_without_torch_or_triton_the_numpy_lessons_run(monkeypatch, missing, name):
    for module in [m for m in sys.modules if m.split(".")[0] == missing or m.startswith(("tiles.interpreter", "tiles.compiled"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, missing, None)
    found = [Finding("Python", "ok", ""), getattr(doctor, missing)()]
    assert found[-1].status == "absent" and found[-1].name == name and "NumPy lessons run" in found[-1].what_next
    states = {state.name: state for state in doctor.lessons(found)}
    assert states["05_online_softmax"].state == "runs"
    assert states["07_vector_add"].state == "does not run" and name in states["07_vector_add"].why


def test_a_self_test_that_fails_is_reported(monkeypatch):
    import tiles.interpreter

    def fails():
        raise RuntimeError("Triton 9.9 is installed: run pip install -r requirements.txt")

    monkeypatch.setattr(tiles.interpreter, "selftest", fails)
    found = doctor.interpreter()
    assert found.status == "broken" and "pip install" in found.what_next
    assert not doctor.healthy([found])
    assert "Mend what is broken" in doctor.report([found], [])


def test_a_check_that_dies_is_a_finding(monkeypatch):
    def dies():
        raise OSError("disk on fire")

    monkeypatch.setattr(doctor, "CHECKS", (dies,))
    (found,) = doctor.findings()
    assert found == Finding("dies", "broken", "OSError: disk on fire", "Please report this.")


def test_the_sandbox_that_does_not_start(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'no permissions' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert doctor.sandbox().detail == "bubblewrap does not work here (no permissions)"
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert doctor.sandbox().detail == "bubblewrap is not installed"
