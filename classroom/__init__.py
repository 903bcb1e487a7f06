"""What an author or a grader runs: derive the students' copies, execute the lessons, grade.

`python -m classroom` prints the commands. Nothing in `tiles`, which students import, imports this package.
"""
