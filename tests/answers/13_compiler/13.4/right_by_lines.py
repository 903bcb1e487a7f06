# Exercise 13.4
def pipeline(k):
    reserved = [line for line in k.ttgir.splitlines() if "local_alloc : ()" in line]
    waits = [line for line in k.ptx.splitlines() if "cp.async.wait_group" in line]
    buffers = int(reserved[0].split("memdesc<")[1].split("x")[0]) if reserved else 0
    return buffers, max((int(line.split()[1].rstrip(";")) for line in waits), default=0)
