"""Helpers that several tests share; not shipped."""
