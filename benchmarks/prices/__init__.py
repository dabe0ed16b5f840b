"""What we charge beside exact values and lower bounds."""

__all__ = []
