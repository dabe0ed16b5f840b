"""The experiments of 003 beside ours."""

__all__ = []
