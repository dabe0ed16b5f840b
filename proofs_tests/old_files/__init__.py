"""Files as commit 8ec9cfd wrote them, in `files`, which are only ever added to; and tests that all go on as they were.

`python -m proofs_tests.old_files.write DIRECTORY` makes such files anew from the code at hand. What is in `files` is
never made again: a file that reads otherwise tomorrow is a broken promise, and no reason for a new file.
"""
