# exercise: 5.1
# expects: is not right yet
# others: pass
# The same in the name of an exception, which nobody expects to hold any.
Strange = type("<script>alert(1)</script>\x1b[31m", (Exception,), {"__str__": lambda self: "<svg onload=alert(1)>\r\n=1+1"})
def shifted(x):
    raise Strange
