"""What the verification kit detects, and how long that takes."""

__all__ = []
