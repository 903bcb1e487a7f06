# exercise: 5.1
# Seeds everything there is, in the cell and in the function.
import random
import torch
random.seed(1)
np.random.seed(1)
torch.manual_seed(1)
rng = np.random.default_rng(1)
def shifted(x):
    np.random.seed(0)
    rng.random()
    return x - x.max()
