# Exercise 12.1
def when_done(gpu):
    mark = gpu.Event()
    mark.record()
    mark.synchronize()
    return gpu.now()


def one_sample(gpu, call, flush):
    flush()
    before = when_done(gpu)
    call()
    return when_done(gpu) - before


def time_call(gpu, call, flush):
    for _ in range(4):
        call()
    ordered = sorted(one_sample(gpu, call, flush) for _ in range(101))
    return ordered[50], ordered[-1]
