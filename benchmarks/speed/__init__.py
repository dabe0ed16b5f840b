"""The hot paths against the bound of the machine."""

__all__ = []
