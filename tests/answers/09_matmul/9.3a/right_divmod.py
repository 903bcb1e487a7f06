# Exercise 9.3a
@triton.jit
def grouped_tile(pid, num_pid_m, num_pid_n, GROUP_M):
    """pid_m and pid_n of program pid: GROUP_M rows of tiles are a group, which is gone through column by column."""
    group_size = GROUP_M * num_pid_n  # programs in a full group
    first_pid_m = pid // group_size * GROUP_M
    place = pid - pid // group_size * group_size
    rows = min(num_pid_m - first_pid_m, GROUP_M)
    return first_pid_m + (place - place // rows * rows), place // rows


def grouped_order(num_pid_m, num_pid_n, GROUP_M):
    """[programs, 2]: pid_m and pid_n of each program."""
    return np.array([grouped_tile.fn(pid, num_pid_m, num_pid_n, GROUP_M) for pid in range(num_pid_m * num_pid_n)])
