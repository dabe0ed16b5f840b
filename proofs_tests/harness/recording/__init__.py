"""Audits by recording: a program runs with its noise recorded, and on a neighbour with that noise given back."""

from proofs_tests.harness.recording.calls import Call, Recorder
from proofs_tests.harness.recording.check import check_recorded, draws_alike
from proofs_tests.harness.recording.patches import recorded

__all__ = ["Call", "Recorder", "check_recorded", "draws_alike", "recorded"]
