"""Privacy costs: adjacency, kinds of cost, their privacy curves, and arithmetic that rounds towards more loss."""

from typing import TYPE_CHECKING

from accountant.costs import curves, gaussian, subsampling
from accountant.costs.adjacency import (
    AddRemoveOne,
    Adjacency,
    FeatureValue,
    FeatureValues,
    ReplaceOne,
    adjacency_from_record,
    adjacency_record,
    feature_adjacency,
)
from accountant.costs.converters import (
    count,
    fraction,
    non_negative,
    open_probability,
    positive,
    probability,
    probability_below_one,
)
from accountant.costs.cost_kinds import (
    GDP,
    KINDS,
    OWN_KINDS,
    ZCDP,
    ApproxDP,
    BoundedRange,
    Budget,
    Cost,
    LaplaceDP,
    NoConversion,
    PureDP,
    SubsampledGaussian,
    Unbounded,
    cost_from_dict,
)
from accountant.costs.curves import ABSOLUTE, LARGEST_BUDGET, ORDERS, bounded_range_divergence, laplace_profile
from accountant.costs.rounding import (
    FINE,
    BeyondFloats,
    down,
    exact,
    finite_up,
    float_down,
    float_up,
    largest,
    largest_below,
    up,
)
from accountant.costs.spendable import SECURE, SEEDED, Description, Spendable, own_sources
from accountant.renamed import old_names

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "ABSOLUTE",
    "FINE",
    "GDP",
    "KINDS",
    "LARGEST_BUDGET",
    "ORDERS",
    "OWN_KINDS",
    "SECURE",
    "SEEDED",
    "ZCDP",
    "AddRemoveOne",
    "Adjacency",
    "ApproxDP",
    "BeyondFloats",
    "BoundedRange",
    "Budget",
    "Cost",
    "Description",
    "FeatureValue",
    "FeatureValues",
    "LaplaceDP",
    "NoConversion",
    "PureDP",
    "ReplaceOne",
    "Spendable",
    "SubsampledGaussian",
    "Unbounded",
    "adjacency_from_record",
    "adjacency_record",
    "bounded_range_divergence",
    "cost_from_dict",
    "count",
    "curves",
    "down",
    "exact",
    "feature_adjacency",
    "finite_up",
    "float_down",
    "float_up",
    "fraction",
    "gaussian",
    "laplace_profile",
    "largest",
    "largest_below",
    "non_negative",
    "open_probability",
    "own_sources",
    "positive",
    "probability",
    "probability_below_one",
    "subsampling",
    "up",
]
