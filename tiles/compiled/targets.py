"""The GPUs that the course compiles for, and how many blocks of a kernel fit on one of their multiprocessors."""

from __future__ import annotations

from dataclasses import dataclass

from tiles.gpus import GPU, GPUS, KIB
from tiles.memory import WARP


@dataclass(frozen=True)
class Target:
    """A GPU to compile for, with the limits that decide how many blocks fit on a streaming multiprocessor (SM).

    arch: compute capability times 10. Memory in bytes, registers in 32-bit registers.
    """

    name: str
    arch: int
    multiprocessors: int
    shared_per_sm: int
    shared_per_block: int
    shared_reserved: int
    shared_unit: int
    warps_per_sm: int
    blocks_per_sm: int
    registers_per_sm: int = 64 * 1024
    register_unit: int = 256
    partitions: int = 4


# Sources of what `tiles.gpus` does not have. Shared memory of a block (opt-in): CUDA C++ Programming Guide, "Technical
# Specifications per Compute Capability". The 1 KiB that the system reserves in each block: the tuning guides of Ampere,
# Hopper and Blackwell, "Occupancy". Units: cuda_occupancy.h, which comes with CUDA: cudaOccSMemAllocationGranularity (256
# bytes for 7.x, 128 from 8.0 on), cudaOccRegAllocationGranularity (256 registers a warp), cudaOccSubPartitionsPerMultiprocessor (4).


def _target(gpu: GPU) -> Target:
    reserved = KIB if gpu.arch >= 80 else 0
    return Target(
        name=gpu.name,
        arch=gpu.arch,
        multiprocessors=gpu.sms,
        shared_per_sm=gpu.shared_per_sm,
        shared_per_block=gpu.shared_per_sm - reserved,
        shared_reserved=reserved,
        shared_unit=128 if gpu.arch >= 80 else 256,
        warps_per_sm=gpu.warps_per_sm,
        blocks_per_sm=gpu.blocks_per_sm,
        registers_per_sm=gpu.registers_per_sm,
    )


TARGETS = {name: _target(gpu) for name, gpu in GPUS.items()}
"""The GPUs that the course compiles for, by name."""

TENSOR_MEMORY_COLUMNS = 512  # of an SM with tcgen05: PTX ISA, "Tensor Memory"


def find_target(target: str | Target) -> Target:
    """The target of that name; a Target is returned as it is. Raises ValueError with the names that there are."""
    if isinstance(target, Target):
        return target
    if str(target).upper() in TARGETS:
        return TARGETS[str(target).upper()]
    raise ValueError(f"{target!r} is no target; there are {', '.join(TARGETS)}")


@dataclass(frozen=True)
class Occupancy:
    """How much of a multiprocessor a kernel fills.

    blocks, warps: resident at a time on one SM. share: of the warps that the SM could hold, 0 to 1.
    limits: blocks that each resource alone would allow ({"registers": 5, ...}); limited_by: the tightest ones.
    """

    blocks: int
    warps: int
    share: float
    limits: dict[str, int]
    limited_by: str


def occupancy(registers: int, shared: int, warps: int, target: str | Target = "H100", tensor_memory: int = 0) -> Occupancy:
    """Blocks and warps that fit on one SM, by the vendor's formula (cuda_occupancy.h).

    registers: per thread. shared: bytes per block, static and dynamic, without what the system reserves.
    warps: per block, 1 to 32. target: a name such as "H100", or a Target. tensor_memory: columns per block (Blackwell).
    Zero blocks mean that the kernel cannot be launched there. Raises ValueError for numbers that no kernel has.
    """
    target = find_target(target)
    if not (1 <= warps <= 32 and 1 <= registers <= 255 and shared >= 0):
        raise ValueError("a kernel has 1 to 255 registers per thread, 1 to 32 warps per block and no negative memory")
    limits = {
        "registers": _blocks_by_registers(registers, warps, target),
        "warps": target.warps_per_sm // warps,
        "blocks": target.blocks_per_sm,
    }
    if shared or target.shared_reserved:
        limits["shared memory"] = _blocks_by_shared(shared, target)
    if tensor_memory:
        limits["tensor memory"] = TENSOR_MEMORY_COLUMNS // tensor_memory
    blocks = min(limits.values())
    limited_by = " and ".join(name for name, limit in limits.items() if limit == blocks)
    return Occupancy(blocks, blocks * warps, blocks * warps / target.warps_per_sm, limits, limited_by)


def _round_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit


def _blocks_by_registers(registers: int, warps: int, target: Target) -> int:
    per_warp = _round_up(registers * WARP, target.register_unit)
    if per_warp * _round_up(warps, target.partitions) > target.registers_per_sm:
        return 0
    warps_of_partition = target.registers_per_sm // target.partitions // per_warp
    return warps_of_partition * target.partitions // warps


def _blocks_by_shared(shared: int, target: Target) -> int:
    if shared > target.shared_per_block:
        return 0
    per_block = _round_up(shared + target.shared_reserved, target.shared_unit)
    return target.shared_per_sm // per_block
