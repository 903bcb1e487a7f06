"""What an author or a grader runs: derive the students' copies, execute the lessons, grade.

`python -m classroom` prints the commands. Nothing in `tiles`, which students import, imports this package.
"""

import sys

# Where this package is installed, jsonschema (which nbformat imports) builds a grammar of international addresses, for two
# seconds in each process; notebooks have none.
sys.modules.setdefault("rfc3987_syntax", None)
