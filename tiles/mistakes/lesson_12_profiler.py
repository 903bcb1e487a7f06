"""Mistakes in lesson 12, from exercise 12.3 on, what profilers say: see `tiles.mistakes`."""

import numpy as np


def any_of(*mistakes):
    """A mistake that people make in several ways: the result where one of these functions gives it."""

    def given(*inputs, result, **options):
        for mistake in mistakes:
            values = mistake(*inputs, **options)
            same = [
                result if value is not None and np.shape(value) == np.shape(result) and np.allclose(value, result) else None
                for value in (values if isinstance(values, tuple) else (values,))
            ]
            if any(value is not None for value in same):
                return tuple(same)
        return None

    return given


# ---- 12.3: where a kernel stands

RESULTS = ("tflops", "of_bandwidth", "of_roof", "occupancy", "filled")


def stands(**wrong):
    """Exercise 12.3 with one result computed otherwise, from the inputs by name."""

    def given(flops, nbytes, ms, programs, num_warps, blocks, peak, gpu):
        names = dict(zip(("flops", "nbytes", "ms", "programs", "num_warps", "blocks", "peak", "gpu"), (
            flops, nbytes, ms, programs, num_warps, blocks, peak, gpu)))  # fmt: skip
        names |= {"seconds": ms / 1e3, "slots": blocks * gpu.sms, "waves": -(-programs // (blocks * gpu.sms))}
        return tuple(wrong[name](**names) if name in wrong else None for name in RESULTS)

    return given


# ---- 12.4a: a trace


def kernels_of(events):
    return [event for event in events if event["cat"] == "kernel"]


def walked(
    kernels=lambda events, name: kernels_of(events),
    idle=lambda k, busy: max(0, k["ts"] - busy),
    busy=lambda k, busy: max(busy, k["ts"] + k["dur"]),
):
    """Exercise 12.4a with other steps of its loop."""

    def given(events, name):
        chosen = kernels(events, name)
        busy_until = first = chosen[0]["ts"]
        total = 0
        for k in chosen:
            total += idle(k, busy_until)
            busy_until = busy(k, busy_until)
        return busy_until - first, total, None

    return given


def shared(part):
    """Exercise 12.4a with another share, from the kernels of the name, all kernels, and the span."""

    def given(events, name):
        kernels = kernels_of(events)
        span = max(k["ts"] + k["dur"] for k in kernels) - kernels[0]["ts"]
        return None, None, part([k["dur"] for k in kernels if k["name"] == name], [k["dur"] for k in kernels], span)

    return given


def named_as(alike):
    """Exercise 12.4a with the share of all kernels whose name is alike."""
    return lambda events, name: (
        None, None, sum(k["dur"] for k in kernels_of(events) if alike(k["name"], name)) / sum(k["dur"] for k in kernels_of(events))
    )  # fmt: skip


def share_of_busy(events, name):
    """Exercise 12.4a with the share of the time in which any kernel runs."""
    busy_until, busy = 0, 0
    for k in kernels_of(events):
        end = k["ts"] + k["dur"]
        busy, busy_until = busy + max(0, end - max(busy_until, k["ts"])), max(busy_until, end)
    return None, None, sum(k["dur"] for k in kernels_of(events) if k["name"] == name) / busy


# ---- 12.4b: counters


def counted(**wrong):
    """Exercise 12.4b with one result computed otherwise, from the counters k, moved, needed, sectors and the GPU."""

    def given(k, needed, gpu):
        names = {"k": k, "needed": needed, "gpu": gpu, "moved": k["dram_read"] + k["dram_write"]}
        names["sectors"] = k["sectors_loaded"] + k["sectors_stored"]
        return tuple(wrong[n](**names) if n in wrong else None for n in ("of_bandwidth", "excess", "reuse", "starved"))

    return given


# ---- 12.5: a curve


def speeds(**wrong):
    """Exercise 12.5 with one result computed otherwise, from sizes, nbytes and ms."""

    def given(sizes, nbytes, ms):
        median = nbytes / np.median(ms, axis=1) / 1e6
        return tuple(wrong[n](sizes, nbytes, ms, median) if n in wrong else None for n in ("median", "low", "high", "enough"))

    return given


def stays(sizes, nbytes, ms, median):
    """The size from which on all have 90 % of the best median; nan where none has."""
    below = np.flatnonzero(median < 0.9 * median.max())
    return sizes[below[-1] + 1] if 0 < len(below) and below[-1] + 1 < len(sizes) else np.nan


MISTAKES = {
    "12.3": {
        "ms are milliseconds, and a TFLOP/s counts seconds: `seconds` is there.":
            stands(tflops=lambda flops, ms, **_: flops / ms / 1e12),
        "That is in GFLOP/s: a TFLOP has 1e12 FLOPs.": stands(tflops=lambda flops, seconds, **_: flops / seconds / 1e9),
        "That is in FLOP/s: a TFLOP has 1e12 FLOPs.": stands(tflops=lambda flops, seconds, **_: flops / seconds),
        "Those are bytes in a second, and tflops counts FLOPs.":
            stands(tflops=lambda nbytes, seconds, **_: nbytes / seconds / 1e12),
        "That is in GB/s: which share of gpu.bandwidth is it?":
            stands(of_bandwidth=lambda nbytes, seconds, **_: nbytes / seconds / 1e9),
        "That is in B/s: which share of gpu.bandwidth is it?": stands(of_bandwidth=lambda nbytes, seconds, **_: nbytes / seconds),
        "ms are milliseconds, and gpu.bandwidth is in bytes a second.":
            stands(of_bandwidth=lambda nbytes, ms, gpu, **_: nbytes / ms / gpu.bandwidth),
        "Upside down: the share is what the kernel moves in a second, divided by what the GPU could.":
            stands(of_bandwidth=lambda nbytes, seconds, gpu, **_: gpu.bandwidth / (nbytes / seconds)),
        "Those are FLOPs: the bandwidth is about nbytes.":
            stands(of_bandwidth=lambda flops, seconds, gpu, **_: flops / seconds / gpu.bandwidth),
        "Those are seconds, the least that the bytes take: which share of `seconds` are they?":
            stands(of_bandwidth=lambda nbytes, gpu, **_: nbytes / gpu.bandwidth),
        "That is in percent: a share goes from 0 to 1.": stands(
            of_bandwidth=lambda nbytes, seconds, gpu, **_: 100 * nbytes / seconds / gpu.bandwidth,
            of_roof=lambda flops, nbytes, seconds, peak, gpu, **_: 100 * max(flops / peak, nbytes / gpu.bandwidth) / seconds,
            occupancy=lambda blocks, num_warps, gpu, **_: 100 * blocks * num_warps / gpu.warps_per_sm,
            filled=lambda programs, waves, slots, **_: 100 * programs / (waves * slots),
        ),
        "tflops is in 1e12 FLOP/s, and what the roofline allows is in FLOP/s: divide like by like.":
            stands(of_roof=lambda flops, nbytes, seconds, peak, gpu, **_: flops / seconds / 1e12 / min(peak, flops / nbytes * gpu.bandwidth)),
        "tflops is in 1e12 FLOP/s, and peak is in FLOP/s; nor is the peak all that the roofline looks at.":
            stands(of_roof=lambda flops, seconds, peak, **_: flops / seconds / 1e12 / peak),
        "That is the share of the peak, and memory keeps this kernel below it: what does the roofline allow?":
            stands(of_roof=lambda flops, seconds, peak, **_: flops / seconds / peak),
        "That is the share of the bandwidth, and here the arithmetic takes longer than the bytes.":
            stands(of_roof=lambda nbytes, seconds, gpu, **_: nbytes / seconds / gpu.bandwidth),
        "The peak is given, for the kind of numbers that the kernel works on: `peak`.": any_of(
            stands(of_roof=lambda flops, nbytes, seconds, gpu, **_: max(flops / gpu.fp32, nbytes / gpu.bandwidth) / seconds),
            stands(of_roof=lambda flops, nbytes, seconds, gpu, **_: max(flops / gpu.fp16, nbytes / gpu.bandwidth) / seconds),
        ),
        "Of the two times, the longer one has to go by.":
            stands(of_roof=lambda flops, nbytes, seconds, peak, gpu, **_: min(flops / peak, nbytes / gpu.bandwidth) / seconds),
        "Arithmetic and traffic go on at the same time: the longer of the two is enough.":
            stands(of_roof=lambda flops, nbytes, seconds, peak, gpu, **_: (flops / peak + nbytes / gpu.bandwidth) / seconds),
        "Upside down: the share is the shortest possible time, divided by the time it took.":
            stands(of_roof=lambda flops, nbytes, seconds, peak, gpu, **_: seconds / max(flops / peak, nbytes / gpu.bandwidth)),
        "ms are milliseconds, and both times are in seconds.":
            stands(of_roof=lambda flops, nbytes, ms, peak, gpu, **_: max(flops / peak, nbytes / gpu.bandwidth) / ms),
        "Those are seconds: which share of the time it took are they?":
            stands(of_roof=lambda flops, nbytes, peak, gpu, **_: max(flops / peak, nbytes / gpu.bandwidth)),
        "So many warps are on an SM: which share of gpu.warps_per_sm is that?":
            stands(occupancy=lambda blocks, num_warps, **_: blocks * num_warps),
        "Those are the warps of one program, and an SM holds `blocks` of them.":
            stands(occupancy=lambda num_warps, gpu, **_: num_warps / gpu.warps_per_sm),
        "Each program has num_warps warps.": stands(occupancy=lambda blocks, gpu, **_: blocks / gpu.warps_per_sm),
        "That is the share of the blocks that an SM may hold; occupancy counts warps.":
            stands(occupancy=lambda blocks, gpu, **_: blocks / gpu.blocks_per_sm),
        "Those are threads, and gpu.warps_per_sm counts warps.":
            stands(occupancy=lambda blocks, num_warps, gpu, **_: blocks * num_warps * 32 / gpu.warps_per_sm),
        "Not every SM holds 64 warps: gpu.warps_per_sm knows.": stands(occupancy=lambda blocks, num_warps, **_: blocks * num_warps / 64),
        "An SM holds `blocks` programs where there are enough; how many there are, `filled` tells.": any_of(
            stands(occupancy=lambda blocks, programs, num_warps, gpu, **_: min(blocks, programs / gpu.sms) * num_warps / gpu.warps_per_sm),
            stands(occupancy=lambda blocks, programs, num_warps, gpu, **_: min(blocks, programs) * num_warps / gpu.warps_per_sm),
        ),
        "All programs are not on one SM: it holds `blocks` of them at once.":
            stands(occupancy=lambda programs, num_warps, gpu, **_: programs * num_warps / gpu.warps_per_sm),
        "That is how many times the slots are filled, so it can exceed 1: all waves together have `waves * slots`.":
            stands(filled=lambda programs, slots, **_: programs / slots),
        "Upside down: programs are fewer than the slots of all waves.":
            stands(filled=lambda programs, slots, waves, **_: waves * slots / programs),
        "That is the last wave; those before it are full, and count too.":
            stands(filled=lambda programs, slots, waves, **_: (programs - (waves - 1) * slots) / slots),
        "Where the last wave is full, programs % slots is 0: how many programs are there, and how many places?":
            stands(filled=lambda programs, slots, waves, **_: ((waves - 1) * slots + programs % slots) / (waves * slots)),
        "An SM holds `blocks` programs at once, so a wave has `slots` places, not one for each SM.":
            stands(filled=lambda programs, waves, gpu, **_: programs / (waves * gpu.sms)),
        "A slot counts whether or not there is a program for it: an SM has `blocks` of them, however few the programs are.":
            stands(filled=lambda programs, blocks, gpu, **_: programs / (-(-programs // (few := min(blocks, programs) * gpu.sms)) * few)),
        "Each of the waves has `slots` slots, on all SMs together.":
            stands(filled=lambda programs, waves, blocks, **_: programs / (waves * blocks)),
    },
    "12.4a": {
        "That counts how long kernels overlap: idle is the time from busy_until to the next start.":
            walked(idle=lambda k, busy: max(0, busy - k["ts"])),
        "Among those are launches and waits, which take time on the CPU alone: where is cat \"kernel\"?": walked(lambda events, _: events),
        "Those are the launches: they take time on the CPU.": walked(lambda events, _: [e for e in events if e["cat"] == "launch"]),
        "A wait is the CPU's: only entries whose cat is \"kernel\" run on the GPU.":
            walked(lambda events, _: [e for e in events if e["cat"] != "launch"]),
        "A launch is the CPU's: only entries whose cat is \"kernel\" run on the GPU.":
            walked(lambda events, _: [e for e in events if e["cat"] != "wait"]),
        "A copy (gpu_memcpy) or a fill (gpu_memset) is no kernel: where is cat \"kernel\"?":
            walked(lambda events, _: [e for e in events if e["cat"] not in ("launch", "wait")]),
        "Those are the kernels of that name: the GPU is busy with the others as well.":
            walked(lambda events, name: [e for e in kernels_of(events) if e["name"] == name]),
        "dur is how long a kernel takes, and then the GPU works: idle are the gaps before kernels.":
            walked(idle=lambda k, busy: k["dur"]),
        "Where a kernel starts while another one runs, `ts - busy_until` is negative, and nothing is idle.":
            walked(idle=lambda k, busy: k["ts"] - busy),
        "A kernel that starts while another one runs leaves no gap, however long they overlap.":
            walked(idle=lambda k, busy: abs(k["ts"] - busy)),
        "A long kernel may outlast one that starts after it: the GPU is busy until the later of the two ends.":
            walked(busy=lambda k, busy: k["ts"] + k["dur"]),
        "ts is when a kernel starts; the GPU is busy until it ends.": walked(busy=lambda k, busy: max(busy, k["ts"])),
        "That is when the last kernel started: the GPU is busy until it ends, dur later.": walked(busy=lambda k, busy: k["ts"]),
        "That adds up durations, and leaves the gaps between kernels out: where does this kernel end?":
            walked(busy=lambda k, busy: busy + k["dur"]),
        "dur is how long a kernel takes; it ends at ts + dur.": walked(busy=lambda k, busy: max(busy, k["dur"])),
        "ts and dur have fractions of a µs: nothing is rounded.": any_of(
            walked(idle=lambda k, busy: max(0, int(k["ts"]) - int(busy))),
            walked(busy=lambda k, busy: max(busy, int(k["ts"] + k["dur"]))),
            walked(busy=lambda k, busy: max(busy, round(k["ts"] + k["dur"]))),
        ),
        "The name has to be equal: a kernel with a name like it is another one.": any_of(
            named_as(lambda called, name: name in called), named_as(str.startswith), named_as(lambda called, name: called in name)
        ),
        "That is the share of the time that goes by, gaps included; asked is that of all kernels' time, added up.":
            shared(lambda named, all_, span: sum(named) / span),
        "That is how many of the kernels have this name: how much of their time is it?":
            shared(lambda named, all_, span: len(named) / len(all_)),
        "That is in µs: which share of all kernels' time is it?": shared(lambda named, all_, span: sum(named)),
        "That is in percent: a share goes from 0 to 1.": shared(lambda named, all_, span: 100 * sum(named) / sum(all_)),
        "Kernels overlap: all kernels' time is the sum of their own times, not the time in which any runs.": share_of_busy,
        "That is divided by the time of all entries, and launches and waits are the CPU's: by that of all kernels.":
            lambda events, name: (None, None, sum(e["dur"] for e in kernels_of(events) if e["name"] == name) / sum(e["dur"] for e in events)),
        "All kernels' time includes that of the name.": shared(lambda named, all_, span: sum(named) / (sum(all_) - sum(named))),
        "That is all kernels' time by itself: take those of the name alone above the line.": shared(lambda named, all_, span: 1),
        "Several kernels may have the name: add up all of them.": any_of(
            shared(lambda named, all_, span: named[0] / sum(all_)), shared(lambda named, all_, span: named[-1] / sum(all_))
        ),
    },
    "12.4b": {
        "ns are nanoseconds, and gpu.bandwidth is in bytes a second.":
            counted(of_bandwidth=lambda k, moved, gpu, **_: moved / k["ns"] / gpu.bandwidth),
        "ns are nanoseconds: there are 1e9 in a second.":
            counted(of_bandwidth=lambda k, moved, gpu, **_: moved / (k["ns"] / 1e3) / gpu.bandwidth),
        "ns are nanoseconds: there are 1e9 in a second, not 1e6.":
            counted(of_bandwidth=lambda k, moved, gpu, **_: moved / (k["ns"] / 1e6) / gpu.bandwidth),
        "That is in GB/s: which share of gpu.bandwidth is it?": counted(of_bandwidth=lambda k, moved, **_: moved / k["ns"]),
        "That is in B/s: which share of gpu.bandwidth is it?": counted(of_bandwidth=lambda k, moved, **_: moved / k["ns"] * 1e9),
        "Those are the bytes needed, and memory may have moved more: `moved` counts them.":
            counted(of_bandwidth=lambda k, needed, gpu, **_: needed / k["ns"] * 1e9 / gpu.bandwidth),
        "Memory is written as well: `moved` has both.": counted(
            of_bandwidth=lambda k, gpu, **_: k["dram_read"] / k["ns"] * 1e9 / gpu.bandwidth,
            excess=lambda k, needed, **_: k["dram_read"] / needed,
        ),
        "Upside down: how many times what is needed has been moved?": counted(excess=lambda moved, needed, **_: needed / moved),
        "That is how much more than needed was moved; asked is how many times what is needed, 1 where both are alike.":
            counted(excess=lambda moved, needed, **_: moved / needed - 1),
        "Those are bytes: divide by those needed.": counted(excess=lambda moved, **_: moved),
        "Those are sectors, and a sector has 32 bytes.": counted(reuse=lambda sectors, moved, **_: sectors / moved),
        "A sector has 32 bytes; 128 are a cache line, four of them.": counted(reuse=lambda sectors, moved, **_: 128 * sectors / moved),
        "A sector has 32 bytes.": counted(reuse=lambda sectors, moved, **_: 4 * sectors / moved),
        "A store asks for sectors too.":
            counted(reuse=lambda k, sectors, moved, **_: 32 * (sectors - k["sectors_stored"]) / moved),
        "Both are sectors of 32 bytes: the sum needs parentheses.":
            counted(reuse=lambda k, sectors, moved, **_: (32 * k["sectors_loaded"] + sectors - k["sectors_loaded"]) / moved),
        "What was spilled is counted apart, and not asked for here.":
            counted(reuse=lambda k, sectors, moved, **_: 32 * (sectors + k["sectors_spilled"]) / moved),
        "As many programs as SMs are enough for one program each: no SM is without.":
            counted(starved=lambda k, gpu, **_: k["programs"] <= gpu.sms),
        "With more programs than SMs, each SM gets one: it is fewer that starve the GPU.":
            counted(starved=lambda k, gpu, **_: k["programs"] >= gpu.sms),
        "So many programs come to one SM, and the answer is True or False: where is that less than one?":
            counted(starved=lambda k, gpu, **_: k["programs"] / gpu.sms),
        "So many warps fit on one SM; the question is whether there is a program for each of gpu.sms.":
            counted(starved=lambda k, gpu, **_: k["programs"] < gpu.warps_per_sm),
    },
    "12.5": {
        "That is from the mean: a single delay is in it.": speeds(median=lambda s, b, ms, _: b / ms.mean(axis=1) / 1e6),
        "That is from the shortest time of each size, which is luck: take the middle one.":
            speeds(median=lambda s, b, ms, _: b / ms.min(axis=1) / 1e6),
        "That is from the shortest time of all; one call in five is faster than `high`: the quantile 0.2 of the times.":
            speeds(high=lambda s, b, ms, _: b / ms.min(axis=1) / 1e6),
        "ms are milliseconds: a GB in a second is 1e6 bytes in a millisecond.": speeds(
            median=lambda s, b, ms, _: b / np.median(ms, axis=1) / 1e9,
            low=lambda s, b, ms, _: b / np.quantile(ms, 0.8, axis=1) / 1e9,
            high=lambda s, b, ms, _: b / np.quantile(ms, 0.2, axis=1) / 1e9,
        ),
        "Those are times: how many bytes are moved in each?": speeds(
            median=lambda s, f, ms, _: np.median(ms, axis=1),
            low=lambda s, f, ms, _: np.quantile(ms, 0.8, axis=1),
            high=lambda s, f, ms, _: np.quantile(ms, 0.2, axis=1),
        ),
        "That mixes all sizes: `axis=1` goes along the samples of each.": speeds(
            median=lambda s, b, ms, _: b / np.median(ms) / 1e6,
            low=lambda s, b, ms, _: b / np.quantile(ms, 0.8) / 1e6,
            high=lambda s, b, ms, _: b / np.quantile(ms, 0.2) / 1e6,
        ),
        "The other way round: a short time is a high speed, so `low` comes from the long times.": speeds(
            low=lambda s, b, ms, _: b / np.quantile(ms, 0.2, axis=1) / 1e6,
            high=lambda s, b, ms, _: b / np.quantile(ms, 0.8, axis=1) / 1e6,
        ),
        "That is from the longest time of all; one call in five is slower than `low`.":
            speeds(low=lambda s, b, ms, _: b / ms.max(axis=1) / 1e6),
        "A fifth of the median is not what one call in five stays below: take a quantile of the times.":
            speeds(low=lambda s, f, ms, median: 0.8 * median, high=lambda s, f, ms, median: 1.2 * median),
        "Those are all sizes with 90 % of the best: asked is the first.": speeds(enough=lambda s, f, ms, median: s[median >= 0.9 * median.max()]),
        "Those are the places of all sizes with 90 % of the best: asked is the first size.":
            speeds(enough=lambda s, f, ms, median: np.flatnonzero(median >= 0.9 * median.max())),
        "That is the place in `sizes`: which size stands there?":
            speeds(enough=lambda s, f, ms, median: np.argmax(median >= 0.9 * median.max())),
        "That is where the median is highest, or near the best `high`: which size is the first with 90 % of the best median?":
            speeds(enough=lambda s, f, ms, median: s[np.argmax(median)]),
        "A size after it may be slower again, and yet it is the first with 90 % of the best.": speeds(enough=stays),
        "That is near the best `high`: compare the medians with the best median.":
            speeds(enough=lambda s, f, ms, median: s[np.argmax(median >= 0.9 * (f / np.quantile(ms, 0.2, axis=1) / 1e6).max())]),
        "That is the last size with 90 % of the best; asked is the first.":
            speeds(enough=lambda s, f, ms, median: s[median >= 0.9 * median.max()][-1]),
        "That is where the speed is lowest, or what `near` gives when it holds everywhere: compare with the best median.":
            speeds(enough=lambda s, f, ms, median: s[0]),
        "The best is not always at the last size: `median.max()`.":
            speeds(enough=lambda s, f, ms, median: s[np.argmax(median >= 0.9 * median[-1])]),
        "That is a speed: which size has it?": speeds(enough=lambda s, f, ms, median: 0.9 * median.max()),
    },
}  # fmt: skip

RAISED = {
    "12.5": {
        "ms has a row for each size, and nbytes one number: nbytes[:, None] / ms.": r"together with shapes \(7,\) \(7,",
        "A quantile is a share from 0 to 1: 0.8, not 80.": r"Quantiles must be in the range \[0, 1\]",
    },
}
