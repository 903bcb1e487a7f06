# exercise: 5.1
# Tries things out below the answer: prints, plots, a bare expression, magic commands, a file.
def shifted(x):
    return x - x.max()

import matplotlib.pyplot as plt
plt.plot(shifted(np.arange(5.0)))
plt.show()
print(shifted(np.array([1.0, 2.0])))
%timeit -n1 -r1 shifted(np.zeros(3))
!echo done
with open("notes.txt", "w") as file:
    file.write("5.1 done")
shifted(np.arange(3.0))
