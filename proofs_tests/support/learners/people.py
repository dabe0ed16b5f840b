"""The public domain of small tables of people, as users write it."""

from typing import Final

SCHEMA: Final = """
[label]
name = "income"
classes = ["low", "high"]
[[columns]]
name = "age"
kind = "numeric"
lower = 0
upper = 100
bins = 4
[[columns]]
name = "sex"
kind = "categorical"
categories = ["female", "male"]
"""
