"""Files that earlier versions wrote, and tests that they still load, verify and predict the same.

Those in `files` are of commit 8ec9cfd; files are only ever added.

`python -m proofs_tests.old_files.write DIRECTORY` makes such files of the code at hand, to look at or to take new ones
from, which then get a line in `files/kept.txt`. What is there is never made again: a file that reads otherwise tomorrow
is a broken promise, and no reason for a new file. Names of the product are imported in `doors` alone; parameters that
learners were given then are in `cases`.
"""
