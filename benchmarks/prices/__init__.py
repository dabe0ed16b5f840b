"""The ε that we charge, compared with exact values and with lower bounds."""

__all__ = []
