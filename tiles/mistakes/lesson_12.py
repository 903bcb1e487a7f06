"""Mistakes in lesson 12, benchmark and profile: see `tiles.mistakes`."""

import numpy as np

from tiles.mistakes.lesson_12_profiler import any_of
from tiles.timeline import PretendGPU

COUNTS = (1, 3, 5, 7, 8, 9, 10, 11, 15, 20, 50, 99, 100)  # of samples that an answer may take


def by_clock(megabytes, machine, count, compiled=True, cold=True, settled=True, done=True, inside=False, late=False, calls=1):
    """Samples of exercise 12.1: with what is left out, is in another place (inside, late), or is done too often."""
    gpu, samples = PretendGPU(**machine), []
    call = gpu.kernel(megabytes)
    if compiled:
        call()
    for _ in range(count):
        if cold and not inside and not late:
            gpu.flush()
        if settled:
            gpu.synchronize()
        start = gpu.now()
        if cold and inside:
            gpu.flush()
        for _ in range(calls):
            call()
        if done:
            gpu.synchronize()
        samples.append(gpu.now() - start)
        if late:
            gpu.flush()
    return samples


def clock(*faults, counts=COUNTS, typical=np.median):
    """Exercise 12.1 with one of these faults: the result where it is that of one of the counts."""

    def given(megabytes, machine, result):
        samples = [by_clock(megabytes, machine, count, **fault) for fault in faults for count in counts]
        return one_of(result, map(typical, samples)), one_of(result, map(max, samples))

    return given


def one_of(result, values):
    """The result where it is near one of the values, else None."""
    return result if any(abs(float(result) - value) < 1e-6 for value in values) else None


def by_events(megabytes, machine, n_warmup, n_repeat, warm_up="call", order="flush start call end", pairs=True):
    """Samples of exercise 12.2: with another warm-up, or another order of what a turn does."""
    gpu, marks = PretendGPU(**machine), []
    call = gpu.kernel(megabytes)
    do = {"flush": gpu.flush, "call": call, "wait": gpu.synchronize, "nothing": lambda: None}
    for _ in range(n_warmup):
        do[warm_up]()
    for _ in range(n_repeat):
        start, end = gpu.Event(enable_timing=True), gpu.Event(enable_timing=True)
        for step in order.split():
            {**do, "start": start.record, "end": end.record}[step]()
        marks.append((start, end))
    gpu.synchronize()
    return [start.elapsed_time(end) for start, end in marks]


def events(what=lambda samples, quantiles: np.quantile(samples, quantiles), **fault):
    """Exercise 12.2 with a fault, or with another result made of right samples."""
    return lambda megabytes, machine, n_warmup, n_repeat, quantiles: what(
        by_events(megabytes, machine, n_warmup, n_repeat, **fault), quantiles
    )


def between(megabytes, machine, n_warmup, n_repeat, quantiles, result):
    """Exercise 12.2 with samples for the quantiles that lie between them: the result where it is that of such a rule."""
    samples = np.sort(by_events(megabytes, machine, n_warmup, n_repeat))
    rules = [np.quantile(samples, quantiles, method=rule) for rule in ("lower", "higher", "nearest", "inverted_cdf")]
    rules.append([samples[min(int(q * n_repeat), n_repeat - 1)] for q in quantiles])
    return result if any(np.allclose(result, rule) for rule in rules) else None


def said_of(which, value, *names):
    """Exercise 12.6: result number `which` is `value` for these entries."""

    def given(name, result):
        return tuple(value if i == which and name in names else None for i in range(4))

    return given


