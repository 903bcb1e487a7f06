"""`python -m tiles doctor`: what works on this machine."""

import sys

from tiles import doctor

if sys.argv[1:2] != ["doctor"] or set(sys.argv[2:]) - {"--json"}:
    sys.exit("usage: python -m tiles doctor [--json]")
sys.exit(doctor.main(sys.argv[2:]))
