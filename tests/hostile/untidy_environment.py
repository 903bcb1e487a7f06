# exercise: 5.1
# Changes the working folder, the environment and the recursion limit.
import os, sys
os.environ["OMP_NUM_THREADS"] = "7"
os.makedirs("figures", exist_ok=True)
os.chdir("figures")
sys.setrecursionlimit(5000)
sys.path.append("..")
def shifted(x):
    return x - x.max()
