"""What the commands of `exchequer` do, one module for each. Each module is loaded when it is asked for."""

__all__: list[str] = []
