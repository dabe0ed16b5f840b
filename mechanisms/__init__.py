"""Sensitivities, the mechanism types, selection mechanisms and noise sources.

Imports accountant only. No learner and no measure producer may live here; a mechanism never opens
protected data, it is handed the content inside `Ledger.release`.
"""

from mechanisms.core import FiniteMechanism, Mechanism
from mechanisms.noise import NoiseSource, SecureNoise, SeededNoise
from mechanisms.robust import (
    CertificateMismatch,
    RobustCost,
    RobustMechanism,
    RobustQuery,
    Slickness,
    SlicknessTooWeak,
)
from mechanisms.selection import WeightedExponential
from mechanisms.sensitivity import L1Sensitivity, L2Sensitivity, LInfSensitivity, RangeSensitivity

__all__ = [
    "CertificateMismatch",
    "FiniteMechanism",
    "L1Sensitivity",
    "L2Sensitivity",
    "LInfSensitivity",
    "Mechanism",
    "NoiseSource",
    "RangeSensitivity",
    "RobustCost",
    "RobustMechanism",
    "RobustQuery",
    "SecureNoise",
    "SeededNoise",
    "Slickness",
    "SlicknessTooWeak",
    "WeightedExponential",
]
