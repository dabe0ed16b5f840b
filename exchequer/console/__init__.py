"""How the commands talk: tables, progress, and one line for bad input. Each module is loaded when it is asked for."""

__all__: list[str] = []
