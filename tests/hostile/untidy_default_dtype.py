# exercise: 5.1
# Changes what torch takes numbers for, and forgets it.
import torch
torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.set_num_threads(1)
torch.backends.cudnn.benchmark = True
np.set_printoptions(precision=2, suppress=True)
np.seterr(all="raise")
def shifted(x):
    return x - x.max()
