"""The types of mechanisms: queries with a sensitivity, noise with a price, and what is made of both."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from mechanisms.core.mechanism import FiniteMechanism, Mechanism, Spender
from mechanisms.core.parallel import Lane, Parallel, Partition, whole_plan
from mechanisms.core.plain import D, PlainMechanism, PlainSelection, Query, at_delta
from mechanisms.core.randomizers import FiniteRandomizer, R, Randomizer, loss, scale
from mechanisms.core.robust import (
    CertificateMismatch,
    Certified,
    CertifiedMechanism,
    CertifiedSelection,
    RobustCost,
    RobustMechanism,
    RobustQuery,
    RobustSelection,
    Slickness,
    SlicknessTooWeak,
)
from mechanisms.core.rows import Block, MemoryRows, Rows, SealedRepr, Sums, added, in_block, one_block
from mechanisms.core.sensitivity import L1Sensitivity, L2Sensitivity, LInfSensitivity, RangeSensitivity

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "Block",
    "CertificateMismatch",
    "Certified",
    "CertifiedMechanism",
    "CertifiedSelection",
    "D",
    "FiniteMechanism",
    "FiniteRandomizer",
    "L1Sensitivity",
    "L2Sensitivity",
    "LInfSensitivity",
    "Lane",
    "Mechanism",
    "MemoryRows",
    "Parallel",
    "Partition",
    "PlainMechanism",
    "PlainSelection",
    "Query",
    "R",
    "Randomizer",
    "RangeSensitivity",
    "RobustCost",
    "RobustMechanism",
    "RobustQuery",
    "RobustSelection",
    "Rows",
    "SealedRepr",
    "Slickness",
    "SlicknessTooWeak",
    "Spender",
    "Sums",
    "added",
    "at_delta",
    "in_block",
    "loss",
    "one_block",
    "scale",
    "whole_plan",
]
