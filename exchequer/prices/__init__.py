"""What `exchequer price` computes: the cost of a plan under every rule, and sample sizes for halfspaces.

Each module is imported when it is needed.
"""

__all__: list[str] = []
