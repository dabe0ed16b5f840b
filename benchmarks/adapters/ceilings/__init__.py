"""Learners without privacy, which are the ceiling, and a constant, which is the floor."""
