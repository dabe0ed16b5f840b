"""Sensitivities, the mechanism types, selection, additive and rado mechanisms, and noise sources.

Imports accountant only. No learner and no measure producer may live here; a mechanism never opens
protected data, it is handed the content inside `Ledger.release`.
"""

from mechanisms import laws, utility
from mechanisms.additive import (
    GammaNorm,
    GammaNormKernel,
    GaussianKernel,
    LaplaceKernel,
    RobustGaussian,
    RobustLaplace,
)
from mechanisms.core import FiniteMechanism, Mechanism
from mechanisms.kernels import FiniteKernel, Kernel
from mechanisms.leaf_labels import LeafLabelKernel, LeafLabels
from mechanisms.logistic_loss import Reach, ResidualRecords
from mechanisms.noise import NoiseSource, SecureNoise, SeededNoise
from mechanisms.objective import ObjectivePerturbation, TooLittleRegularization
from mechanisms.plain import PlainMechanism, PlainSelection, Query, at_delta
from mechanisms.quantiles import Candidates, PrivateQuantile, PrivateQuantiles
from mechanisms.queries import (
    ENTROPY_IMPROVEMENT,
    ERROR_IMPROVEMENT,
    GINI_IMPROVEMENT,
    LEAF_GAPS,
    LEAF_GAPS_L2,
    LEAF_LABEL_WEIGHTS,
    LEAF_LABEL_WEIGHTS_L2,
    centred_mean,
)
from mechanisms.rado import NotPrivate, RadoTailTruncation, RandomRados, edge_vectors, noised_edges
from mechanisms.rado_coins import drawn_seed, rados_over, sample_rados, support_sizes, support_sums
from mechanisms.rado_law import EmptyWindow, RadoColumnLaw
from mechanisms.rado_release import (
    column_moments,
    exact_moments,
    exact_steps,
    noised_rados,
    paired_rados,
)
from mechanisms.rado_sampling import (
    EdgeVectors,
    NotBoolean,
    Vectors,
    pieces,
    sample_fixed_support_rados,
    sample_truncated_rados,
)
from mechanisms.robust import (
    CertificateMismatch,
    CertifiedMechanism,
    CertifiedSelection,
    RobustCost,
    RobustMechanism,
    RobustQuery,
    RobustSelection,
    Slickness,
    SlicknessTooWeak,
)
from mechanisms.selection import (
    ExponentialKernel,
    NoisyMaxKernel,
    PermuteAndFlip,
    PermuteAndFlipKernel,
    WeightedExponential,
    WeightedNoisyMax,
)
from mechanisms.sensitivity import L1Sensitivity, L2Sensitivity, LInfSensitivity, RangeSensitivity
from mechanisms.stopping import NegativeBinomialStopping, PoissonStopping
from mechanisms.tuning import PrivateSelection, selection_cost

__all__ = [
    "ENTROPY_IMPROVEMENT",
    "ERROR_IMPROVEMENT",
    "GINI_IMPROVEMENT",
    "LEAF_GAPS",
    "LEAF_GAPS_L2",
    "LEAF_LABEL_WEIGHTS",
    "LEAF_LABEL_WEIGHTS_L2",
    "Candidates",
    "CertificateMismatch",
    "CertifiedMechanism",
    "CertifiedSelection",
    "EdgeVectors",
    "EmptyWindow",
    "ExponentialKernel",
    "FiniteKernel",
    "FiniteMechanism",
    "GammaNorm",
    "GammaNormKernel",
    "GaussianKernel",
    "Kernel",
    "L1Sensitivity",
    "L2Sensitivity",
    "LInfSensitivity",
    "LaplaceKernel",
    "LeafLabelKernel",
    "LeafLabels",
    "Mechanism",
    "NegativeBinomialStopping",
    "NoiseSource",
    "NoisyMaxKernel",
    "NotBoolean",
    "NotPrivate",
    "ObjectivePerturbation",
    "PermuteAndFlip",
    "PermuteAndFlipKernel",
    "PlainMechanism",
    "PlainSelection",
    "PoissonStopping",
    "PrivateQuantile",
    "PrivateQuantiles",
    "PrivateSelection",
    "Query",
    "RadoColumnLaw",
    "RadoTailTruncation",
    "RandomRados",
    "RangeSensitivity",
    "Reach",
    "ResidualRecords",
    "RobustCost",
    "RobustGaussian",
    "RobustLaplace",
    "RobustMechanism",
    "RobustQuery",
    "RobustSelection",
    "SecureNoise",
    "SeededNoise",
    "Slickness",
    "SlicknessTooWeak",
    "TooLittleRegularization",
    "Vectors",
    "WeightedExponential",
    "WeightedNoisyMax",
    "at_delta",
    "centred_mean",
    "column_moments",
    "drawn_seed",
    "edge_vectors",
    "exact_moments",
    "exact_steps",
    "laws",
    "noised_edges",
    "noised_rados",
    "paired_rados",
    "pieces",
    "rados_over",
    "sample_fixed_support_rados",
    "sample_rados",
    "sample_truncated_rados",
    "selection_cost",
    "support_sizes",
    "support_sums",
    "utility",
]
