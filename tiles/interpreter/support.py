"""Which releases of Triton this package knows, and what to say about another one. Needs neither PyTorch nor Triton."""

from __future__ import annotations

import importlib.metadata
import importlib.util

OLDEST, NEWEST = "3.6.0", "3.9.0"


def require_triton() -> None:
    """Raise ImportError, saying what to do, where PyTorch or Triton is not installed."""
    missing = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(
            f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} not installed here. The NumPy lessons run without; "
            "lessons with kernels need Linux (or WSL on Windows) and `pip install -r requirements.txt`."
        )


def unsupported(problem: object) -> RuntimeError:
    """The error for a Triton whose interpreter is not as known: what differs, and what to install."""
    return RuntimeError(
        f"Triton {_installed()} is installed, and its interpreter is not what the course knows ({problem}). "
        f"The course supports Triton {OLDEST} to {NEWEST}: run `pip install -r requirements.txt` and restart Python."
    )


def _installed() -> str:
    import triton

    return getattr(triton, "__version__", None) or importlib.metadata.version("triton")
