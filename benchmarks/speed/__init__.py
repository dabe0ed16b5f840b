"""The time of the hot paths, compared with what the machine can do at best."""

__all__ = []
