"""Files as commit 8ec9cfd wrote them, in `files`, which are only ever added to; and tests that all goes on as it was.

`python -m proofs_tests.old_files.write DIRECTORY` makes such files of the code at hand, to look at or to take new ones
from, which then get a line in `files/kept.txt`. What is there is never made again: a file that reads otherwise tomorrow
is a broken promise, and no reason for a new file. Names of the product are imported in `doors` alone; parameters that
learners were given then are in `cases`.
"""
