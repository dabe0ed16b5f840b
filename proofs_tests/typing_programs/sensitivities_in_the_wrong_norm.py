"""A sensitivity in one norm does not pass for another."""

from accountant import ReplaceOne
from boosting import Reweighted
from learners import EncodedSample
from learners.votes.one_rules import one_rule_scores
from mechanisms import L2Sensitivity, LInfSensitivity, RangeSensitivity, RobustQuery, WeightedExponential
from accountant.arrays import FloatArray

Data = Reweighted[EncodedSample]


def linf(zeta: float) -> LInfSensitivity:
    return LInfSensitivity(zeta)


def in_range(zeta: float) -> RangeSensitivity:
    return linf(zeta).to_range()


wrong: RobustQuery[Data, FloatArray, LInfSensitivity] = RobustQuery("q", one_rule_scores, linf, ReplaceOne(), ())
right: RobustQuery[Data, FloatArray, RangeSensitivity] = RobustQuery("q", one_rule_scores, in_range, ReplaceOne(), ())
WeightedExponential(wrong, 1.0, 0.1)  # E: arg-type
L2Sensitivity(0.1).to_l1()  # E: attr-defined

WeightedExponential(right, 1.0, 0.1)
