# exercise: 5.2
# The lesson's own names by other imports, what notebooks for Colab ask, settings, and looks at namespaces.
# %% before
import importlib
import sys
from numpy import linalg
from tiles.check import check
from IPython import get_ipython

IN_COLAB = "google.colab" in sys.modules or "google.colab" in str(get_ipython())
unwritten, largest_load = 3, importlib.import_module("numpy")
if "already" not in globals():
    already = True
# %% answer
def doubled(x):
    return 2 * x


print(doubled.__dict__, np.arange(3.0).ctypes.data > 0, unwritten)
