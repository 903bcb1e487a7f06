"""`python -m tiles doctor`: what works on this machine, what does not and why, and which lessons run.

Every finding is tried, not looked up: the self-test launches a kernel, the compiler compiles one, the sandbox starts.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = (3, 10)
NOTEBOOK_TOOLS = ("jupyterlab", "ipykernel")
GRADING_TOOLS = ("nbval", "pytest")  # not of the student edition, which has no classroom/


@dataclass(frozen=True)
class Finding:
    """One thing that was tried.

    status: "ok", "absent" (the course does without it) or "broken" (mend it before you start).
    detail: what was found. what_next: what it means for the course, or what to do; empty when all is well.
    """

    name: str
    status: str
    detail: str
    what_next: str = ""


@dataclass(frozen=True)
class LessonState:
    """A lesson and whether it runs here: "runs", "runs; measurements are recorded ones", or "does not run"."""

    name: str
    state: str
    why: str = ""


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def python() -> Finding:
    detail = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    if sys.version_info < OLDEST_PYTHON:
        return Finding("Python", "broken", detail, "The course needs Python 3.10 or newer.")
    return Finding("Python", "ok", detail)


def numpy() -> Finding:
    try:
        import numpy as np
    except ImportError as error:
        return Finding("NumPy", "broken", f"cannot be imported: {error}", "pip install -r requirements.txt")
    return Finding("NumPy", "ok", np.__version__)


def notebooks() -> Finding:
    tools = NOTEBOOK_TOOLS + (GRADING_TOOLS if (ROOT / "classroom").is_dir() else ())
    missing = [name for name in tools if not _version(name)]
    if missing:
        return Finding("Jupyter", "broken", f"{', '.join(missing)} not installed", "pip install -r requirements.txt")
    return Finding("Jupyter", "ok", ", ".join(f"{name} {_version(name)}" for name in tools))


def torch() -> Finding:
    try:
        import torch
    except ImportError as error:
        return Finding("PyTorch", "absent", str(error), "The NumPy lessons run. For kernels: pip install -r requirements.txt")
    return Finding("PyTorch", "ok", torch.__version__)


def triton() -> Finding:
    try:
        import triton
    except ImportError as error:
        where = "" if sys.platform == "linux" else f" There is none for {platform.system()}: use WSL or a Linux container."
        return Finding("Triton", "absent", str(error), f"The NumPy lessons run.{where}")
    return Finding("Triton", "ok", triton.__version__)


def gpu() -> Finding:
    without = "Kernels run in the strict interpreter; measurements are recorded ones."
    try:
        import torch

        if not torch.cuda.is_available():
            return Finding("GPU", "absent", "PyTorch sees none", without)
        major, minor = torch.cuda.get_device_capability()
        memory = torch.cuda.get_device_properties(0).total_memory / 2**30
        detail = f"{torch.cuda.get_device_name()}, compute capability {major}.{minor}, {memory:.0f} GiB, driver {_driver()}"
        assert torch.ones(2, device="cuda").sum().item() == 2
    except ImportError:
        return Finding("GPU", "absent", "without PyTorch none can be used", without)
    except Exception as error:  # a driver that does not fit shows as an error of many kinds
        advice = "Update the driver, or hide the GPU: CUDA_VISIBLE_DEVICES="
        return Finding("GPU", "broken", f"a tensor cannot be made there: {_first_line(error)}", advice)
    if major < 7:
        advice = "Triton needs compute capability 7.0. Hide the GPU: CUDA_VISIBLE_DEVICES="
        return Finding("GPU", "broken", detail, advice)
    return Finding("GPU", "ok", detail)


def _driver() -> str:
    if not shutil.which("nvidia-smi"):
        return "unknown"
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return (subprocess.run(query, capture_output=True, text=True).stdout.split() or ["unknown"])[0]


def interpreter() -> Finding:
    try:
        from tiles.interpreter import selftest
    except ImportError as error:
        return Finding("Interpreter", "absent", _first_line(error), "Lessons with kernels do not run.")
    except RuntimeError as error:
        return Finding("Interpreter", "broken", "the self-test fails", str(error))
    started = time.perf_counter()
    try:
        selftest()
    except RuntimeError as error:
        return Finding("Interpreter", "broken", "the self-test fails", str(error))
    return Finding("Interpreter", "ok", f"self-test passed in {1000 * (time.perf_counter() - started):.0f} ms")


def compiler() -> Finding:
    try:
        from tiles.compiled import NoCompiler, inspect_kernel
        from tiles.interpreter.selftest import known_kernel
    except ImportError as error:
        return Finding("Compiler", "absent", _first_line(error), "Registers, spills and instructions cannot be shown here.")
    try:
        started = time.perf_counter()
        signature = {"x_ptr": "*fp32:16", "out_ptr": "*fp32:16", "n_elements": "i32", "store_from": "i32"}
        compiled = inspect_kernel(known_kernel, signature, WITH_OTHER=True, BLOCK_SIZE=1024, target="H100")
    except NoCompiler as error:
        return Finding("Compiler", "absent", _first_line(error), "Registers, spills and instructions cannot be shown here.")
    except Exception as error:
        return Finding("Compiler", "broken", _first_line(error), "pip install --force-reinstall triton, as in requirements.txt")
    seconds = time.perf_counter() - started
    return Finding("Compiler", "ok", f"a kernel for the H100 in {seconds:.1f} s: {compiled.registers} registers")


def sandbox() -> Finding:
    unprotected = "Needed by graders alone: without it a graded notebook runs with your rights."
    if not shutil.which("bwrap"):
        return Finding("Sandbox", "absent", "bubblewrap is not installed", unprotected)
    trial = subprocess.run(["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"], capture_output=True, text=True)
    if trial.returncode:
        reason = (trial.stderr.strip().splitlines() or ["no reason given"])[0]
        return Finding("Sandbox", "absent", f"bubblewrap does not work here ({reason})", unprotected)
    return Finding("Sandbox", "ok", "bubblewrap works")


CHECKS: tuple[Callable[[], Finding], ...] = (
    python,
    numpy,
    notebooks,
    torch,
    triton,
    gpu,
    interpreter,
    compiler,
    sandbox,
)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def findings() -> Iterator[Finding]:
    """Every check in turn; one that fails in an unknown way is a finding as well."""
    for check in CHECKS:
        try:
            yield check()
        except Exception as error:
            yield Finding(check.__name__, "broken", f"{type(error).__name__}: {_first_line(error)}", "Please report this.")


def lessons(found: list[Finding], folder: Path | None = None) -> list[LessonState]:
    """Which lessons run here. folder: where the notebooks are (default: notebooks/ of the course)."""
    status = {finding.name: finding.status for finding in found}
    kernels = all(status.get(name) == "ok" for name in ("PyTorch", "Triton", "Interpreter"))
    states = []
    for path in sorted((folder or ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        measures = any("gpu" in cell["metadata"].get("tags", []) for cell in cells)
        if re.search(r"^(import|from) (triton|torch)\b", source, re.M) and not kernels:
            why = next(
                (f"{f.name}: {f.detail}" for f in found if f.name in ("PyTorch", "Triton", "Interpreter") and f.status != "ok"),
                "",
            )
            states.append(LessonState(path.stem, "does not run", why))
        elif measures and status.get("GPU") != "ok":
            states.append(LessonState(path.stem, "runs; measurements are recorded ones", "no GPU"))
        else:
            states.append(LessonState(path.stem, "runs"))
    return states


def healthy(found: list[Finding]) -> bool:
    """Whether the course can be worked through: nothing is broken, though something may be absent."""
    return all(finding.status != "broken" for finding in found)


def report(found: list[Finding], states: list[LessonState]) -> str:
    """The findings and lessons as text."""
    lines = []
    for finding in found:
        lines.append(f"{finding.name:12} {finding.status:7} {finding.detail}")
        if finding.what_next:
            lines.append(f"{'':20} {finding.what_next}")
    lines += ["", *(f"{state.name:24} {state.state}{f' ({state.why})' if state.why else ''}" for state in states)]
    verdict = "The course can be worked through here." if healthy(found) else "Mend what is broken, then run this again."
    return "\n".join([*lines, "", verdict])


def main(arguments: list[str]) -> int:
    """`doctor [--json]`. Returns 0 when the course can be worked through here."""
    found = list(findings())
    states = lessons(found)
    if "--json" in arguments:
        whole = {"healthy": healthy(found), "findings": [asdict(f) for f in found], "lessons": [asdict(s) for s in states]}
        print(json.dumps(whole, indent=1))
    else:
        print(report(found, states))
    return 0 if healthy(found) else 1
