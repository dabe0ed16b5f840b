"""Our learners."""
