"""The verification kit: what a mechanism, a query or a whole learner declares, against what it really loses.

Works on anything that draws through a `NoiseSource`: a mechanism, a booster, or a whole estimator. Searches and
strategies are in `proofs_tests.harness.search` and `.strategies` and need Hypothesis (extra `verify`).
"""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from proofs_tests.harness.alone import check_records_alone
from proofs_tests.harness.audits import Audit, EstimatorAudit, FunctionAudit, MeasureAudit, RecordedAudit
from proofs_tests.harness.black_box import NotIndependent, TooLittleTime, check_function
from proofs_tests.harness.checks import (
    check_draws,
    check_learner,
    check_mechanism,
    check_randomizer,
    check_robust_sensitivity,
    check_sensitivity,
)
from proofs_tests.harness.divergence import (
    approx_delta,
    composed_epsilon,
    loss_width,
    max_loss,
    renyi_curve,
    renyi_divergence,
    smallest_epsilon,
)
from proofs_tests.harness.draws import many_of
from proofs_tests.harness.enumeration import ScriptedNoise, output_distribution
from proofs_tests.harness.exact import exact_delta, exact_loss
from proofs_tests.harness.formats import Located, junit, sarif
from proofs_tests.harness.neighbours import Pair, neighbours, replace_one_neighbours, samples
from proofs_tests.harness.one_run import (
    Canaries,
    NotReleased,
    OneRunAudit,
    along,
    check_one_run,
    company,
    corner_canaries,
)
from proofs_tests.harness.power import smallest_detectable
from proofs_tests.harness.recording import check_recorded, draws_alike, recorded
from proofs_tests.harness.report import ClaimViolated, Report, Verdict, table
from proofs_tests.harness.rules import check_rule
from proofs_tests.harness.slickness import check_slickness
from proofs_tests.harness.statistical import empirical_epsilon
from proofs_tests.harness.surface import PinnedNoise, check_fitted_surface
from proofs_tests.harness.transcripts import TranscriptNoise, check_transcripts, transcript_mu

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "Audit",
    "Canaries",
    "ClaimViolated",
    "EstimatorAudit",
    "FunctionAudit",
    "Located",
    "MeasureAudit",
    "NotIndependent",
    "NotReleased",
    "OneRunAudit",
    "Pair",
    "PinnedNoise",
    "RecordedAudit",
    "Report",
    "ScriptedNoise",
    "TooLittleTime",
    "TranscriptNoise",
    "Verdict",
    "along",
    "approx_delta",
    "check_draws",
    "check_fitted_surface",
    "check_function",
    "check_learner",
    "check_mechanism",
    "check_one_run",
    "check_randomizer",
    "check_recorded",
    "check_records_alone",
    "check_robust_sensitivity",
    "check_rule",
    "check_sensitivity",
    "check_slickness",
    "check_transcripts",
    "company",
    "composed_epsilon",
    "corner_canaries",
    "draws_alike",
    "empirical_epsilon",
    "exact_delta",
    "exact_loss",
    "junit",
    "loss_width",
    "many_of",
    "max_loss",
    "neighbours",
    "output_distribution",
    "recorded",
    "renyi_curve",
    "renyi_divergence",
    "replace_one_neighbours",
    "samples",
    "sarif",
    "smallest_detectable",
    "smallest_epsilon",
    "table",
    "transcript_mu",
]
