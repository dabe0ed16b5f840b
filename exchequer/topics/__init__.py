"""Topics of `exchequer help`: terms, errors and pages of the documentation, read offline.

In a checkout they are read from the documentation itself. A wheel has them in one file, `topics.json`, which setup.py
makes when the wheel is built.
"""

from exchequer.topics.reading import PACKED, Topic, packed, read_topics
from exchequer.topics.search import NoTopics, explained_by, known_topics, like, named, pages_with

__all__ = [
    "PACKED",
    "NoTopics",
    "Topic",
    "explained_by",
    "known_topics",
    "like",
    "named",
    "packed",
    "pages_with",
    "read_topics",
]
