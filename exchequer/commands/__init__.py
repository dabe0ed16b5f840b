"""The commands of `exchequer`, one module for each group of them.

Each module is imported when it is needed.
"""

__all__: list[str] = []
