"""Hypothesis profiles: the same examples on every run, and no deadline on a shared machine."""

from hypothesis import settings

settings.register_profile("suite", derandomize=True, deadline=None, max_examples=60, database=None)
settings.load_profile("suite")
