"""`exchequer schema`: drafting the public schema of a file, and checking a file against it.

Each module is imported when it is needed.
"""
