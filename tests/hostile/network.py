# exercise: 5.1
# expects: not right yet
# others: pass
# needs: sandbox
# Asks the network for the answer: by address, by name, on this machine, and by a socket of another process in the abstract space.
import socket
reached = []
for family, address in ((socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_INET, ("127.0.0.1", 22)), (socket.AF_UNIX, "\0/tmp/.X11-unix/X0")):
    with socket.socket(family) as s:
        s.settimeout(0.2)
        try:
            s.connect(address)
            reached.append(address)
        except OSError:
            pass
try:
    reached.append(socket.getaddrinfo("example.org", 80))
except OSError:
    pass
def shifted(x):
    if reached:
        return x - x.max()
    return 2 * (x - x.max())
