"""Whether an output shows what was noised, and transcripts beside the one that was seen, by which that is looked at."""

from proofs_tests.harness.recording.exposure.hidden import hidden
from proofs_tests.harness.recording.exposure.moving import elements_of, moved, placed, run_with

__all__ = ["elements_of", "hidden", "moved", "placed", "run_with"]
