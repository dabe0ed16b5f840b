"""How the commands print: tables, progress, and one line for each error of the user.

Each module is imported when it is needed.
"""

__all__: list[str] = []
