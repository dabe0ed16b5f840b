"""One-run audits: a lower bound on the ε of a fit from canaries in that fit."""

from proofs_tests.harness.one_run.audit import OneRunAudit, check_one_run
from proofs_tests.harness.one_run.canaries import Canaries, company, corner_canaries
from proofs_tests.harness.one_run.released import NotReleased, Release
from proofs_tests.harness.one_run.scores import Seen, along
from proofs_tests.harness.one_run.tails import Counts

__all__ = [
    "Canaries",
    "Counts",
    "NotReleased",
    "OneRunAudit",
    "Release",
    "Seen",
    "along",
    "check_one_run",
    "company",
    "corner_canaries",
]
