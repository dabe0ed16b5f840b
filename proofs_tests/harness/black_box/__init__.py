"""Auditing any function: its outputs alone say what it loses."""

from proofs_tests.harness.black_box.copies import NotIndependent
from proofs_tests.harness.black_box.drawing import Progress
from proofs_tests.harness.black_box.functions import TooLittleTime, check_function, named

__all__ = ["NotIndependent", "Progress", "TooLittleTime", "check_function", "named"]
