# exercise: 5.1
# Prints a thousand lines and shows a table while it is tried out.
def shifted(x):
    return x - x.max()

for i in range(1000):
    print(i, shifted(np.arange(4.0)))
from IPython.display import HTML, display
display(HTML("<table><tr><td>1</td></tr></table>"))
