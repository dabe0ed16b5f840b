"""The experiments of paper 003 (halfspaces with a margin), and our learner on the same data."""

__all__ = []