MISTAKES = {
    "12.1": {
        "The clock is read while the GPU still works: what was timed is the launch.":
            clock({"done": False}, {"done": False, "cold": False}),
        "The first call compiles, which is most of that time, and the clock is read while the GPU still works.":
            clock({"done": False, "compiled": False}, {"done": False, "cold": False, "compiled": False}, counts=(1, 2)),
        "One sample, or a few, may be a run that was delayed, or miss all of those: take more.":
            clock({}, counts=(1, 2, 3, 4)),
        "A sample holds the compiling: what only the first call does is done by a call before all samples.":
            clock({"compiled": False}),
        "The first sample has no flush before it: flush() comes before the clock starts.": clock({"late": True}, counts=COUNTS[2:]),
        "The data is still in L2 from the call before: nothing else has filled it.":
            clock({"cold": False}, {"cold": False, "compiled": False}),
        "The flush is timed as well: let it end before the clock starts, by when_done(gpu).":
            clock({"settled": False}, {"inside": True}, {"settled": False, "inside": True}),
        "A sample has one call between the two clocks, not two.": clock({"calls": 2}),
        "A mean contains the delays: the median was asked for.": clock({}, typical=np.mean),
        "The smallest sample is no typical one: the median was asked for.": clock({}, typical=min),
    },
    "12.2": {
        "The data is still in L2 from the call before: flush() in each turn.":
            events(order="start call end"),
        "The flush lies between the marks, so it is timed as well: flush() comes before start.record().":
            events(order="start flush call end"),
        "The first sample has no flush before it: flush() comes before start.record().": events(order="start call end flush"),
        "The queue was empty when the start was marked, so the launch is timed as well: do not wait between the flush and the mark.":
            events(order="flush wait start call end"),
        "The first sample holds the compiling: the warm-up has to do what is timed later, call().":
            any_of(*(events(warm_up=what) for what in ("flush", "wait", "nothing"))),
        "A sample has one call between its marks, not two.": events(order="flush start call call end"),
        "Each turn calls twice: call() comes once, between the marks.": any_of(events(order="call flush start call end"), events(order="flush start call end call")),
        "The call is not between its marks.": events(order="flush call start end"),
        "From the end to the start, time is negative: start.elapsed_time(end).": events(lambda samples, q: np.quantile([-s for s in samples], q)),
        "Quantiles from 0 to 1 belong to np.quantile; np.percentile takes 0 to 100.": events(np.percentile),
        "A mean contains the delays: quantiles were asked for.": events(lambda samples, q: np.mean(samples) * np.ones(len(q))),
        "A mean is one number, and contains the delays: np.quantile takes all quantiles at once.": events(lambda samples, q: np.mean(samples)),
        "Those are the quantiles 0.5, 0.2 and 0.8: the caller chooses others, in `quantiles`.":
            events(lambda samples, q: np.quantile(samples, (0.5, 0.2, 0.8))),
        "The quantiles come in the order in which they were asked for.": events(lambda samples, q: np.sort(np.quantile(samples, q))),
        "One number came back: np.quantile takes all quantiles at once.": events(lambda samples, q: np.median(samples)),
        "A quantile may lie between two samples: np.quantile weighs them.": between,
        "Those are the samples: np.quantile(samples, quantiles) sums them up.": events(lambda samples, q: np.array(samples)),
    },
    "12.6": {
        "A matrix of 268 million numbers has to be read from memory: the bandwidth is a limit too.": said_of(0, True, "C"),
        "B is several times as fast as the peak: the least time is the longer of two, in milliseconds, as the claim is.": said_of(0, True, "B"),
        "A is slower than the least time, and so possible: in which unit is that time, for which peak, and which way does the comparison go?":
            said_of(0, False, "A"),
        "Arithmetic and traffic go on at the same time: the longer of the two is enough, not their sum.": said_of(0, False, "G"),
        "D leaves a tile as it was, and that must show: what does out hold before, is one nan enough, and what equals nan? Nothing does: np.isnan.":
            said_of(1, True, "D"),
        "A writes all of out, so no nan is left: complete is True then.": said_of(1, False, "A"),
        "E writes all of out, and 0 may be a result: which number never is?": said_of(1, False, "E"),
        "G knows a and b by their places in memory, and gives the first product again: write other numbers into a[:], such that the product is another.":
            said_of(3, True, "G"),
        "F's rounding leaves your new numbers as they are, so that it is exact for them: take finer ones.": said_of(3, True, "F"),
        "A multiplies whatever it is given: are the new numbers finite, and not all 0?": said_of(3, False, "A"),
    },
}  # fmt: skip
"""For each exercise: a sentence, and the function of the check's inputs whose result it explains."""

RAISED = {
    "12.1": {},
    "12.2": {
        "The GPU has not come to the marks yet: wait for it before you read them, by gpu.synchronize().": "must be completed",
        "One of the marks was never put into the queue: start.record() and end.record().": "must be recorded",
        "Marks that are to tell times are made by gpu.Event(enable_timing=True).": "enable_timing=True",
        "A mark is no number: start.elapsed_time(end) is the time between two.": "unsupported operand .*'Event'",
    },
    "12.6": {
        "a[:] keeps the shape of a, and b has another one.": r"from shape \(48,24\)",
        "np.full(shape, np.nan, a.dtype) makes the array: the shape is that of the product, (a.shape[0], b.shape[1]).":
            "could not broadcast|operands could not|mismatch|'shape'",
    },
}  # fmt: skip
"""For each exercise: a sentence, and the regular expression of an exception that it explains."""

WARNED = {
    "12.6": {
        "The product of zeros is 0, and off_by divides by it: take other numbers.": lambda values: not values["right"].any(),
        "The new numbers have to be finite.": lambda values: not np.isfinite(values["a"]).all(),
    },
}
"""For each exercise: a sentence, and a function of the variables at a NumPy warning that says whether it fits."""
