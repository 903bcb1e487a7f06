"""How long a launch takes in the strict interpreter, with checks and counts, beside Triton's own: `python tests/interpreter_speed.py`.

Each runs in a process of its own, in turn; the table has the median CPU time of a launch in milliseconds.
"""

import json
import os
import statistics
import subprocess
import sys
import time

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out_ptr + offs, tl.load(x_ptr + offs, mask=mask) + 1.0, mask=mask)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    offs_m, offs_n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK, BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        offs_k = start + tl.arange(0, BLOCK)
        mask = offs_k < n
        a = tl.load(a_ptr + offs_m[:, None] * n + offs_k[None, :], mask=(offs_m[:, None] < n) & mask[None, :], other=0.0)
        b = tl.load(b_ptr + offs_k[:, None] * n + offs_n[None, :], mask=mask[:, None] & (offs_n[None, :] < n), other=0.0)
        acc += tl.dot(a, b)
    tl.store(c_ptr + offs_m[:, None] * n + offs_n[None, :], acc, mask=(offs_m[:, None] < n) & (offs_n[None, :] < n))


@triton.jit
def attention_kernel(q_ptr, k_ptr, v_ptr, o_ptr, n, scale, D: tl.constexpr, BLOCK: tl.constexpr):
    head, offs_d = tl.program_id(1) * n * D, tl.arange(0, D)
    offs_m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = tl.load(q_ptr + head + offs_m[:, None] * D + offs_d[None, :], mask=offs_m[:, None] < n, other=0.0)
    m_i = tl.full([BLOCK], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK], tl.float32)
    acc = tl.zeros([BLOCK, D], tl.float32)
    for start in range(0, n, BLOCK):
        offs_n = start + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + head + offs_n[None, :] * D + offs_d[:, None], mask=offs_n[None, :] < n, other=0.0)
        v = tl.load(v_ptr + head + offs_n[:, None] * D + offs_d[None, :], mask=offs_n[:, None] < n, other=0.0)
        s = tl.where(offs_n[None, :] < n, tl.dot(q, k) * scale, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(s - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p, v)
        m_i = m_new
    o_ptrs = o_ptr + head + offs_m[:, None] * D + offs_d[None, :]
    tl.store(o_ptrs, acc / l_i[:, None], mask=offs_m[:, None] < n)


def cases():
    x, a, q = torch.randn(1000), torch.randn(256, 256), torch.randn(2, 512, 64)
    out, c, o = torch.empty_like(x), torch.empty_like(a), torch.empty_like(q)
    return {
        "tiny launch": (50, lambda: add_kernel[(1,)](x, out, 1000, BLOCK=1024)),
        "matmul 256³, tiles of 32": (3, lambda: matmul_kernel[(8, 8)](a, a, c, 256, BLOCK=32)),
        "attention 2 x 512 x 64": (3, lambda: attention_kernel[(8, 2)](q, q, q, o, 512, 0.125, D=64, BLOCK=64)),
    }


def measure(strict: bool) -> dict[str, float]:
    """Median CPU time of a launch in milliseconds, by case."""
    import contextlib

    torch.set_num_threads(1)
    counting = contextlib.nullcontext
    if strict:
        from tiles.interpreter import count as counting
    times = {}
    for name, (launches, launch) in cases().items():
        taken = []
        for _ in range(launches + 1):
            started = time.process_time()
            with counting():
                launch()
            taken.append(1000 * (time.process_time() - started))
        times[name] = statistics.median(taken[1:])
    return times


def in_a_process(strict: bool) -> dict[str, float]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TRITON_INTERPRET": "0" if strict else "1"}
    command = [sys.executable, __file__, "strict" if strict else "plain"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        who = "the strict interpreter" if strict else "Triton's own interpreter"
        sys.exit(
            f"{who} of Triton {triton.__version__} fails here: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}"
        )
    return json.loads(done.stdout)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1] == "strict")))
    else:
        turns = [(in_a_process(False), in_a_process(True)) for _ in range(3)]
        print(f"Triton {triton.__version__}, ms of CPU a launch: TRITON_INTERPRET=1, strict with checks and counts, ratio")
        for name in turns[0][0]:
            plain, strict = (statistics.median(turn[which][name] for turn in turns) for which in (0, 1))
            print(f"{name:26} {plain:9.2f} {strict:9.2f} {plain / strict:6.2f}")
