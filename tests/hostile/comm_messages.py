# exercise: 5.1
# expects: takes longer than
# others: pass
# Messages of other kinds than outputs, 100 MB of them: who only counts the characters of outputs collects them all.
# From a file of its own, in a disguise, so that nobody reads it before it runs.
open("later.py", "w").write("""
from IPython impor@ get_ipython
kernel = get_ipython().kernel
for _ in range(100):
    kernel.session.send(kernel.iopub_socket, "comm_open", {"comm_id": "x", "data": {"text": "x" * 1_000_000}}, ident=b"comm")
impor@ time
time.sleep(3600)
""".replace("@", "t"))
import later


def shifted(x):
    return x - x.max()
