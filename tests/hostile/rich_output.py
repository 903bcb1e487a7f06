# exercise: 5.1
# expects: more is printed
# others: pass
# HTML, a script, and a notebook widget as outputs of the check, beside the right result.
from IPython.display import HTML, Javascript, display
def shifted(x):
    display(HTML("<script>alert(1)</script>"), Javascript("alert(2)"), {"application/vnd.evil+json": {"a": [1] * 1000}}, raw=False)
    return x - x.max()
