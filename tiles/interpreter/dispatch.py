"""Where a launch goes: decided per launch, by class-level methods of Triton's that are replaced once, at import."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import weakref
from collections.abc import Iterator
from typing import Any

from triton.runtime.autotuner import Autotuner
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from tiles.blanks import refuse_blanks
from tiles.interpreter.errors import KernelError
from tiles.interpreter.launch import RUNNING, bound_function, interpret

LOCK = threading.RLock()
"""Held while a launch is interpreted or compiled: hold it around `triton.compile` as well."""

COMPLETE: weakref.WeakSet = weakref.WeakSet()  # functions of kernels that were seen without blanks
FORCED: list[bool] = []

_native_call, _native_run, _native_tune = JITFunction.__call__, JITFunction.run, Autotuner.run


@contextlib.contextmanager
def interpreted() -> Iterator[None]:
    """Interpret every launch inside, also those whose tensors live on the GPU: they are copied to the host and back."""
    FORCED.append(True)
    try:
        yield
    finally:
        FORCED.pop()


def is_native(args: tuple, kwargs: dict[str, Any]) -> bool:
    """Whether a launch with these arguments runs on the device: one of its tensors lives there."""
    return not FORCED and (any(map(_on_device, args)) or any(map(_on_device, kwargs.values())))


def _on_device(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_on_device, value))
    return bool(getattr(value, "is_cuda", False) or getattr(getattr(value, "base", None), "is_cuda", False))


def _run(self: JITFunction, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
    """`kernel[grid](...)`."""
    if RUNNING.functions is not None:
        name = self.__name__
        raise KernelError(
            f"A kernel cannot launch another one. Call {name}(...) without a grid, as a helper", "launch", kernel=name
        )
    if self.fn not in COMPLETE:
        refuse_blanks(f"The kernel {self.__name__}", self)
        COMPLETE.add(self.fn)
    with LOCK:
        if warmup or is_native(args, kwargs):
            return _native_run(self, *args, grid=grid, warmup=warmup, **kwargs)
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        return interpret(self, args, kwargs, grid)


def _call(self: JITFunction, *args: Any, **kwargs: Any) -> Any:
    """A kernel or helper called by its name: by a kernel that is being interpreted, or by mistake."""
    if RUNNING.functions is None:
        return _native_call(self, *args, **kwargs)
    return bound_function(self)(*args, **kwargs)


def _tune(self: Autotuner, *args: Any, **kwargs: Any) -> Any:
    """An autotuned launch: without a device nothing can be timed, so the first configuration that survives pruning runs."""
    if is_native(args, kwargs):
        return _native_tune(self, *args, **kwargs)
    self.nargs = dict(zip(self.arg_names, args))
    try:
        config = self.best_config = self.prune_configs(kwargs)[0]
        everything = {**self.nargs, **kwargs, **config.all_kwargs()}
        self.pre_hook(everything, reset_only=True)
        if config.pre_hook is not None:
            config.pre_hook(everything)
        return self.fn.run(*args, **kwargs, **config.all_kwargs())
    finally:
        self.nargs = None


def refuse_interpret_mode() -> None:
    """Raise RuntimeError when TRITON_INTERPRET is set: it would take the decision away from `tiles`."""
    if os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "on", "yes", "y"):
        raise RuntimeError(
            "TRITON_INTERPRET is set. The course decides for every launch whether it is interpreted, so unset the variable "
            '(in a notebook: `del os.environ["TRITON_INTERPRET"]`) and restart Python.'
        )


def install() -> None:
    """Put the dispatch in place; a second call changes nothing."""
    refuse_interpret_mode()
    if JITFunction.run is _run:
        return
    JITFunction.run, JITFunction.__call__, Autotuner.run = _run, _call, _tune
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # the default of every release so far; 3.9 warns where it is unset
    own = InterpretedFunction.__init__

    @functools.wraps(own)
    def refuse_then_init(self: InterpretedFunction, *args: Any, **kwargs: Any) -> None:
        refuse_interpret_mode()
        own(self, *args, **kwargs)

    InterpretedFunction.__init__ = refuse_then_init
    # A child forked while another thread interprets would inherit a half-patched language and a lock nobody releases.
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)
